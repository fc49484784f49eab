"""Conjunctions: several cells at once, such as the words at −1 and 0. Each distinct combination is one attribute.

A combination is a mixed-radix number of its cells' codes: key = (code_1 · n_2 + code_2) · n_3 + code_3 ...
Known keys lie in a hash table (text/hash_tables.py), so that tagging finds them in a few nanoseconds. To scores/ the
combinations are forms like those of a column, each with one attribute; form 0 is "none of them".
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from math import prod
from typing import NamedTuple

import numpy as np

from tagwright._jit import natural, tight_kernel
from tagwright._simd import prefetch
from tagwright.arrays import Ints, Longs, Plain
from tagwright.attributes.templates import Cell
from tagwright.encode.batch import Batch
from tagwright.encode.forms import N_EDGES, ColumnForms, UnknownWords, as_unknown_words
from tagwright.errors import TemplateError
from tagwright.text.hash_tables import EMPTY, PREFETCH_DISTANCE, KeyTable, first_slot, slots_for


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
    `wanted` lists the (column, term) pairs whose codes they need, a row of the token codes each.

    `word[-1] & word[0]` and `word[0] & word[1]` ask for the same pairs of words, one from the second word, the other
    from the first: conjunctions that are alike but for a shift are a group, whose keys are made, and looked up, once.
    """

    pointers: Longs  # [G + 1]
    cells: Longs  # [M, 3]: row of the token codes, offset, number of values
    wanted: Longs  # [J, 5]: column, term, number of the column's terms, first and last of the codes of known forms
    codes: Ints  # of known forms, a vector for each pair: a table of all terms would be read from further away
    edges: Longs  # [J, 2]: for each pair, the code beyond the left end and beyond the right end
    margin: int  # how far beyond the ends of a sentence cells look


class Lookup(NamedTuple):
    """The hash tables of some groups: group g has slots[begins[g] : begins[g + 1]], in which a key leads to the forms
    of its two members in one number (0: none). Member k has its forms in row rows[g, k] (NOBODY: there is no such
    member), and at token p those of the key at p + shifts[g, k]."""

    slots: Longs
    begins: Longs  # [G + 1]
    rows: Longs  # [G, 2]
    shifts: Longs  # [G, 2]


NOBODY = -1
FORM_BITS, FIRST_FORM = 32, (1 << 32) - 1


class Conjunctions:
    """All conjunctions of an encoder, looked up in one call."""

    def __init__(self, members: Sequence[Conjunction], columns: Sequence[ColumnForms]) -> None:
        self.members = tuple(members)
        self._columns = tuple(columns)

    @cached_property
    def plain(self) -> Plain:
        """Cells and Lookup, for kernels."""
        groups: dict[tuple[CellIndex, ...], list[tuple[int, int]]] = {}
        for c, member in enumerate(self.members):
            shift = member.index[0].offset
            relative = tuple(at._replace(offset=at.offset - shift) for at in member.index)
            groups.setdefault(relative, []).append((c, shift))
        pairs = [(cells, own[k : k + 2]) for cells, own in groups.items() for k in range(0, len(own), 2)]
        margin = max((abs(at.offset) for member in self.members for at in member.index), default=0)
        slots = [self._shared_slots([c for c, _ in own]) for _, own in pairs]
        begins = np.cumsum([0, *map(len, slots)])
        rows, shifts = np.full((len(pairs), 2), NOBODY, np.int64), np.zeros((len(pairs), 2), np.int64)
        for g, (_, own) in enumerate(pairs):
            for k, (c, shift) in enumerate(own):
                rows[g, k], shifts[g, k] = len(self._columns) + c, shift
        cells = make_cells([cells for cells, _ in pairs], self._columns, margin)
        return tuple(cells), (np.concatenate([NO_SLOTS, *slots]), begins, rows, shifts)

    def _shared_slots(self, group: Sequence[int]) -> Longs:
        """The hash table of one group: keys, with the forms of both members."""
        keys = [self.members[c].table.keys for c in group]
        both = np.sort(np.concatenate(keys))
        slots = slots_for(int(np.count_nonzero(both[1:] != both[:-1])) + 1)
        for k, own in enumerate(keys):
            insert_forms(own, FORM_BITS * k, slots)
        return slots


