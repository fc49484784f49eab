"""Lists of attribute names in a training set, as CRFsuite's own users have them: ["w=the", "tag=DT", "capital"].

    lists of some tokens  ─► NameLists: their names, joined and numbered in a kernel
    all NameLists         ─► Found (attribute_columns.py): distinct names, and where they stand

A list that has a name twice is left to attribute_dicts.py, which adds up.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from tagwright._jit import tight_kernel
from tagwright.arrays import Bools, Ints, Longs
from tagwright.encode.attribute_columns import NO_VALUES, SHIFT, Found
from tagwright.encode.attribute_reading import LISTS
from tagwright.encode.batch import spread
from tagwright.text.hash_tables import number_strings
from tagwright.text.strings import Strings, join


class NameLists(NamedTuple):
    """m tokens that are lists of names, none of which has one twice."""

    tokens: Longs  # [m]
    sizes: Longs  # [m]
    numbers: Ints  # [Σ sizes]: of these names
    names: Strings  # [D]
    first: Longs  # [D]: the location where each appears first

    def shift(self, n: int) -> NameLists:
        """The same with n tokens before them."""
        return self._replace(tokens=self.tokens + n, first=self.first + (n << SHIFT))


def read_lists(items: Sequence[Any], places: Sequence[int]) -> tuple[NameLists | None, Sequence[int]]:
    """The items at these places, as far as they are lists of strings; and which are not."""
    chosen = [p for p in places if type(items[p]) in LISTS]
    members = [items[p] for p in chosen]
    sizes = np.fromiter(map(len, members), np.int64, len(members))
    n = int(sizes.sum())
    try:
        strings = Strings.of_lists(filter(None, members), n)
    except TypeError:
        return None, places
    if n == 0:
        return None, places
    numbers, distinct = number_strings(strings)
    repeats = np.zeros(len(chosen), np.bool_)
    mark_repeats(sizes, numbers, np.full(len(distinct), -1, np.int64), repeats)
    if repeats.any():
        twice = {chosen[k] for k in np.flatnonzero(repeats).tolist()}
        found, others = read_lists(items, [p for p in places if p not in twice])
        return found, sorted([*others, *twice])
    tokens = np.array(chosen, np.int64)
    location = (np.repeat(tokens, sizes) << SHIFT) + spread(np.zeros(len(sizes), np.int64), sizes)
    found = NameLists(tokens, sizes, numbers, strings.take(distinct).compact(), location[distinct])
    return found, sorted({*places}.difference(chosen))


@tight_kernel
def mark_repeats(sizes: Longs, numbers: Ints, last: Longs, repeats: Bools) -> None:
    """Which tokens have a number twice. last: the last token that had a number, −1 before."""
    e = 0
    for k in range(sizes.shape[0]):
        for _ in range(sizes[k]):
            repeats[k] |= last[numbers[e]] == k
            last[numbers[e]] = k
            e += 1


def names_of_lists(parts: Sequence[NameLists]) -> Found:
    """Those of all lists together, which come in the order of their tokens."""
    names = join([part.names for part in parts])
    numbers, distinct = number_strings(names)
    starts = np.cumsum([0, *(part.names.n for part in parts)]).tolist()
    which = [numbers[start:][part.numbers] for start, part in zip(starts, parts, strict=False)]
    tokens, sizes = (np.concatenate(own) for own in zip(*((part.tokens, part.sizes) for part in parts), strict=True))
    first = np.concatenate([part.first for part in parts])[distinct]
    positions = spread(np.zeros(len(sizes), np.int64), sizes)
    values, tokens = names.take(distinct).decode(), np.repeat(tokens, sizes)
    return Found(None, values, first, tokens, positions, np.concatenate(which), NO_VALUES)


def keys_of_names(names: Iterable[str], index: dict[str, int]) -> list[int]:
    """The key of every name, by its number; new ones go into the index."""
    return [index.setdefault(key_of(name), len(index)) for name in names]


def key_of(name: str) -> str:
    """The beginning of a name that says of which kind it is, by custom: "-1:tag=DT", "-1:tag:DT", "capital"."""
    key, found, _ = name.partition("=")
    return key if found else name.rpartition(":")[0] or name
