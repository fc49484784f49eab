"""Attribute dicts of a training set by columns: tokens with the same keys are taken together, a key at a time.

    dicts with the same keys ─► Columns: for every key, its values
    a column of strings      ─► joined, and numbered in a kernel: (key, value) ─► attribute
    a column of numbers      ─► the attribute that is named as the key; the numbers are its values

No name is put together for a token, and no Python dictionary is asked. What does not fit into columns, such as nested
dicts, is left to attribute_dicts.py, token by token; it also has the rules for names and values.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Sequence
from itertools import chain, groupby
from math import isfinite
from typing import NamedTuple

import numpy as np

from tagwright.arrays import Doubles, Ints, Longs
from tagwright.encode.attribute_reading import NUMBERS, are_distinct
from tagwright.text.hash_tables import NO_STRINGS, number_strings
from tagwright.text.strings import Strings, join

FEW = 3
"""Tokens with the same keys that are worth columns."""
SHIFT = 20
"""An attribute's location is its token · 2^SHIFT + its position in the dict."""
PLAIN = {float, int}


class Columns(NamedTuple):
    """m tokens whose dicts have these keys, in this order."""

    keys: tuple[str, ...]
    tokens: Longs  # [m]
    texts: tuple[int, ...]  # the positions of keys whose values are strings
    strings: Strings  # [C · m], those strings, a key after the other
    numbers: tuple[int, ...]  # the positions of keys whose values are numbers
    values: Doubles  # [D, m], those numbers


def sort_items(items: Sequence[object]) -> tuple[list[Columns], list[int]]:
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


def read_shape(keys: tuple[object, ...], items: Sequence[object], tokens: list[int]) -> Columns | None:
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
    return Columns(keys, np.array(tokens), texts, strings, numbers, values)  # type: ignore[arg-type]  # all are strings


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


class Found(NamedTuple):
    """Distinct names, and where the attributes that they name stand."""

    key: str | None  # of all of them; None: of various keys
    names: list[str]  # [D]
    first: Longs  # [D]: the location where each appears first
    tokens: Longs  # [M]
    positions: Longs  # [M]
    which: Ints  # [M]: of these names
    values: Doubles  # [M], or [0]: all are 1


def find_names(shapes: Sequence[Columns]) -> list[Found]:
    """What is to be named in some shapes, key by key."""
    strings = join([NO_STRINGS, *(shape.strings for shape in shapes)])
    texts: defaultdict[str, list[tuple[Columns, int, int]]] = defaultdict(list)
    numbers: defaultdict[str, list[tuple[Columns, int, Doubles]]] = defaultdict(list)
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
        found.append(Found(key, [key], first.min(keepdims=True), tokens, positions, which, all_values))
    return found


def names_of_texts(key: str, columns: Sequence[tuple[Columns, int, int]], strings: Strings) -> Found:
    """The names of one key with strings for values. columns: the shapes that have it, its position there, and where its
    strings begin."""
    tokens, positions = locations_of(columns)
    which = np.concatenate([np.arange(begin, begin + len(shape.tokens)) for shape, _, begin in columns])
    own = strings.take(which)
    numbers, distinct = number_strings(own)
    first = np.full(len(distinct), np.iinfo(np.int64).max)
    np.minimum.at(first, numbers, (tokens << SHIFT) + positions)
    names = [f"{key}:{value}" for value in own.take(distinct).decode()]
    return Found(key, names, first, tokens, positions, numbers, NO_VALUES)


def locations_of(columns: Sequence[tuple[Columns, int, object]]) -> tuple[Longs, Longs]:
    """The tokens of some columns, end to end, and the positions of the key in their dicts."""
    tokens = np.concatenate([shape.tokens for shape, *_ in columns])
    positions = np.repeat([position for _, position, _ in columns], [len(shape.tokens) for shape, *_ in columns])
    return tokens, positions


NO_VALUES: Doubles = np.empty(0)
