"""Linear scores, factorised: weights ─► tables over forms ─► emission rows, and gradients back the same way.

    table[(f, s), y]  = Σ_{attributes a of form f in slot s} W[a, y]                          once per pass, per form
    emission[p, y]    = Σ_s table[(form(p + offset_s), s), y] + Σ_{attributes a of p} v_a W[a, y]
    adjoint           G[(f, s)] = Σ_{p : form(p + offset_s) = f} dE[p],     dW[a, y] = Σ_{(f, s) ∋ a} G[(f, s), y] + ...

W is sparse: attribute a has weights for the labels pattern.labels[pattern.pointers[a] : pattern.pointers[a + 1]] only
(those seen with it in training, or all). The kernels read it row by row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tagwright._jit import tight_kernel
from tagwright._registers import fetch_early
from tagwright.arrays import Floats, Ints, Longs, Workers, padded
from tagwright.encode.dataset import Dataset
from tagwright.encode.encoder import Encoder

ROOM = 4096
"""Visitors that a table has room for before it must grow."""
AHEAD = 3
"""Tokens between asking for a row and reading it: about what memory takes to answer."""
PIECES = 32
"""Work is cut into about this many pieces for threads; more than cores, so that no thread waits long."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """Which (attribute, label) pairs have a weight; the weight's number is its place."""

    pointers: Longs  # [A + 1]
    labels: Ints  # [pointers[-1]]

    @property
    def n_weights(self) -> int:
        return len(self.labels)


@dataclass(frozen=True, slots=True)
class SlotArrays:
    """The slots of one source for the kernels: slot s has offset offsets[s], and for its terms k the entries
    pointers[s] to pointers[s + 1] of `terms` and `bases`."""

    offsets: Longs  # [S]
    pointers: Longs  # [S + 1]
    terms: Longs
    bases: Longs

    @property
    def n_slots(self) -> int:
        return len(self.offsets)


def slot_arrays(encoder: Encoder) -> list[SlotArrays]:
    """For each source of the encoder."""
    arrays = []
    for slots in encoder.slots:
        sizes = [len(slot.terms) for slot in slots]
        arrays.append(
            SlotArrays(
                offsets=np.array([slot.offset for slot in slots], np.int64),
                pointers=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
                terms=np.array([term for slot in slots for term in slot.terms], np.int64),
                bases=np.array([base for slot in slots for base in slot.bases], np.int64),
            )
        )
    return arrays


@tight_kernel
def fill_table(
    codes: Ints, slot_pointers: Longs, slot_terms: Longs, slot_bases: Longs, pointers: Longs, labels: Ints,
    weights: Floats, table: Floats, first: int, last: int,
) -> None:  # fmt: skip
    """Rows of the forms `first` to `last` − 1: row f · S + s is the score of form f in slot s."""
    S = slot_pointers.shape[0] - 1
    for f in range(first, last):
        for s in range(S):
            row = table[f * S + s]
            row[:] = 0
            for k in range(slot_pointers[s], slot_pointers[s + 1]):
                code = codes[f, slot_terms[k]]
                if code >= 0:
                    a = slot_bases[k] + code
                    for w in range(pointers[a], pointers[a + 1]):
                        row[labels[w]] += weights[w]


@tight_kernel
def find_row(forms: Ints, p: int, offset: int, begin: int, end: int) -> int:
    """The form `offset` tokens after p; 0 and 1 are the edges."""
    q = p + offset
    if q < begin:
        return 0
    if q >= end:
        return 1
    return int(forms[q])


@tight_kernel
def add_table_scores(
    forms: Ints, slot_offsets: Longs, table: Floats, offsets: Longs, first: int, last: int, out: Floats
) -> None:
    """out[p − offsets[first]] += Σ_s table rows, two at a time, for the tokens p of sentences `first` to `last` − 1."""
    S = slot_offsets.shape[0]
    origin = offsets[first]
    for i in range(first, last):
        begin, end = offsets[i], offsets[i + 1]
        for p in range(begin, end):
            for s in range(S):
                ahead = p + AHEAD + slot_offsets[s]
                if 0 <= ahead < forms.shape[0]:
                    fetch_early(table, forms[ahead] * S + s)
            row = out[p - origin]
            for s in range(0, S - 1, 2):
                a = table[find_row(forms, p, slot_offsets[s], begin, end) * S + s]
                b = table[find_row(forms, p, slot_offsets[s + 1], begin, end) * S + s + 1]
                for j in range(row.shape[0]):
                    row[j] += a[j] + b[j]
            if S % 2 == 1:
                a = table[find_row(forms, p, slot_offsets[S - 1], begin, end) * S + S - 1]
                for j in range(row.shape[0]):
                    row[j] += a[j]


