"""F1, the CRF's loss: −Σ_i log p(y_i | x_i). DIGEST section 2; LOSS equations 1 and 3.

term       −log p(y_i | x_i) = log Z(x_i) − F(x_i, y_i)
gradient   a_i · (expected − gold counts), node by node and edge by edge
"""

from __future__ import annotations

import numpy as np

from tagwright._jit import tight_kernel
from tagwright.arrays import Doubles, Floats, Ints, Longs
from tagwright.chain.forward_backward import Chain, expect
from tagwright.losses.run import Run, RunLoss, add_ends


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
def subtract_gold(marginals: Floats, offsets: Longs, labels: Ints, weights: Doubles, transitions: Doubles) -> None:
    """marginals = weight · (marginals − gold labels); transitions −= weight · gold transitions."""
    for i in range(offsets.shape[0] - 1):
        weight = marginals.dtype.type(weights[i])
        for p in range(offsets[i], offsets[i + 1]):
            marginals[p, labels[p]] -= 1
            if weight != 1:
                for j in range(marginals.shape[1]):
                    marginals[p, j] *= weight
            if p > offsets[i]:
                transitions[labels[p - 1], labels[p]] -= weights[i]


def sequence_loss(run: Run, chain: Chain, rate: float, reference: float) -> RunLoss:
    """Terms log Z − F and their gradient, each counted weight · exp(rate · (term − reference)) times."""
    gold = np.empty(len(run.offsets) - 1)
    gold_scores(run.emission, run.offsets, run.labels, *chain.scores, gold)
    weights = run.sentence_weights
    found = expect(run.emission, run.offsets, chain, weights=weights, pivots=gold + reference, rate=rate)
    subtract_gold(run.emission, run.offsets, run.labels, found.weights, found.transitions)
    start, stop = np.zeros(chain.n_labels), np.zeros(chain.n_labels)
    add_ends(run.emission, run.offsets, start, stop)
    return RunLoss(found.log_z - gold, weights, found.transitions, start, stop)


def sequence_log(run: Run, chain: Chain, reference: float = 0.0) -> RunLoss:
    """Terms and gradient of one run; the reference is of no use here."""
    return sequence_loss(run, chain, 0.0, reference)
