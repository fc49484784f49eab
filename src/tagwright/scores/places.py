"""Places: where the scores of a form in a slot stand. Forms ─► places ─► rows of a table, or a few weights.

    several attributes, or many weights      a row of the table, with a number for every label
    one attribute, at most SHORT weights     those weights themselves
    no weight                                nowhere

Most words are rare, and a rare word two tokens away was seen with one label or two: a row would be 256 bytes for one
number, to be filled, read, cleared and added up at every pass. A place is one number:

    place ≥ 0       a row
    place = −1      nowhere
    place < −1      n weights from w on, as −2 − (SHORT · w + n − 1)

All sources of forms (columns and conjunctions) share one table. The places of a token are those of all its slots.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from tagwright._jit import tight_kernel
from tagwright._registers import fetch_early
from tagwright.arrays import Bools, Ints, Longs
from tagwright.encode.dataset import Dataset
from tagwright.encode.encoder import Encoder
from tagwright.encode.forms import ColumnForms

SHORT = 8
"""Weights that are read one by one rather than in a row of the table."""
NOWHERE = -1
LARGEST = np.iinfo(np.int32).max // SHORT - 1
"""The last weight that a place can name; an attribute beyond it gets a row."""
ROOM = 1 << 14
"""New rows, or places of new forms, for which there is room before arrays must be copied."""
AHEAD = 8
"""Tokens between asking for a form's places and reading them."""


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
def place_forms(
    codes: Ints, slot_pointers: Longs, slot_terms: Longs, slot_bases: Longs, pointers: Longs, first: int, last: int,
    n_rows: int, places: Ints,
) -> int:  # fmt: skip
    """places[f · S + s] for the forms `first` to `last` − 1; new rows are numbered from n_rows. Returns their end."""
    S = slot_pointers.shape[0] - 1
    for f in range(first, last):
        if f + 1 < last:  # ask for what the next form reads
            for k in range(slot_pointers[S]):
                fetch_early(pointers, slot_bases[k] + max(0, codes[f + 1, slot_terms[k]]))
        for s in range(S):
            begin, n, size = 0, 0, 0  # first weight of the last attribute that has any; such attributes; all weights
            for k in range(slot_pointers[s], slot_pointers[s + 1]):
                code = codes[f, slot_terms[k]]
                if code >= 0:
                    a = slot_bases[k] + code
                    if pointers[a + 1] > pointers[a]:
                        begin, n, size = pointers[a], n + 1, size + pointers[a + 1] - pointers[a]
            if n == 0:
                places[f * S + s] = NOWHERE
            elif n == 1 and size <= SHORT and begin <= LARGEST:
                places[f * S + s] = -2 - (SHORT * begin + size - 1)
            else:
                places[f * S + s] = n_rows
                n_rows += 1
    return n_rows


@tight_kernel
def find_form(forms: Ints, p: int, offset: int, begin: int, end: int) -> int:
    """The form `offset` tokens after p; 0 and 1 are the edges."""
    q = p + offset
    if q < begin:
        return 0
    if q >= end:
        return 1
    return int(forms[q])


@tight_kernel
def list_places(
    forms: Ints, readers: Longs, begins: Longs, places: Ints, offsets: Longs, first: int, last: int, wanted: Bools,
    out: Ints,
) -> None:  # fmt: skip
    """The places of the tokens of the sentences `first` to `last` − 1, out [n, S]; of the wanted ones [n], or of all
    where `wanted` is empty. readers [S, 4]: source of a slot, its offset, where its places begin, and how far apart;
    begins [C, 2]: where those of a source begin, and how many a form has."""
    S, n = readers.shape[0], offsets[last]
    for i in range(first, last):
        begin, end = offsets[i], offsets[i + 1]
        for p in range(begin, end):
            t = p - offsets[first]
            for c in range(begins.shape[0]):
                if p + AHEAD < n:
                    fetch_early(places, begins[c, 0] + forms[c, p + AHEAD] * begins[c, 1])
            if wanted.shape[0] > 0 and not wanted[t]:
                for s in range(S):
                    out[t, s] = NOWHERE
                continue
            for s in range(S):
                form = find_form(forms[readers[s, 0]], p, readers[s, 1], begin, end)
                out[t, s] = places[readers[s, 2] + form * readers[s, 3]]


