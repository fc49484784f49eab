"""Working sets: some wrong labellings y of each sequence i with multipliers α_i(y), and the optimum over one of them.

Every labelling in a working set stands for the constraint ⟨w, δΦ(i, y)⟩ ≥ Δ(y, y_i) − ξ_i, with
δΦ(i, y) = Φ(x_i, y_i) − Φ(x_i, y) and w = Σ α_i(y) δΦ(i, y). It is described by where it differs from the right one:

    positions t with y_t ≠ y_it;   edges: label pairs of neighbours (start and stop too) with +1 for y_i, −1 for y

    ⟨δΦ_a, δΦ_b⟩ = Σ_{t ∈ a, u ∈ b} k(x_t, x_u) ([y_t = y_u] − [y_t = b_u] − [a_t = y_u] + [a_t = b_u])  + edges alike

k: any kernel between two tokens of the sentence. So nothing here knows how w is kept: the caller brings the rows of
emission scores, and takes away what has changed. With all other sequences fixed, maximising the dual over the α of one
sequence (W_i, HMSVM equation (17)) is a small quadratic programme (simplex_qp.py):

    gains m_a = Δ_a − ⟨w, δΦ_a⟩ + Σ_b ⟨δΦ_a, δΦ_b⟩ α_b        cap C (L1), 1/C added to the products (L2), or neither
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tagwright._jit import tight_kernel
from tagwright.arrays import Doubles, Ints, Longs, padded
from tagwright.hmsvm.simplex_qp import solve_simplex_qp
from tagwright.kernels.chain_weights import ChainWeights, change_edge, edge_at

TOLERANCE = 1e-9
"""Of the optimality conditions of one sequence."""
REMAINING = 0.05
"""The share of a sequence's gap that one optimisation may leave: the next will find other weights anyhow (L1)."""
PATIENCE = 10
"""A labelling is dropped when its α was 0 after more optimisations of its sequence than that."""

DONE, FULL, NO_ROOM, UNLIMITED, NOTHING_NEW = 0, 1, 2, 3, 4
"""How a step ends: done; a working set is full; there is no room for new weights; the optimum of a sequence is
infinite; nothing to add."""

GAINS, GRADIENT, OLD_ALPHA, SHORTFALLS = range(4)
"""Rows of SequenceWork.vectors."""


class MarginProblem(NamedTuple):
    """The training data. products: k(x_t, x_u) of sentence i at squares[i] + t · T + u."""

    offsets: Longs  # [N + 1]
    gold: Ints  # [n]
    squares: Longs  # [N + 1]
    products: Doubles  # [squares[-1]]
    n_labels: int
    boundaries: bool  # whether first and last labels have weights
    hamming: bool
    cap: float  # on Σ_y α_i(y): C with L1 slack, else ∞
    ridge: float  # added to all inner products of a sequence: 1/C with L2 slack, else 0


class WorkingSets(NamedTuple):
    """Sequence i has the labellings k < sizes[i]: labels[k, offsets[i] : offsets[i + 1]], multipliers alpha[i, k]."""

    labels: Ints  # [K, n]
    alpha: Doubles  # [N, K]
    idle: Ints  # [N, K] for how many optimisations α has been 0
    sizes: Longs  # [N]

    @classmethod
    def build(cls, n_sentences: int, n_tokens: int, room: int) -> WorkingSets:
        alpha, idle = np.zeros((n_sentences, room)), np.zeros((n_sentences, room), np.int32)
        return cls(np.zeros((room, n_tokens), np.int32), alpha, idle, np.zeros(n_sentences, np.int64))

    def grown(self) -> WorkingSets:
        """The same with room for twice as many labellings."""
        labels = np.concatenate([self.labels, np.zeros_like(self.labels)])
        alpha = np.hstack([self.alpha, np.zeros_like(self.alpha)])
        return WorkingSets(labels, alpha, np.hstack([self.idle, np.zeros_like(self.idle)]), self.sizes)


