"""The sequence losses: of the probability of whole labellings. LOSS equations 1 to 4.

    term        −log p(y_i | x_i) = log Z(x_i) − F(x_i, y_i)
    F1, log     −Σ_i log p(y_i | x_i), the CRF's loss        gradient  a_i · (expected − gold counts), node by node and
                                                             edge by edge
    F2, exp     Σ_i 1/p(y_i | x_i), minimised as             gradient  D_i · (expected − gold counts),
                N · log of the mean 1/p                      D_i = a_i · exp(term_i − reference) · factor of the whole

Where tokens have candidate labels, or the chain is of second order, the losses are the same with fewer labellings in Z,
or with trigrams in F.

F2: 1/p of a sentence with T tokens and Y labels is Y^T at w = 0: it is never formed (losses/run.py). The objective is
convex, being the log of a sum of exponentials of convex functions. Its gradient is an average over sentences in which
the least likely ones have nearly all of the weight: at first the longest.
"""

from __future__ import annotations

from tagwright._jit import natural, tight_kernel
from tagwright.arrays import Doubles, Floats, Ints, Longs
from tagwright.chain.label_chain import LabelChain, TermWeights
from tagwright.losses.run import RunLoss, SentenceRun, sum_ends


@tight_kernel
def subtract_gold(marginals: Floats, offsets: Longs, labels: Ints, weights: Doubles, transitions: Doubles) -> None:
    """marginals = weight · (marginals − gold labels); transitions −= weight · gold transitions."""
    for i in range(offsets.shape[0] - 1):
        weight, last = marginals.dtype.type(weights[i]), natural(0)
        for p in range(offsets[i], offsets[i + 1]):
            now = natural(labels[natural(p)])
            marginals[natural(p), now] -= 1
            if weight != 1:
                for j in range(marginals.shape[1]):
                    marginals[natural(p), j] *= weight
            if p > offsets[i]:
                transitions[last, now] -= weights[i]
            last = now


def sequence_loss(run: SentenceRun, chain: LabelChain, rate: float, reference: float, out: Floats | None) -> RunLoss:
    """Terms log Z − F and their gradient, each counted weight · exp(rate · (term − reference)) times."""
    gold = chain.score_labels(run.emission, run.offsets, run.labels)
    given = TermWeights(run.sentence_weights, gold + reference, rate)
    found = chain.expect(run.emission, run.offsets, given, candidates=run.candidates, out=out)
    gradient, transitions = found.marginals, found.transitions
    subtract_gold(gradient, run.offsets, run.labels, found.weights, transitions)
    start, stop = sum_ends(gradient, run.offsets, chain.n_labels)
    trigrams = found.trigrams - chain.count_trigrams(run.offsets, run.labels, found.weights)
    return RunLoss(found.log_z - gold, given.weights, gradient, transitions, start, stop, trigrams)


def sequence_log(run: SentenceRun, chain: LabelChain, reference: float = 0.0, out: Floats | None = None) -> RunLoss:
    """Terms and gradient of one run; the reference is of no use here."""
    return sequence_loss(run, chain, 0.0, reference, out)


def sequence_exp(run: SentenceRun, chain: LabelChain, reference: float = 0.0, out: Floats | None = None) -> RunLoss:
    """Terms and gradient of one run, relative to the reference."""
    return sequence_loss(run, chain, 1.0, reference, out)