class Places:
    """The places of all forms that an encoder knows, with `n_rows` rows. Visitors get theirs when they come."""

    def __init__(self, encoder: Encoder, pattern: Pattern) -> None:
        self.encoder = encoder
        self.pattern = pattern
        self.slots = slot_arrays(encoder)
        self.n_placed = [0 for _ in self.slots]  # forms
        self.n_rows = 0
        self._rooms = [0 for _ in self.slots]  # forms that there is room for
        self._begins = [0 for _ in range(len(self.slots) + 1)]
        self._all = np.empty(0, np.int32)
        self._make_room([source.n_known + ROOM * isinstance(source, ColumnForms) for source in encoder.sources])
        for c, source in enumerate(encoder.sources):
            self._place(c, source.n_known)
        self.n_known_rows = self.n_rows
        self.seasons = [column.season for column in encoder.columns]

    @property
    def n_slots(self) -> int:
        """Of all sources: places of a token."""
        return len(self._readers)

    def of_forms(self, c: int) -> Ints:
        """Of source c [F · S]."""
        return self._all[self._begins[c] : self._begins[c + 1]]

    def _make_room(self, rooms: list[int]) -> None:
        """One array for the places of all forms, with room for so many of each source."""
        sizes = [room * slots.n_slots for room, slots in zip(rooms, self.slots, strict=True)]
        begins = list(accumulate(sizes, initial=0))
        larger = np.full(begins[-1], NOWHERE, np.int32)
        for c, begin in enumerate(begins[:-1]):
            old = self.of_forms(c)
            larger[begin : begin + len(old)] = old
        readers = [
            (c, int(offset), begins[c] + s, slots.n_slots)
            for c, slots in enumerate(self.slots)
            for s, offset in enumerate(slots.offsets)
        ]
        of_sources = [(begin, slots.n_slots) for begin, slots in zip(begins, self.slots, strict=False)]
        self._readers = np.array(readers, np.int64).reshape(-1, 4)
        self._source_begins = np.array(of_sources, np.int64).reshape(-1, 2)
        self._begins, self._all = begins, larger
        self._rooms = rooms  # last: whoever stops this before makes room again

    def update(self) -> list[int]:
        """Give visitors their places; the forms of each source that had theirs before, and keep them."""
        columns = self.encoder.columns  # which stand before the conjunctions; those have no visitors
        seasons = [column.season for column in columns]
        if seasons != self.seasons:  # some were sent away: all come again
            self.seasons, self.n_rows = seasons, self.n_known_rows
            self.n_placed[: len(columns)] = [column.n_known for column in columns]
        before = list(self.n_placed)
        for c, column in enumerate(columns):
            if len(column) > before[c]:
                self._place(c, len(column))
        return before

    def _place(self, c: int, last: int) -> None:
        slots = self.slots[c]
        if last > self._rooms[c]:
            self._make_room([*self._rooms[:c], last + last // 4, *self._rooms[c + 1 :]])
        self.n_rows = place_forms(
            self.encoder.sources[c].codes, slots.pointers, slots.terms, slots.bases, self.pattern.pointers,
            self.n_placed[c], last, self.n_rows, self.of_forms(c),
        )  # fmt: skip
        self.n_placed[c] = last

    def of_tokens(self, data: Dataset, first: int, last: int, wanted: Bools | None = None) -> Ints:
        """The places of the tokens of the sentences `first` to `last` − 1: [n, S]; of the wanted ones, if that is
        given [n]."""
        out = np.empty((int(data.offsets[last] - data.offsets[first]), self.n_slots), np.int32)
        wanted = EVERY if wanted is None else wanted
        list_places(data.forms, self._readers, self._source_begins, self._all, data.offsets, first, last, wanted, out)
        return out


EVERY: Bools = np.empty(0, np.bool_)
