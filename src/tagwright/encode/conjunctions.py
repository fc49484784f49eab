"""Conjunctions: several cells at once, such as the words at −1 and 0. Each distinct combination is one attribute.

A combination is a mixed-radix number of its cells' codes: key = (code_1 · n_2 + code_2) · n_3 + code_3 ...
Known keys lie in a hash table with open addressing, so that tagging finds them in a few nanoseconds. To scores/ the
combinations are forms like those of a column, each with one attribute; form 0 is "none of them".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tagwright._jit import kernel
from tagwright.arrays import Ints, Longs
from tagwright.attributes.templates import Cell
from tagwright.encode.forms import N_EDGES
from tagwright.errors import TemplateError

EMPTY = -1


@dataclass(frozen=True, slots=True)
class KeyTable:
    """Known keys, sorted, each with its place as its number; `slots` and `numbers` are the hash table."""

    keys: Longs
    slots: Longs
    numbers: Ints

    @classmethod
    def build(cls, keys: Longs) -> KeyTable:
        size = 2 * len(keys) + 3
        while any(size % prime == 0 for prime in (2, 3, 5, 7, 11, 13)):
            size += 1
        slots = np.full(size, EMPTY, np.int64)
        numbers = np.full(size, -1, np.int32)
        insert_keys(keys, slots, numbers)
        return cls(keys, slots, numbers)

    def find(self, keys: Longs) -> Ints:
        """Numbers of `keys`, −1 for those unknown or negative."""
        found = np.empty(len(keys), np.int32)
        find_keys(keys, self.slots, self.numbers, found)
        return found


class Combinations:
    """The known combinations of one conjunction, as a source of forms.

    places: for each cell, (place of its column among the encoder's columns, term number, offset)
    """

    season = 0  # there are no visitors

    def __init__(self, cells: tuple[Cell, ...], places: tuple[tuple[int, int, int], ...], table: KeyTable) -> None:
        self.cells = cells
        self.places = places
        self.table = table
        self.codes = np.arange(-N_EDGES, len(table.keys), dtype=np.int32).reshape(-1, 1)
        self.codes[:N_EDGES] = -1
        self.n_known = len(self.codes)

    def __len__(self) -> int:
        return self.n_known

    def find(self, keys: Longs) -> Ints:
        """The form of every key, 0 for unknown ones."""
        numbers = self.table.find(keys)
        numbers += np.int32(N_EDGES)
        numbers[numbers < N_EDGES] = 0
        return numbers


@kernel
def insert_keys(keys: Longs, slots: Longs, numbers: Ints) -> None:
    for n in range(keys.shape[0]):
        place = keys[n] % slots.shape[0]
        while slots[place] != EMPTY:
            place = place + 1 if place + 1 < slots.shape[0] else 0
        slots[place] = keys[n]
        numbers[place] = n


@kernel
def find_keys(keys: Longs, slots: Longs, numbers: Ints, found: Ints) -> None:
    for n in range(keys.shape[0]):
        found[n] = -1
        if keys[n] < 0:
            continue
        place = keys[n] % slots.shape[0]
        while slots[place] != EMPTY:
            if slots[place] == keys[n]:
                found[n] = numbers[place]
                break
            place = place + 1 if place + 1 < slots.shape[0] else 0


def join_codes(codes: Sequence[Ints], sizes: Sequence[int]) -> Longs:
    """Keys of one conjunction for all tokens; −1 where a cell is absent."""
    product = 1
    for size in sizes:
        product *= max(size, 1)
    if product >= 2**62:
        found = " x ".join(map(str, sizes))
        raise TemplateError(f"a conjunction of {len(sizes)} cells with {found} values is too large; use fewer cells")
    keys = codes[0].astype(np.int64)
    absent = codes[0] < 0
    for code, size in zip(codes[1:], sizes[1:], strict=True):
        keys *= size
        keys += code
        absent |= code < 0
    keys[absent] = EMPTY
    return keys
