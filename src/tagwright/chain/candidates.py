"""Candidate labels, and one step of a dynamic programme over them: first and second order, each formula once.

Stands beside the dense kernels (forward_backward, viterbi), for learners with a tag dictionary or with order=2. A label
that is no candidate is as good as forbidden. A state is a candidate label c (order 1), or a pair (q, c) of candidates
of neighbouring positions (order 2). The states of position t are a grid of G_t groups by K_t candidates, in one row:

    order 1    G_t = 1
    order 2    G_0 = 1, G_t = K_{t−1}: a group for each previous label q

A step has a table W with a row for each state: what it costs to go from there to each next label. The states of group g
at t have M sources at t − 1, at distances of `stride`, whose rows of W begin at `base`:

    out[g, j] = Σ_m before[first + m · stride] · W[base + sources[m], label_j]

                         sources              first    stride     base
    order 1              labels at t − 1      0        1          0
    order 2, t = 1       0 alone              g        K_{t−1}    q                    rows 0 to Y − 1: transitions
    order 2, t ≥ 2       labels at t − 2      g        K_{t−1}    Y + q Y              rows from Y on: (q, p)

so that K_{t−1} · K_t products are made of first order, and K_{t−2} · K_{t−1} · K_t of second, not Y² or Y³. Where all
labels are candidates, the inner loop runs along whole rows of W.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tagwright._jit import tight_kernel
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

    def most_states(self, offsets: Longs, order: int) -> tuple[int, int, int]:
        """The most states of a sentence, and of a position; the most candidates of a token."""
        sizes = self.sizes
        states, most = sizes, int(sizes.max())
        if order == 2:
            states = sizes * np.concatenate([[1], sizes[:-1]])
            states[offsets[:-1]] = sizes[offsets[:-1]]
        return int(np.add.reduceat(states, offsets[:-1]).max()), int(states.max()) if order == 2 else most, most


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


@tight_kernel
def list_of(candidates: Candidates, p: int) -> tuple[int, int]:
    """Where the candidates of token p begin and end in `labels` (a tight kernel cannot return an array)."""
    r = candidates.rows[p]
    return candidates.pointers[r], candidates.pointers[r + 1]


@tight_kernel
def locate_states(candidates: Candidates, begin: int, T: int, order: int, first_state: Longs) -> None:
    """first_state[t]: where the states of position t begin; first_state[T]: how many there are in all."""
    first_state[0] = 0
    groups = 1
    for t in range(T):
        low, high = list_of(candidates, begin + t)
        first_state[t + 1] = first_state[t] + groups * (high - low)
        groups = high - low if order == 2 else 1


@tight_kernel
def count_groups(order: int, t: int, last: Shorts) -> int:
    """G_t; `last`: the candidates at t − 1, of no use at t = 0. (Not as a quotient: to divide takes long.)"""
    return 1 if order == 1 or t == 0 else last.shape[0]


@tight_kernel
def locate_sources(order: int, t: int, g: int, last: Shorts, Y: int) -> tuple[int, int, int]:
    """first, stride and base of group g at position t ≥ 1; `last`: the candidates at t − 1."""
    if order == 1:
        return 0, 1, 0
    q = int(last[g])
    return g, last.shape[0], q if t == 1 else Y + q * Y


@tight_kernel
def step_forward(
    before: Floats, first: int, stride: int, W: Floats, base: int, sources: Shorts, Y: int, now: Shorts, out: Floats
) -> None:
    """out[j] = Σ_m before[first + m · stride] W[base + sources[m], now[j]]; four whole rows of W at a time."""
    M = sources.shape[0]
    for j in range(now.shape[0]):
        out[j] = 0
    if now.shape[0] < Y or M < Y:
        for m in range(M):
            a, row = before[first + m * stride], W[base + sources[m]]
            for j in range(now.shape[0]):
                out[j] += a * row[now[j]]
        return
    rows = W[base : base + Y]
    for m in range(0, Y - 3, 4):
        e = first + m * stride
        a0, a1, a2, a3 = before[e], before[e + stride], before[e + 2 * stride], before[e + 3 * stride]
        r0, r1, r2, r3 = rows[m], rows[m + 1], rows[m + 2], rows[m + 3]
        for c in range(Y):
            out[c] += a0 * r0[c] + a1 * r1[c] + a2 * r2[c] + a3 * r3[c]
    for m in range(Y - Y % 4, Y):
        a0, r0 = before[first + m * stride], rows[m]
        for c in range(Y):
            out[c] += a0 * r0[c]


@tight_kernel
def step_back(
    v: Floats, factor: float, now: Shorts, W: Floats, base: int, sources: Shorts, Y: int, first: int, stride: int,
    out: Floats,
) -> None:  # fmt: skip
    """out[first + m · stride] = factor · Σ_j W[base + sources[m], now[j]] v[j]; four whole rows of W at a time (the
    last four overlap those before)."""
    M, zero, number = sources.shape[0], v.dtype.type(0), v.dtype.type(factor)
    if now.shape[0] < Y or M < Y:
        for m in range(M):
            row, total = W[base + sources[m]], zero
            for j in range(now.shape[0]):
                total += row[now[j]] * v[j]
            out[first + m * stride] = total * number
        return
    rows = W[base : base + Y]
    for start in range(0, Y, 4):
        m0 = max(min(start, Y - 4), 0)
        m1, m2, m3 = min(m0 + 1, Y - 1), min(m0 + 2, Y - 1), min(m0 + 3, Y - 1)
        r0, r1, r2, r3 = rows[m0], rows[m1], rows[m2], rows[m3]
        t0, t1, t2, t3 = zero, zero, zero, zero
        for c in range(Y):
            t0 += r0[c] * v[c]
            t1 += r1[c] * v[c]
            t2 += r2[c] * v[c]
            t3 += r3[c] * v[c]
        out[first + m0 * stride], out[first + m1 * stride] = t0 * number, t1 * number
        out[first + m2 * stride], out[first + m3 * stride] = t2 * number, t3 * number


@tight_kernel
def add_products(
    before: Floats, first: int, stride: int, v: Floats, weight: float, now: Shorts, base: int, sources: Shorts, Y: int,
    counts: Floats,
) -> None:  # fmt: skip
    """counts[base + sources[m], now[j]] += weight · before[first + m · stride] v[j]."""
    number = v.dtype.type(weight)
    if now.shape[0] < Y or sources.shape[0] < Y:
        for m in range(sources.shape[0]):
            a, row = before[first + m * stride] * number, counts[base + sources[m]]
            for j in range(now.shape[0]):
                row[now[j]] += a * v[j]
        return
    for m in range(Y):
        a = before[first + m * stride] * number
        for c in range(Y):
            counts[base + m, c] += a * v[c]


@tight_kernel
def step_to_best(
    before: Floats, first: int, stride: int, S: Floats, base: int, sources: Shorts, Y: int, now: Shorts, out: Floats
) -> None:
    """out[j] = max_m before[first + m · stride] + S[base + sources[m], now[j]]; four whole rows of S at a time (the
    last four overlap those before)."""
    M = sources.shape[0]
    for j in range(now.shape[0]):
        out[j] = -np.inf
    if now.shape[0] < Y or M < Y:
        for m in range(M):
            d, row = before[first + m * stride], S[base + sources[m]]
            for j in range(now.shape[0]):
                out[j] = max(out[j], d + row[now[j]])
        return
    rows = S[base : base + Y]
    for start in range(0, Y, 4):
        m0 = max(min(start, Y - 4), 0)
        m1, m2, m3 = min(m0 + 1, Y - 1), min(m0 + 2, Y - 1), min(m0 + 3, Y - 1)
        d0, d1 = before[first + m0 * stride], before[first + m1 * stride]
        d2, d3 = before[first + m2 * stride], before[first + m3 * stride]
        r0, r1, r2, r3 = rows[m0], rows[m1], rows[m2], rows[m3]
        for c in range(Y):
            s0, s1, s2, s3 = d0 + r0[c], d1 + r1[c], d2 + r2[c], d3 + r3[c]
            a = s0 if s0 > s1 else s1
            b = s2 if s2 > s3 else s3
            a = a if a > b else b
            out[c] = a if a > out[c] else out[c]
