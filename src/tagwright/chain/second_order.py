"""Second order: forward-backward over label pairs, with weights for label trigrams.

Stands beside forward_backward, for learners with order=2. From the third position on, a labelling's score has one more
term; at the first two there are start and transition alone, as in order 1:

    F(y) = start[y_0] + Σ_t emission[t, y_t] + Σ_{t≥1} transition[y_{t−1}, y_t] + Σ_{t≥2} trigram[y_{t−2}, y_{t−1}, y_t]
           + stop[y_{T−1}]

A state is a pair (q, c) of the labels at t − 1 and t; p is the label before. Position 0 has pairs with one q that means
nothing. Only candidate labels are walked: k_{t−2} · k_{t−1} · k_t steps. Where all labels are candidates, the inner
loops run along whole rows of W.

    x_t = exp(emission_t − max), M = exp(transition − max), W[q, p, c] = exp(transition[q, c] + trigram[p, q, c] − max)
    forward    α_0[·, c] = x_0[c] exp(start[c]),   α_1[q, c] = x_1[c] α_0[·, q] M[q, c]
               α_t[q, c] = x_t[c] Σ_p α_{t−1}[p, q] W[q, p, c]            each divided by c_t, so that Σ α_t = 1
    backward   β_{T−1}[q, c] = exp(stop[c]),   β_{t−1}[p, q] = Σ_c W[q, p, c] u_t[q, c]
               u_t = x_t ∘ β_t / Σ (x_t ∘ β_t)
    pairs      γ_t = α_t ∘ β_t / g_t,   g_t = Σ α_t ∘ β_t;         nodes: Σ_q γ_t[q, c]
    trigrams   Σ_t α_{t−1}[p, q] v_t[q, c] W[q, p, c],             v_t = x_t ∘ β_t / (c_t g_t);   pairs are sums of them

A sentence where c_t, g_t or Σ u_t falls under FLOOR is given up and repeated with chain/log_space.py.
LM-POS section 2.1 (higher-order label features); Thede and Harper 1999 for the recursions over pairs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tagwright._jit import kernel, tight_kernel
from tagwright.arrays import Bools, Doubles, Floats, Ints, Longs, Shorts
from tagwright.chain.candidates import Candidates, gather_exponentials, scatter_marginals
from tagwright.chain.forward_backward import FLOOR, Chain
from tagwright.chain.log_space import log_second_order
from tagwright.chain.tilt import tilt
from tagwright.chain.trigrams import Trigrams


@dataclass(frozen=True, slots=True)
class SecondOrderChain:
    """What all sentences share, ready for the scaled recursions: the first-order Chain, and W with what was taken out
    of it."""

    first: Chain
    trigrams: Trigrams
    table: Floats  # W [q, p, c]
    shift: float

    @classmethod
    def build(cls, first: Chain, trigrams: Trigrams, dtype: type[np.floating[Any]]) -> SecondOrderChain:
        transition = first.scores[0]
        _, q, c = trigrams.labels
        top = max(float(transition.max()), float((transition[q, c] + trigrams.weights).max(initial=-np.inf)))
        shift = top if np.isfinite(top) else 0.0
        return cls(first, trigrams, trigrams.exponentials(transition, shift, dtype), shift)


AnyChain = Chain | SecondOrderChain


@kernel
def locate_pairs(rows: Ints, pointers: Longs, places: Longs) -> None:
    """places[t]: where the pairs of position t begin in a flat array; places[T]: their number."""
    places[0] = 0
    before = 1
    for t in range(rows.shape[0]):
        size = pointers[rows[t] + 1] - pointers[rows[t]]
        places[t + 1] = places[t] + before * size
        before = size


@kernel
def step_forward(before: Floats, W: Floats, out: Floats) -> None:
    """out[q, c] = Σ_p before[p, q] W[q, p, c] over all labels, four rows of W at a time."""
    Y = W.shape[0]
    for q in range(Y):
        row = out[q]
        for c in range(Y):
            row[c] = 0
        for p in range(0, Y - 3, 4):
            a0, a1, a2, a3 = before[p, q], before[p + 1, q], before[p + 2, q], before[p + 3, q]
            r0, r1, r2, r3 = W[q, p], W[q, p + 1], W[q, p + 2], W[q, p + 3]
            for c in range(Y):
                row[c] += a0 * r0[c] + a1 * r1[c] + a2 * r2[c] + a3 * r3[c]
        for p in range(Y - Y % 4, Y):
            a0, r0 = before[p, q], W[q, p]
            for c in range(Y):
                row[c] += a0 * r0[c]


@tight_kernel
def step_candidates_forward(before: Floats, W: Floats, older: Shorts, last: Shorts, now: Shorts, out: Floats) -> None:
    """The same over candidates: `older` of p, `last` of q, `now` of c."""
    for i in range(last.shape[0]):
        for j in range(now.shape[0]):
            out[i, j] = 0
        for h in range(before.shape[0]):
            a, p, q = before[h, i], older[h], last[i]
            for j in range(now.shape[0]):
                out[i, j] += a * W[q, p, now[j]]


@kernel
def walk_pairs_forward(
    x: Floats, rows: Ints, pointers: Longs, labels: Shorts, places: Longs, M: Floats, W: Floats, start: Floats,
    alpha: Floats, c: Doubles,
) -> bool:  # fmt: skip
    """α and c of one sentence. False when a sum is too small to trust."""
    older = last = np.zeros(1, labels.dtype)
    for t in range(rows.shape[0]):
        now = labels[pointers[rows[t]] : pointers[rows[t] + 1]]
        out = alpha[places[t] : places[t + 1]].reshape(-1, now.shape[0])
        if t == 0:
            for j in range(now.shape[0]):
                out[0, j] = start[now[j]]
        else:
            before = alpha[places[t - 1] : places[t]].reshape(-1, last.shape[0])
            if t == 1:
                step_candidates_forward(before, M, older, last, now, out)
            elif older.shape[0] == last.shape[0] == now.shape[0] == W.shape[0]:
                step_forward(before, W, out)
            else:
                step_candidates_forward(before, W, older, last, now, out)
        total = x.dtype.type(0)
        for i in range(out.shape[0]):
            for j in range(out.shape[1]):
                out[i, j] *= x[t, j]
                total += out[i, j]
        c[t] = total
        if not total > FLOOR:
            return False
        inverse = x.dtype.type(1 / total)
        for e in range(places[t], places[t + 1]):
            alpha[e] *= inverse
        older, last = last, now
    return True


@tight_kernel
def look_back(x: Floats, alpha: Floats, beta: Floats, c: float, gamma: Floats, u: Floats, v: Floats) -> bool:
    """From β_t [pairs]: γ_t [k_t] (nodes), u_t and v_t [pairs]. False when a sum is too small to trust."""
    size = x.shape[0]
    g = 0.0
    total = 0.0
    for e in range(0, alpha.shape[0], size):
        for j in range(size):
            g += alpha[e + j] * beta[e + j]
            total += x[j] * beta[e + j]
    if not (g > FLOOR and total > FLOOR):
        return False
    node, step, edge = x.dtype.type(1 / g), x.dtype.type(1 / total), x.dtype.type(1 / (g * c))
    gamma[:] = 0
    for e in range(0, alpha.shape[0], size):
        for j in range(size):
            weight = x[j] * beta[e + j]
            gamma[j] += alpha[e + j] * beta[e + j] * node
            u[e + j] = weight * step
            v[e + j] = weight * edge
    return True


@kernel
def step_back(W: Floats, u: Floats, out: Floats) -> None:
    """out[p, q] = Σ_c W[q, p, c] u[q, c] over all labels."""
    Y = W.shape[0]
    for q in range(Y):
        values = u[q]
        for p in range(Y):
            row = W[q, p]
            total = W.dtype.type(0)
            for c in range(Y):
                total += row[c] * values[c]
            out[p, q] = total


@tight_kernel
def step_candidates_back(W: Floats, older: Shorts, last: Shorts, now: Shorts, u: Floats, out: Floats) -> None:
    """The same over candidates, as step_candidates_forward has them."""
    for h in range(out.shape[0]):
        for i in range(last.shape[0]):
            p, q = older[h], last[i]
            total = u.dtype.type(0)
            for j in range(now.shape[0]):
                total += W[q, p, now[j]] * u[i, j]
            out[h, i] = total


@kernel
def walk_pairs_backward(
    x: Floats, rows: Ints, pointers: Longs, labels: Shorts, places: Longs, M: Floats, W: Floats, stop: Floats,
    alpha: Floats, c: Doubles, beta: Floats, u: Floats, v: Floats, gamma: Floats,
) -> bool:  # fmt: skip
    """γ and v of one sentence; beta, u [≥ most pairs of a position] are work. False when a sum is too small."""
    T = rows.shape[0]
    nothing = np.zeros(1, labels.dtype)
    for t in range(T - 1, -1, -1):
        now = labels[pointers[rows[t]] : pointers[rows[t] + 1]]
        begin, end = places[t], places[t + 1]
        if t == T - 1:
            for e in range(0, end - begin, now.shape[0]):
                for j in range(now.shape[0]):
                    beta[e + j] = stop[now[j]]
        if not look_back(x[t, : now.shape[0]], alpha[begin:end], beta, c[t], gamma[t, : now.shape[0]], u, v[begin:end]):
            return False
        if t > 0:
            last = labels[pointers[rows[t - 1]] : pointers[rows[t - 1] + 1]]
            older = labels[pointers[rows[t - 2]] : pointers[rows[t - 2] + 1]] if t > 1 else nothing
            out = beta[: begin - places[t - 1]].reshape(-1, last.shape[0])
            ahead = u[: end - begin].reshape(-1, now.shape[0])
            if t == 1:
                step_candidates_back(M, older, last, now, ahead, out)
            elif older.shape[0] == last.shape[0] == now.shape[0] == W.shape[0]:
                step_back(W, ahead, out)
            else:
                step_candidates_back(W, older, last, now, ahead, out)
    return True


@kernel
def add_all_trigrams(before: Floats, v: Floats, weight: float, edges: Floats) -> None:
    """edges[q, p, c] += weight · before[p, q] v[q, c] over all labels."""
    number = v.dtype.type(weight)
    Y = edges.shape[0]
    for q in range(Y):
        values = v[q]
        for p in range(Y):
            a, row = before[p, q] * number, edges[q, p]
            for c in range(Y):
                row[c] += a * values[c]


@tight_kernel
def add_candidate_trigrams(
    before: Floats, v: Floats, older: Shorts, last: Shorts, now: Shorts, weight: float, edges: Floats
) -> None:
    """The same over candidates, as step_candidates_forward has them."""
    number = v.dtype.type(weight)
    for i in range(last.shape[0]):
        for h in range(before.shape[0]):
            a, p, q = before[h, i] * number, older[h], last[i]
            for j in range(now.shape[0]):
                edges[q, p, now[j]] += a * v[i, j]


@kernel
def add_trigrams(
    alpha: Floats, v: Floats, rows: Ints, pointers: Longs, labels: Shorts, places: Longs, weight: float,
    pairs: Floats, edges: Floats,
) -> None:  # fmt: skip
    """pairs [q, ·, c] += weight · α_0[·, q] v_1[q, c];  edges [q, p, c] += weight · Σ_{t≥2} α_{t−1}[p, q] v_t[q, c]."""
    nothing = np.zeros(1, labels.dtype)
    for t in range(1, rows.shape[0]):
        now = labels[pointers[rows[t]] : pointers[rows[t] + 1]]
        last = labels[pointers[rows[t - 1]] : pointers[rows[t - 1] + 1]]
        older = labels[pointers[rows[t - 2]] : pointers[rows[t - 2] + 1]] if t > 1 else nothing
        before = alpha[places[t - 1] : places[t]].reshape(-1, last.shape[0])
        ahead = v[places[t] : places[t + 1]].reshape(-1, now.shape[0])
        if t == 1:
            add_candidate_trigrams(before, ahead, older, last, now, weight, pairs)
        elif older.shape[0] == last.shape[0] == now.shape[0] == edges.shape[0]:
            add_all_trigrams(before, ahead, weight, edges)
        else:
            add_candidate_trigrams(before, ahead, older, last, now, weight, edges)


@kernel
def forward_backward_of_pairs(
    emission: Floats, offsets: Longs, rows: Ints, pointers: Longs, labels: Shorts, M: Floats, W: Floats, start: Floats,
    stop: Floats, x: Floats, gamma: Floats, places: Longs, alpha: Floats, v: Floats, beta: Floats, u: Floats,
    c: Doubles, pairs: Floats, edges: Floats, log_z: Doubles, done: Bools, weights: Doubles, pivots: Doubles,
    rate: float,
) -> None:  # fmt: skip
    """All sentences of a run.

    Given: emission [n, P] scores; offsets [N + 1]; Candidates; a SecondOrderChain's arrays.
    Work space: x, gamma [L, K], places [L + 1], c [L] with L the longest length and K the longest list; alpha, v as
    long as the most pairs of a sentence, beta, u of a position.
    Returned: emission is overwritten by γ; pairs [Y, 1, Y] and edges [Y, Y, Y] as add_trigrams has them (multiply by M
    and W); log_z [N] without shifts; weights [N] are tilted (chain/tilt.py) and count in both; done [N], false where
    scaled numbers would not do: such a sentence keeps its emission and weight and adds nothing.
    """
    for i in range(offsets.shape[0] - 1):
        begin, end = offsets[i], offsets[i + 1]
        T = end - begin
        here = rows[begin:end]
        locate_pairs(here, pointers, places)
        shift = gather_exponentials(emission[begin:end], here, pointers, labels, x)
        done[i] = walk_pairs_forward(x, here, pointers, labels, places, M, W, start, alpha, c)
        done[i] = done[i] and walk_pairs_backward(
            x, here, pointers, labels, places, M, W, stop, alpha, c, beta, u, v, gamma
        )
        if not done[i]:
            continue
        first = pointers[rows[end - 1]]
        size = pointers[rows[end - 1] + 1] - first
        total = 0.0
        for e in range(places[T - 1], places[T], size):
            for j in range(size):
                total += alpha[e + j] * stop[labels[first + j]]
        log_z[i] = shift + np.log(total)
        for t in range(T):
            log_z[i] += np.log(c[t])
        weights[i] = tilt(weights[i], rate, log_z[i] - pivots[i])
        add_trigrams(alpha, v, here, pointers, labels, places, weights[i], pairs, edges)
        scatter_marginals(gamma, here, pointers, labels, emission[begin:end])


@dataclass(frozen=True, slots=True)
class PairExpectations:
    """log Z and tilted weight of each sentence, counts of transitions [Y, Y] and of trigrams that have a weight [K]."""

    log_z: Doubles
    transitions: Doubles
    weights: Doubles
    trigrams: Doubles


def most_pairs(offsets: Longs, candidates: Candidates) -> tuple[int, int]:
    """The most label pairs of a sentence, and of a position."""
    sizes = candidates.sizes
    pairs = sizes * np.concatenate([[1], sizes[:-1]])
    pairs[offsets[:-1]] = sizes[offsets[:-1]]
    return int(np.add.reduceat(pairs, offsets[:-1]).max()), int(pairs.max())


def expect_of_pairs(
    emission: Floats,
    offsets: Longs,
    candidates: Candidates,
    chain: SecondOrderChain,
    *,
    weights: Doubles | None = None,
    pivots: Doubles | None = None,
    rate: float = 0.0,
) -> PairExpectations:
    """Forward-backward of a run of sentences: emission [n, P] is overwritten by the node marginals.

    Sentence i counts weights[i] · exp(rate · (log Z_i − pivots[i])) times in the counts; once if nothing is given.
    log Z is −inf where no labelling is possible (such a sentence's marginals mean nothing).
    """
    lengths, dtype, Y, first = np.diff(offsets), emission.dtype, chain.first.n_labels, chain.first
    N, L, K = len(lengths), int(lengths.max()), int(candidates.sizes.max())
    longest, widest = most_pairs(offsets, candidates)
    (x, gamma), (alpha, v), (beta, u) = (np.empty((2, *size), dtype) for size in ((L, K), (longest,), (widest,)))
    pairs, edges = np.zeros((Y, 1, Y), dtype), np.zeros((Y, Y, Y), dtype)
    M = first.matrix[:Y, None, :Y]  # W of position 1, where p means nothing
    log_z, done = np.empty(N), np.empty(N, np.bool_)
    shifts = first.shift * (lengths > 1) + chain.shift * np.maximum(lengths - 2, 0) + first.edge_shift
    weights = np.ones(N) if weights is None else weights.copy()
    pivots = np.zeros(N) if pivots is None else pivots
    forward_backward_of_pairs(
        emission, offsets, *candidates.arrays, np.ascontiguousarray(M), chain.table, first.start, first.stop,
        x, gamma, np.empty(L + 1, np.int64), alpha, v, beta, u, np.empty(L), pairs, edges, log_z, done,
        weights, pivots - shifts, rate,
    )  # fmt: skip
    log_z += shifts
    pairs *= M
    edges *= chain.table
    for i in np.flatnonzero(~done):
        run = slice(offsets[i], offsets[i + 1])
        scores = chain.trigrams.table(first.scores[0], dtype.type)
        here = candidates.part(run.start, run.stop).arrays
        some = np.zeros((Y, Y), dtype), np.zeros_like(edges)
        log_z[i] = log_second_order(emission[run], *here, *first.scores, scores, emission[run], *some)
        weights[i] = tilt(weights[i], rate, log_z[i] - pivots[i])
        pairs += weights[i] * some[0][:, None]
        edges += weights[i] * some[1]
    p, q, c = chain.trigrams.labels
    transitions = pairs[:, 0] + edges.sum(axis=1, dtype=np.float64)
    return PairExpectations(log_z, transitions, weights, edges[q, p, c].astype(np.float64))
