"""The row index: where the scores of a form in a slot are found. Forms ─► locations ─► rows of a table, or weights.

    several attributes, or many weights      a row of the table, with a number for every label
    one attribute, at most SHORT weights     those weights themselves
    no weight                                nowhere

Most words are rare, and a rare word two tokens away was seen with one label or two: a row would be 256 bytes for one
number, to be filled, read, cleared and added up at every pass. A location is one number:

    location ≥ 0       a row
    location = −1      nowhere
    location < −1      n weights from w on, as −2 − (SHORT · w + n − 1)

All sources of forms (columns and conjunctions) share one table. Unknown words of a batch get rows of their own,
numbered after those of the table. Beside the locations: which attributes have rows that all of their forms share.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from tagwright._jit import natural, tight_kernel
from tagwright._simd import prefetch
from tagwright.arrays import Floats, Ints, Longs, Plain, zero_rows
from tagwright.encode.batch import Batch
from tagwright.encode.encoder import Encoder, SlotArrays, slot_arrays
from tagwright.scores.pattern import LabelWeights, Pattern

SHORT = 8
"""Weights that are read one by one rather than in a row of the table."""
NOWHERE = -1
LARGEST = np.iinfo(np.int32).max // SHORT - 1
"""The last weight that a location can name; an attribute beyond it gets a row."""
PREFETCH_DISTANCE = 24
"""Tokens between asking for a form's locations and reading them."""
FEW = 16
"""Forms to an attribute of a term, on average, that make no row worth its while."""
WIDEST = 256
"""Columns of rows that are added as quickly as an attribute's weights."""
NO_ROW = -1


class ColumnSlots(NamedTuple):
    """The slots of all columns of an encoder, end to end, for the kernels that look at unknown words."""

    columns: Longs  # [C + 1, 3]: first slot, first (slot, term) pair, number of terms
    offsets: Longs
    pointers: Longs  # from the first slot of column c, plus c, on
    terms: Longs
    bases: Longs

    @classmethod
    def build(cls, slots: Sequence[SlotArrays], n_terms: Sequence[int]) -> ColumnSlots:
        firsts = np.cumsum([0, *(own.n_slots for own in slots)]), np.cumsum([0, *(len(own.terms) for own in slots)])
        parts = [np.concatenate([np.empty(0, np.int64), *own]) for own in zip(*slots, strict=True)]
        return cls(np.stack([*firsts, [*n_terms, 0]], axis=1), *(parts or [np.empty(0, np.int64)] * 4))


class Locations(NamedTuple):
    """The locations of all forms, source after source: form f of source c has those of its S slots from
    begins[c] + f · S on."""

    locations: Ints
    begins: Longs  # [C]


class RowIndex:
    """The locations of all forms that an encoder knows, with `n_rows` rows. It never changes."""

    def __init__(self, encoder: Encoder, pattern: Pattern) -> None:
        self.pattern = pattern
        self.slots = slot_arrays(encoder)
        n = len(encoder.columns)
        self.of_columns = ColumnSlots.build(self.slots[:n], [len(column.terms) for column in encoder.columns])
        codes = [source.codes for source in encoder.sources]
        self.known, self.n_rows = self._locate(codes)
        readers = [
            (c, offset, self.known.begins[c] + s, slots.n_slots, s, len(codes[c]))
            for c, slots in enumerate(self.slots)
            for s, offset in enumerate(slots.offsets)
        ]
        self.readers: Longs = np.array(readers, np.int64).reshape(-1, 6)

    def _locate(self, codes: list[Ints]) -> tuple[Locations, int]:
        """The locations of all known forms, source by source, and the number of rows."""
        sizes = [len(own) * slots.n_slots for own, slots in zip(codes, self.slots, strict=True)]
        begins, n_rows = np.cumsum([0, *sizes]), 0
        locations = np.empty(int(begins[-1]), np.int32)
        for c, own in enumerate(codes):
            part = locations[begins[c] : begins[c + 1]]
            n_rows = locate_forms(
                own.reshape(-1), own.shape[1], tuple(self.slots[c]), self.pattern.pointers, n_rows, part
            )
        return Locations(locations, begins[:-1]), n_rows

    def of_forms(self, c: int) -> Ints:
        """The locations of all known forms of source c [F · S]."""
        ends = np.append(self.known.begins, len(self.known.locations))
        return self.known.locations[ends[c] : ends[c + 1]]

    def of_tokens(self, batch: Batch, unknown: Locations) -> Ints:
        """The locations of every token in all slots [n, S]."""
        out = np.empty((batch.forms.shape[1], len(self.readers)), np.int32)
        list_locations(batch.forms, self.plain, tuple(unknown), batch.offsets, 0, batch.n_sentences, out)
        return out

    @cached_property
    def plain(self) -> Plain:
        """For list_locations."""
        return self.readers, self.known.locations


