"""The state of guided learning: weights, their lazy sums, and room for more label contexts as they are met.

Stands between learners/guided_tagger.py and the kernels of optim/guided.py, which stop when their arrays are full.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tagwright.arrays import Doubles, Ints, Longs, grown, padded
from tagwright.chain.guided import Search
from tagwright.optim.guided import Learned, Manner, Tokens, Words, guided_pass
from tagwright.scores.label_contexts import Layout, build_slots

SPARE = 1 << 12
"""Entries for which there is room before arrays must grow."""


class Average(NamedTuple):
    """Weights of attributes at places that are not zero; rows [R, Y]; keys, labels and weights of entries."""

    places: Longs
    values: Doubles
    rows: Doubles
    keys: Longs
    labels: Ints
    entries: Doubles


class GuidedPerceptron:
    """The state of one training: current weights, lazy sums, and the clock."""

    def __init__(self, places: Longs, n_weights: int, layout: Layout, *, beam: int, longest: int) -> None:
        self.layout = layout
        width = padded(layout.n_labels)
        self.words = Words(places, np.zeros(n_weights, np.float32), np.zeros(n_weights))
        rows = np.zeros((layout.n_rows, width), np.float32)
        nothing = np.empty(0, np.int32)
        slots, heads = build_slots(np.empty(0, np.int64), np.empty(0, np.int64))
        self.contexts = layout.contexts(rows, slots, heads, (nothing, np.empty(0, np.float32), nothing))
        sums = np.zeros(rows.shape), np.empty(0), np.empty(0, np.int64)
        self.learned = Learned(*sums, np.zeros(2, np.int64))
        self.search = Search.build(longest, beam, width, np.float32)
        self.clock = 1
        self._emission = np.zeros((longest, width), np.float32)
        self._done, self._path = np.zeros((2, longest), np.int32)

    def learn(self, order: Longs, tokens: Tokens, manner: Manner) -> int:
        """Go through some sentences; returns the number of updates."""
        counts = np.zeros(2, np.int64)
        while len(order):
            done = guided_pass(
                order, self.search, tokens, self.words, self.contexts, self.learned, manner, self.clock,
                self._emission, self._done, self._path, counts,
            )  # fmt: skip
            self.clock += done
            order = order[done:]
            if len(order):
                n = int(tokens.offsets[order[0] + 1] - tokens.offsets[order[0]])
                self._make_room(2 * int(self.contexts.sides[3]) * n * max(manner.bound, 4))
        return int(counts[0])

    def _make_room(self, most: int) -> None:
        """For `most` more entries, and some."""
        old, learned = self.contexts, self.learned
        n_keys, n = (int(size) for size in learned.sizes)
        spare = most + n // 2 + SPARE
        entries = tuple(grown(a, n + spare, 0) for a in (old.labels, old.weights, old.following))
        self.learned = learned._replace(
            entries=grown(learned.entries, n + spare, 0), keys=grown(learned.keys, n + spare, 0)
        )
        used = old.slots >= 0
        slots, heads = build_slots(old.slots[used], old.heads[used].astype(np.int64), spare)
        self.contexts = self.layout.contexts(old.rows, slots, heads, entries)  # type: ignore[arg-type]
        assert n_keys == np.count_nonzero(used)

    def average(self) -> Average:
        """Averages over all steps."""
        Y, n, words = self.layout.n_labels, int(self.learned.sizes[1]), self.words
        places = np.flatnonzero((words.weights != 0) | (words.late != 0))
        values = words.weights[places] - words.late[places] / self.clock
        rows = (self.contexts.rows - self.learned.rows / self.clock)[:, :Y]
        entries = self.contexts.weights[:n] - self.learned.entries[:n] / self.clock
        return Average(places, values, rows, self.learned.keys[:n].copy(), self.contexts.labels[:n].copy(), entries)
