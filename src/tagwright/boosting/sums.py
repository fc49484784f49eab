"""Boosting's sums over feature classes, kept up to date round by round (LM-POS 3.2, "bookkeeping").

    A = Σ d_i        B = Σ q_i·(E[Φ] − Φ(x_i, y_i))        over the sentences i of a class (sentence_weights.py)

A round changes them only for the features of the sentences whose weights it changes:

add_residuals     ± q_i · residuals of chosen sentences ─► change, by token
add_to_rows       change, by token ─► sums of rows, of all features of these sentences
add_to_chain      change, by sentence ─► A and B of the chain's classes
fold_rows         sums of rows ─► A and B of classes
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tagwright._jit import tight_kernel
from tagwright.arrays import Bools, Doubles, Ints, Longs, Workers, cut_evenly, padded
from tagwright.boosting.expectations import SentenceExpectations
from tagwright.boosting.feature_classes import SumRows
from tagwright.boosting.occurrences import Occurrences
from tagwright.boosting.sentence_weights import SentenceWeights
from tagwright.boosting.training_set import TrainingSet

SHARD_TOKENS = 1 << 12
"""Up to so many tokens, one thread does it all."""

SHARDS = 4


class Change(NamedTuple):
    """By how much q_i · residuals changed."""

    tokens: Doubles  # [n, P]
    chain: Doubles  # [N, C]


class BoostingSums:
    """A and B of all classes. Those of a touched attribute's features are up to date after `fold` only."""

    def __init__(self, training: TrainingSet, workers: Workers) -> None:
        self.training, self.workers = training, workers
        self.A, self.B = np.zeros((2, len(training.classes.L)))  # [classes]
        self.rows = np.zeros(len(training.rows.classes))
        self.touched: Bools = np.zeros(len(training.pattern.pointers), np.bool_)  # [A + 1]; the last one is the chain
        self.change = Change(
            np.zeros((training.data.n_tokens, padded(training.n_labels))), np.zeros(training.chain_classes.shape)
        )

    def make_anew(self, sentences: SentenceWeights) -> None:
        """All sums, from the active sentences."""
        active = np.flatnonzero(sentences.active)
        self.A[:] = self.B[:] = self.rows[:] = 0
        self._add_residuals(active, sentences, 1.0, add=False)
        self.touched[:] = True
        self._add_change(active, sentences.d)

    def remember(self, chosen: Longs, sentences: SentenceWeights) -> Doubles:
        """Before the weights of some sentences change: what `update` needs."""
        self._add_residuals(chosen, sentences, -1.0, add=False)
        return sentences.d.copy()

    def update(self, chosen: Longs, sentences: SentenceWeights, d_before: Doubles) -> None:
        """After the weights of some sentences have changed."""
        self._add_residuals(chosen, sentences, 1.0, add=True)
        self._add_change(chosen, sentences.d - d_before)

    def fold(self, sentences: SentenceWeights) -> Longs:
        """Bring A and B up to date; the attributes (and the chain, as the last one) for which they may have changed."""
        t = self.training
        fold_rows(
            np.flatnonzero(self.touched[:-1]), t.rows, self.rows, t.pattern.pointers, t.classes.pointers, self.A, self.B
        )
        if t.loose:  # the one class of a feature holds all sentences
            self.A[:] = sentences.d.sum()
            self.touched[:] = True
        self.touched[-1] = True
        touched = np.flatnonzero(self.touched)
        self.touched[:] = False
        return touched

    def _add_residuals(self, chosen: Longs, sentences: SentenceWeights, sign: float, *, add: bool) -> None:
        offsets = self.training.data.offsets
        add_residuals(chosen, offsets, sentences.q, sign, sentences.expectations, add, self.change)

    def _add_change(self, chosen: Longs, d_change: Doubles) -> None:
        t = self.training

        def run(rows: Doubles, first: int, last: int) -> None:
            add_to_rows(
                chosen[first:last], t.occurrences, t.pattern.labels, t.rows, t.n_labels, self.change, d_change, rows,
                self.touched,
            )  # fmt: skip

        lengths = t.data.lengths[chosen]
        if lengths.sum() <= SHARD_TOKENS:
            run(self.rows, 0, len(chosen))
        else:  # a sum for each shard, so that the order of adding does not depend on the number of threads
            shards = cut_evenly(lengths, SHARDS)
            parts = np.zeros((len(shards), len(self.rows)))
            self.workers.run(run, [(part, *shard) for part, shard in zip(parts, shards, strict=True)])
            for part in parts:
                self.rows += part
        add_to_chain(chosen, t.chain_classes, self.change, d_change, self.A, self.B)


