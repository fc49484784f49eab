"""Attribute dicts by columns: tokens that have the same keys are taken together, a key at a time.

    dicts with the same keys ─► a Shape: for every key, the column of its values
    a column of strings      ─► joined, and looked up or numbered in a kernel: (key, value) ─► attribute
    a column of numbers      ─► the attribute that is named as the key; the numbers are its values

No name is put together for a token, and no Python dictionary is asked (one sentence after the other, as
attribute_dicts.py does it, takes four times as long). What does not fit into columns, such as nested dicts, is left to
that module, token by token; it also has the rules for names and values.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable, Sequence
from decimal import Decimal
from functools import lru_cache
from itertools import chain, groupby
from math import isfinite
from numbers import Real
from typing import NamedTuple

import numpy as np

from tagwright._jit import tight_kernel
from tagwright.arrays import Bools, Bytes, Doubles, Ints, Longs, Plain
from tagwright.encode.forms import Vocabulary
from tagwright.text.hash_tables import NO_STRINGS, StringTable, StringTables, find_strings, number_strings
from tagwright.text.strings import Strings, join

FEW = 3
"""Tokens with the same keys that are worth columns."""
SHIFT = 20
"""An attribute's location is its token · 2^SHIFT + its position in the dict."""
MANY = 1 << 12
"""Keys, and shapes, that are remembered at most."""
NO_TABLE, NO_ATTRIBUTE = -1, -1
PLAIN, NUMBERS = {float, int}, (Real, np.bool_, Decimal)


class Shape(NamedTuple):
    """m tokens whose dicts have these keys, in this order."""

    keys: tuple[str, ...]
    tokens: Longs  # [m]
    texts: tuple[int, ...]  # the positions of keys whose values are strings
    strings: Strings  # [C · m], those strings, a key after the other
    numbers: tuple[int, ...]  # the positions of keys whose values are numbers
    values: Doubles  # [D, m], those numbers


def sort_items(items: Sequence[object]) -> tuple[list[Shape], list[int]]:
    """The shapes of some items; and the items that fit into none."""
    groups: defaultdict[tuple[object, ...], list[int]] = defaultdict(list)
    others: list[int] = []
    only_dicts, end = set(map(type, items)) == {dict}, 0
    for keys, run in groupby(map(tuple, items) if only_dicts else map(keys_of, items)):  # type: ignore[arg-type]
        begin = end
        end += len(list(run))
        (others if keys is None else groups[keys]).extend(range(begin, end))
    shapes = []
    for keys, tokens in groups.items():
        shape = None if len(tokens) < FEW else read_shape(keys, items, tokens)
        if shape is None:
            others.extend(tokens)
        else:
            shapes.append(shape)
    return shapes, sorted(others)


def keys_of(item: object) -> tuple[object, ...] | None:
    """The keys of a dict."""
    return tuple(item) if type(item) is dict else None


def read_shape(keys: tuple[object, ...], items: Sequence[object], tokens: list[int]) -> Shape | None:
    """The columns of the items `tokens`, which are dicts with these keys; None where they are no columns of strings and
    of finite numbers, or a token could have an attribute twice."""
    if not are_distinct(keys):
        return None
    members = map(items.__getitem__, tokens)
    flat: list[object] = list(chain.from_iterable(map(dict.values, members)))  # type: ignore[arg-type]  # they are dicts
    K, m = len(keys), len(tokens)
    if len(flat) != K * m:  # somebody changes them meanwhile
        return None
    texts = tuple([k for k in range(K) if type(flat[k]) is str])
    truths = tuple([k for k in range(K) if type(flat[k]) is bool])
    numbers = (*(k for k in range(K) if k not in texts and k not in truths), *truths)
    values = read_numbers(flat, K, numbers, len(truths))
    if values is None:
        return None
    try:
        strings = Strings.of_lists([flat[k::K] for k in texts], len(texts) * m)  # type: ignore[misc]  # seen by join
    except TypeError:
        return None
    return Shape(keys, np.array(tokens), texts, strings, numbers, values)  # type: ignore[arg-type]  # all are strings


