"""The chain of an online learner: its weights change after a sentence, and Viterbi's pruning bounds with them.

Chain weights are numbered as in the vector [transition | start | stop]: i·Y + j for the transition from i to j, Y² + y
for a first and Y² + Y + y for a last label y. Of a sentence with labels y and the best labelling ŷ, the chain's part of
Φ(x, y) − Φ(x, ŷ) is a list of such numbers, with 1 for those of y and −1 for those of ŷ.
"""

from __future__ import annotations

import numpy as np

from tagwright._jit import tight_kernel
from tagwright.arrays import Bools, Doubles, Ints, Longs
from tagwright.chain.viterbi import MARGIN, PrunedSteps

ROUNDING = np.float32(MARGIN)


def n_chain_weights(n_labels: int) -> int:
    """Transitions, first and last labels."""
    return n_labels * n_labels + 2 * n_labels


@tight_kernel
def fill_bounds(chain: PrunedSteps) -> None:
    """bounds[b, i] = max_j transition[i, j] − transition[b, j], and a margin for rounding (chain/viterbi.py)."""
    bounds = chain.bounds
    Y = bounds.shape[0]
    for b in range(Y):
        bounds[b] = -np.inf
        for j in range(Y):
            for i in range(Y):
                gain = chain.incoming[j, i] - chain.transition[b, j] + ROUNDING
                bounds[b, i] = gain if gain > bounds[b, i] else bounds[b, i]


@tight_kernel
def raise_bounds(chain: PrunedSteps, i: int, j: int) -> None:
    """After a change of transition[i, j]: bounds that are too low now are raised; those that are too high prune less,
    and do no harm."""
    transition, bounds = chain.transition, chain.bounds
    for k in range(bounds.shape[0]):
        gain = transition[i, j] - transition[k, j] + ROUNDING
        bounds[k, i] = gain if gain > bounds[k, i] else bounds[k, i]
        gain = chain.incoming[j, k] - transition[i, j] + ROUNDING
        bounds[i, k] = gain if gain > bounds[i, k] else bounds[i, k]


@tight_kernel
def list_chain_changes(gold: Ints, path: Ints, Y: int, free: Bools, numbers: Longs, signs: Doubles) -> int:
    """The chain's part of Φ(x, y) − Φ(x, ŷ), gold [T] being y and path [≥ T] ŷ; returns the length of the lists.

    Weights that are not `free` stay out, and what y and ŷ have in the same place.
    """
    T, n = gold.shape[0], 0
    for sign in (1, -1):
        for t in range(T + 1):
            if t == 0:
                same = gold[0] == path[0]
                k = Y * Y + (gold[0] if sign > 0 else path[0])
            elif t == T:
                same = gold[T - 1] == path[T - 1]
                k = Y * Y + Y + (gold[T - 1] if sign > 0 else path[T - 1])
            else:
                same = gold[t - 1] == path[t - 1] and gold[t] == path[t]
                k = gold[t - 1] * Y + gold[t] if sign > 0 else path[t - 1] * Y + path[t]
            if free[k] and not same:
                numbers[n], signs[n] = k, sign
                n += 1
    return n


@tight_kernel
def chain_weight(chain: PrunedSteps, k: int) -> float:
    """Chain weight number k."""
    Y = chain.bounds.shape[0]
    if k < Y * Y:
        return float(chain.transition[k // Y, k % Y])
    return float(chain.start[k - Y * Y] if k < Y * Y + Y else chain.stop[k - Y * Y - Y])


@tight_kernel
def change_chain(chain: PrunedSteps, k: int, change: float) -> None:
    """Add to chain weight number k."""
    Y = chain.bounds.shape[0]
    if k < Y * Y:
        i, j = k // Y, k % Y
        chain.transition[i, j] += change
        chain.incoming[j, i] += change
        raise_bounds(chain, i, j)
    elif k < Y * Y + Y:
        chain.start[k - Y * Y] += change
    else:
        chain.stop[k - Y * Y - Y] += change
