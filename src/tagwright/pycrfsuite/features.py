"""Which weights a training has, by CRFsuite's rules: a feature is an (attribute, label) pair or a pair of labels.

state features        pairs seen in training; with possible_states, attributes of training with all labels
transition features   pairs seen in training; with possible_transitions, all
minfreq               only those whose occurrences (values added up) are no fewer; with 0, those below 0 are out
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tagwright._jit import tight_kernel
from tagwright.arrays import Bools, Doubles, Floats, Ints, Longs
from tagwright.encode.batch import Batch
from tagwright.encode.encoder import Encoder
from tagwright.objective.problem import count_gold
from tagwright.scores.pattern import Pattern, find_pattern


@dataclass(frozen=True, slots=True)
class Features:
    """The weights of a training: of attributes by their pattern, and of label pairs."""

    pattern: Pattern
    transitions: Bools  # [Y, Y]

    @classmethod
    def find(
        cls, encoder: Encoder, data: Batch, n_labels: int, *, minfreq: float, all_states: bool, all_transitions: bool
    ) -> Features:
        pattern = find_pattern(encoder, data, n_labels, all_states=all_states, min_count=1)
        if minfreq > 0 or data.values.min(initial=0) < 0:
            pattern = keep_frequent(pattern, data, minfreq)
        pairs = count_gold(data, n_labels)[0] if data.n_sentences else np.zeros((n_labels, n_labels))
        return cls(pattern, (all_transitions | (pairs > 0)) & (pairs >= minfreq))

    @property
    def n(self) -> int:
        return self.pattern.n_weights + int(self.transitions.sum())

    @property
    def free_chain(self) -> Bools:
        """Which weights of the chain may change [Y·Y + 2 Y]: those of first and last labels may not."""
        return np.concatenate([self.transitions.ravel(), np.zeros(2 * len(self.transitions), np.bool_)])


def keep_frequent(pattern: Pattern, data: Batch, least: float) -> Pattern:
    """The pairs of a pattern that occur often enough."""
    frequencies = np.zeros(pattern.n_weights)
    add_frequencies(data.pointers, data.attributes, data.values, data.labels, *pattern, frequencies)
    kept = frequencies >= least
    return Pattern(np.concatenate([[0], np.cumsum(kept)])[pattern.pointers], pattern.labels[kept])


@tight_kernel
def add_frequencies(
    pointers: Longs, attributes: Ints, values: Floats, gold: Ints, of_attributes: Longs, labels: Ints, found: Doubles
) -> None:
    """found[w] += the values of the attribute in tokens that have the label, for the pair of each weight w."""
    for p in range(gold.shape[0]):
        for e in range(pointers[p], pointers[p + 1]):
            a = attributes[e]
            for w in range(of_attributes[a], of_attributes[a + 1]):
                if labels[w] == gold[p]:
                    found[w] += values[e]
