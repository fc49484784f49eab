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
from tagwright._simd import prefetch
from tagwright.arrays import Ints, Longs, Plain
from tagwright.attributes.templates import Cell
from tagwright.encode.batch import UnknownWords
from tagwright.encode.forms import N_EDGES, ColumnForms
from tagwright.errors import TemplateError
from tagwright.text.key_table import EMPTY, PREFETCH_DISTANCE, KeyTable, first_slot, slots_for

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


class Cells(NamedTuple):
    """The cells of some groups of conjunctions, for kernels: group g has the cells pointers[g] to pointers[g + 1] − 1.

    `word[-1] & word[0]` and `word[0] & word[1]` ask for the same pairs of words, one from the second word, the other
    from the first: conjunctions that are alike but for a shift are a group, whose keys are made, and looked up, once.
    """

    pointers: Longs  # [G + 1]
    cells: Longs  # [M, 5]: row of the token codes, offset, number of values, code beyond the left end, the right end


class Lookup(NamedTuple):
    """The hash tables of some groups: group g has slots[begins[g] : begins[g + 1]], in which a key leads to the forms
    of its two members in one number (0: none). Member k has its forms in row rows[g, k] (NOBODY: there is no such
    member), and at token p those of the key at p + shifts[g, k]."""

    slots: Longs
    begins: Longs  # [G + 1]
    rows: Longs  # [G, 2]
    shifts: Longs  # [G, 2]


NOBODY = -1
FORM_BITS = 32


class Conjunctions:
    """All conjunctions of an encoder, looked up in one call."""

    def __init__(self, members: Sequence[Conjunction], columns: Sequence[ColumnForms]) -> None:
        self.members = tuple(members)
        self._columns = tuple(columns)

    @cached_property
    def _codes(self) -> tuple[Ints, ...]:
        """The codes of all known forms that are wanted, a vector each: a table would be read from further away."""
        return known_codes(self._plain[0], self._columns)

    @cached_property
    def _plain(self) -> Plain:
        """Wanted codes, cells and hash tables, for kernels."""
        groups: dict[tuple[CellIndex, ...], list[tuple[int, int]]] = {}
        for c, member in enumerate(self.members):
            shift = member.index[0].offset
            relative = tuple(at._replace(offset=at.offset - shift) for at in member.index)
            groups.setdefault(relative, []).append((c, shift))
        pairs = [(cells, own[k : k + 2]) for cells, own in groups.items() for k in range(0, len(own), 2)]
        wanted, arrays = cell_arrays([cells for cells, _ in pairs], self._columns)
        slots = [self._shared_slots([c for c, _ in own]) for _, own in pairs]
        begins = np.cumsum([0, *map(len, slots)])
        rows, shifts = np.full((len(pairs), 2), NOBODY, np.int64), np.zeros((len(pairs), 2), np.int64)
        for g, (_, own) in enumerate(pairs):
            for k, (c, shift) in enumerate(own):
                rows[g, k], shifts[g, k] = len(self._columns) + c, shift
            shifts[g, len(own) :] = shifts[g, 0]
        return wanted, *arrays, np.concatenate(slots), begins, rows, shifts

    def _shared_slots(self, group: Sequence[int]) -> Longs:
        """The hash table of one group: keys, with the forms of both members."""
        keys = [self.members[c].table.keys for c in group]
        both = np.sort(np.concatenate(keys))
        slots = slots_for(int(np.count_nonzero(both[1:] != both[:-1])) + 1)
        for k, own in enumerate(keys):
            insert_forms(own, FORM_BITS * k, slots)
        return slots

    def find(self, forms: Ints, unknown: Sequence[UnknownWords], offsets: Longs) -> None:
        """The forms of all conjunctions into the rows of forms [C, n] after those of the columns."""
        if not self.members:
            return
        plain = self._plain
        codes = np.empty((len(plain[0]), forms.shape[1]), np.int32)
        new = tuple([words.codes for words in unknown])
        waiting = np.empty((PREFETCH_DISTANCE, 4), np.int64)
        find_combinations(plain, self._codes, new, offsets, codes, waiting, forms)


def cell_arrays(groups: Sequence[Sequence[CellIndex]], columns: Sequence[ColumnForms]) -> tuple[Longs, Cells]:
    """The (column, term) pairs whose codes are wanted for every token [J, 2], and the cells of the groups."""
    wanted = list(dict.fromkeys((at.column, at.term) for index in groups for at in index))
    cells = [
        (
            wanted.index((at.column, at.term)), at.offset, len(columns[at.column].vocabularies[at.term]),
            *columns[at.column].codes[:N_EDGES, at.term].tolist(),
        )
        for index in groups
        for at in index
    ]  # fmt: skip
    pointers = np.cumsum([0, *map(len, groups)])
    return np.array(wanted, np.int64).reshape(-1, 2), Cells(pointers, np.array(cells, np.int64).reshape(-1, 5))


