"""Conjunctions of two cells of the same column, nearly all that there are: found in one call, looked up together.

`word[-1] & word[0] @ 0..1` is two conjunctions that ask for the same pair of words, one from its second word, the other
from its first. So conjunctions with the same terms at the same distance share a table, two at a time:

    slot        key and, in one number, the forms of both conjunctions (0: it is none of that one's combinations)

A pair that begins at q is conjunction k's at token q − offset_k.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tagwright._jit import tight_kernel
from tagwright._registers import fetch_early
from tagwright.arrays import Ints, Longs
from tagwright.encode.conjunctions import Combinations, code_at
from tagwright.encode.forms import N_EDGES, ColumnForms
from tagwright.encode.key_table import EMPTY, first_slot, slots_for

AHEAD = 8
"""Pairs between asking for a slot and reading it."""
SOON = 16
"""Tokens between asking for a code and reading it."""
FORM_BITS = 32
NOBODY = -1
TERM, TERM_B, DISTANCE, SIZE_B, BEGIN, END, ROW, OFFSET, OUTSIDE = 0, 1, 2, 3, 4, 5, 6, 8, 10
"""Columns of `groups`: both terms, how far the second is, its size, slots; then two rows and two offsets, and whether
each of both terms has a value beyond the ends of sentences alone."""


@dataclass(frozen=True, slots=True)
class ColumnPairs:
    """place: of the column; groups: conjunctions that share a table, as above, its slots from BEGIN to END."""

    place: int
    groups: Longs  # [G, 12]
    slots: Longs

    @classmethod
    def build(cls, place: int, found: dict[int, Combinations], column: ColumnForms) -> ColumnPairs:
        """From the conjunctions of a column by their rows among the forms."""
        same: dict[tuple[int, int, int], list[tuple[int, int, Longs]]] = {}
        for row, conjunction in found.items():
            (_, term, offset), (_, term_b, offset_b) = conjunction.places
            members = same.setdefault((term, term_b, offset_b - offset), [])
            members.append((row, offset, conjunction.table.keys))
        groups: list[tuple[int, ...]] = []
        tables: list[Longs] = []
        for (term, term_b, distance), members in same.items():
            for k in range(0, len(members), 2):
                (row, offset, keys), (row_b, offset_b, keys_b) = [*members[k : k + 2], (NOBODY, 0, NO_KEYS)][:2]
                slots = slots_for(count_distinct(keys, keys_b))
                insert_pairs(keys, 0, slots)
                insert_pairs(keys_b, FORM_BITS, slots)
                begin = sum(map(len, tables))
                tables.append(slots)
                about = (term, term_b, distance, len(column.vocabularies[term_b]), begin, begin + len(slots))
                outside = [column.terms[t].function == "edge" for t in (term, term_b)]
                groups.append((*about, row, row_b, offset, offset_b, *outside))
        return cls(place, np.array(groups, np.int64), np.concatenate(tables))

    def find(self, codes: Ints, offsets: Longs, forms: Ints) -> None:
        """Put the forms of the conjunctions into their rows of forms [C, n]; codes: of the column."""
        waiting = np.empty((AHEAD, 4), np.int64)
        find_pairs(self.place, codes, codes.reshape(-1), self.groups, self.slots, offsets, waiting, forms)


NO_KEYS: Longs = np.empty(0, np.int64)


def count_distinct(keys: Longs, others: Longs) -> int:
    """Of both together. By sorting: NumPy's union takes 10 ms of a start."""
    both = np.sort(np.concatenate([keys, others]))
    return int(np.count_nonzero(both[1:] != both[:-1])) + 1


@tight_kernel
def insert_pairs(keys: Longs, shift: int, slots: Longs) -> None:
    """The forms of one conjunction's keys, `shift` bits up."""
    for n in range(keys.shape[0]):
        place = first_slot(keys[n], slots.shape[0])
        while slots[place] != EMPTY and slots[place] != keys[n]:
            place = (place + 2) & (slots.shape[0] - 1)
        if slots[place] == EMPTY:
            slots[place], slots[place + 1] = keys[n], 0
        slots[place + 1] |= (n + N_EDGES) << shift


@tight_kernel
def write_pair(
    waiting: Longs, w: int, slots: Longs, row: int, row_b: int, offset: int, offset_b: int, forms: Ints
) -> None:
    """Look up a key, and tell the tokens of its sentence whose pair it is. waiting[w]: key, q, and its sentence's
    ends."""
    key, q, begin, end = waiting[w, 0], waiting[w, 1], waiting[w, 2], waiting[w, 3]
    place = first_slot(key, slots.shape[0])
    while slots[place] != key and slots[place] != EMPTY:  # nearly never: whether a key is there needs no guess
        place = (place + 2) & (slots.shape[0] - 1)
    both = max(slots[place + 1], 0)  # that of an empty slot is −1
    if begin <= q - offset < end:
        forms[row, q - offset] = both & 0xFFFFFFFF
    if row_b != NOBODY and begin <= q - offset_b < end:
        forms[row_b, q - offset_b] = both >> FORM_BITS


@tight_kernel
def find_pairs(
    place: int, codes: Ints, flat: Ints, groups: Longs, slots: Longs, offsets: Longs, waiting: Longs, forms: Ints
) -> None:
    """As ColumnPairs.find. flat: the codes as a vector; waiting [AHEAD, 4]: pairs whose slots were asked for."""
    K = codes.shape[1]
    for g in range(groups.shape[0]):
        term, term_b, distance, size_b = groups[g, TERM], groups[g, TERM_B], groups[g, DISTANCE], groups[g, SIZE_B]
        own = slots[groups[g, BEGIN] : groups[g, END]]
        row, row_b, offset, offset_b = groups[g, ROW], groups[g, ROW + 1], groups[g, OFFSET], groups[g, OFFSET + 1]
        first = last = offset
        if row_b != NOBODY:
            first, last = min(offset, offset_b), max(offset, offset_b)
        outside, outside_b = groups[g, OUTSIDE] != 0, groups[g, OUTSIDE + 1] != 0
        for k in range(2):
            if (outside or outside_b) and groups[g, ROW + k] != NOBODY:  # most tokens have none
                forms[groups[g, ROW + k], :] = 0
        n = 0
        for i in range(offsets.shape[0] - 1):
            begin, end = offsets[i], offsets[i + 1]
            for q in range(begin + first, end + last):
                if (outside and begin <= q < end) or (outside_b and begin <= q + distance < end):
                    continue
                w = n % AHEAD
                if n >= AHEAD:
                    write_pair(waiting, w, own, row, row_b, offset, offset_b, forms)
                if 0 <= q + distance + SOON < forms.shape[1]:
                    fetch_early(flat, forms[place, q + distance + SOON] * K + term_b)
                a = code_at(forms[place], codes, term, q, begin, end)
                b = code_at(forms[place], codes, term_b, q + distance, begin, end)
                key = EMPTY if a < 0 or b < 0 else a * size_b + b
                waiting[w, 0], waiting[w, 1], waiting[w, 2], waiting[w, 3] = key, q, begin, end
                fetch_early(own, first_slot(key, own.shape[0]))
                n += 1
        for w in range(max(0, n - AHEAD), n):
            write_pair(waiting, w % AHEAD, own, row, row_b, offset, offset_b, forms)
