"""One training: the weights of a perceptron, room for the label contexts that it meets, and averages of several.

Stands between tagger.py and the kernels of algorithm2_learning.py, which stop when their arrays are full.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tagwright.arrays import Doubles, Longs, grown, padded
from tagwright.errors import DataError
from tagwright.guided.algorithm1_inference import InferenceModel
from tagwright.guided.algorithm2_learning import LOCAL, LearningSettings, LearningSpace, learn
from tagwright.guided.chart import SpanChart
from tagwright.guided.label_contexts import ContextLayout, ContextWeights
from tagwright.guided.local_learning import learn_locally
from tagwright.guided.perceptron import Perceptron, TrainingText, can_learn
from tagwright.guided.well_formed import score_gaps
from tagwright.scores.expanded import keep
from tagwright.scores.growing_weights import GrowingWeights, LearnedWeights, has_room
from tagwright.text.hash_tables import insert_keys, slots_for

SPARE = 1 << 12
"""Entries for which there is room before arrays must grow."""
TOO_LARGE = "scores are not finite: attribute values, or the margin, are too large; scale them down"


class GuidedWeights(NamedTuple):
    """Averaged weights that are not zero."""

    attributes: LearnedWeights
    contexts: ContextWeights

    def copy(self) -> GuidedWeights:
        return self  # nobody changes it


class Training:
    """The state of one training: current weights, the sums of their averages, and the clock.

    most_attributes: of a token.
    """

    def __init__(
        self, n_attributes: int, layout: ContextLayout, *, beam: int, longest: int, most_attributes: int, direction: int
    ) -> None:
        self.layout = layout
        Y, width = layout.n_labels, padded(layout.n_labels)
        rows = np.zeros((layout.n_rows, width), np.float32)
        nothing = np.empty(0, np.int32)
        contexts = layout.table(rows, slots_for(0), (nothing, np.empty(0, np.float32), nothing))
        gaps = score_gaps(np.ones((0, Y, Y), np.bool_), width, np.float32)  # none: training data may be ill-formed
        model = InferenceModel(contexts, np.array(layout.reach, np.int64), gaps, direction)
        weights = GrowingWeights.empty(n_attributes, Y, dtype=np.float32, averaged=True)
        entries = np.empty(0), np.empty(0, np.int64), np.zeros(1, np.int64)
        self.perceptron = Perceptron(model, weights, np.zeros(rows.shape), *entries)
        chart, emission = SpanChart.build(longest, beam, width, np.float32), np.zeros((longest, width), np.float32)
        labels, states = np.zeros((2, longest), np.int32)
        self.space = LearningSpace(chart, emission, labels, states, np.empty(most_attributes, np.int64))
        self.clock = 1

    def learn(self, order: Longs, text: TrainingText, settings: LearningSettings) -> int:
        """Learn from some sentences; returns the number of updates."""
        learn_some = learn_locally if settings.mode == LOCAL else learn
        total = 0
        while len(order):
            done, updates, finite = learn_some(order, self.space, self.perceptron, text, settings, self.clock)
            if not finite:
                raise DataError(TOO_LARGE, location=f"X[{order[done]}]")
            self.clock += done
            total += updates
            order = order[done:]
            if len(order):
                begin, end = text.offsets[order[0] : order[0] + 2].tolist()
                if not can_learn(self.perceptron, text, int(order[0]), settings.most_entries):
                    self._make_room((end - begin) * settings.most_entries)
                n = int(text.tokens.pointers[end] - text.tokens.pointers[begin])
                if not has_room(self.perceptron.weights, n):
                    self.perceptron = self.perceptron._replace(weights=self.perceptron.weights.with_room(n))
        return total

    def _make_room(self, most: int) -> None:
        """For `most` more entries of label contexts, and some."""
        p, old = self.perceptron, self.perceptron.model.contexts
        n = int(p.n_entries[0])
        size = n + most + n // 2 + SPARE
        heads = old.slots[1::2]
        heads = heads[heads >= 0]
        keys = np.full(n, -1)
        keys[heads] = p.entry_keys[heads]
        slots = slots_for(size)
        insert_keys(keys, slots)
        entries = grown(old.labels, size, 0), grown(old.weights, size, 0), grown(old.following, size, 0)
        contexts = self.layout.table(old.rows, slots, entries)
        self.perceptron = p._replace(
            model=p.model._replace(contexts=contexts),
            entry_sums=grown(p.entry_sums, size, 0),
            entry_keys=grown(p.entry_keys, size, 0),
        )

    def average_contexts(self) -> ContextWeights:
        """Averages over all steps: w − sum / C. Lists are in any order."""
        p, contexts = self.perceptron, self.perceptron.model.contexts
        n = int(p.n_entries[0])
        rows = (contexts.rows - p.row_sums / self.clock)[:, : self.layout.n_labels]
        entries = contexts.weights[:n] - p.entry_sums[:n] / self.clock
        return ContextWeights(rows, p.entry_keys[:n], contexts.labels[:n], entries)


def average_all(trainings: Sequence[Training]) -> GuidedWeights:
    """The mean of all trainings' averages, as precise as a model file is."""
    n = len(trainings)
    attributes = LearnedWeights.none(len(trainings[0].perceptron.weights.places))
    for training in trainings:
        attributes = attributes.plus(training.perceptron.weights, 1 / n, training.clock)
    if not (np.abs(attributes.values) <= float(np.finfo(np.float32).max)).all():
        raise DataError(f"weights are not finite: {TOO_LARGE.partition(': ')[2]}", location="X")
    rows, keys, labels, values = zip(*(training.average_contexts() for training in trainings), strict=True)
    mean: Doubles = sum((own / n for own in rows), np.zeros(rows[0].shape))
    lists = np.concatenate(keys), np.concatenate(labels), np.concatenate(values) / n
    return GuidedWeights(attributes.rounded(), ContextWeights.build(mean, *lists))


def drop_attributes(text: TrainingText, share: float, random: np.random.Generator) -> TrainingText:
    """The text without some attributes of its tokens, and without some values of lexical parts."""
    if share == 0:
        return text
    kept = random.random(len(text.tokens.attributes), np.float32) >= share
    lexical = text.lexical.copy()
    n, parts = lexical.shape
    dropped = random.random((parts - 1, n), np.float32) < share
    np.copyto(lexical[:, 1:], -1, where=dropped.T)  # the first part is the empty one
    return text._replace(tokens=keep(text.tokens, kept), lexical=lexical)
