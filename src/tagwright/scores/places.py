"""Places: where the scores of a form in a slot stand. Forms ─► places ─► rows of a table, or a few weights.

    several attributes, or many weights      a row of the table, with a number for every label
    one attribute, at most SHORT weights     those weights themselves
    no weight                                nowhere

Most words are rare, and a rare word two tokens away was seen with one label or two: a row would be 256 bytes for one
number, to be filled, read, cleared and added up at every pass. A place is one number:

    place ≥ 0       a row
    place = −1      nowhere
    place < −1      n weights from w on, as −2 − (SHORT · w + n − 1)

All sources of forms (columns and conjunctions) share one table. The places of a token are those of all its slots, rows
from the front, weights from the back.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tagwright._jit import tight_kernel
from tagwright.arrays import Bools, Ints, Longs, grown
from tagwright.encode.dataset import Dataset
from tagwright.encode.encoder import Encoder

SHORT = 8
"""Weights that are read one by one rather than in a row of the table."""
NOWHERE = -1
LARGEST = np.iinfo(np.int32).max // SHORT - 1
"""The last weight that a place can name; an attribute beyond it gets a row."""
ROOM = 1 << 14
"""New rows, or places of new forms, for which there is room before arrays must be copied. Room costs no memory until it
is used."""


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
    forms: Ints, slot_offsets: Longs, places: Ints, offsets: Longs, first: int, last: int, wanted: Bools, n_rows: Ints,
    n_short: Ints, out: Ints,
) -> None:  # fmt: skip
    """Add the places of one source to those of the wanted tokens, out [n, S], that has n_rows [n] and n_short [n]
    already."""
    S = slot_offsets.shape[0]
    for i in range(first, last):
        for p in range(offsets[i], offsets[i + 1]):
            t = p - offsets[first]
            if not wanted[t]:
                continue
            for s in range(S):
                place = places[find_form(forms, p, slot_offsets[s], offsets[i], offsets[i + 1]) * S + s]
                if place >= 0:
                    out[t, n_rows[t]] = place
                    n_rows[t] += 1
                elif place < NOWHERE:
                    n_short[t] += 1
                    out[t, out.shape[1] - n_short[t]] = place


@tight_kernel
def list_conjunctions(
    forms: Ints, places: Ints, bases: Longs, begin: int, wanted: Bools, n_rows: Ints, n_short: Ints, out: Ints
) -> None:
    """The same for all conjunctions, forms [K, n_all], at once: places[bases[k] + f] is that of form f."""
    for t in range(out.shape[0]):
        if not wanted[t]:
            continue
        for k in range(forms.shape[0]):
            place = places[bases[k] + forms[k, begin + t]]
            if place >= 0:
                out[t, n_rows[t]] = place
                n_rows[t] += 1
            elif place < NOWHERE:
                n_short[t] += 1
                out[t, out.shape[1] - n_short[t]] = place


class Places:
    """The places of all forms that an encoder knows, with `n_rows` rows. Visitors get theirs when they come."""

    def __init__(self, encoder: Encoder, pattern: Pattern) -> None:
        self.encoder = encoder
        self.pattern = pattern
        self.slots = slot_arrays(encoder)
        self.of_forms: list[Ints] = [np.empty(0, np.int32) for _ in self.slots]  # [F · S] of each source
        self.n_placed = [0 for _ in self.slots]  # forms
        self.n_rows = 0
        for c, source in enumerate(encoder.sources):
            self._place(c, source.n_known)
        C, sizes = len(encoder.columns), [source.n_known for source in encoder.conjunctions]
        self._of_conjunctions = np.concatenate(
            [np.empty(0, np.int32), *(o[:n] for o, n in zip(self.of_forms[C:], sizes))]
        )
        self._bases = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        self.n_known_rows = self.n_rows
        self.seasons = [source.season for source in encoder.sources]

    @property
    def n_slots(self) -> int:
        """Of all sources together."""
        return sum(slots.n_slots for slots in self.slots)

    def update(self) -> list[int]:
        """Give visitors their places; the forms of each source that had theirs before, and keep them."""
        sources = self.encoder.sources
        seasons = [source.season for source in sources]
        if seasons != self.seasons:  # some were sent away: all come again
            self.seasons, self.n_rows = seasons, self.n_known_rows
            self.n_placed = [source.n_known for source in sources]
        before = list(self.n_placed)
        for c, source in enumerate(sources):
            if len(source) > before[c]:
                self._place(c, len(source))
        return before

    def _place(self, c: int, last: int) -> None:
        slots = self.slots[c]
        self.of_forms[c] = grown(self.of_forms[c], last * slots.n_slots, ROOM * slots.n_slots)
        self.n_rows = place_forms(
            self.encoder.sources[c].codes, slots.pointers, slots.terms, slots.bases, self.pattern.pointers,
            self.n_placed[c], last, self.n_rows, self.of_forms[c],
        )  # fmt: skip
        self.n_placed[c] = last

    def of_tokens(self, data: Dataset, first: int, last: int, wanted: Bools | None = None) -> Ints:
        """The places of the tokens of the sentences `first` to `last` − 1: [n, S]; of the wanted ones, if that is
        given [n]."""
        n = int(data.offsets[last] - data.offsets[first])
        out = np.full((n, self.n_slots), NOWHERE, np.int32)
        n_rows, n_short = np.zeros((2, n), np.int32)
        wanted = np.ones(n, np.bool_) if wanted is None else wanted
        n_columns = len(self.encoder.columns)
        for c, slots in enumerate(self.slots[:n_columns]):
            list_places(
                data.forms[c], slots.offsets, self.of_forms[c], data.offsets, first, last, wanted, n_rows, n_short, out
            )
        if len(self.slots) > n_columns:
            found, begin = data.forms[n_columns:], int(data.offsets[first])
            list_conjunctions(found, self._of_conjunctions, self._bases, begin, wanted, n_rows, n_short, out)
        return out
