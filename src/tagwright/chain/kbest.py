"""The K best labellings of a sentence, exactly: Viterbi, then one short walk for each further labelling.

Stands beside viterbi. `predict_nbest` and the HM-SVM's search for the best wrong labelling read it; the definition is
chain/recursion.py with the semiring KMax.

    δ_0[y] = start[y] + emission[0, y]
    δ_t[c] = max_p ( δ_{t−1}[p] + transition[p, c] ) + emission[t, c]                    the best prefix (Viterbi)
    v_t(p | c) = δ_t[p] + transition[p, c],    v_{T−1}(p | END) = δ_{T−1}[p] + stop[p]
    gap_t(p | c) = max_q v_t(q | c) − v_t(p | c)                    what it costs to leave the best path into c at t

A labelling is the best one with changes. Read it from its end: where it takes p before c although the best prefix into
c comes from elsewhere, it pays gap_t(p | c). So F(y) = F(ŷ) − Σ gaps, every gap ≥ 0, and the K best labellings are the
K with the smallest sums. They are found in order. When labelling y is found, its leftmost change being at position d,
the labellings that are left in its branch are split by their next change (Lawler's partition):

    sibling      the labels of y after d, and at d the next best label instead
    children     for each t < d: the labels of y after t, and at t the second best label before y_{t+1}

Each labelling not yet found lies in exactly one branch, so none comes twice; a branch is known by its best member. One
sorted list of K entries holds all: the found labellings first, then the open branches. What falls off its end is not
among the K best. Cost: O(T·Y²) for δ, O(Y) for each pair (t, c) visited, O(T) for each labelling, and O(K) to sort in
a branch that is good enough for the list.

Lawler, A procedure for computing the K best solutions (Management Science, 1972). Nilsson and Goldberger, Sequentially
finding the N-best list in hidden Markov models (IJCAI 2001). Eppstein, Finding the k shortest paths (1998): the gaps.

Ties: of equal sums the labelling with the smaller label at the last position where they differ comes first, which is
the tie rule of best_path. It is the order of all labellings sorted by (−score, labels read from the end).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from tagwright._jit import kernel
from tagwright.arrays import Doubles, Longs
from tagwright.chain.lattice import Lattice
from tagwright.errors import ParameterError


class Branches(NamedTuple):
    """The sorted list: entry i is the best labelling of a branch. One slot more, for the branch to be sorted in."""

    loss: Doubles  # [K+1] the sum of its gaps
    base: Doubles  # [K+1] the same without the gap at its own change
    parent: Longs  # [K+1] the found entry whose labels it has after its own change; −1 for the first
    position: Longs  # [K+1] where its own change is; T for the first, which has none
    label: Longs  # [K+1] the label there


class Choices(NamedTuple):
    """What is known of the labels p before (t, c), c = Y being the end. Filled when a labelling first passes there."""

    first: Longs  # [T, Y+1] the best label; −1 not yet known
    second: Longs  # [T, Y+1] the second best; −1 none


def k_best(
    emission: ArrayLike, transition: ArrayLike, start: ArrayLike, stop: ArrayLike, k: int
) -> tuple[Longs, Doubles]:
    """The k best labellings, best first: paths [K', T] and their scores [K'], falling.

    Given:    emission [T, Y], transition [Y, Y] (previous, current), start [Y], stop [Y]; −inf forbids.
    Returned: K' = min(k, number of labellings with a score above −inf). No labelling twice; K' = 0 when there is none.
    """
    if k < 1:
        raise ParameterError(f"k: found {k}, expected at least 1")
    lattice = Lattice(*(np.asarray(scores, np.float64, order="C") for scores in (emission, transition, start, stop)))
    T, Y = lattice.emission.shape
    if T * np.log2(Y) < 62:
        k = min(k, Y**T)
    delta = np.empty((T, Y))
    fill_prefixes(lattice.emission, lattice.transition, lattice.start, delta)
    into = np.empty((Y + 1, Y))  # into[c, p] = transition[p, c], by rows; the end is label Y
    into[:Y], into[Y] = lattice.transition.T, lattice.stop
    known = Choices(*np.full((2, T, Y + 1), -1, dtype=np.int64))
    branches = Branches(*np.zeros((2, k + 1)), *np.full((3, k + 1), -1, dtype=np.int64))
    branches.position[0] = T
    paths = np.empty((k, T + 1), dtype=np.int64)
    scores = np.empty(k)
    found = fill_k_best(delta, into, known, branches, paths, scores)
    return paths[:found, :T], scores[:found]


@kernel
def fill_k_best(
    delta: Doubles, into: Doubles, known: Choices, branches: Branches, paths: Longs, scores: Doubles
) -> int:
    """Write the K best labellings to paths [K, T+1] (the last column is the end) and scores [K]; return how many.

    Given: δ [T, Y], into [Y+1, Y], nothing known, and the best labelling as the one open branch.
    """
    T, Y = delta.shape
    first = _next_best(delta[T - 1], into[Y], known.first[T - 1, Y])
    if first < 0:
        return 0
    best = delta[T - 1, first] + into[Y, first]
    K = scores.shape[0]
    found = branches.parent[0] + 1  # 0; as a constant, Numba would compile _split and more for it alone
    size = found + 1
    while found < size:
        _write_path(delta, into, known, branches, found, paths)
        scores[found] = best - branches.loss[found]
        if found + 1 < K:
            size = _split(delta, into, known, branches, found, paths, size)
        found += 1
    return int(found)


@kernel
def fill_prefixes(emission: Doubles, transition: Doubles, start: Doubles, delta: Doubles) -> None:
    """δ [T, Y]: Viterbi without pointers. The inner loop runs along a row of `transition`, so it vectorises."""
    T, Y = emission.shape
    for y in range(Y):
        delta[0, y] = start[y] + emission[0, y]
    for t in range(1, T):
        for c in range(Y):
            delta[t, c] = -np.inf
        for p in range(Y):
            before = delta[t - 1, p]
            for c in range(Y):
                delta[t, c] = max(delta[t, c], before + transition[p, c])
        for c in range(Y):
            delta[t, c] += emission[t, c]


@kernel
def _next_best(delta: Doubles, into: Doubles, after: int) -> int:
    """The label that follows `after` in the order of v falling, then label rising; −1 when none is possible.

    v(p) = delta[p] + into[p], both [Y]. The first label of the order follows −1.
    """
    limit = np.inf if after < 0 else delta[after] + into[after]
    label = -1
    top = -np.inf
    for p in range(delta.shape[0]):
        v = delta[p] + into[p]
        if v > top and (v < limit or (v == limit and p > after)):
            top = v
            label = p
    return label


@kernel
def _write_path(delta: Doubles, into: Doubles, known: Choices, branches: Branches, entry: int, paths: Longs) -> None:
    """paths[entry]: the parent's labels after the change, the change, then the best prefix, from right to left."""
    T, Y = delta.shape
    change = branches.position[entry]
    if change == T:
        paths[entry, T] = Y
    else:
        paths[entry, change] = branches.label[entry]
        for t in range(change + 1, T + 1):
            paths[entry, t] = paths[branches.parent[entry], t]
    for t in range(change - 1, -1, -1):
        c = paths[entry, t + 1]
        if known.first[t, c] < 0:
            known.first[t, c] = _next_best(delta[t], into[c], known.first[t, c])
            known.second[t, c] = _next_best(delta[t], into[c], known.first[t, c])
        paths[entry, t] = known.first[t, c]


