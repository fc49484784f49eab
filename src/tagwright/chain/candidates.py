"""Candidate labels, and one step of a dynamic programme over them: first and second order, each formula once.

Stands beside the dense kernels (forward_backward, viterbi), for learners with a tag dictionary or with order=2. A label
that is no candidate is as good as forbidden. A state is a candidate label c (order 1), or a pair (q, c) of candidates
of neighbouring positions (order 2). The states of position t are a grid of G_t groups by K_t candidates, in one row:

    order 1    G_t = 1
    order 2    G_0 = 1, G_t = K_{t−1}: a group for each previous label q

A step has a table W with a row for each state: what it costs to go from there to each next label. The states of group g
at t have M sources at t − 1, each with a label: state first + m · stride (counted from those of t − 1) has the row
base + label_m of W.

    out[g, j] = Σ_m before[first + m · stride] · W[base + label_m, label_j]

                         labels               first    stride     base
    order 1              those at t − 1       0        1          0
    order 2, t = 1       q alone              g        K_{t−1}    0                    rows 0 to Y − 1: transitions
    order 2, t ≥ 2       those at t − 2       g        K_{t−1}    Y + q Y              rows from Y on: (q, p)

so that K_{t−1} · K_t products are made of first order, and K_{t−2} · K_{t−1} · K_t of second, not Y² or Y³. Where all
labels are candidates, the inner loop runs along whole rows of W.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tagwright._jit import natural, tight_kernel
from tagwright.arrays import Bools, Floats, Ints, Longs, Shorts

FEW = 8
"""Labels that Viterbi looks at one by one rather than as a row."""


class Candidates(NamedTuple):
    """The labels that each token may have: token p has list rows[p], list r is labels[pointers[r] : pointers[r + 1]].

    Lists ascend and are never empty.
    """

    rows: Ints  # [n]
    pointers: Longs  # [R + 1]
    labels: Shorts  # [pointers[-1]]

    @classmethod
    def everything(cls, n_tokens: int, n_labels: int) -> Candidates:
        """All labels everywhere."""
        labels = np.arange(n_labels, dtype=np.uint16)
        return cls(np.zeros(n_tokens, np.int32), np.array([0, n_labels], np.int64), labels)

    def part(self, first: int, last: int) -> Candidates:
        """Those of the tokens `first` to `last` − 1."""
        return Candidates(self.rows[first:last], self.pointers, self.labels)

    def of_token(self, p: int) -> Shorts:
        return self.labels[self.pointers[self.rows[p]] : self.pointers[self.rows[p] + 1]]

    @property
    def sizes(self) -> Longs:
        """Candidates of every token [n]."""
        sizes: Longs = np.diff(self.pointers)[self.rows]
        return sizes

    def mask(self, n_labels: int) -> Bools:
        """The same as booleans [n, Y]."""
        lists = np.zeros((len(self.pointers) - 1, n_labels), np.bool_)
        lists[np.repeat(np.arange(len(lists)), np.diff(self.pointers)), self.labels] = True
        return np.asarray(lists[self.rows])

    def mask_rows(self, emission: Floats, n_labels: int) -> Floats:
        """A copy of emission rows [n, ≥ Y] with −inf for every label that is no candidate."""
        rows = emission.copy()
        rows[:, :n_labels][~self.mask(n_labels)] = -np.inf
        return rows

    def most_states(self, lengths: Longs, order: int) -> int:
        """No sentence of these lengths has more states."""
        if order == 1:
            return int(lengths.max() * (self.pointers[1:] - self.pointers[:-1]).max())
        sizes, begins = self.sizes, np.cumsum(lengths) - lengths
        states = sizes * np.concatenate([[1], sizes[:-1]])
        states[begins] = sizes[begins]
        return int(np.add.reduceat(states, begins).max())


class StepTable(NamedTuple):
    """A chain as the steps see it: scores, or their exponentials."""

    order: int
    n_labels: int
    table: Floats  # W [≥ R, ≥ Y]: R = Y of first order; Y + Y² of second, rows Y + q Y + p after those of the labels
    start: Floats  # [≥ Y]
    stop: Floats  # [≥ Y]

    @property
    def n_rows(self) -> int:
        """R"""
        return self.n_labels if self.order == 1 else self.n_labels * (self.n_labels + 1)


# What is natural below: tokens, states and rows of the table count from 0.


@tight_kernel
def list_of(candidates: Candidates, p: int) -> tuple[int, int]:
    """Where the candidates of token p begin and end in `labels`."""
    r = candidates.rows[natural(p)]
    return candidates.pointers[natural(r)], candidates.pointers[natural(r + 1)]


@tight_kernel
def count_groups(candidates: Candidates, begin: int, t: int, order: int) -> int:
    """G_t of the sentence that begins at token `begin`."""
    if order == 1 or t == 0:
        return 1
    low, high = list_of(candidates, begin + t - 1)
    return high - low


@tight_kernel
def locate_states(
    candidates: Candidates, begin: int, T: int, order: int, first_label: Longs, first_state: Longs
) -> None:
    """Where the candidates of position t begin among those of the sentence, and where its states do; at T: how many
    there are in all."""
    first_label[0], first_state[0] = 0, 0
    for t in range(T):
        low, high = list_of(candidates, begin + t)
        first_label[t + 1] = first_label[t] + high - low
        first_state[t + 1] = first_state[t] + count_groups(candidates, begin, t, order) * (high - low)


@tight_kernel
def locate_sources(
    candidates: Candidates, begin: int, t: int, g: int, chain: StepTable, first_state: Longs
) -> tuple[int, int, int, int, int]:
    """Of group g at position t ≥ 1: where the labels of its sources begin and end; first (among all states of the
    sentence), stride and base."""
    low, high = list_of(candidates, begin + t - 1)
    before = first_state[natural(t - 1)]
    if chain.order == 1:
        return low, high, before, 1, 0
    stride, q = high - low, int(candidates.labels[natural(low + g)])
    if t == 1:
        return low + g, low + g + 1, before + g, stride, 0
    low, high = list_of(candidates, begin + t - 2)
    return low, high, before + g, stride, (q + 1) * chain.n_labels


@tight_kernel
def step_forward(
    alpha: Floats, sources: tuple[int, int, int, int, int], labels: Shorts, W: Floats, Y: int, now: tuple[int, int],
    x: Floats, factor: int, here: int,
) -> Any:  # fmt: skip
    """alpha[here + j] = x[factor + j] Σ_m alpha[first + m · stride] W[base + label_m, label_j]; returns their
    sum. Four whole rows of W at a time where all labels are there. sources: of locate_sources; now: where the group's
    labels begin and end."""
    low, high, first, stride, base = sources
    K, M, whole = now[1] - now[0], high - low, alpha.dtype.type(0)
    if K < Y:
        for j in range(K):
            c, total = labels[natural(now[0] + j)], alpha.dtype.type(0)
            for m in range(M):
                total += alpha[natural(first + m * stride)] * W[natural(base + labels[natural(low + m)]), c]
            total *= x[natural(factor + j)]
            alpha[natural(here + j)] = total
            whole += total
        return whole
    out = alpha[here : here + Y]
    for c in range(Y):
        out[c] = 0
    for m in range(0, M - 3, 4):
        e, p = first + m * stride, low + m
        a0, a1, a2, a3 = alpha[e], alpha[e + stride], alpha[e + 2 * stride], alpha[e + 3 * stride]
        r0, r1 = W[base + labels[p]], W[base + labels[p + 1]]
        r2, r3 = W[base + labels[p + 2]], W[base + labels[p + 3]]
        for c in range(Y):
            out[c] += a0 * r0[c] + a1 * r1[c] + a2 * r2[c] + a3 * r3[c]
    for m in range(M - M % 4, M):
        a0, r0 = alpha[first + m * stride], W[base + labels[low + m]]
        for c in range(Y):
            out[c] += a0 * r0[c]
    for c in range(Y):
        out[c] *= x[factor + c]
        whole += out[c]
    return whole


@tight_kernel
def step_back(
    v: Floats, here: int, factor: float, now: tuple[int, int], labels: Shorts, W: Floats, Y: int,
    sources: tuple[int, int, int, int, int],
) -> None:  # fmt: skip
    """v[first + m · stride] = factor · Σ_j W[base + label_m, label_j] v[here + j]; of all labels, four whole rows of W
    at a time (the last four overlap those before)."""
    low, high, first, stride, base = sources
    K, M, zero, number = now[1] - now[0], high - low, v.dtype.type(0), v.dtype.type(factor)
    if K < Y:
        for m in range(M):
            row, total = W[natural(base + labels[natural(low + m)])], zero
            for j in range(K):
                total += row[labels[natural(now[0] + j)]] * v[natural(here + j)]
            v[natural(first + m * stride)] = total * number
        return
    own = v[here : here + Y]
    for start in range(0, M, 4):
        m0 = max(min(start, M - 4), 0)
        m1, m2, m3 = min(m0 + 1, M - 1), min(m0 + 2, M - 1), min(m0 + 3, M - 1)
        r0, r1 = W[base + labels[low + m0]], W[base + labels[low + m1]]
        r2, r3 = W[base + labels[low + m2]], W[base + labels[low + m3]]
        t0, t1, t2, t3 = zero, zero, zero, zero
        for c in range(Y):
            t0 += r0[c] * own[c]
            t1 += r1[c] * own[c]
            t2 += r2[c] * own[c]
            t3 += r3[c] * own[c]
        v[first + m0 * stride], v[first + m1 * stride] = t0 * number, t1 * number
        v[first + m2 * stride], v[first + m3 * stride] = t2 * number, t3 * number


@tight_kernel
def add_products(
    alpha: Floats, sources: tuple[int, int, int, int, int], v: Floats, here: int, weight: float, now: tuple[int, int],
    labels: Shorts, Y: int, counts: Floats,
) -> None:  # fmt: skip
    """counts[base + label_m, label_j] += weight · alpha[first + m · stride] v[here + j]."""
    low, high, first, stride, base = sources
    K, number = now[1] - now[0], v.dtype.type(weight)
    for m in range(high - low):
        a, row = alpha[natural(first + m * stride)] * number, counts[natural(base + labels[natural(low + m)])]
        if K < Y:
            for j in range(K):
                row[labels[natural(now[0] + j)]] += a * v[natural(here + j)]
        else:
            for c in range(Y):
                row[c] += a * v[natural(here + c)]


@tight_kernel
def step_to_best(
    delta: Floats, sources: tuple[int, int, int, int, int], labels: Shorts, S: Floats, Y: int, now: tuple[int, int],
    here: int,
) -> None:  # fmt: skip
    """delta[here + j] = max_m delta[first + m · stride] + S[base + label_m, label_j]; of all labels, four whole rows of
    S at a time (the last four overlap those before)."""
    low, high, first, stride, base = sources
    K, M = now[1] - now[0], high - low
    if K < Y:
        for j in range(K):
            c, best = labels[natural(now[0] + j)], delta.dtype.type(-np.inf)
            for m in range(M):
                value = delta[natural(first + m * stride)] + S[natural(base + labels[natural(low + m)]), c]
                best = value if value > best else best
            delta[natural(here + j)] = best
        return
    out = delta[here : here + Y]
    for c in range(Y):
        out[c] = -np.inf
    for start in range(0, M, 4):
        m0 = max(min(start, M - 4), 0)
        m1, m2, m3 = min(m0 + 1, M - 1), min(m0 + 2, M - 1), min(m0 + 3, M - 1)
        d0, d1 = delta[first + m0 * stride], delta[first + m1 * stride]
        d2, d3 = delta[first + m2 * stride], delta[first + m3 * stride]
        r0, r1 = S[base + labels[low + m0]], S[base + labels[low + m1]]
        r2, r3 = S[base + labels[low + m2]], S[base + labels[low + m3]]
        for c in range(Y):
            s0, s1, s2, s3 = d0 + r0[c], d1 + r1[c], d2 + r2[c], d3 + r3[c]
            a = s0 if s0 > s1 else s1
            b = s2 if s2 > s3 else s3
            a = a if a > b else b
            out[c] = a if a > out[c] else out[c]