def read_numbers(flat: list[object], K: int, keys: Sequence[int], truth: int) -> Doubles | None:
    """Columns of finite numbers [D, m]: every K-th of a flat list, from these keys on; the last `truth` of them seem to
    be truth values. None where some are no numbers."""
    found = np.empty((len(keys), len(flat) // K))
    others = len(keys) - truth
    try:
        truths = bytes(list(chain.from_iterable([flat[k::K] for k in keys[others:]])))  # type: ignore[misc]
        found[others:] = np.frombuffer(truths, np.uint8).reshape(truth, -1)
    except (TypeError, ValueError):
        others = len(keys)
    try:
        for d, k in enumerate(keys[:others]):
            column = flat[k::K]
            if not set(map(type, column)) <= PLAIN and not all(isinstance(value, NUMBERS) for value in column):
                return None
            found[d] = array("d", column)  # type: ignore[type-var]  # they are numbers
    except (TypeError, OverflowError):
        return None
    return found if not others or isfinite(found.sum()) else None  # a sum that is too large says little, and is rare


@lru_cache(MANY)
def are_distinct(keys: tuple[object, ...]) -> bool:
    """Whether keys are strings, at least one, no two of which can give the same attribute, as do "a" with the value
    "b:c", and "a:b" with "c"."""
    if not keys or not all(type(key) is str for key in keys):
        return False
    prefixes = {key[:at] for key in keys for at in range(len(key)) if key[at] == ":"}  # type: ignore[arg-type, index]
    return prefixes.isdisjoint(keys)


# ---- tagging: names are known ----


class Places(NamedTuple):
    """Where the attributes of one shape are found: of strings in a table, the k-th of the KeyTables."""

    tables: Longs  # [C], NO_TABLE where the model has none for the key
    texts: Longs  # [C]: positions
    own: Longs  # [D]: the attributes that are named as a key, NO_ATTRIBUTE where there is none
    numbers: Longs  # [D]: positions


class KeyTables:
    """What a vocabulary of names says about some keys: where the values of each key are looked up.

    index: the table of every key, NO_TABLE where no name begins so
    tables: the values of all keys; attributes: the attribute of every value, table after table
    """

    def __init__(self, names: Vocabulary, keys: Iterable[str]) -> None:
        self.names = names
        self.index: dict[str, int] = {}
        found: list[tuple[str, Longs]] = []
        for key in keys:
            which = names_with_prefix(names.strings, f"{key}:")
            self.index[key] = len(found) if len(which) else NO_TABLE
            if len(which):
                found.append((key, which))
        parts = [StringTable.build(cut_prefix(names.strings, key, which)) for key, which in found]
        attributes = [np.empty(0, np.int64), *(which for _, which in found)]
        self.plain = StringTables.build(parts).plain, np.concatenate(attributes).astype(np.int32)
        self.places: dict[tuple[object, ...], Places] = {}

    def find_places(self, shape: Shape) -> Places | None:
        """Those of a shape; None where these tables do not know its keys."""
        found = self.places.get(shape.keys + shape.texts)
        if found is None and all(shape.keys[k] in self.index for k in shape.texts):
            found = Places(
                np.array([self.index[shape.keys[k]] for k in shape.texts], np.int64),
                np.array(shape.texts, np.int64),
                np.array([self.names.index.get(shape.keys[k], NO_ATTRIBUTE) for k in shape.numbers], np.int64),
                np.array(shape.numbers, np.int64),
            )
            if len(self.places) < MANY:
                self.places[shape.keys + shape.texts] = found
        return found


def names_with_prefix(names: Strings, prefix: str) -> Longs:
    """Which names begin so."""
    letters = np.frombuffer(prefix.encode("utf-8", "surrogatepass"), np.uint8)
    flags = np.empty(names.n, np.bool_)
    mark_prefixed(tuple(names), letters, flags)
    return np.flatnonzero(flags)


def cut_prefix(names: Strings, key: str, which: Longs) -> Strings:
    """What comes after the key and the colon."""
    found = names.take(which)
    return found._replace(begins=found.begins + len(key.encode("utf-8", "surrogatepass")) + 1)


class AttributeTables:
    """How the attributes of a model are found by key and value. The tables of the keys that were met are kept for the
    next text, at most MANY; two threads that make the same at a time do no harm."""

    def __init__(self, names: Vocabulary) -> None:
        self.names = names
        self.known = KeyTables(names, ())

    def find(self, shapes: Sequence[Shape], pointers: Longs, attributes: Ints, values: Doubles) -> None:
        """The attributes of all tokens of these shapes, and their values, from pointers[p] on; NO_ATTRIBUTE where an
        attribute is unknown. values [E] are 1 before."""
        for shape in shapes:
            known = self.known
            places = known.find_places(shape)
            while places is None:
                texts = [shape.keys[k] for k in shape.texts]
                kept = known.index if len(known.index) + len(texts) <= MANY else ()
                self.known = known = KeyTables(self.names, dict.fromkeys([*kept, *texts]))
                places = known.find_places(shape)
            m = len(shape.tokens)
            find_columns(
                shape.tokens, tuple(shape.strings), shape.values, known.plain, tuple(places), pointers,
                np.empty(m, np.int64), np.empty(m, np.int32), attributes, values,
            )  # fmt: skip


@tight_kernel
def mark_prefixed(of_names: Plain, prefix: Bytes, flags: Bools) -> None:
    """flags[k]: whether string k begins with the prefix."""
    names, n = Strings(*of_names), prefix.shape[0]
    for k in range(names.begins.shape[0]):
        begin, same = names.begins[k], names.ends[k] - names.begins[k] >= n
        p = 0
        while same and p < n:
            same = names.letters[begin + p] == prefix[p]
            p += 1
        flags[k] = same


@tight_kernel
def find_columns(
    tokens: Longs, of_strings: Plain, numbers: Doubles, known: Plain, of_places: Plain, pointers: Longs, unknown: Longs,
    found: Ints, attributes: Ints, values: Doubles,
) -> None:  # fmt: skip
    """The attributes and values of a Shape: for token p and position k, those at pointers[p] + k. known:
    KeyTables.plain; of_places: Places. unknown, found [m]: work."""
    strings, places, (tables, attribute_of) = Strings(*of_strings), Places(*of_places), known
    m = tokens.shape[0]
    for c in range(places.texts.shape[0]):
        k, begin = places.tables[c], c * m
        if k != NO_TABLE:
            column = Strings(strings.letters, strings.begins[begin : begin + m], strings.ends[begin : begin + m])
            find_strings(column, tables, k, tables[2][k], unknown, found)
        for i in range(m):
            is_known = k != NO_TABLE and found[i] >= 0
            attributes[pointers[tokens[i]] + places.texts[c]] = attribute_of[found[i]] if is_known else NO_ATTRIBUTE
    for d in range(places.numbers.shape[0]):
        for i in range(m):
            at = pointers[tokens[i]] + places.numbers[d]
            attributes[at], values[at] = places.own[d], numbers[d, i]


@tight_kernel
def drop_useless(pointers: Longs, attributes: Ints, values: Doubles) -> int:
    """Take out what adds nothing to a score: NO_ATTRIBUTE, and the value 0. Returns how many are left."""
    n, begin = 0, 0
    for p in range(pointers.shape[0] - 1):
        end = pointers[p + 1]
        for e in range(begin, end):
            a = attributes[e]
            attributes[n], values[n] = a, values[e]
            n += a != NO_ATTRIBUTE and values[n] != 0
        begin = end
        pointers[p + 1] = n
    return n


# ---- training: names are learned ----


class Found(NamedTuple):
    """Distinct names, and where the attributes that they name stand."""

    names: list[str]  # [D]
    first: Longs  # [D]: the location where each appears first
    tokens: Longs  # [M]
    positions: Longs  # [M]
    which: Ints  # [M]: of these names
    values: Doubles  # [M], or [0]: all are 1


def find_names(shapes: Sequence[Shape]) -> list[Found]:
    """What is to be named in some shapes, key by key."""
    strings = join([NO_STRINGS, *(shape.strings for shape in shapes)])
    texts: defaultdict[str, list[tuple[Shape, int, int]]] = defaultdict(list)
    numbers: defaultdict[str, list[tuple[Shape, int, Doubles]]] = defaultdict(list)
    begin = 0
    for shape in shapes:
        for position in shape.texts:
            texts[shape.keys[position]].append((shape, position, begin))
            begin += len(shape.tokens)
        for position, values in zip(shape.numbers, shape.values, strict=True):
            numbers[shape.keys[position]].append((shape, position, values))
    found = [names_of_texts(key, columns, strings) for key, columns in texts.items()]
    for key, parts in numbers.items():
        tokens, positions = locations_of(parts)
        first, all_values = (tokens << SHIFT) + positions, np.concatenate([values for *_, values in parts])
        which = np.zeros(len(tokens), np.int32)
        found.append(Found([key], first.min(keepdims=True), tokens, positions, which, all_values))
    return found


def names_of_texts(key: str, columns: Sequence[tuple[Shape, int, int]], strings: Strings) -> Found:
    """The names of one key with strings for values. columns: the shapes that have it, its position there, and where its
    strings begin."""
    tokens, positions = locations_of(columns)
    which = np.concatenate([np.arange(begin, begin + len(shape.tokens)) for shape, _, begin in columns])
    own = strings.take(which)
    numbers, distinct = number_strings(own)
    first = np.full(len(distinct), np.iinfo(np.int64).max)
    np.minimum.at(first, numbers, (tokens << SHIFT) + positions)
    names = [f"{key}:{value}" for value in own.take(distinct).decode()]
    return Found(names, first, tokens, positions, numbers, NO_VALUES)


def locations_of(columns: Sequence[tuple[Shape, int, object]]) -> tuple[Longs, Longs]:
    """The tokens of some columns, end to end, and the positions of the key in their dicts."""
    tokens = np.concatenate([shape.tokens for shape, *_ in columns])
    positions = np.repeat([position for _, position, _ in columns], [len(shape.tokens) for shape, *_ in columns])
    return tokens, positions


NO_VALUES: Doubles = np.empty(0)
