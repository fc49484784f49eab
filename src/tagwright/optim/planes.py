"""Working sets: for each training sequence some wrong labellings with multipliers α, and the optimum over one of them.

A **plane** is a wrong labelling y of sequence i; it stands for the constraint ⟨w, δΦ⟩ ≥ Δ − ξ_i, with
δΦ(i, y) = Φ(x_i, y_i) − Φ(x_i, y) and w = Σ α_i(y) δΦ(i, y). It is kept by what differs from the right labelling:

    positions t with y_t ≠ y_it;   edges: label pairs of neighbours (start and stop too) that gain +1 or lose −1

    ⟨δΦ_a, δΦ_b⟩ = Σ_{t ∈ a, u ∈ b} k(x_t, x_u) ([y_t = y_u] − [y_t = b_u] − [a_t = y_u] + [a_t = b_u])  + edges alike

k: any kernel between two tokens of the sentence, the number of shared attributes for the linear one. So nothing here
knows where w lives: the caller brings the rows of emission scores, and takes away what has changed (HMSVM section 6,
LM-POS section 4). With all other sequences fixed, the α of one sequence are a small quadratic programme
(simplex_qp.py):

    gains m_a = Δ_a − ⟨w, δΦ_a⟩ + Σ_b ⟨δΦ_a, δΦ_b⟩ α_b        cap C (L1), 1/C added to the products (L2), or neither
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tagwright._jit import kernel
from tagwright.arrays import Doubles, Ints, Longs
from tagwright.optim.simplex_qp import UNBOUNDED, solve_simplex_qp

TOLERANCE = 1e-9
"""Of the optimality conditions of one sequence."""

ROUGH = 0.05
"""The share of the gap of one sequence that a visit may leave: the next will find other weights anyhow (L1)."""

PATIENCE = 10
"""A plane is dropped when its α was 0 after more optimisations of its sequence than that."""

DONE, NO_ROOM, INFINITE, NOTHING_NEW = 0, 1, 2, 3
"""How things end: done; a working set is full; the optimum of a sequence is infinite; nothing to add."""


class Problem(NamedTuple):
    """The training data as planes see it. products: k(x_t, x_u) of sentence i at squares[i] + t · T + u."""

    offsets: Longs  # [N + 1]
    gold: Ints  # [n]
    squares: Longs  # [N + 1]
    products: Doubles  # [squares[-1]]
    n_labels: int
    boundaries: bool
    hamming: bool
    cap: float  # on Σ_y α_i(y): C with L1 slack, else ∞
    ridge: float  # added to all products of a sequence: 1/C with L2 slack, else 0


class Planes(NamedTuple):
    """Sequence i has the planes k < sizes[i]: labels[k, offsets[i] : offsets[i + 1]], multipliers alpha[i, k]."""

    labels: Ints  # [K, n]
    alpha: Doubles  # [N, K]
    idle: Ints  # [N, K] for how many optimisations α has been 0
    sizes: Ints  # [N]

    @classmethod
    def build(cls, n_sentences: int, n_tokens: int, room: int) -> Planes:
        alpha, idle = np.zeros((n_sentences, room)), np.zeros((n_sentences, room), np.int32)
        return cls(np.zeros((room, n_tokens), np.int32), alpha, idle, np.zeros(n_sentences, np.int32))

    def grown(self) -> Planes:
        """The same with room for twice as many planes."""
        larger = Planes.build(len(self.alpha), self.labels.shape[1], 2 * len(self.labels))
        larger.labels[: len(self.labels)] = self.labels
        larger.alpha[:, : len(self.labels)] = self.alpha
        larger.idle[:, : len(self.labels)] = self.idle
        larger.sizes[:] = self.sizes
        return larger


class Block(NamedTuple):
    """Work for one sequence. change [L, Y]: what its tokens' multipliers β(t, y) gained; the caller clears it."""

    positions: Longs  # [K, L]
    n_positions: Longs  # [K]
    edges: Longs  # [K, 2 (L + 1)]: label pair i · Y + j, then start Y² + j, stop Y² + Y + j
    signs: Doubles  # [K, 2 (L + 1)]
    n_edges: Longs  # [K]
    wanted: Longs  # [L, Y] the labels of t in all planes that differ there, and the right one
    n_wanted: Longs  # [L]
    spread: Doubles  # [Y² + 2Y] zeros: the edges of one plane, written out
    gram: Doubles  # [K, K]
    vectors: Doubles  # [4, K + 1]: gains, gradient, old α, Δ − ⟨w, δΦ⟩
    change: Doubles  # [L, Y]

    @classmethod
    def build(cls, room: int, longest: int, n_labels: int) -> Block:
        edges = np.zeros((room, 2 * (longest + 1)), np.int64)
        return cls(
            np.zeros((room, longest), np.int64), np.zeros(room, np.int64), edges, np.zeros(edges.shape),
            np.zeros(room, np.int64), np.zeros((longest, n_labels), np.int64), np.zeros(longest, np.int64),
            np.zeros(n_labels * (n_labels + 2)), np.zeros((room, room)), np.zeros((4, room + 1)),
            np.zeros((longest, n_labels)),
        )  # fmt: skip


