"""The weights w, the scores of all training tokens under them, and forward-backward.

score_sentences     w ─► emission rows of chosen sentences
add_step            w_k += Δ ─► the emission rows at the attribute's positions
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from tagwright._jit import tight_kernel
from tagwright.arrays import Doubles, Ints, Longs, Workers, cut_evenly, padded
from tagwright.boosting.expectations import (
    SentenceExpectations,
    TokenScores,
    expect_sentences,
    exponentiate_token,
)
from tagwright.boosting.occurrences import Occurrences
from tagwright.boosting.training_set import TrainingSet, split_chain
from tagwright.chain.forward_backward import Chain, PairBuffers

PIECE_TOKENS = 1 << 12
"""Tokens that are worth a thread."""

PIECES = 16


class TrainingScores:
    """w [K + C] and the scores that follow from it. Scores of inactive sentences may be out of date (`rescore`)."""

    def __init__(self, training: TrainingSet, workers: Workers, weights: Doubles | None = None) -> None:
        self.training, self.workers = training, workers
        self.w = np.zeros(training.classes.n_features) if weights is None else weights.copy()
        self.tokens = TokenScores.build(training.data.n_tokens, padded(training.n_labels))
        self._workspaces: list[PairBuffers] = []

    def chain(self) -> Chain:
        """The chain's weights, ready for forward-backward."""
        weights = self.w[self.training.pattern.n_weights :]
        return Chain.build(*split_chain(weights, self.training.n_labels), np.float64)

    @cached_property
    def trial(self) -> SentenceExpectations:
        """For what is tried only."""
        return self.empty_expectations()

    def empty_expectations(self) -> SentenceExpectations:
        """Zeros, to be filled by `expect`."""
        N, C = self.training.chain_classes.shape
        return SentenceExpectations(np.zeros(self.tokens.emission.shape), np.zeros((N, C)), np.zeros(N))

    def rescore(self, chosen: Longs) -> None:
        """The scores of some sentences from nothing."""
        t = self.training
        score_sentences(
            chosen, t.data.offsets, t.occurrences, t.pattern.pointers, t.pattern.labels, self.w, t.n_labels, self.tokens
        )

    def add(self, chosen: Longs, label: int, step: float) -> None:
        """A step of an attribute's weight with a label, at some of its occurrences."""
        add_step(chosen, self.training.occurrences, label, step, self.training.n_labels, self.tokens)

    def expect(self, chosen: Longs, out: SentenceExpectations) -> None:
        """Forward-backward of some sentences, on threads where that pays."""
        data = self.training.data
        lengths = data.lengths[chosen]
        chain = self.chain()
        cuts = cut_evenly(lengths, max(1, min(PIECES, int(lengths.sum()) // PIECE_TOKENS))) if len(chosen) else []
        while len(self._workspaces) < len(cuts):
            width = self.tokens.emission.shape[1]
            self._workspaces.append(PairBuffers.build(int(data.lengths.max()), width, np.float64))

        def run(number: int, first: int, last: int) -> None:
            work = self._workspaces[number]
            expect_sentences(chosen[first:last], self.tokens, data.offsets, data.labels, chain, work, out)

        self.workers.run(run, [(number, *piece) for number, piece in enumerate(cuts)])


@tight_kernel
def score_sentences(
    chosen: Longs, offsets: Longs, occurrences: Occurrences, pattern_pointers: Longs, pattern_labels: Ints, w: Doubles,
    Y: int, scores: TokenScores,
) -> None:  # fmt: skip
    """emission[p, y] = Σ v·w over the attributes of every token p of the chosen sentences."""
    emission = scores.emission
    for n in range(chosen.shape[0]):
        i = chosen[n]
        emission[offsets[i] : offsets[i + 1]] = 0
        for r in range(occurrences.sentence_pointers[i], occurrences.sentence_pointers[i + 1]):
            a = occurrences.attributes[r]
            for k in range(pattern_pointers[a], pattern_pointers[a + 1]):
                if w[k] != 0:
                    for e in range(occurrences.pointers[r], occurrences.pointers[r + 1]):
                        emission[occurrences.positions[e], pattern_labels[k]] += occurrences.values[e] * w[k]
        for p in range(offsets[i], offsets[i + 1]):
            exponentiate_token(p, Y, scores)


@tight_kernel
def add_step(chosen: Longs, occurrences: Occurrences, label: int, step: float, Y: int, scores: TokenScores) -> None:
    """emission[p, label] += v·step at the positions of the chosen occurrences."""
    for n in range(chosen.shape[0]):
        for e in range(occurrences.pointers[chosen[n]], occurrences.pointers[chosen[n] + 1]):
            p = int(occurrences.positions[e])
            scores.emission[p, label] += occurrences.values[e] * step
            exponentiate_token(p, Y, scores)
