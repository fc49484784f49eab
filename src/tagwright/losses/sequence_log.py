"""F1, the CRF's loss: −Σ_i log p(y_i | x_i). DIGEST section 2; LOSS equation 4.

    value      Σ_i [ log Z(x_i) − F(x_i, y_i) ]
    gradient   with respect to the lattice: expected minus gold counts, node by node and edge by edge

A loss sees a run of sentences: emission rows and the shared chain. It overwrites the rows by their gradient and returns
its value with the *expected* transition, start and stop counts (the gold ones never change: the caller keeps them).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tagwright._jit import tight_kernel
from tagwright.arrays import Doubles, Floats, Ints, Longs
from tagwright.chain.forward_backward import Chain, expect


@dataclass(frozen=True, slots=True)
class RunLoss:
    """A loss over a run of sentences, with the gradient's expected part for the chain's scores."""

    values: Doubles  # [N]
    transition: Doubles  # [Y, Y]
    start: Doubles  # [Y]
    stop: Doubles  # [Y]


@tight_kernel
def gold_scores(
    emission: Floats, offsets: Longs, labels: Ints, transition: Doubles, start: Doubles, stop: Doubles, out: Doubles
) -> None:
    """F(x_i, y_i) of every sentence."""
    for i in range(offsets.shape[0] - 1):
        begin, end = offsets[i], offsets[i + 1]
        total = start[labels[begin]] + stop[labels[end - 1]]
        for p in range(begin, end):
            total += emission[p, labels[p]]
            if p > begin:
                total += transition[labels[p - 1], labels[p]]
        out[i] = total


@tight_kernel
def subtract_gold(marginals: Floats, offsets: Longs, labels: Ints, start: Doubles, stop: Doubles) -> None:
    """Expected first and last labels into start, stop [Y]; then marginals −= gold labels."""
    for i in range(offsets.shape[0] - 1):
        first, last = offsets[i], offsets[i + 1] - 1
        for y in range(start.shape[0]):
            start[y] += marginals[first, y]
            stop[y] += marginals[last, y]
        for p in range(first, last + 1):
            marginals[p, labels[p]] -= 1


def sequence_log(emission: Floats, offsets: Longs, labels: Ints, chain: Chain) -> RunLoss:
    """Value and gradient for one run: emission [n, P], offsets [N + 1] from 0, gold labels [n]."""
    gold, start, stop = np.empty(len(offsets) - 1), np.zeros(chain.n_labels), np.zeros(chain.n_labels)
    gold_scores(emission, offsets, labels, *chain.scores, gold)
    found = expect(emission, offsets, chain)
    subtract_gold(emission, offsets, labels, start, stop)
    return RunLoss(found.log_z - gold, found.transitions, start, stop)
