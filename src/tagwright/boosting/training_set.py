"""What boosting knows of its training data from the beginning, and what never changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from tagwright.arrays import Doubles, Ints, Longs
from tagwright.boosting.feature_classes import FeatureClasses, SumRows, find_classes
from tagwright.boosting.occurrences import Occurrences, find_occurrences
from tagwright.encode.batch import Batch
from tagwright.encode.encoder import Encoder
from tagwright.scores.pattern import Pattern


@dataclass(frozen=True, slots=True)
class TrainingSet:
    """Sentences by ascending length. Features: K of the pattern, then C of the chain: Y · Y pairs of labels, first
    labels, last labels (the latter two with `boundaries`)."""

    data: Batch
    pattern: Pattern
    n_labels: int
    attributes: Longs  # [K] the attribute of each feature of the pattern
    feature_pointers: Longs  # [A + 2] where the features of each attribute begin, then those of the chain, and the end
    occurrences: Occurrences
    classes: FeatureClasses
    rows: SumRows
    chain_classes: Ints  # [N, C] the class of sentence i for each feature of the chain
    loose: bool  # whether a feature has one class only
    binary: bool  # whether all attributes have the value 1 (or 0)

    @classmethod
    def build(
        cls, encoder: Encoder, data: Batch, pattern: Pattern, n_labels: int, *, loose: bool, boundaries: bool
    ) -> Self:
        data = data.take(np.argsort(data.lengths, kind="stable"))
        occurrences = find_occurrences(encoder, data, pattern)
        classes = find_classes(occurrences, pattern, data, n_labels, loose=loose, boundaries=boundaries)
        binary = bool(np.isin(data.values, (0, 1)).all())
        attributes = np.repeat(np.arange(encoder.n_attributes), np.diff(pattern.pointers))
        feature_pointers = np.append(pattern.pointers, classes[0].n_features)
        return cls(data, pattern, n_labels, attributes, feature_pointers, occurrences, *classes, loose, binary)

    def occurrences_of(self, k: int) -> Longs:
        """The occurrences of a feature of the pattern."""
        return self.occurrences.of_attribute(int(self.attributes[k]))

    def sentences_of(self, k: int) -> Longs:
        """The sentences in which a feature can occur."""
        if k >= self.pattern.n_weights:
            return np.arange(self.data.n_sentences)
        return self.occurrences.sentences[self.occurrences_of(k)].astype(np.int64)

    def classes_of(self, k: int) -> Longs:
        """The classes of these sentences."""
        K = self.pattern.n_weights
        if k >= K:
            return self.chain_classes[:, k - K].astype(np.int64)
        column = k - self.pattern.pointers[self.attributes[k]]
        entries = self.rows.begins[self.occurrences_of(k)] + 1 + int(column)
        return self.rows.classes[entries].astype(np.int64)


def split_chain(weights: Doubles, n_labels: int) -> tuple[Doubles, Doubles, Doubles]:
    """transition [Y, Y], start [Y], stop [Y] of the chain's weights [C]; 0 for first and last labels without any."""
    Y = n_labels
    ends = weights[Y * Y :] if len(weights) > Y * Y else np.zeros(2 * Y)
    return weights[: Y * Y].reshape(Y, Y).copy(), ends[:Y].copy(), ends[Y:].copy()