NO_SLOTS: Longs = np.empty(0, np.int64)


def make_cells(groups: Sequence[Sequence[CellIndex]], columns: Sequence[ColumnForms], margin: int) -> Cells:
    """The cells of some groups of conjunctions."""
    wanted = list(dict.fromkeys((at.column, at.term) for index in groups for at in index))
    cells = [
        (wanted.index((at.column, at.term)), at.offset, len(columns[at.column].vocabularies[at.term]))
        for index in groups
        for at in index
    ]
    edges = [columns[column].codes[:N_EDGES, term].tolist() for column, term in wanted]
    codes = [columns[column].codes[:, term] for column, term in wanted]
    ends = np.cumsum([0, *map(len, codes)])
    pairs = [(c, k, len(columns[c].terms), ends[j], ends[j + 1]) for j, (c, k) in enumerate(wanted)]
    arrays = (np.array(rows, np.int64) for rows in (cells, pairs, edges))
    table, pair_rows, edge_rows = (rows.reshape(-1, width) for rows, width in zip(arrays, (3, 5, 2), strict=True))
    pointers = np.cumsum([0, *map(len, groups)])
    return Cells(pointers, table, pair_rows, np.concatenate([NO_CODES, *codes]), edge_rows, margin)


NO_CODES: Ints = np.empty(0, np.int32)


class KeyWork(NamedTuple):
    """Memory for the codes and keys of all tokens, and of the margins of their sentences."""

    codes: Ints  # [J, n]
    keys: Longs  # [n]

    @classmethod
    def build(cls, cells: Plain, n_tokens: int, n_sentences: int) -> KeyWork:
        made = Cells(*cells)
        n = n_tokens + 2 * made.margin * n_sentences
        return cls(np.empty((len(made.wanted), n), np.int32), np.empty(n, np.int64))


def find_keys(index: Sequence[CellIndex], columns: Sequence[ColumnForms], batch: Batch) -> Longs:
    """The key of a conjunction at every token; −1 where a cell is absent."""
    cells = make_cells([index], columns, max(abs(at.offset) for at in index))
    check_size(cells.cells[:, 2].tolist())
    work, out = KeyWork.build(cells, batch.n_tokens, batch.n_sentences), np.empty(batch.n_tokens, np.int64)
    find_tokens_keys(tuple(cells), batch.unknown.plain, batch.offsets, tuple(work), batch.forms, out)
    return out


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
def insert_forms(keys: Longs, shift: int, slots: Longs) -> None:
    """The forms of one member's keys, `shift` bits up."""
    for n in range(keys.shape[0]):
        slot = first_slot(keys[n], slots.shape[0])
        while slots[slot] != EMPTY and slots[slot] != keys[n]:
            slot = (slot + 2) & (slots.shape[0] - 1)
        if slots[slot] == EMPTY:
            slots[slot], slots[slot + 1] = keys[n], 0
        slots[slot + 1] |= (n + N_EDGES) << shift


# Below, every sentence has a margin on both sides, in which stand the codes of its edges: token p of sentence i is at
# p + (2 i + 1) · margin. So a key is made in the same way everywhere, and what is made of two sentences' margins is
# asked for by nobody. Natural: positions counted from 0, forms, and slots of a table (first_slot).


