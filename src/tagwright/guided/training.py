"""One training: the weights of a perceptron, room for the label contexts that it meets, and averages of several.

Stands between tagger.py and the kernels of algorithm2_learning.py, which stop when their arrays are full.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tagwright.arrays import Doubles, Ints, Longs, grown, padded
from tagwright.errors import DataError
from tagwright.guided.algorithm1_inference import InferenceModel
from tagwright.guided.algorithm2_learning import LearningSettings, LearningSpace, learn_sentences
from tagwright.guided.chart import NONE, SpanChart
from tagwright.guided.label_contexts import ContextLayout, ContextWeights, build_slots
from tagwright.guided.perceptron import Perceptron, TrainingText
from tagwright.guided.well_formed import find_gaps

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


class Average(NamedTuple):
    """The averages of one training."""

    indices: Longs  # [W] of weights of attributes that are not zero
    values: Doubles  # [W]
    rows: Doubles  # [R, Y]
    keys: Longs  # [N] of entries
    labels: Ints  # [N]
    entries: Doubles  # [N]


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
        slots, heads = build_slots(np.empty(0, np.int64), np.empty(0, np.int64))
        nothing = np.empty(0, np.int32)
        contexts = layout.table(rows, slots, heads, (nothing, np.empty(0, np.float32), nothing))
        everything = find_gaps(np.ones((Y, Y), np.bool_))  # training data may be ill-formed
        model = InferenceModel(contexts, np.array(layout.reach, np.int64), everything, direction)
        weights, sums = np.zeros(Y * len(kept), np.float32), np.zeros(Y * len(kept))
        entries = np.empty(0), np.empty(0, np.int64), np.zeros(2, np.int64)
        self.perceptron = Perceptron(model, first, weights, sums, np.zeros(rows.shape), *entries)
        emission, work = np.zeros((longest, width), np.float32), np.zeros((2, longest), np.int32)
        self.space = LearningSpace(SpanChart.build(longest, beam, width, np.float32), emission, *work)
        self.clock = 1

    def learn(self, order: Longs, text: TrainingText, settings: LearningSettings) -> int:
        """Learn from some sentences; returns the number of updates."""
        tally = np.array([0, NONE])
        while len(order):
            done = learn_sentences(order, self.space, self.perceptron, text, settings, self.clock, tally)
            if tally[1] >= 0:
                raise DataError(TOO_LARGE, location=f"X[{tally[1]}]")
            self.clock += done
            order = order[done:]
            if len(order):
                n = int(text.offsets[order[0] + 1] - text.offsets[order[0]])
                self._make_room(n * settings.most_entries)
        return int(tally[0])

    def _make_room(self, most: int) -> None:
        """For `most` more entries, and some."""
        p, old = self.perceptron, self.perceptron.model.contexts
        n = int(p.sizes[1])
        size = n + most + n // 2 + SPARE
        used = old.slots >= 0
        slots, heads = build_slots(old.slots[used], old.heads[used].astype(np.int64), size - n)
        entries = grown(old.labels, size, 0), grown(old.weights, size, 0), grown(old.following, size, 0)
        contexts = self.layout.table(old.rows, slots, heads, entries)
        self.perceptron = p._replace(
            model=p.model._replace(contexts=contexts),
            entry_sums=grown(p.entry_sums, size, 0),
            entry_keys=grown(p.entry_keys, size, 0),
        )

    def average(self) -> Average:
        """Averages over all steps: w − sum / C."""
        p, contexts = self.perceptron, self.perceptron.model.contexts
        Y, n = self.layout.n_labels, int(p.sizes[1])
        indices = np.flatnonzero((p.weights != 0) | (p.sums != 0))
        values = p.weights[indices] - p.sums[indices] / self.clock
        rows = (contexts.rows - p.row_sums / self.clock)[:, :Y]
        entries = contexts.weights[:n] - p.entry_sums[:n] / self.clock
        return Average(indices, values, rows, p.entry_keys[:n].copy(), contexts.labels[:n].copy(), entries)


def average_all(trainings: Sequence[Training], kept: Longs) -> GuidedWeights:
    """The mean of all trainings' averages, as precise as a model file is."""
    n, Y = len(trainings), trainings[0].layout.n_labels
    found = [training.average() for training in trainings]
    indices, inverse = np.unique(np.concatenate([one.indices for one in found]), return_inverse=True)
    values = np.concatenate([one.values / n for one in found])
    sums = np.bincount(inverse, values, len(indices))
    if not (np.abs(sums) <= float(np.finfo(np.float32).max)).all():
        raise DataError(f"weights are not finite: {TOO_LARGE.partition(': ')[2]}", location="X")
    sums = sums.astype(np.float32).astype(np.float64)
    used = sums != 0
    rows = sum((one.rows / n for one in found), np.zeros(found[0].rows.shape))
    entries = (np.concatenate(parts) for parts in zip(*((a.keys, a.labels, a.entries / n) for a in found), strict=True))
    contexts = ContextWeights.build(rows, *entries)
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