@kernel
def _split(
    delta: Doubles, into: Doubles, known: Choices, branches: Branches, entry: int, paths: Longs, size: int
) -> int:
    """Lawler's partition of the branch of `entry`: insert its sibling (t = change) and its children (t < change)."""
    T = delta.shape[0]
    K = branches.loss.shape[0] - 1
    change = branches.position[entry]
    for t in range(min(change + 1, T)):
        c = paths[entry, t + 1]
        if t == change:
            base = branches.base[entry]
            label = _next_best(delta[t], into[c], branches.label[entry])
        else:
            base = branches.loss[entry]
            label = known.second[t, c]
        if label < 0:
            continue
        first = known.first[t, c]
        loss = base + ((delta[t, first] + into[c, first]) - (delta[t, label] + into[c, label]))
        if size == K and loss > branches.loss[K - 1]:
            continue
        branches.loss[size] = loss
        branches.base[size] = base
        branches.parent[size] = entry
        branches.position[size] = t
        branches.label[size] = label
        size = _sort_in(branches, paths, size)
    return size


@kernel
def _sort_in(branches: Branches, paths: Longs, size: int) -> int:
    """Move the new branch from slot `size` into order among the open ones. Returns the new size, at most K."""
    low, high = branches.parent[size] + 1, size
    while low < high:
        middle = (low + high) // 2
        if _comes_before(branches, paths, size, middle):
            high = middle
        else:
            low = middle + 1
    loss, base, parent, position, label = branches
    for i in range(size, low, -1):
        loss[i], loss[i - 1] = loss[i - 1], loss[i]
        base[i], base[i - 1] = base[i - 1], base[i]
        parent[i], parent[i - 1] = parent[i - 1], parent[i]
        position[i], position[i - 1] = position[i - 1], position[i]
        label[i], label[i - 1] = label[i - 1], label[i]
    return int(min(size + 1, loss.shape[0] - 1))


@kernel
def _comes_before(branches: Branches, paths: Longs, a: int, b: int) -> bool:
    """Does open branch a come before open branch b? By loss; in a tie by their labels, read from the end.

    The found labellings form a tree of changes, the open branches are its leaves. Two of them agree after the rightmost
    change on the way from one to the other, and differ there.
    """
    if branches.loss[a] != branches.loss[b]:
        return bool(branches.loss[a] < branches.loss[b])
    last = max(branches.position[a], branches.position[b])
    i, j = branches.parent[a], branches.parent[b]
    while i != j:
        last = max(last, branches.position[max(i, j)])
        i, j = min(i, j), branches.parent[max(i, j)]
    of_a = branches.label[a] if last == branches.position[a] else paths[branches.parent[a], last]
    of_b = branches.label[b] if last == branches.position[b] else paths[branches.parent[b], last]
    return bool(of_a < of_b)