@tight_kernel
def add_residuals(
    chosen: Longs, offsets: Longs, q: Doubles, sign: float, e: SentenceExpectations, add: bool, change: Change
) -> None:
    """change = sign · q_i · residuals, or += where `add`, for the tokens and the chain of each chosen sentence i."""
    for n in range(chosen.shape[0]):
        i = chosen[n]
        factor = sign * q[i]
        for p in range(offsets[i], offsets[i + 1]):
            for j in range(change.tokens.shape[1]):
                change.tokens[p, j] = (change.tokens[p, j] if add else 0.0) + factor * e.residuals[p, j]
        for c in range(change.chain.shape[1]):
            change.chain[i, c] = (change.chain[i, c] if add else 0.0) + factor * e.chain_residuals[i, c]


@tight_kernel
def add_to_rows(
    chosen: Longs, occurrences: Occurrences, pattern_labels: Ints, layout: SumRows, Y: int, change: Change,
    d_change: Doubles, rows: Doubles, touched: Bools,
) -> None:  # fmt: skip
    """A += d_change and B += Σ v·change, in the rows of the chosen sentences' occurrences."""
    for n in range(chosen.shape[0]):
        i = chosen[n]
        for r in range(occurrences.sentence_pointers[i], occurrences.sentence_pointers[i + 1]):
            touched[occurrences.attributes[r]] = True
            begin, size, first = layout.begins[r], layout.n_labels[r], layout.first_features[r]
            row, labels = (
                rows[begin : begin + 1 + size],
                pattern_labels[first : first + size],
            )  # indices from 0 are quick
            row[0] += d_change[i]
            for e in range(occurrences.pointers[r], occurrences.pointers[r + 1]):
                v, tokens = occurrences.values[e], change.tokens[occurrences.positions[e]]
                if size == Y:  # all labels, in order
                    for j in range(Y):
                        row[1 + j] += v * tokens[j]
                else:
                    for j in range(labels.shape[0]):
                        row[1 + j] += v * tokens[labels[j]]


@tight_kernel
def add_to_chain(chosen: Longs, chain_classes: Ints, change: Change, d_change: Doubles, A: Doubles, B: Doubles) -> None:
    """The same for the features of the chain, straight into their classes."""
    for n in range(chosen.shape[0]):
        i = chosen[n]
        for c in range(chain_classes.shape[1]):
            A[chain_classes[i, c]] += d_change[i]
            B[chain_classes[i, c]] += change.chain[i, c]


@tight_kernel
def fold_rows(
    attributes: Longs, layout: SumRows, rows: Doubles, pattern_pointers: Longs, class_pointers: Longs, A: Doubles,
    B: Doubles,
) -> None:  # fmt: skip
    """A and B of the classes of some attributes' features: the sums of their rows."""
    for n in range(attributes.shape[0]):
        a = attributes[n]
        first, last = class_pointers[pattern_pointers[a]], class_pointers[pattern_pointers[a + 1]]
        A[first:last] = 0
        B[first:last] = 0
        for r in range(layout.attribute_pointers[a], layout.attribute_pointers[a + 1]):
            begin, end = layout.pointers[r], layout.pointers[r + 1]
            row, classes = rows[begin:end], layout.classes[begin:end]
            for j in range(1, end - begin):
                A[classes[j]] += row[0]
                B[classes[j]] += row[j]
