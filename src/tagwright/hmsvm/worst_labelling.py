"""The wrong labelling that violates its margin most, by two-best Viterbi (HMSVM section 6, algorithm 2, line 3).

    H_i = max( 0, max_{y ≠ y_i}  Δ(y, y_i) + F(x_i, y) − F(x_i, y_i) )        the hinge loss of sequence i

    unit       Δ = 1 for every wrong labelling (the papers)
    hamming    Δ = the number of wrong labels: Viterbi in which every wrong label scores 1 more (loss-augmented)

Let ŷ be the best labelling. Where ŷ is wrong, it is the answer. Otherwise the answer is the second best, which departs
from ŷ for the last time (read from the end) at one position t:

    δ_t[j]     = the best score of a labelling of positions 0 to t that ends in j
    v_t(p | c) = δ_t[p] + transition[p, c]
    F(second)  = F(ŷ) − min_t min_{p ≠ ŷ_t} ( v_t(ŷ_t | ŷ_{t+1}) − v_t(p | ŷ_{t+1}) )

and begins with the best prefix into p. Cost: Viterbi, and O(T·Y) more.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tagwright._jit import tight_kernel
from tagwright.arrays import Doubles, Floats, Ints, Longs, empty_rows, padded
from tagwright.chain.viterbi import Steps, first_best, step

MARGINS = ("unit", "hamming")
NO_PRUNING = np.finfo(np.float64).max
"""A pruning bound that every label reaches; not infinite, so that −inf + bound stays −inf."""


class ViterbiChain(NamedTuple):
    """The chain's weights as Viterbi wants them, padded with −inf."""

    transition: Floats  # [Y, P]
    incoming: Floats  # [Y, P] transposed
    start: Floats  # [P]
    stop: Floats  # [P]
    bounds: Floats  # [Y, P] pruning bounds

    @classmethod
    def pruned(cls, transition: Doubles, start: Doubles, stop: Doubles) -> ViterbiChain:
        """For weights that stand still: with exact pruning (chain/viterbi.py)."""
        steps = Steps.build(transition, start, stop, np.float64)
        return cls(steps.transition, steps.incoming, steps.start, steps.stop, steps.bounds)

    @classmethod
    def zeros(cls, n_labels: int) -> ViterbiChain:
        """For weights that change all the time: all zero, without pruning."""
        Y, P = n_labels, padded(n_labels)
        transition, incoming, start, stop = (np.full(shape, -np.inf) for shape in ((Y, P), (Y, P), (P,), (P,)))
        transition[:, :Y], incoming[:, :Y], start[:Y], stop[:Y] = 0.0, 0.0, 0.0, 0.0
        return cls(transition, incoming, start, stop, np.full((Y, P), NO_PRUNING))


@tight_kernel
def score_labelling(emission: Floats, labels: Ints, chain: ViterbiChain) -> float:
    """F of one labelling [T]."""
    T = labels.shape[0]
    score = chain.start[labels[0]] + chain.stop[labels[T - 1]]
    for t in range(T):
        score += emission[t, labels[t]]
        if t > 0:
            score += chain.transition[labels[t - 1], labels[t]]
    return float(score)


@tight_kernel
def best_label(scores: Floats, bonus: Floats, Y: int) -> int:
    """The smallest label that maximises scores + bonus; a label even where those are not numbers."""
    return int(min(first_best(scores, bonus, Y), Y - 1))


@tight_kernel
def trace_back(delta: Floats, incoming: Floats, last: int, path: Ints) -> None:
    """The best prefix into path[last], which is given: path[: last]."""
    for t in range(last - 1, -1, -1):
        path[t] = best_label(delta[t], incoming[path[t + 1]], incoming.shape[0])


@tight_kernel
def best_path(emission: Floats, chain: ViterbiChain, delta: Floats, survivors: Longs, path: Ints) -> float:
    """The best labelling into path [T]; returns its score. delta [≥ T, P] is filled, survivors [Y] is work."""
    T, Y = path.shape[0], chain.incoming.shape[0]
    for j in range(delta.shape[1]):
        delta[0, j] = chain.start[j] + emission[0, j]
    for t in range(1, T):
        step(delta[t - 1], emission[t], chain.transition, chain.bounds, Y, survivors, delta[t])
    path[T - 1] = best_label(delta[T - 1], chain.stop, Y)
    trace_back(delta, chain.incoming, T - 1, path)
    return float(delta[T - 1, path[T - 1]] + chain.stop[path[T - 1]])