@kernel
def edge_between(previous: int, current: int, Y: int) -> int:
    """The number of an edge; −1 stands for the ends of the sentence."""
    if previous < 0:
        return Y * Y + current
    if current < 0:
        return Y * Y + Y + previous
    return previous * Y + current


@kernel
def want(block: Block, t: int, label: int) -> None:
    """Put a label on the list of position t, once."""
    for m in range(block.n_wanted[t]):
        if block.wanted[t, m] == label:
            return
    block.wanted[t, block.n_wanted[t]] = label
    block.n_wanted[t] += 1


@kernel
def list_planes(problem: Problem, planes: Planes, i: int, block: Block) -> None:
    """Positions and edges of all planes of sequence i, and the labels whose scores they need."""
    block.n_wanted[: problem.offsets[i + 1] - problem.offsets[i]] = 0
    for k in range(planes.sizes[i]):
        list_plane(problem, planes, i, k, block)


@kernel
def list_plane(problem: Problem, planes: Planes, i: int, k: int, block: Block) -> None:
    """The same for one plane."""
    begin = problem.offsets[i]
    T = problem.offsets[i + 1] - begin
    Y = problem.n_labels
    n, e = 0, 0
    for t in range(T + 1):
        here = t < T and planes.labels[k, begin + t] != problem.gold[begin + t]
        before = t > 0 and planes.labels[k, begin + t - 1] != problem.gold[begin + t - 1]
        if here:
            block.positions[k, n] = t
            want(block, t, problem.gold[begin + t])
            want(block, t, planes.labels[k, begin + t])
            n += 1
        if (here or before) and (problem.boundaries or 0 < t < T):
            last, now = begin + t - 1, begin + t
            block.edges[k, e] = edge_between(problem.gold[last] if t > 0 else -1, problem.gold[now] if t < T else -1, Y)
            block.edges[k, e + 1] = edge_between(
                planes.labels[k, last] if t > 0 else -1, planes.labels[k, now] if t < T else -1, Y
            )
            block.signs[k, e] = 1.0
            block.signs[k, e + 1] = -1.0
            e += 2
    block.n_positions[k] = n
    block.n_edges[k] = e


@kernel
def multiply_labels(problem: Problem, planes: Planes, i: int, a: int, b: int, block: Block) -> float:
    """⟨δΦ_a, δΦ_b⟩ of two planes of sequence i, without the edges."""
    begin = problem.offsets[i]
    T = problem.offsets[i + 1] - begin
    total = 0.0
    for m in range(block.n_positions[a]):
        t = block.positions[a, m]
        right, wrong = problem.gold[begin + t], planes.labels[a, begin + t]
        row = problem.squares[i] + t * T
        for n in range(block.n_positions[b]):
            u = block.positions[b, n]
            g, w = problem.gold[begin + u], planes.labels[b, begin + u]
            same = (right == g) * 1.0 - (right == w) * 1.0 - (wrong == g) * 1.0 + (wrong == w) * 1.0
            if same != 0.0:
                total += same * problem.products[row + u]
    return total


@kernel
def multiply_plane(problem: Problem, planes: Planes, i: int, a: int, block: Block) -> None:
    """block.gram[a, b] and [b, a] = ⟨δΦ_a, δΦ_b⟩ (+ 1/C for L2) for all planes b ≤ a of sequence i."""
    spread = block.spread
    for m in range(block.n_edges[a]):
        spread[block.edges[a, m]] += block.signs[a, m]
    for b in range(a + 1):
        total = multiply_labels(problem, planes, i, a, b, block) + problem.ridge
        for m in range(block.n_edges[b]):
            total += spread[block.edges[b, m]] * block.signs[b, m]
        block.gram[a, b] = total
        block.gram[b, a] = total
    for m in range(block.n_edges[a]):
        spread[block.edges[a, m]] = 0.0


