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

import numpy as np

from tagwright._jit import tight_kernel
from tagwright.arrays import Doubles, Floats, Ints, Longs
from tagwright.chain.viterbi import PrunedSteps, best_path, trace_back
from tagwright.optim.online import DecodingWork

MARGINS = ("unit", "hamming")


@tight_kernel
def score_labelling(emission: Floats, labels: Ints, chain: PrunedSteps) -> float:
    """F of one labelling [T]."""
    T = labels.shape[0]
    score = chain.start[labels[0]] + chain.stop[labels[T - 1]]
    for t in range(T):
        score += emission[t, labels[t]]
        if t > 0:
            score += chain.transition[labels[t - 1], labels[t]]
    return float(score)


@tight_kernel
def second_best(chain: PrunedSteps, delta: Floats, path: Ints) -> float:
    """Turn the best labelling `path` into the second best; returns what that costs (+inf: there is none)."""
    T, Y = path.shape[0], chain.incoming.shape[0]
    least, where, label = np.inf, T, 0
    for t in range(T - 1, -1, -1):
        into = chain.stop if t == T - 1 else chain.incoming[path[t + 1]]
        best = delta[t, path[t]] + into[path[t]]
        for p in range(Y):
            cost = best - (delta[t, p] + into[p])
            if p != path[t] and cost < least:
                least, where, label = cost, t, p
    if where < T:
        path[where] = label
    if 0 < where < T:  # the best prefix into that label, which takes the part of the end
        path[:where] = -1
        trace_back(delta, where, chain.incoming, chain.incoming[path[where]], path)
    return least


@tight_kernel
def worst_labelling(
    emission: Floats, gold: Ints, chain: PrunedSteps, hamming: bool, delta: Floats, survivors: Longs, path: Ints
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
    value = best_path(emission, T, chain, delta, survivors, path) - right
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
def search_sentences(
    emission: Floats, offsets: Longs, gold: Ints, chain: PrunedSteps, hamming: bool, kept: Ints, sizes: Longs,
    work: DecodingWork, losses: Doubles, slacks: Doubles,
) -> None:  # fmt: skip
    """Of every sentence of a run, losses [N] = H_i, and slacks [N] = ξ_i: the same over its working set alone. emission
    [n, P] is changed for a while; kept [K, n] and sizes [N] are the working sets."""
    for i in range(offsets.shape[0] - 1):
        begin, end = offsets[i], offsets[i + 1]
        rows, own, path = emission[begin:end], gold[begin:end], work.path[: end - begin]
        losses[i] = max(worst_labelling(rows, own, chain, hamming, work.delta, work.survivors, path), 0.0)
        slacks[i] = 0.0
        right = score_labelling(rows, own, chain)
        for k in range(sizes[i]):
            margin = 1.0
            if hamming:
                margin = 0.0
                for p in range(begin, end):
                    margin += kept[k, p] != gold[p]
            wrong = score_labelling(rows, kept[k, begin:end], chain)
            slacks[i] = max(slacks[i], margin + wrong - right)