class SharedRows:
    """Rows of attributes that many forms share, such as a suffix of one letter or a shape:

        row[a, y] = W[a, y], 0 where attribute a has no weight for label y

    Most attributes of such terms were seen with many labels. Where the table of forms is made (scores/linear.py), their
    weights are added in vectors instead of one by one, for every form that has them.

    Row n belongs to attribute attributes[n]. The k-th (slot, term) pair of source c gives code v the row
    bases[c][k] + v, or none where bases[c][k] is NO_ROW. Which terms have rows depends on the forms alone: a
    model that is stored without its zeros adds up the rest in the same order."""

    def __init__(self, encoder: Encoder, slots: Sequence[SlotArrays], width: int) -> None:
        self.bases: list[Longs] = []
        found: list[Longs] = [np.empty(0, np.int64)]
        n = 0
        for c, own in enumerate(slots):
            bases = np.full(len(own.terms), NO_ROW, np.int64)
            column = encoder.columns[c] if c < len(encoder.columns) else None  # combinations share no attribute
            for k, (term, base) in enumerate(zip(own.terms.tolist(), own.bases.tolist(), strict=True)):
                size = 0 if column is None else len(column.vocabularies[term])
                if column is not None and 0 < FEW * size <= column.n_known and width <= WIDEST:
                    bases[k] = n
                    found.append(np.arange(base, base + size))
                    n += size
            self.bases.append(bases)
        self.attributes = np.concatenate(found)
        self.most = max(map(len, self.bases), default=0)  # no form has more rows in a slot

    def fill(self, weights: LabelWeights, width: int) -> Floats:
        """The rows with these weights [n, P]."""
        table: Floats = zero_rows((len(self.attributes), width), weights.values.dtype)
        fill_rows(self.attributes, weights, table)
        return table


@tight_kernel
def fill_rows(attributes: Longs, weights: LabelWeights, table: Floats) -> None:
    for n in range(attributes.shape[0]):
        for w in range(weights.pointers[attributes[n]], weights.pointers[attributes[n] + 1]):
            table[n, weights.labels[w]] = weights.values[w]


@tight_kernel
def locate_forms(codes: Ints, K: int, of_slots: Plain, pointers: Longs, n_rows: int, locations: Ints) -> int:
    """locations[f · S + s] of all forms with these codes, K each; new rows are numbered from n_rows. Returns their
    end."""
    slots = SlotArrays(*of_slots)
    S, n = slots.offsets.shape[0], codes.shape[0] // max(K, 1)
    for f in range(n):
        if f + 1 < n:  # ask for what the next form reads
            for k in range(slots.pointers[S]):
                prefetch(pointers, slots.bases[k] + max(0, codes[(f + 1) * K + slots.terms[k]]))
        for s in range(S):
            begin, n, size = 0, 0, 0  # first weight of the last attribute that has any; such attributes; its weights
            k = slots.pointers[s]
            while k < slots.pointers[s + 1] and n < 2:  # two attributes make it a row
                code = codes[f * K + slots.terms[k]]
                if code >= 0:
                    a = slots.bases[k] + code
                    if pointers[a + 1] > pointers[a]:
                        begin, n, size = pointers[a], n + 1, pointers[a + 1] - pointers[a]
                k += 1
            if n == 0:
                locations[f * S + s] = NOWHERE
            elif n == 1 and size <= SHORT and begin <= LARGEST:
                locations[f * S + s] = -2 - (SHORT * begin + size - 1)
            else:
                locations[f * S + s] = n_rows
                n_rows += 1
    return n_rows


# Natural below: forms and the tokens of a batch, which are counted from 0; slots are those of `readers`.


@tight_kernel
def list_locations(
    forms: Ints, index: Plain, of_unknown: Plain, offsets: Longs, first: int, last: int, out: Ints
) -> None:
    """The locations of the tokens of the sentences `first` to `last` − 1, out [n, S].

    index: readers [S, 6], of each slot its source and its offset, where the locations of its known forms begin and how
    far apart they are, which of the source's slots it is, and how many forms of the source are known; the locations of
    all known forms. A slot after the other, as if all were one sentence (14 ns a token, a token after the other 22);
    then what lies beyond the edges of sentences, which is form 0 or 1."""
    readers, known, unknown = index[0], index[1], Locations(*of_unknown)
    n, base = offsets[last], offsets[first]
    for s in range(readers.shape[0]):
        c, shift, start, step, n_known = readers[s, 0], readers[s, 1], readers[s, 2], readers[s, 3], readers[s, 5]
        row, is_first = forms[c], readers[s, 4] == 0  # the source's other slots are beside its first
        for p in range(max(base, base - shift), min(n, n - shift)):
            if is_first and p + shift + PREFETCH_DISTANCE < n:
                prefetch(known, start + row[natural(p + shift + PREFETCH_DISTANCE)] * step)
            form = row[natural(p + shift)]
            if form < n_known:
                out[natural(p - base), natural(s)] = known[natural(start + form * step)]
            else:
                own = unknown.begins[c] + (form - n_known) * step
                out[natural(p - base), natural(s)] = unknown.locations[own + readers[s, 4]]
        for i in range(first if shift != 0 else last, last):
            begin, end = offsets[i], offsets[i + 1]
            for p in range(begin, min(end, begin - shift)):
                out[p - base, s] = known[start]
            for p in range(max(begin, end - shift), end):
                out[p - base, s] = known[start + step]