@kernel
def measure_planes(problem: Problem, planes: Planes, i: int, emission: Doubles, chain: Doubles, block: Block) -> float:
    """vectors[3] = Δ − ⟨w, δΦ⟩ of the planes of sequence i, under the current scores; returns the largest, at least 0.

    emission [T, ≥ Y]: where labels are wanted. chain [Y² + 2Y]: weights of the edges.
    """
    begin = problem.offsets[i]
    worst = 0.0
    for k in range(planes.sizes[i]):
        value = float(block.n_positions[k]) if problem.hamming else 1.0
        for m in range(block.n_positions[k]):
            t = block.positions[k, m]
            value += emission[t, planes.labels[k, begin + t]] - emission[t, problem.gold[begin + t]]
        for m in range(block.n_edges[k]):
            value -= block.signs[k, m] * chain[block.edges[k, m]]
        block.vectors[3, k] = value
        worst = max(worst, value)
    return worst


@kernel
def block_gap(problem: Problem, planes: Planes, i: int, worst: float, block: Block) -> float:
    """What sequence i adds to the duality gap over the working sets.

    L1: C H − Σ α (Δ − ⟨w, δΦ⟩);   L2: C/2 H² + (Σ α)² / 2C − Σ α (Δ − ⟨w, δΦ⟩);   hard: as L1 with the cap Σ α
    """
    total, used = 0.0, 0.0
    for k in range(planes.sizes[i]):
        total += planes.alpha[i, k]
        used += planes.alpha[i, k] * block.vectors[3, k]
    if problem.ridge > 0.0:
        return 0.5 * worst * worst / problem.ridge + 0.5 * problem.ridge * total * total - used
    return (problem.cap if problem.cap < np.inf else total) * worst - used


@kernel
def optimise_block(problem: Problem, planes: Planes, i: int, emission: Doubles, chain: Doubles, block: Block) -> bool:
    """The best α of sequence i, all else fixed; False where it has none (the maximum is infinite).

    Given: planes listed, multiplied and measured. Changed: α, and with them chain and emission; block.change says what
    the tokens gained.
    """
    K = planes.sizes[i]
    gains, old = block.vectors[0], block.vectors[2]
    old[:K] = planes.alpha[i, :K]
    for a in range(K):
        gains[a] = block.vectors[3, a]
        for b in range(K):
            gains[a] += (block.gram[a, b] - problem.ridge) * old[b]
    alpha = planes.alpha[i]
    if solve_simplex_qp(gains, block.gram, K, problem.cap, TOLERANCE, ROUGH, alpha, block.vectors[1]) == UNBOUNDED:
        return False
    for k in range(K):
        planes.idle[i, k] = planes.idle[i, k] + 1 if alpha[k] == 0.0 else 0
        if alpha[k] != old[k]:
            move_along(problem, planes, i, k, alpha[k] - old[k], emission, chain, block)
    return True


@kernel
def move_along(
    problem: Problem, planes: Planes, i: int, k: int, gain: float, emission: Doubles, chain: Doubles, block: Block
) -> None:
    """w += gain · δΦ of plane k, as far as sequence i sees it: β of its tokens, their scores, the edges."""
    begin = problem.offsets[i]
    T = problem.offsets[i + 1] - begin
    for m in range(block.n_positions[k]):
        u = block.positions[k, m]
        right, wrong = problem.gold[begin + u], planes.labels[k, begin + u]
        block.change[u, right] += gain
        block.change[u, wrong] -= gain
        for t in range(T):
            amount = gain * problem.products[problem.squares[i] + u * T + t]
            emission[t, right] += amount
            emission[t, wrong] -= amount
    for m in range(block.n_edges[k]):
        chain[block.edges[k, m]] += gain * block.signs[k, m]


@kernel
def drop_idle(problem: Problem, planes: Planes, i: int) -> None:
    """Drop the planes of sequence i that were idle for long."""
    begin, end = problem.offsets[i], problem.offsets[i + 1]
    kept = 0
    for k in range(planes.sizes[i]):
        if planes.idle[i, k] > PATIENCE:
            continue
        if kept < k:
            planes.alpha[i, kept], planes.idle[i, kept] = planes.alpha[i, k], planes.idle[i, k]
            for p in range(begin, end):
                planes.labels[kept, p] = planes.labels[k, p]
        kept += 1
    planes.alpha[i, kept:] = 0.0
    planes.sizes[i] = kept


@kernel
def add_plane(problem: Problem, planes: Planes, i: int, found: Ints) -> int:
    """Put the labelling found [n] of sequence i into its working set; NOTHING_NEW where it is there already."""
    begin, end = problem.offsets[i], problem.offsets[i + 1]
    K = planes.sizes[i]
    for k in range(K):
        same = True
        for p in range(begin, end):
            same &= planes.labels[k, p] == found[p]
        if same:
            return NOTHING_NEW
    if planes.labels.shape[0] == K:
        return NO_ROOM
    planes.alpha[i, K], planes.idle[i, K] = 0.0, 0
    for p in range(begin, end):
        planes.labels[K, p] = found[p]
    planes.sizes[i] = K + 1
    return DONE