def known_codes(wanted: Longs, columns: Sequence[ColumnForms]) -> tuple[Ints, ...]:
    """The codes of the wanted (column, term) pairs for all known forms [F]."""
    return tuple(np.ascontiguousarray(columns[column].codes[:, term]) for column, term in wanted.tolist())


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
    keys, codes = np.empty(int(offsets[-1]), np.int64), np.empty((len(wanted), forms.shape[1]), np.int32)
    new = tuple(words.codes for words in unknown)
    gather_codes(wanted, forms, known_codes(wanted, columns), new, codes)
    list_keys(arrays, codes, offsets, keys)
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
def gather_codes(wanted: Longs, forms: Ints, known: tuple[Ints, ...], unknown: tuple[Ints, ...], codes: Ints) -> None:
    """codes[j, p] = the code that term wanted[j, 1] of column wanted[j, 0] has for the form at p: a known one, or an
    unknown word of the batch. known: the codes of each pair for all known forms; unknown: all codes of the unknown
    words of each column."""
    for j in range(wanted.shape[0]):
        column, term = wanted[j, 0], wanted[j, 1]
        n = known[j].shape[0]
        for p in range(forms.shape[1]):
            f = forms[column, p]
            codes[j, p] = known[j][f] if f < n else unknown[column][f - n, term]


@tight_kernel
def join_cells(arrays: Cells, g: int, codes: Ints, p: int, begin: int, end: int) -> int:
    """The key of group g at p, in or beside the sentence from `begin` to `end`; EMPTY where a cell is absent."""
    key = 0
    for m in range(arrays.pointers[g], arrays.pointers[g + 1]):
        q = p + arrays.cells[m, 1]
        code = arrays.cells[m, 3] if q < begin else arrays.cells[m, 4] if q >= end else codes[arrays.cells[m, 0], q]
        if code < 0:
            return EMPTY
        key = key * arrays.cells[m, 2] + code
    return int(key)


@tight_kernel
def list_keys(arrays: Cells, codes: Ints, offsets: Longs, keys: Longs) -> None:
    """The keys of the one group at every token."""
    for i in range(offsets.shape[0] - 1):
        for p in range(offsets[i], offsets[i + 1]):
            keys[p] = join_cells(arrays, 0, codes, p, offsets[i], offsets[i + 1])


@tight_kernel
def insert_forms(keys: Longs, shift: int, slots: Longs) -> None:
    """The forms of one member's keys, `shift` bits up."""
    for n in range(keys.shape[0]):
        slot = first_slot(keys[n], slots.shape[0])
        while slots[slot] != EMPTY and slots[slot] != keys[n]:
            slot = (slot + 2) & (slots.shape[0] - 1)
        if slots[slot] == EMPTY:
            slots[slot], slots[slot + 1] = keys[n], 0
        slots[slot + 1] |= (n + N_EDGES) << shift


@tight_kernel
def write_forms(waiting: Longs, w: int, lookup: Lookup, g: int, forms: Ints) -> None:
    """Look up a key, and give its forms to the tokens that have them. waiting[w]: key, where it is, the ends of its
    sentence."""
    key, q, begin, end = waiting[w, 0], waiting[w, 1], waiting[w, 2], waiting[w, 3]
    first, n = lookup.begins[g], lookup.begins[g + 1] - lookup.begins[g]
    slot = first_slot(key, n)
    while lookup.slots[first + slot] != key and lookup.slots[first + slot] != EMPTY:  # nearly never
        slot = (slot + 2) & (n - 1)
    both = max(lookup.slots[first + slot + 1], 0)  # that of an empty slot is −1
    if begin <= q - lookup.shifts[g, 0] < end:
        forms[lookup.rows[g, 0], q - lookup.shifts[g, 0]] = both & 0xFFFFFFFF
    if lookup.rows[g, 1] != NOBODY and begin <= q - lookup.shifts[g, 1] < end:
        forms[lookup.rows[g, 1], q - lookup.shifts[g, 1]] = both >> FORM_BITS


@tight_kernel
def find_combinations(
    plain: Plain, known: tuple[Ints, ...], unknown: tuple[Ints, ...],
    offsets: Longs, codes: Ints, waiting: Longs, forms: Ints,
) -> None:  # fmt: skip
    """As Conjunctions.find: the forms of the conjunctions into the rows after those of the columns. known, unknown: as
    for gather_codes. Work: codes [J, n]; waiting [PREFETCH_DISTANCE, 4], keys whose slots were asked for."""
    wanted, arrays = plain[0], Cells(plain[1], plain[2])
    lookup = Lookup(plain[3], plain[4], plain[5], plain[6])
    gather_codes(wanted, forms, known, unknown, codes)
    for c in range(len(unknown), forms.shape[0]):
        forms[c, :] = NO_COMBINATION
    for g in range(arrays.pointers.shape[0] - 1):
        low, high = min(lookup.shifts[g, 0], lookup.shifts[g, 1]), max(lookup.shifts[g, 0], lookup.shifts[g, 1])
        first, size, n = lookup.begins[g], lookup.begins[g + 1] - lookup.begins[g], 0
        for i in range(offsets.shape[0] - 1):
            begin, end = offsets[i], offsets[i + 1]
            for q in range(begin + low, end + high):
                key = join_cells(arrays, g, codes, q, begin, end)
                if key == EMPTY:
                    continue
                w = n % PREFETCH_DISTANCE
                if n >= PREFETCH_DISTANCE:
                    write_forms(waiting, w, lookup, g, forms)
                waiting[w, 0], waiting[w, 1], waiting[w, 2], waiting[w, 3] = key, q, begin, end
                prefetch(lookup.slots, first + first_slot(key, size))
                n += 1
        for k in range(max(0, n - PREFETCH_DISTANCE), n):
            write_forms(waiting, k % PREFETCH_DISTANCE, lookup, g, forms)
