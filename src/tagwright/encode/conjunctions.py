"""Conjunctions: several cells at once, such as the words at −1 and 0. Each distinct combination is one attribute.

A combination is a mixed-radix number of its cells' codes: key = (code_1 · n_2 + code_2) · n_3 + code_3 ...
Known keys lie in a hash table with open addressing, so that tagging finds them in a few nanoseconds. To scores/ the
combinations are forms like those of a column, each with one attribute; form 0 is "none of them".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from tagwright._jit import tight_kernel
from tagwright._registers import fetch_early
from tagwright.arrays import Ints, Longs
from tagwright.attributes.templates import Cell
from tagwright.encode.forms import N_EDGES
from tagwright.errors import TemplateError

EMPTY = -1
FOLDED, MULTIPLIER = 0xFFFFFFFF, 0x45D9F3B
AHEAD = 8
"""Keys between asking for a slot and reading it."""


@dataclass(frozen=True, slots=True)
class KeyTable:
    """Known keys, sorted, each with its place as its number."""

    keys: Longs
    slots: Longs  # key and number by turns, a power of two of pairs

    @classmethod
    def build(cls, keys: Longs) -> KeyTable:
        slots = np.full(4 << max(1, len(keys)).bit_length(), EMPTY, np.int64)
        insert_keys(keys, slots)
        return cls(keys, slots)

    def find(self, keys: Longs) -> Ints:
        """Numbers of `keys`, −1 for those unknown or negative."""
        found = np.empty(len(keys), np.int32)
        find_keys(keys, self.slots, found)
        return found


class Combinations:
    """The known combinations of one conjunction, as a source of forms.

    places: for each cell, (place of its column among the encoder's columns, term number, offset)
    """

    def __init__(self, cells: tuple[Cell, ...], places: tuple[tuple[int, int, int], ...], table: KeyTable) -> None:
        self.cells = cells
        self.places = places
        self.table = table
        self.codes = np.arange(-N_EDGES, len(table.keys), dtype=np.int32).reshape(-1, 1)
        self.codes[:N_EDGES] = -1
        self.n_known = len(self.codes)

    def __len__(self) -> int:
        return self.n_known

    def find(self, keys: Longs, out: Ints) -> None:
        """The form of every key, 0 for unknown ones, into out [n]."""
        numbers = self.table.find(keys)
        out[:] = np.where(numbers >= 0, numbers + N_EDGES, 0)


@dataclass(frozen=True, slots=True)
class ColumnPairs:
    """Conjunctions of two cells of the same column, nearly all that there are: they are found in one call.

    place: of the column; rows: of the conjunctions among the forms; pairs[k]: term and offset of both cells, the
    second's size, where the slots of conjunction k begin and end in `slots`
    """

    place: int
    rows: Longs  # [K]
    pairs: Longs  # [K, 7]
    slots: Longs

    @classmethod
    def build(cls, place: int, found: dict[int, Combinations], sizes: Sequence[int]) -> ColumnPairs:
        """From the conjunctions by their rows; sizes: of the column's vocabularies."""
        pairs, end = [], 0
        for conjunction in found.values():
            (_, term, offset), (_, term_b, offset_b) = conjunction.places
            begin, end = end, end + len(conjunction.table.slots)
            pairs.append((term, offset, term_b, offset_b, sizes[term_b], begin, end))
        slots = np.concatenate([conjunction.table.slots for conjunction in found.values()])
        return cls(place, np.array(list(found), np.int64), np.array(pairs, np.int64), slots)

    def find(self, codes: Ints, offsets: Longs, forms: Ints) -> None:
        """Put the forms of the conjunctions into their rows of forms [C, n]; codes: of the column."""
        find_pairs(self.place, codes, self.rows, self.pairs, self.slots, offsets, np.empty(AHEAD, np.int64), forms)


@tight_kernel
def first_slot(key: int, slots: Longs) -> int:
    """Where to look for a key first: the middle of a product that both halves of the key went into."""
    h = ((key ^ (key >> 31)) & FOLDED) * MULTIPLIER
    return int((h >> 12) & (slots.shape[0] - 1) & ~1)


@tight_kernel
def insert_keys(keys: Longs, slots: Longs) -> None:
    for n in range(keys.shape[0]):
        place = first_slot(keys[n], slots)
        while slots[place] != EMPTY:
            place = (place + 2) & (slots.shape[0] - 1)
        slots[place], slots[place + 1] = keys[n], n


@tight_kernel
def find_key(key: int, slots: Longs) -> int:
    """The number of a key; −1 for an unknown or negative one."""
    if key >= 0:
        place = first_slot(key, slots)
        while slots[place] != EMPTY:
            if slots[place] == key:
                return int(slots[place + 1])
            place = (place + 2) & (slots.shape[0] - 1)
    return -1


@tight_kernel
def find_keys(keys: Longs, slots: Longs, found: Ints) -> None:
    for n in range(keys.shape[0]):
        if n + AHEAD < keys.shape[0]:
            fetch_early(slots, first_slot(keys[n + AHEAD], slots))
        found[n] = find_key(keys[n], slots)


@tight_kernel
def code_at(forms: Ints, codes: Ints, term: int, p: int, begin: int, end: int) -> int:
    """The code of a term at p; of an edge's form beyond the sentence."""
    return int(codes[0 if p < begin else N_EDGES - 1 if p >= end else forms[p], term])


@tight_kernel
def find_pairs(
    place: int, codes: Ints, rows: Longs, pairs: Longs, slots: Longs, offsets: Longs, keys: Longs, forms: Ints
) -> None:
    """As ColumnPairs.find. keys [AHEAD]: work. A key is looked up AHEAD tokens after its slot was asked for."""
    n = offsets[-1]
    for k in range(rows.shape[0]):
        term, offset, term_b, offset_b, size_b = pairs[k, 0], pairs[k, 1], pairs[k, 2], pairs[k, 3], pairs[k, 4]
        own = slots[pairs[k, 5] : pairs[k, 6]]
        i = 0
        for p in range(n + AHEAD):
            if p >= AHEAD:
                number = find_key(keys[p % AHEAD], own)
                forms[rows[k], p - AHEAD] = N_EDGES + number if number >= 0 else 0
            if p < n:
                while p >= offsets[i + 1]:
                    i += 1
                a = code_at(forms[place], codes, term, p + offset, offsets[i], offsets[i + 1])
                b = code_at(forms[place], codes, term_b, p + offset_b, offsets[i], offsets[i + 1])
                keys[p % AHEAD] = EMPTY if a < 0 or b < 0 else a * size_b + b
                fetch_early(own, first_slot(keys[p % AHEAD], own))


@tight_kernel
def join_next(forms: Ints, codes: Ints, term: int, offset: int, size: int, offsets: Longs, keys: Longs) -> None:
    """One more digit of every token's key: the code of a term some tokens further on. −1: a cell is absent."""
    for i in range(offsets.shape[0] - 1):
        begin, end = offsets[i], offsets[i + 1]
        for p in range(begin, end):
            code = code_at(forms, codes, term, p + offset, begin, end)
            keys[p] = EMPTY if code < 0 or keys[p] < 0 else keys[p] * size + code


def check_size(sizes: Sequence[int]) -> None:
    """Keys must fit 62 bits."""
    if prod(max(size, 1) for size in sizes) >= 2**62:
        found = " x ".join(map(str, sizes))
        raise TemplateError(f"a conjunction of {len(sizes)} cells with {found} values is too large; use fewer cells")


def join_codes(codes: Sequence[Ints], sizes: Sequence[int]) -> Longs:
    """The keys of some combinations, given the codes of every cell; −1 where a cell is absent."""
    check_size(sizes)
    keys = codes[0].astype(np.int64)
    absent = codes[0] < 0
    for code, size in zip(codes[1:], sizes[1:], strict=True):
        keys *= size
        keys += code
        absent |= code < 0
    keys[absent] = EMPTY
    return keys
