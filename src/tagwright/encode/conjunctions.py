"""Conjunctions: several cells at once, such as the words at −1 and 0. Each distinct combination is one attribute.

A combination is a mixed-radix number of its cells' codes: key = (code_1 · n_2 + code_2) · n_3 + code_3 ...
Known keys lie in a hash table (text/key_table.py), so that tagging finds them in a few nanoseconds. To scores/ the
combinations are forms like those of a column, each with one attribute; form 0 is "none of them".
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from math import prod
from typing import NamedTuple

import numpy as np

from tagwright._jit import tight_kernel
from tagwright._registers import fetch_early
from tagwright.arrays import Ints, Longs
from tagwright.attributes.templates import Cell
from tagwright.encode.batch import UnknownWords
from tagwright.encode.forms import N_EDGES, ColumnForms
from tagwright.errors import TemplateError
from tagwright.text.key_table import EMPTY, PREFETCH_DISTANCE, KeyTable, first_slot

NO_COMBINATION = 0
"""The form of a token that has none of the known combinations."""


class CellIndex(NamedTuple):
    """Where a cell's codes are found: which of the encoder's columns, which of its terms, and the offset."""

    column: int
    term: int
    offset: int


def find_cell(cell: Cell, columns: Sequence[ColumnForms]) -> CellIndex:
    """The index of a cell among the columns of an encoder."""
    column = [column.column for column in columns].index(cell.term.column)
    return CellIndex(column, columns[column].terms.index(cell.term), cell.offset)


class Conjunction:
    """Some cells, and the combinations of their values that are known, as a source of forms."""

    def __init__(self, cells: tuple[Cell, ...], columns: Sequence[ColumnForms], keys: Longs) -> None:
        self.cells = cells
        self.index = tuple(find_cell(cell, columns) for cell in cells)
        self.sizes = tuple(len(columns[at.column].vocabularies[at.term]) for at in self.index)
        self.table = KeyTable(keys)  # ascending

    @property
    def n_known(self) -> int:
        """Forms: no combination, an edge that never occurs, and the combinations."""
        return N_EDGES + len(self.table.keys)

    @cached_property
    def codes(self) -> Ints:
        """[F, 1]: the number of the one attribute of every form, −1 for the first two."""
        codes = np.arange(-N_EDGES, len(self.table.keys), dtype=np.int32).reshape(-1, 1)
        codes[:N_EDGES] = -1
        return codes

    def split_keys(self) -> list[Longs]:
        """The codes of every cell in the known combinations."""
        rest, digits = self.table.keys.copy(), []
        for size in reversed(self.sizes):
            digits.append(rest % max(size, 1))
            rest //= max(size, 1)
        return digits[::-1]


class CellArrays(NamedTuple):
    """The cells of some conjunctions, for kernels: conjunction c has the cells pointers[c] to pointers[c + 1] − 1."""

    pointers: Longs  # [C + 1]
    cells: Longs  # [M, 5]: row of the token codes, offset, number of values, code beyond the left end, the right end


class Lookup(NamedTuple):
    """The hash tables of some conjunctions: conjunction c has slots[begins[c] : begins[c + 1]]."""

    slots: Longs
    begins: Longs  # [C + 1]


class Conjunctions:
    """All conjunctions of an encoder, looked up in one call."""

    def __init__(self, members: Sequence[Conjunction], columns: Sequence[ColumnForms]) -> None:
        self.members = tuple(members)
        self._columns = tuple(columns)
        self._wanted, self.arrays = cell_arrays([member.index for member in members], columns)

    @cached_property
    def _lookup(self) -> Lookup:
        slots = [member.table.slots for member in self.members]
        return Lookup(np.concatenate(slots), np.cumsum([0, *map(len, slots)]))

    def find(self, forms: Ints, unknown: Sequence[UnknownWords], offsets: Longs) -> None:
        """The forms of all conjunctions into the rows of forms [C, n] after those of the columns."""
        if self.members:
            codes = token_codes(self._wanted, self._columns, forms, unknown)
            waiting = np.empty((PREFETCH_DISTANCE, 2), np.int64)
            find_combinations(self.arrays, self._lookup, codes, offsets, waiting, forms[len(self._columns) :])


def cell_arrays(
    conjunctions: Sequence[Sequence[CellIndex]], columns: Sequence[ColumnForms]
) -> tuple[list[tuple[int, int]], CellArrays]:
    """The (column, term) pairs whose codes are wanted for every token, and the cells of the conjunctions."""
    wanted = list(dict.fromkeys((at.column, at.term) for index in conjunctions for at in index))
    cells = [
        (
            wanted.index((at.column, at.term)), at.offset, len(columns[at.column].vocabularies[at.term]),
            *columns[at.column].codes[:N_EDGES, at.term].tolist(),
        )
        for index in conjunctions
        for at in index
    ]  # fmt: skip
    pointers = np.cumsum([0, *map(len, conjunctions)])
    return wanted, CellArrays(pointers, np.array(cells, np.int64).reshape(-1, 5))


def token_codes(
    wanted: Sequence[tuple[int, int]], columns: Sequence[ColumnForms], forms: Ints, unknown: Sequence[UnknownWords]
) -> Ints:
    """The codes of the wanted (column, term) pairs for every token [pairs, n]."""
    codes = np.empty((len(wanted), forms.shape[1]), np.int32)
    for row, (column, term) in zip(codes, wanted, strict=True):
        gather_codes(forms[column], columns[column].codes, unknown[column].codes, term, row)
    return codes


def find_keys(
    index: Sequence[CellIndex],
    columns: Sequence[ColumnForms],
    forms: Ints,
    unknown: Sequence[UnknownWords],
    offsets: Longs,
) -> Longs:
    """The key of a conjunction at every token; −1 where a cell is absent."""
    wanted, arrays = cell_arrays([index], columns)
    check_size(arrays.cells[:, 2].tolist())
    keys = np.empty(int(offsets[-1]), np.int64)
    list_keys(arrays, token_codes(wanted, columns, forms, unknown), offsets, keys)
    return keys


def check_size(sizes: Sequence[int]) -> None:
    """Keys must fit 62 bits."""
    if prod(max(size, 1) for size in sizes) >= 2**62:
        found = " x ".join(map(str, sizes))
        raise TemplateError(f"a conjunction of {len(sizes)} cells with {found} values is too large; use fewer cells")


def join_codes(codes: Sequence[Ints], sizes: Sequence[int]) -> Longs:
    """The keys of some combinations, given the codes of every cell; none of them is absent."""
    check_size(sizes)
    keys = codes[0].astype(np.int64)
    for code, size in zip(codes[1:], sizes[1:], strict=True):
        keys = keys * size + code
    return keys


@tight_kernel
def gather_codes(forms: Ints, codes: Ints, unknown: Ints, term: int, out: Ints) -> None:
    """out[p] = the code of a term for the form at p: of a known one, or of an unknown word of the batch."""
    n = codes.shape[0]
    for p in range(forms.shape[0]):
        f = forms[p]
        out[p] = codes[f, term] if f < n else unknown[f - n, term]


@tight_kernel
def join_cells(arrays: CellArrays, c: int, codes: Ints, p: int, begin: int, end: int) -> int:
    """The key of conjunction c at token p of the sentence from `begin` to `end`; EMPTY where a cell is absent."""
    key = 0
    for m in range(arrays.pointers[c], arrays.pointers[c + 1]):
        q = p + arrays.cells[m, 1]
        code = arrays.cells[m, 3] if q < begin else arrays.cells[m, 4] if q >= end else codes[arrays.cells[m, 0], q]
        if code < 0:
            return EMPTY
        key = key * arrays.cells[m, 2] + code
    return int(key)


@tight_kernel
def list_keys(arrays: CellArrays, codes: Ints, offsets: Longs, keys: Longs) -> None:
    """The keys of the one conjunction at every token."""
    for i in range(offsets.shape[0] - 1):
        for p in range(offsets[i], offsets[i + 1]):
            keys[p] = join_cells(arrays, 0, codes, p, offsets[i], offsets[i + 1])


@tight_kernel
def look_up(key: int, slots: Longs, begin: int, n: int) -> int:
    """The form of a combination, among n numbers from slots[begin] on."""
    slot = first_slot(key, n)
    while slots[begin + slot] != key and slots[begin + slot] != EMPTY:  # nearly never
        slot = (slot + 2) & (n - 1)
    return int(slots[begin + slot + 1] + N_EDGES) if slots[begin + slot] == key else NO_COMBINATION


@tight_kernel
def find_combinations(
    arrays: CellArrays, lookup: Lookup, codes: Ints, offsets: Longs, waiting: Longs, forms: Ints
) -> None:
    """As Conjunctions.find. waiting [PREFETCH_DISTANCE, 2]: keys whose slots were asked for, and their tokens."""
    for c in range(arrays.pointers.shape[0] - 1):
        begin, size, n = lookup.begins[c], lookup.begins[c + 1] - lookup.begins[c], 0
        for i in range(offsets.shape[0] - 1):
            for p in range(offsets[i], offsets[i + 1]):
                key = join_cells(arrays, c, codes, p, offsets[i], offsets[i + 1])
                if key == EMPTY:
                    forms[c, p] = NO_COMBINATION
                    continue
                w = n % PREFETCH_DISTANCE
                if n >= PREFETCH_DISTANCE:
                    forms[c, waiting[w, 1]] = look_up(waiting[w, 0], lookup.slots, begin, size)
                waiting[w, 0], waiting[w, 1] = key, p
                fetch_early(lookup.slots, begin + first_slot(key, size))
                n += 1
        for k in range(max(0, n - PREFETCH_DISTANCE), n):
            w = k % PREFETCH_DISTANCE
            forms[c, waiting[w, 1]] = look_up(waiting[w, 0], lookup.slots, begin, size)