class SequenceWork(NamedTuple):
    """What is computed for one sequence at a time. T ≤ L."""

    emission: Doubles  # [L, P] the scores of its tokens
    change: Doubles  # [L, Y] what the multipliers β(t, y) of its tokens gained; the caller clears it
    positions: Longs  # [K, L] where labelling k differs from the right one
    right: Longs  # [K, L] the right label there
    wrong: Longs  # [K, L] and that of labelling k
    n_positions: Longs  # [K]
    edges: Longs  # [K, 2 (L + 1)]: label pair i · Y + j, then start Y² + j, stop Y² + Y + j
    signs: Doubles  # [K, 2 (L + 1)]
    n_edges: Longs  # [K]
    used: Longs  # [L, Y] the labels at t of all labellings that differ there, and the right one
    n_used: Longs  # [L]
    edge_sums: Doubles  # [Y² + 2Y] zeros: the edges of one labelling, written out
    gram: Doubles  # [K, K] ⟨δΦ_a, δΦ_b⟩
    vectors: Doubles  # [4, K + 1] of the programme: GAINS, GRADIENT, OLD_ALPHA, SHORTFALLS (Δ − ⟨w, δΦ⟩)
    found: Ints  # [L] the worst labelling
    delta: Doubles  # [L, P]
    survivors: Longs  # [Y]

    @classmethod
    def build(cls, room: int, longest: int, n_labels: int) -> SequenceWork:
        K, L, Y, P = room, longest, n_labels, padded(n_labels)

        def integers(*shape: int) -> Longs:
            return np.zeros(shape, np.int64)

        return cls(
            np.zeros((L, P)), np.zeros((L, Y)), integers(K, L), integers(K, L), integers(K, L), integers(K),
            integers(K, 2 * (L + 1)), np.zeros((K, 2 * (L + 1))), integers(K), integers(L, Y), integers(L),
            np.zeros(Y * Y + 2 * Y), np.zeros((K, K)), np.zeros((4, K + 1)), np.zeros(L, np.int32), np.zeros((L, P)),
            integers(Y),
        )  # fmt: skip


class DualSolution(NamedTuple):
    """All that an optimisation of one sequence reads and changes, but for the weights of attributes."""

    problem: MarginProblem
    sets: WorkingSets
    chain: ChainWeights
    work: SequenceWork
    gaps: Doubles  # [N] what each sequence added to the duality gap when it was last optimised


@tight_kernel
def describe_labelling(problem: MarginProblem, sets: WorkingSets, i: int, k: int, work: SequenceWork) -> None:
    """Where labelling k of sequence i differs from the right one, and the labels whose scores that takes."""
    begin, T, Y = problem.offsets[i], problem.offsets[i + 1] - problem.offsets[i], problem.n_labels
    gold, labels = problem.gold[begin : begin + T], sets.labels[k, begin : begin + T]
    n, e = 0, 0
    for t in range(T + 1):
        here = t < T and labels[t] != gold[t]
        if here:
            work.positions[k, n], work.right[k, n], work.wrong[k, n] = t, gold[t], labels[t]
            n += 1
            if work.n_used[t] == 0:
                work.used[t, 0] = gold[t]
                work.n_used[t] = 1
            new = True
            for m in range(work.n_used[t]):
                new &= work.used[t, m] != labels[t]
            if new:
                work.used[t, work.n_used[t]] = labels[t]
                work.n_used[t] += 1
        before = t > 0 and labels[t - 1] != gold[t - 1]
        if (here or before) and (problem.boundaries or 0 < t < T):
            work.edges[k, e], work.signs[k, e] = edge_at(gold, t, T, Y), 1.0
            work.edges[k, e + 1], work.signs[k, e + 1] = edge_at(labels, t, T, Y), -1.0
            e += 2
    work.n_positions[k], work.n_edges[k] = n, e


@tight_kernel
def multiply_labellings(problem: MarginProblem, i: int, a: int, work: SequenceWork) -> None:
    """work.gram[a, b] and [b, a] = ⟨δΦ_a, δΦ_b⟩ (+ 1/C for L2) for all labellings b ≤ a of sequence i."""
    T = problem.offsets[i + 1] - problem.offsets[i]
    for m in range(work.n_edges[a]):
        work.edge_sums[work.edges[a, m]] += work.signs[a, m]
    for b in range(a + 1):
        total = 0.0
        for m in range(work.n_positions[a]):
            right, wrong = work.right[a, m], work.wrong[a, m]
            row = problem.squares[i] + work.positions[a, m] * T
            for n in range(work.n_positions[b]):
                g, w = work.right[b, n], work.wrong[b, n]
                same = (right == g) * 1.0 - (right == w) * 1.0 - (wrong == g) * 1.0 + (wrong == w) * 1.0
                if same != 0.0:
                    total += same * problem.products[row + work.positions[b, n]]
        total += problem.ridge
        for m in range(work.n_edges[b]):
            total += work.edge_sums[work.edges[b, m]] * work.signs[b, m]
        work.gram[a, b] = total
        work.gram[b, a] = total
    for m in range(work.n_edges[a]):
        work.edge_sums[work.edges[a, m]] = 0.0