@tight_kernel
def second_best(chain: ViterbiChain, delta: Floats, path: Ints) -> float:
    """Turn the best labelling `path` into the second best; returns what that costs (+inf: there is none)."""
    T, Y = path.shape[0], chain.incoming.shape[0]
    least, where, label = np.inf, -1, -1
    for t in range(T - 1, -1, -1):
        into = chain.stop if t == T - 1 else chain.incoming[path[t + 1]]
        best = delta[t, path[t]] + into[path[t]]
        for p in range(Y):
            cost = best - (delta[t, p] + into[p])
            if p != path[t] and cost < least:
                least, where, label = cost, t, p
    if where >= 0:
        path[where] = label
        trace_back(delta, chain.incoming, where, path)
    return least


@tight_kernel
def worst_labelling(
    emission: Floats, gold: Ints, chain: ViterbiChain, hamming: bool, delta: Floats, survivors: Longs, path: Ints
) -> float:
    """argmax_{y ≠ y_i} Δ(y, y_i) + F(x_i, y) into path [T]; returns Δ + F(x_i, y) − F(x_i, y_i) for it.

    That is −inf where there is no wrong labelling (then the path is the right one), and below 0 where the margin is
    more than kept. emission [T, P] is changed for a while; delta [≥ T, P] and survivors [Y] are work.
    """
    T = gold.shape[0]
    if hamming:  # as good as 1 more for every wrong label
        for t in range(T):
            emission[t, gold[t]] -= 1.0
    right = score_labelling(emission, gold, chain)
    value = best_path(emission, chain, delta, survivors, path) - right
    same = True
    for t in range(T):
        same &= path[t] == gold[t]
    if same:
        value -= second_best(chain, delta, path)
    if not hamming:
        return value + 1.0
    for t in range(T):
        emission[t, gold[t]] += 1.0
    return value


@tight_kernel
def fill_worst_labellings(
    emission: Floats, offsets: Longs, gold: Ints, chain: ViterbiChain, hamming: bool, delta: Floats, survivors: Longs,
    labels: Ints, values: Doubles,
) -> None:  # fmt: skip
    """The worst labelling [n] of every sentence of a run, and its value [N]."""
    for i in range(offsets.shape[0] - 1):
        begin, end = offsets[i], offsets[i + 1]
        values[i] = worst_labelling(
            emission[begin:end], gold[begin:end], chain, hamming, delta, survivors, labels[begin:end]
        )


@tight_kernel
def find_slacks(
    emission: Floats, offsets: Longs, gold: Ints, chain: ViterbiChain, hamming: bool, labels: Ints, sizes: Ints,
    slacks: Doubles,
) -> None:  # fmt: skip
    """slacks [N] = ξ_i = max(0, max Δ + F(x_i, y) − F(x_i, y_i)) over the working sets: labels [K, n], sizes [N]."""
    for i in range(offsets.shape[0] - 1):
        begin, end = offsets[i], offsets[i + 1]
        right = score_labelling(emission[begin:end], gold[begin:end], chain)
        slacks[i] = 0.0
        for k in range(sizes[i]):
            margin = 1.0
            if hamming:
                margin = 0.0
                for p in range(begin, end):
                    margin += labels[k, p] != gold[p]
            wrong = score_labelling(emission[begin:end], labels[k, begin:end], chain)
            slacks[i] = max(slacks[i], margin + wrong - right)


def worst_labellings(
    emission: Floats, offsets: Longs, gold: Ints, chain: ViterbiChain, *, hamming: bool
) -> tuple[Ints, Doubles]:
    """The worst labelling [n] and Δ + F(x_i, y) − F(x_i, y_i) for it [N], for a run of sentences, emission [n, P]."""
    labels, values = np.empty(len(emission), np.int32), np.empty(len(offsets) - 1)
    delta = empty_rows((int(np.diff(offsets).max(initial=1)), emission.shape[1]), emission.dtype)
    survivors = np.empty(len(chain.incoming), np.int64)
    fill_worst_labellings(emission, offsets, gold, chain, hamming, delta, survivors, labels, values)
    return labels, values
