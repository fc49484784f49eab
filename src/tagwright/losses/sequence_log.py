"""F1, the CRF's loss: −Σ_i log p(y_i | x_i). DIGEST section 2; LOSS equations 1 and 3.

term       −log p(y_i | x_i) = log Z(x_i) − F(x_i, y_i)
gradient   a_i · (expected − gold counts), node by node and edge by edge

Where tokens have candidate labels, or the chain is of second order, the loss is the same with fewer labellings in Z, or
with trigrams in F.
"""

from __future__ import annotations

import numpy as np

from tagwright._jit import tight_kernel
from tagwright.arrays import Doubles, Floats, Ints, Longs
from tagwright.chain.candidates import Candidates, expect_of_candidates
from tagwright.chain.forward_backward import expect
from tagwright.chain.second_order import AnyChain, SecondOrderChain, expect_of_pairs
from tagwright.chain.trigrams import Trigrams, trigram_keys
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


def sequence_loss(run: Run, chain: AnyChain, rate: float, reference: float) -> RunLoss:
    """Terms log Z − F and their gradient, each counted weight · exp(rate · (term − reference)) times."""
    if isinstance(chain, SecondOrderChain):
        return _second_order_loss(run, chain, rate, reference)
    gold = np.empty(len(run.offsets) - 1)
    gold_scores(run.emission, run.offsets, run.labels, *chain.scores, gold)
    weights, pivots = run.sentence_weights, gold + reference
    if run.candidates is None:
        found = expect(run.emission, run.offsets, chain, weights=weights, pivots=pivots, rate=rate)
    else:
        found = expect_of_candidates(
            run.emission, run.offsets, run.candidates, chain, weights=weights, pivots=pivots, rate=rate
        )
    start, stop = _subtract_gold(run, found.weights, found.transitions)
    return RunLoss(found.log_z - gold, weights, found.transitions, start, stop)


def _subtract_gold(run: Run, weights: Doubles, transitions: Doubles) -> tuple[Doubles, Doubles]:
    """Marginals and expected transitions become the gradient; that of start and stop is returned."""
    subtract_gold(run.emission, run.offsets, run.labels, weights, transitions)
    start, stop = np.zeros(len(transitions)), np.zeros(len(transitions))
    add_ends(run.emission, run.offsets, start, stop)
    return start, stop


def _second_order_loss(run: Run, chain: SecondOrderChain, rate: float, reference: float) -> RunLoss:
    """The same with trigrams: F(y) += Σ_{t≥2} trigram[y_{t−2}, y_{t−1}, y_t]."""
    N, K = len(run.offsets) - 1, len(chain.trigrams.keys)
    gold = np.empty(N)
    gold_scores(run.emission, run.offsets, run.labels, *chain.first.scores, gold)
    places, sentences = find_gold_trigrams(run.offsets, run.labels, chain.trigrams)
    gold += np.bincount(sentences, weights=chain.trigrams.weights[places], minlength=N)
    weights, pivots = run.sentence_weights, gold + reference
    candidates = run.candidates or Candidates.everything(len(run.labels), chain.first.n_labels)
    found = expect_of_pairs(run.emission, run.offsets, candidates, chain, weights=weights, pivots=pivots, rate=rate)
    start, stop = _subtract_gold(run, found.weights, found.transitions)
    trigrams = found.trigrams - np.bincount(places, weights=found.weights[sentences], minlength=K)
    return RunLoss(found.log_z - gold, weights, found.transitions, start, stop, trigrams)


def find_gold_trigrams(offsets: Longs, labels: Ints, trigrams: Trigrams) -> tuple[Longs, Longs]:
    """The gold trigrams that have a weight: their places among the weights, and their sentences."""
    lengths = np.diff(offsets)
    keys = trigram_keys(offsets, labels, trigrams.n_labels)
    sentences = np.repeat(np.arange(len(lengths)), np.maximum(lengths - 2, 0))
    places = np.searchsorted(trigrams.keys, keys)
    known = np.append(trigrams.keys, -1)[places] == keys
    return places[known], sentences[known]


def sequence_log(run: Run, chain: AnyChain, reference: float = 0.0) -> RunLoss:
    """Terms and gradient of one run; the reference is of no use here."""
    return sequence_loss(run, chain, 0.0, reference)