@tight_kernel
def add_attribute_scores(
    token_pointers: Longs, attributes: Ints, values: Floats, pointers: Longs, labels: Ints, weights: Floats,
    begin: int, end: int, out: Floats,
) -> None:  # fmt: skip
    """out[p − begin] += Σ_a v_a W[a], for the attributes that the tokens `begin` to `end` − 1 carry themselves."""
    weighted = values.shape[0] > 0
    for p in range(begin, end):
        row = out[p - begin]
        for e in range(token_pointers[p], token_pointers[p + 1]):
            a = attributes[e]
            for w in range(pointers[a], pointers[a + 1]):
                row[labels[w]] += values[e] * weights[w] if weighted else weights[w]


class LinearScores:
    """Weights bound to an encoder: fills emission rows of any Dataset it made. The forward half of the map."""

    def __init__(self, encoder: Encoder, pattern: Pattern, n_labels: int, dtype: type[np.floating[Any]]) -> None:
        self.encoder = encoder
        self.pattern = pattern
        self.n_labels = n_labels
        self.width = padded(n_labels)
        self.dtype = dtype
        self.slots = slot_arrays(encoder)
        self.tables = [np.zeros((0, self.width), dtype) for _ in self.slots]
        self.filled = [0 for _ in self.slots]  # forms whose rows are up to date
        self.seasons = [0 for _ in self.slots]  # of the columns' visitors when they were filled
        self.weights: Floats = np.zeros(pattern.n_weights, dtype)

    @property
    def n_parameters(self) -> int:
        """Weights that are not zero."""
        return int(np.count_nonzero(self.weights))

    def set_weights(self, weights: Floats, workers: Workers) -> None:
        """Take new weights and recompute the tables."""
        self.weights = weights.astype(self.dtype)
        self.filled = [0 for _ in self.slots]
        self.fill_tables(workers)

    def fill_tables(self, workers: Workers) -> None:
        """Bring the rows of all forms up to date: all after new weights, those of visitors after encoding."""
        tasks: list[tuple[int, int, int]] = []
        for c, column in enumerate(self.encoder.sources):
            if column.season != self.seasons[c]:
                self.seasons[c], self.filled[c] = column.season, min(self.filled[c], column.n_known)
            first, last = self.filled[c], len(column)
            self._make_room(c, last)
            step = max(256, -(-(last - first) // PIECES))
            tasks.extend((c, f, min(f + step, last)) for f in range(first, last, step))
            self.filled[c] = last
        workers.run(self._fill, tasks)

    def _make_room(self, c: int, n_forms: int) -> None:
        rows = n_forms * self.slots[c].n_slots
        if rows > len(self.tables[c]):
            spare = ROOM * self.slots[c].n_slots + (rows // 4 if len(self.tables[c]) else 0)
            grown = np.zeros((rows + spare, self.width), self.dtype)
            grown[: len(self.tables[c])] = self.tables[c]
            self.tables[c] = grown

    def _fill(self, c: int, first: int, last: int) -> None:
        slots, pattern = self.slots[c], self.pattern
        fill_table(
            self.encoder.sources[c].codes, slots.pointers, slots.terms, slots.bases, pattern.pointers, pattern.labels,
            self.weights, self.tables[c], first, last,
        )  # fmt: skip

    def emission(self, data: Dataset, first: int, last: int, out: Floats) -> None:
        """The scores of all tokens of the sentences `first` to `last` − 1, into out [n, P]."""
        begin, end = int(data.offsets[first]), int(data.offsets[last])
        out[: end - begin] = 0
        for c, table in enumerate(self.tables):
            add_table_scores(data.forms[c], self.slots[c].offsets, table, data.offsets, first, last, out)
        if len(data.attributes):
            pattern = self.pattern
            add_attribute_scores(
                data.pointers, data.attributes, data.values, pattern.pointers, pattern.labels, self.weights,
                begin, end, out,
            )  # fmt: skip
