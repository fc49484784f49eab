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
from tagwright.guided.perceptron import Perceptron, TrainingText
from tagwright.guided.well_formed import score_gaps
from tagwright.text.hash_tables import insert_keys, slots_for

SPARE = 1 << 12
"""Entries for which there is room before arrays must grow."""
TOO_LARGE = "scores are not finite: attribute values, or the margin, are too large; scale them down"


class GuidedWeights(NamedTuple):
    """Averaged weights that are not zero."""

    attributes: Longs  # [W] attribute · Y + label, ascending
    values: Doubles  # [W]
    contexts: ContextWeights

    def copy(self) -> GuidedWeights:
        return self  # nobody changes it


class Training:
    """The state of one training: current weights, the sums of their averages, and the clock.

    kept: the attributes that get weights, of n_attributes.
    """

    def __init__(
        self, kept: Longs, n_attributes: int, layout: ContextLayout, *, beam: int, longest: int, direction: int
    ) -> None:
        self.layout = layout
        Y, width = layout.n_labels, padded(layout.n_labels)
        first = np.full(n_attributes, -1, np.int64)
        first[kept] = Y * np.arange(len(kept))
        rows = np.zeros((layout.n_rows, width), np.float32)
        nothing = np.empty(0, np.int32)
        contexts = layout.table(rows, slots_for(0), (nothing, np.empty(0, np.float32), nothing))
        gaps = score_gaps(np.ones((0, Y, Y), np.bool_), width, np.float32)  # none: training data may be ill-formed
        model = InferenceModel(contexts, np.array(layout.reach, np.int64), gaps, direction)
        weights, sums = np.zeros(Y * len(kept), np.float32), np.zeros(Y * len(kept))
        entries = np.empty(0), np.empty(0, np.int64), np.zeros(1, np.int64)
        self.perceptron = Perceptron(model, first, weights, sums, np.zeros(rows.shape), *entries)
        emission, work = np.zeros((longest, width), np.float32), np.zeros((2, longest), np.int32)
        self.space = LearningSpace(SpanChart.build(longest, beam, width, np.float32), emission, *work)
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
                n = int(text.offsets[order[0] + 1] - text.offsets[order[0]])
                self._make_room(n * settings.most_entries)
        return total

    def _make_room(self, most: int) -> None:
        """For `most` more entries, and some."""
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

    def average(self) -> GuidedWeights:
        """Averages over all steps: w − sum / C. Attributes are numbered among those kept; lists are in any order."""
        p, contexts = self.perceptron, self.perceptron.model.contexts
        n = int(p.n_entries[0])
        indices = np.flatnonzero((p.weights != 0) | (p.sums != 0))
        values = p.weights[indices] - p.sums[indices] / self.clock
        rows = (contexts.rows - p.row_sums / self.clock)[:, : self.layout.n_labels]
        entries = contexts.weights[:n] - p.entry_sums[:n] / self.clock
        return GuidedWeights(indices, values, ContextWeights(rows, p.entry_keys[:n], contexts.labels[:n], entries))


def average_all(trainings: Sequence[Training], kept: Longs) -> GuidedWeights:
    """The mean of all trainings' averages, as precise as a model file is."""
    n, Y = len(trainings), trainings[0].layout.n_labels
    found = [training.average() for training in trainings]
    indices, inverse = np.unique(np.concatenate([one.attributes for one in found]), return_inverse=True)
    sums = np.bincount(inverse, np.concatenate([one.values / n for one in found]), len(indices))
    if not (np.abs(sums) <= float(np.finfo(np.float32).max)).all():
        raise DataError(f"weights are not finite: {TOO_LARGE.partition(': ')[2]}", location="X")
    sums = sums.astype(np.float32).astype(np.float64)
    used = sums != 0
    rows, keys, labels, values = zip(*(one.contexts for one in found), strict=True)
    mean: Doubles = sum((own / n for own in rows), np.zeros(rows[0].shape))
    lists = np.concatenate(keys), np.concatenate(labels), np.concatenate(values) / n
    contexts = ContextWeights.build(mean, *lists)
    return GuidedWeights((kept[indices // Y] * Y + indices % Y)[used], sums[used], contexts)


def drop_attributes(text: TrainingText, share: float, random: np.random.Generator) -> TrainingText:
    """The text without some attributes of its tokens, and without some values of lexical parts."""
    if share == 0:
        return text
    kept = random.random(len(text.attributes), np.float32) >= share
    lexical = text.lexical.copy()
    n, parts = lexical.shape
    dropped = random.random((parts - 1, n), np.float32) < share
    np.copyto(lexical[:, 1:], -1, where=dropped.T)  # the first part is the empty one
    return text._replace(
        pointers=np.concatenate([[0], np.cumsum(kept)])[text.pointers],
        attributes=text.attributes[kept],
        values=text.values[kept] if len(text.values) else text.values,
        lexical=lexical,
    )
