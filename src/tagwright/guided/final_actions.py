"""The actions of a finished inference: when each token was labelled, what was known then, and which label came second.

After algorithm 1 has labelled sentences, its actions are scored once more, between the labels that were chosen in the
end. For `explain` and for confidences; in NumPy, all tokens at once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tagwright.arrays import Doubles, Floats, Ints, Longs
from tagwright.guided.algorithm1_inference import InferenceModel, Labelling, ScoredSentence
from tagwright.guided.label_contexts import BASE, OFFSETS, PART, PART_STRIDE, STRIDES, ContextTable
from tagwright.text.hash_tables import find_keys


class FinalActions(NamedTuple):
    """The actions that labelled n tokens, each between final labels."""

    found: Labelling
    rivals: Ints  # [n] the best other label
    scores: Doubles  # [n, 2] U of the label and of its rival


def score_final_actions(
    model: InferenceModel, text: ScoredSentence, offsets: Longs, found: Labelling
) -> tuple[Ints, Doubles]:
    """Rivals and scores of the actions that labelled some sentences. A label without rivals is its own, at −inf."""
    n, Y = len(found.labels), model.contexts.n_labels
    around = labels_around(found, offsets, Y)
    U = score_labels(model.contexts, text, around)
    if model.gaps.size:
        U += model.gaps[0, 0, around[:, 1], :Y] + model.gaps[1, 0, around[:, 2], :Y]
    tokens = np.arange(n)
    scores = np.empty((n, 2))
    scores[:, 0] = U[tokens, found.labels]
    U[tokens, found.labels] = -np.inf
    rivals = U.argmax(axis=1)
    scores[:, 1] = U[tokens, rivals]
    return np.where(scores[:, 1] > -np.inf, rivals, found.labels), scores


def labels_around(found: Labelling, offsets: Longs, Y: int) -> Longs:
    """The labels of the tokens at OFFSETS from every token [n, 4]; Y for those that were not known."""
    n = len(found.labels)
    around = np.full((n, len(OFFSETS)), Y)
    positions = np.arange(n) - np.repeat(offsets[:-1], np.diff(offsets))
    for i, offset in enumerate(OFFSETS):
        seen = positions + offset
        tokens = np.flatnonzero((found.known[:, 0] <= seen) & (seen <= found.known[:, 1]))
        around[tokens, i] = found.labels[tokens + offset]
    return around


def score_labels(table: ContextTable, text: ScoredSentence, around: Longs) -> Floats:
    """U of every label of every token [n, Y]: what label_contexts.add_contexts adds for one token, for all."""
    U, entries = text.emission.copy(), np.empty(len(around), np.int32)
    for numbers in table.numbers:
        contexts = numbers[BASE] + around @ numbers[STRIDES]
        if numbers[PART] < 0:
            U += table.rows[contexts]
            continue
        values = text.lexical[:, numbers[PART]]
        contexts = np.where(values >= 0, contexts + numbers[PART_STRIDE] * values, -1)
        find_keys(contexts, table.slots, entries)  # a context with a label that is not known has none
        tokens = np.flatnonzero(entries >= 0)
        while len(tokens):
            U[tokens, table.labels[entries[tokens]]] += table.weights[entries[tokens]]
            entries[tokens] = table.following[entries[tokens]]
            tokens = tokens[entries[tokens] >= 0]
    return U[:, : table.n_labels]