@tight_kernel
def find_shortfalls(problem: MarginProblem, sets: WorkingSets, i: int, edges: Doubles, work: SequenceWork) -> float:
    """Δ − ⟨w, δΦ⟩ of the labellings of sequence i under the current scores; returns what i adds to the duality gap over
    the working sets, H being the largest shortfall, at least 0:

    L1: C H − Σ α (Δ − ⟨w, δΦ⟩);   L2: C/2 H² + (Σ α)² / 2C − Σ α (Δ − ⟨w, δΦ⟩);   hard: as L1 with the cap Σ α

    work.emission: filled for the labels used. edges [Y² + 2Y]: weights of the edges.
    """
    worst, total, used = 0.0, 0.0, 0.0
    for k in range(sets.sizes[i]):
        value = float(work.n_positions[k]) if problem.hamming else 1.0
        for m in range(work.n_positions[k]):
            t = work.positions[k, m]
            value += work.emission[t, work.wrong[k, m]] - work.emission[t, work.right[k, m]]
        for m in range(work.n_edges[k]):
            value -= work.signs[k, m] * edges[work.edges[k, m]]
        work.vectors[SHORTFALLS, k] = value
        worst = max(worst, value)
        total += sets.alpha[i, k]
        used += sets.alpha[i, k] * value
    if problem.ridge > 0.0:
        return 0.5 * worst * worst / problem.ridge + 0.5 * problem.ridge * total * total - used
    return (problem.cap if problem.cap < np.inf else total) * worst - used


@tight_kernel
def optimise_alpha(problem: MarginProblem, sets: WorkingSets, i: int, chain: ChainWeights, work: SequenceWork) -> bool:
    """The best α of sequence i, all else fixed; False where it has none (the maximum is infinite).

    Given: labellings described and multiplied, their shortfalls. Changed: α, and with them the chain and
    work.emission; work.change says what the tokens gained.
    """
    K, T = sets.sizes[i], problem.offsets[i + 1] - problem.offsets[i]
    alpha, gains, old = sets.alpha[i], work.vectors[GAINS], work.vectors[OLD_ALPHA]
    for a in range(K):
        old[a] = alpha[a]
    for a in range(K):
        gains[a] = work.vectors[SHORTFALLS, a]
        for b in range(K):
            gains[a] += (work.gram[a, b] - problem.ridge) * old[b]
    if not solve_simplex_qp(gains, work.gram, K, problem.cap, TOLERANCE, REMAINING, alpha, work.vectors[GRADIENT]):
        return False
    for k in range(K):
        sets.idle[i, k] = sets.idle[i, k] + 1 if alpha[k] == 0.0 else 0
        gain = alpha[k] - old[k]
        if gain == 0.0:
            continue
        for m in range(work.n_positions[k]):  # w += gain · δΦ of labelling k, as far as sequence i sees it
            u, right, wrong = work.positions[k, m], work.right[k, m], work.wrong[k, m]
            work.change[u, right] += gain
            work.change[u, wrong] -= gain
            for t in range(T):
                amount = gain * problem.products[problem.squares[i] + u * T + t]
                work.emission[t, right] += amount
                work.emission[t, wrong] -= amount
        for m in range(work.n_edges[k]):
            change_edge(work.edges[k, m], gain * work.signs[k, m], chain)
    return True


@tight_kernel
def drop_idle(problem: MarginProblem, sets: WorkingSets, i: int) -> None:
    """Drop the labellings of sequence i that have had no part in w for long."""
    begin, end = problem.offsets[i], problem.offsets[i + 1]
    kept = 0
    for k in range(sets.sizes[i]):
        if sets.idle[i, k] > PATIENCE:
            continue
        if kept < k:
            sets.alpha[i, kept], sets.idle[i, kept] = sets.alpha[i, k], sets.idle[i, k]
            for p in range(begin, end):
                sets.labels[kept, p] = sets.labels[k, p]
        kept += 1
    sets.alpha[i, kept:] = 0.0
    sets.sizes[i] = kept


@tight_kernel
def add_labelling(problem: MarginProblem, sets: WorkingSets, i: int, found: Ints) -> int:
    """Put the labelling found [≥ T] of sequence i into its working set; NOTHING_NEW where it is there already."""
    begin, end = problem.offsets[i], problem.offsets[i + 1]
    K = sets.sizes[i]
    for k in range(K):
        same = True
        for p in range(begin, end):
            same &= sets.labels[k, p] == found[p - begin]
        if same:
            return NOTHING_NEW
    if sets.labels.shape[0] == K:
        return FULL
    sets.alpha[i, K], sets.idle[i, K] = 0.0, 0
    for p in range(begin, end):
        sets.labels[K, p] = found[p - begin]
    sets.sizes[i] = K + 1
    return DONE
