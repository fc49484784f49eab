"""Conjunctions: several cells at once, such as the words at −1 and 0. Each distinct combination is one attribute.

A combination is a mixed-radix number of its cells' codes: key = (code_1 · n_2 + code_2) · n_3 + code_3 ...
Known keys lie in a hash table (encode/key_table.py), so that tagging finds them in a few nanoseconds. To scores/ the
combinations are forms like those of a column, each with one attribute; form 0 is "none of them".
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from tagwright._jit import tight_kernel
from tagwright.arrays import Ints, Longs
from tagwright.attributes.templates import Cell
from tagwright.encode.forms import N_EDGES
from tagwright.encode.key_table import EMPTY, KeyTable
from tagwright.errors import TemplateError


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


@tight_kernel
def code_at(forms: Ints, codes: Ints, term: int, p: int, begin: int, end: int) -> int:
    """The code of a term at p; of an edge's form beyond the sentence."""
    return int(codes[0 if p < begin else N_EDGES - 1 if p >= end else forms[p], term])


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
