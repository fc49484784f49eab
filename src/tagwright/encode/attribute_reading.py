"""Attribute dicts to be tagged, read into what a kernel can look up: one array of letters, and numbers.

    dicts with the same keys       a Shape: `itemgetter` fetches the strings of a token, one after the other, and its
                                   numbers; how often tokens share their numbers, such as truth values, is used: a row
    lists of names                 the names
    all others (nested dicts ...)  the names and values that attribute_dicts.py finds

Python's own loops, written in C, run over tokens; no line of Python does, but for the last kind. The strings of all
tokens are joined, which also refuses what is no string. In the order of `codes`, for each Group:

    codes     kind, m (tokens), their places in the text, a number for each: its row of numbers, or how many names
    letters   the strings of every token, those of a Shape in the order of its keys
    values    of names that have some, and of numbers that have no row
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from itertools import chain
from math import isfinite
from numbers import Real
from operator import itemgetter
from threading import Lock
from typing import Any, TypeVar

import numpy as np

from tagwright.text.strings import JOIN

NAMES, VALUED_NAMES = -1, -2
"""The kinds of groups that are no Shape; the Shape with number s has the kind 2 s, or 2 s + 1 without rows."""
MANY_ROWS = 1 << 10
"""Rows of numbers of one Shape that are remembered; then its numbers are taken as they come."""
MANY_SHAPES, MANY_KINDS = 1 << 7, 1 << 12
"""Shapes that there are at most, and kinds of dicts, by keys and types, of which it is known that they were met."""
PLAIN, NUMBERS = {float, int, bool}, (Real, np.bool_, Decimal)
LISTS = {list, set, frozenset}
Kind = TypeVar("Kind")
Flatten = Callable[[int], Mapping[str, float]]
"""The attributes of the item at a place, and their values: the definition, which also refuses what is wrong."""


class Shape:
    """Dicts with these keys, of which `texts` have strings for values, and `numbers` numbers. Their order is that of
    the first such dict: memory is read as it was written."""

    def __init__(self, number: int, texts: Iterable[str], numbers: Iterable[str], rows: NumberRows) -> None:
        self.number = number
        self.texts = tuple(texts)
        self.numbers = tuple(numbers)
        self.rows = RowIndex(self, rows)
        self._get_texts: Any = itemgetter(*self.texts) if self.texts else None
        self._get_numbers: Any = itemgetter(*self.numbers) if self.numbers else None

    def read(self, members: Sequence[dict[str, Any]], places: Iterable[int], reading: Reading) -> None:
        """Dicts with as many keys. KeyError or TypeError where one of them is of another shape."""
        m, measured = len(members), len(self.rows) > MANY_ROWS
        found: list[float] = []
        rows: Iterable[int] = bytes(m)
        letters = None
        if self.texts:
            strings = map(self._get_texts, members)
            letters = JOIN(strings if len(self.texts) == 1 else map(JOIN, strings))
        if measured:
            own = map(self._get_numbers, members)
            found = as_numbers(own if len(self.numbers) == 1 else chain.from_iterable(own))
        elif self.numbers:
            rows = list(map(self.rows.__getitem__, map(self._get_numbers, members)))
        reading.add(2 * self.number + measured, places, rows, m * len(self.texts), letters)
        reading.values += found
        reading.n_entries += m * (len(self.texts) + len(self.numbers))


def as_numbers(values: Iterable[object]) -> list[float]:
    """Finite numbers; TypeError where one is none."""
    found = list(values)
    if not set(map(type, found)) <= PLAIN and not all(isinstance(value, NUMBERS) for value in found):
        raise TypeError("no number")
    try:
        numbers = list(map(float, found))  # type: ignore[arg-type]  # they are numbers
    except OverflowError:
        raise TypeError("too large") from None
    if not all(map(isfinite, numbers)):
        raise TypeError("not finite")
    return numbers


class RowIndex(dict[Any, int]):
    """The numbers of a token of one Shape, as they are, ─► their row. Numbers that are equal are the same to us."""

    def __init__(self, shape: Shape, rows: NumberRows) -> None:
        self._shape = shape
        self._rows = rows

    def __missing__(self, values: Any) -> int:
        own = as_numbers(values if len(self._shape.numbers) > 1 else (values,))
        self[values] = row = self._rows.add(self._shape, own)
        return row


class NumberRows:
    """Rows of numbers: the attributes whose value is not 0, and the values. Row r: how many there are is
    attributes[r], and they begin at r + 1."""

    def __init__(self, index: Callable[[str], int]) -> None:
        self.index = index  # the attribute with this name, or a negative number
        self.plain = np.zeros(64, np.int64), np.ones(64)
        self._size = 1  # the first row has none
        self._lock = Lock()

    def add(self, shape: Shape, values: Sequence[float]) -> int:
        pairs = [(self.index(key), value) for key, value in sorted(zip(shape.numbers, values, strict=True))]
        pairs = [(attribute, value) for attribute, value in pairs if attribute >= 0 and value != 0]
        with self._lock:
            begin = self._size
            end = self._size = begin + 1 + len(pairs)
            attributes, numbers = self.plain
            if end > len(attributes):  # kernels that run read the old ones
                attributes, numbers = np.resize(attributes, 2 * end), np.resize(numbers, 2 * end)
                self.plain = attributes, numbers
            attributes[begin] = len(pairs)
            for k, (attribute, value) in enumerate(pairs):
                attributes[begin + 1 + k], numbers[begin + 1 + k] = attribute, value
        return begin


class Reading:
    """What was read of some items, for attribute_tables.py."""

    def __init__(self) -> None:
        self.codes: list[int] = []
        self.texts: list[str] = []
        self.values: list[float] = []
        self.n_strings = 0
        self.n_entries = 0

    def add(
        self, kind: int, places: Iterable[int], numbers: Iterable[int], n_strings: int, letters: str | None
    ) -> None:
        """One group; letters: None where it has no strings."""
        places = list(places)
        self.codes += (kind, len(places))
        self.codes += places
        self.codes += numbers
        self.n_strings += n_strings
        if letters is not None:
            self.texts.append(letters)

    def add_names(self, members: Sequence[Sequence[str]], places: Iterable[int]) -> None:
        """Lists of names; TypeError where one of these is no string."""
        sizes = list(map(len, members))
        n = sum(sizes)
        letters = JOIN(map(JOIN, members if all(sizes) else filter(None, members))) if n else None
        self.add(NAMES, places, sizes, n, letters)
        self.n_entries += n

    def add_others(self, places: Sequence[int], flatten: Flatten) -> None:
        """Items of any kind, by their definition."""
        found = [flatten(p) for p in places]
        sizes = list(map(len, found))
        n = sum(sizes)
        self.add(VALUED_NAMES, places, sizes, n, JOIN(chain.from_iterable(found)) if n else None)
        self.values += chain.from_iterable(map(dict.values, found))  # type: ignore[arg-type]  # they are dicts
        self.n_entries += n


class Shapes:
    """The shapes that were met twice: by the number of keys, by the keys as a dict has them, and by these and the types
    of the values. New ones are told to `note`, which takes time: where keys are made of words, as in {"w=the": 1}, most
    dicts have keys that never come again, and so there are no more than MANY_SHAPES."""

    def __init__(self, rows: NumberRows, note: Callable[[Shape], None]) -> None:
        self.rows = rows
        self.by_size: dict[int, tuple[Shape, ...]] = {}
        self.by_keys: dict[tuple[object, ...], Shape] = {}
        self._exact: dict[tuple[object, ...], Shape | None] = {}
        self._once: set[tuple[object, ...]] = set()
        self._distinct: dict[tuple[frozenset[str], frozenset[str]], Shape] = {}
        self._note = note
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._exact)

    def of(self, item: dict[Any, Any]) -> Shape | None:
        """The shape of a dict; None where its values are not all strings and numbers, or its keys are new."""
        keys = tuple(item)
        kinds = keys, tuple(map(type, item.values()))
        if kinds in self._exact:
            return self._exact[kinds]
        with self._lock:
            if kinds not in self._once:
                if len(self._once) < MANY_KINDS:
                    self._once.add(kinds)
                return None
            if len(self._distinct) == MANY_SHAPES:
                return None
            self._exact[kinds] = found = self._make(item)
            if found is not None:
                self.by_keys.setdefault(keys, found)
            return found

    def _make(self, item: dict[Any, Any]) -> Shape | None:
        texts = [key for key, value in item.items() if isinstance(value, str)]
        numbers = [key for key, value in item.items() if not isinstance(value, str)]
        if not are_distinct(tuple(item)) or not all(isinstance(item[key], NUMBERS) for key in numbers):
            return None
        key = frozenset(texts), frozenset(numbers)
        if key not in self._distinct:
            shape = Shape(len(self._distinct), texts, numbers, self.rows)
            self._note(shape)
            self._distinct[key] = shape
            self.by_size[len(item)] = (shape, *self.by_size.get(len(item), ())[: TRIED - 1])
        return self._distinct[key]


TRIED, FEW = 3, 4
"""Shapes that are tried before keys are looked at, if it is one or there are more than a few dicts."""


def are_distinct(keys: tuple[object, ...]) -> bool:
    """Whether keys are strings, at least one, no two of which can give the same attribute, as do "a" with the value
    "b:c", and "a:b" with "c"."""
    if not keys or not all(type(key) is str for key in keys):
        return False
    prefixes = {key[:at] for key in keys for at in range(len(key)) if key[at] == ":"}  # type: ignore[arg-type, index]
    return prefixes.isdisjoint(keys)


def read_items(items: Sequence[Any], shapes: Shapes, flatten: Flatten) -> Reading:
    """Items of any kind."""
    reading, kinds = Reading(), set(map(type, items))
    if kinds == {dict}:
        read_dicts(items, range(len(items)), shapes, reading, flatten)
    elif kinds <= LISTS:
        read_lists(items, range(len(items)), reading, flatten)
    else:
        lists = [p for p, item in enumerate(items) if type(item) in LISTS]
        dicts = [p for p, item in enumerate(items) if isinstance(item, Mapping)]
        others = sorted({*range(len(items))}.difference(lists, dicts))
        if lists:
            read_lists([items[p] for p in lists], lists, reading, flatten)
        if dicts:
            read_dicts([dict(items[p]) for p in dicts], dicts, shapes, reading, flatten)
        if others:
            reading.add_others(others, flatten)
    return reading


def read_lists(members: Sequence[Any], places: Sequence[int], reading: Reading, flatten: Flatten) -> None:
    try:
        reading.add_names(members, places)
    except TypeError:
        reading.add_others(places, flatten)


def read_dicts(
    items: Sequence[dict[Any, Any]], places: Sequence[int], shapes: Shapes, reading: Reading, flatten: Flatten
) -> None:
    """Dicts with as many keys have most likely the same ones: the shapes that had as many are tried."""
    sizes = list(map(len, items))
    groups = groups_of(sizes) if sizes.count(sizes[0]) < len(sizes) else {sizes[0]: []}  # all
    for size, chosen in groups.items():
        members = list(map(items.__getitem__, chosen)) if chosen else items
        own = list(map(places.__getitem__, chosen)) if chosen else places
        tried = shapes.by_size.get(size, ())
        for shape in tried if len(tried) == 1 or len(members) > FEW else ():
            if try_shape(shape, members, own, reading):
                break
        else:
            read_by_keys(members, own, shapes, reading, flatten)


def try_shape(shape: Shape, members: Sequence[dict[Any, Any]], places: Sequence[int], reading: Reading) -> bool:
    """Whether the dicts are of this shape; then they are read."""
    try:
        shape.read(members, places, reading)
    except (KeyError, TypeError):
        return False
    return True


def read_by_keys(
    members: Sequence[dict[Any, Any]], places: Sequence[int], shapes: Shapes, reading: Reading, flatten: Flatten
) -> None:
    """Dicts with different keys, or odd values: those with the same keys have most likely the same shape."""
    others: list[int] = []
    for keys, chosen in groups_of(map(tuple, members)).items():
        own, where = [members[k] for k in chosen], [places[k] for k in chosen]
        shape = shapes.by_keys.get(keys)
        if shape is None or not try_shape(shape, own, where, reading):
            others += chosen
    if others:
        read_by_kinds([members[k] for k in others], [places[k] for k in others], shapes, reading, flatten)


def read_by_kinds(
    members: Sequence[dict[Any, Any]], places: Sequence[int], shapes: Shapes, reading: Reading, flatten: Flatten
) -> None:
    """Dicts that are new, or have odd values."""
    for shape, chosen in groups_of(map(shapes.of, members)).items():
        own, where = [members[k] for k in chosen], [places[k] for k in chosen]
        if shape is None or not try_shape(shape, own, where, reading):
            reading.add_others(where, flatten)  # where a number is not finite, that is said there


def groups_of(kinds: Iterable[Kind]) -> dict[Kind, list[int]]:
    """The indices of things of each kind."""
    groups: defaultdict[Kind, list[int]] = defaultdict(list)
    for k, kind in enumerate(kinds):
        groups[kind].append(k)
    return groups