@tight_kernel
def gather_codes(cells: Cells, unknown: UnknownWords, offsets: Longs, forms: Ints, codes: Ints) -> int:
    """codes[j] = what the wanted pair j has for the form of each token: a known one, or an unknown word. Returns the
    number of tokens, margins included."""
    q = offsets[offsets.shape[0] - 1] + 2 * cells.margin * (offsets.shape[0] - 1)
    for j in range(cells.wanted.shape[0]):
        column, term, n_terms, begin = cells.wanted[j, 0], cells.wanted[j, 1], cells.wanted[j, 2], cells.wanted[j, 3]
        row, out, n_known, first = forms[column], codes[j], cells.wanted[j, 4] - begin, unknown.firsts[column, 1] + term
        q = 0
        for i in range(offsets.shape[0] - 1):
            for _ in range(cells.margin):
                out[natural(q)] = cells.edges[j, 0]
                q += 1
            for p in range(offsets[i], offsets[i + 1]):
                form = row[natural(p)]
                out[natural(q)] = (
                    cells.codes[natural(begin + form)]
                    if form < n_known
                    else unknown.codes[first + (form - n_known) * n_terms]
                )
                q += 1
            for _ in range(cells.margin):
                out[natural(q)] = cells.edges[j, 1]
                q += 1
    return int(q)


@tight_kernel
def make_keys(cells: Cells, g: int, codes: Ints, keys: Longs) -> None:
    """The keys of group g, EMPTY where a cell is absent. A cell after the other: all steps of a cell at once."""
    for q in range(keys.shape[0]):
        keys[q] = 0
    for m in range(cells.pointers[g], cells.pointers[g + 1]):
        row, offset, size = cells.cells[m, 0], cells.cells[m, 1], cells.cells[m, 2]
        for q in range(max(0, -offset), keys.shape[0] - max(0, offset)):
            code = codes[row, natural(q + offset)]
            key = keys[natural(q)]
            keys[natural(q)] = EMPTY if code < 0 or key < 0 else key * size + code


@tight_kernel
def find_slots(slots: Longs, first: int, size: int, keys: Longs) -> None:
    """In the place of every key, the forms of both members."""
    n = keys.shape[0]
    for q in range(n):
        if q + PREFETCH_DISTANCE < n:
            prefetch(slots, first + first_slot(keys[q + PREFETCH_DISTANCE], size))
        key, both = keys[q], 0
        if key != EMPTY:
            slot = first_slot(key, size)
            while slots[natural(first + slot)] != key and slots[natural(first + slot)] != EMPTY:  # nearly never
                slot = (slot + 2) & (size - 1)
            both = max(slots[natural(first + slot + 1)], 0)  # that of an empty slot is −1
        keys[q] = both


@tight_kernel
def find_combinations(conjunctions: Plain, unknown: UnknownWords, offsets: Longs, of_work: Plain, forms: Ints) -> None:
    """The forms of all conjunctions into the rows of forms [C, n] after those of the columns. conjunctions:
    Conjunctions.plain; of_work: KeyWork, plain."""
    cells, lookup, work = Cells(*conjunctions[0]), Lookup(*conjunctions[1]), KeyWork(*of_work)
    keys = work.keys[: gather_codes(cells, unknown, offsets, forms, work.codes)]
    for g in range(cells.pointers.shape[0] - 1):
        make_keys(cells, g, work.codes, keys)
        find_slots(lookup.slots, lookup.begins[g], lookup.begins[g + 1] - lookup.begins[g], keys)
        for k in range(2):
            if lookup.rows[g, k] != NOBODY:
                row, shift = forms[lookup.rows[g, k]], lookup.shifts[g, k] + cells.margin
                for i in range(offsets.shape[0] - 1):
                    for p in range(offsets[i], offsets[i + 1]):
                        row[natural(p)] = keys[natural(p + shift)] >> (FORM_BITS * k) & FIRST_FORM
                    shift += 2 * cells.margin


@tight_kernel
def find_tokens_keys(
    of_cells: Plain, of_unknown: Plain, offsets: Longs, of_work: Plain, forms: Ints, out: Longs
) -> None:
    """The keys of the one group that there is at every token, out [n]."""
    cells, work = Cells(*of_cells), KeyWork(*of_work)
    unknown = as_unknown_words(of_unknown)
    keys = work.keys[: gather_codes(cells, unknown, offsets, forms, work.codes)]
    make_keys(cells, 0, work.codes, keys)
    for i in range(offsets.shape[0] - 1):
        for p in range(offsets[i], offsets[i + 1]):
            out[p] = keys[p + (2 * i + 1) * cells.margin]
