"""The best labelling that is not the right one: two-best Viterbi, for learners with margins.

Stands beside viterbi, for training. HMSVM section 6 asks for the best y ≠ y_i by two-best Viterbi. Let ŷ be the best
labelling. Where ŷ is wrong, it is the answer. Otherwise the answer is the second best, which leaves ŷ for the last time
(read from the end) at one position t (as in chain/kbest.py):

    v_t(p | c) = δ_t[p] + transition[p, c]
    F(second)  = F(ŷ) − min_t min_{p ≠ ŷ_t} ( v_t(ŷ_t | ŷ_{t+1}) − v_t(p | ŷ_{t+1}) )

and has the best prefix into p. Cost: Viterbi, and O(T·Y) more.
"""

from __future__ import annotations

import numpy as np

from tagwright._jit import tight_kernel
from tagwright.arrays import Floats, Ints, Longs
from tagwright.chain.viterbi import first_best, step


@tight_kernel
def fill_prefixes(
    emission: Floats, T: int, transition: Floats, start: Floats, lead: Floats, Y: int, alive: Longs, delta: Floats
) -> None:
    """δ [T, P], pruned as Viterbi is."""
    for j in range(delta.shape[1]):
        delta[0, j] = start[j] + emission[0, j]
    for t in range(1, T):
        step(delta[t - 1], emission[t], transition, lead, Y, alive, delta[t])


@tight_kernel
def trace_back(delta: Floats, incoming: Floats, last: int, Y: int, path: Ints) -> None:
    """The best prefix into path[last], which is given: path[: last]."""
    for t in range(last - 1, -1, -1):
        path[t] = first_best(delta[t], incoming[path[t + 1]], Y)


@tight_kernel
def best_path(delta: Floats, T: int, incoming: Floats, stop: Floats, Y: int, path: Ints) -> float:
    """The best labelling into path [T]; returns its score."""
    path[T - 1] = first_best(delta[T - 1], stop, Y)
    trace_back(delta, incoming, T - 1, Y, path)
    return float(delta[T - 1, path[T - 1]] + stop[path[T - 1]])


@tight_kernel
def leave(delta: Floats, T: int, incoming: Floats, stop: Floats, Y: int, path: Ints) -> float:
    """Turn the best labelling `path` into the second best; returns what that costs (+inf: there is none)."""
    least, where, label = np.inf, -1, -1
    for t in range(T - 1, -1, -1):
        into = stop if t == T - 1 else incoming[path[t + 1]]
        best = delta[t, path[t]] + into[path[t]]
        for p in range(Y):
            cost = best - (delta[t, p] + into[p])
            if p != path[t] and cost < least:
                least, where, label = cost, t, p
    if where >= 0:
        path[where] = label
        trace_back(delta, incoming, where, Y, path)
    return least
