"""Attribute dicts: a dict (or a list of names) a token, as CRFsuite's users have them.

    {"lower": "paris", "title": True, "length": 5.0, "shape": {"X": 1, "x": 1}, "tags": ["a", "b"]}
    ─► lower:paris 1, title 1, length 5, shape:X 1, shape:x 1, tags:a 1, tags:b 1

as python-crfsuite names them. A number is whatever Python, NumPy or `decimal` has for one, NumPy's truth values too.
False and 0 stay attributes with the value 0. A value that is not finite is refused, and so is None, as there.

`flatten` is the definition. Dicts with the same keys are taken together (attribute_columns.py), which gives the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import pairwise
from math import inf, isfinite
from numbers import Real

import numpy as np

from tagwright.arrays import Doubles, Ints, Longs
from tagwright.encode.attribute_columns import (
    NO_ATTRIBUTE,
    SHIFT,
    AttributeTables,
    Shape,
    drop_useless,
    find_names,
    sort_items,
)
from tagwright.encode.text import Text, check_encodable
from tagwright.errors import DataError
from tagwright.sequence import Item

Encoded = tuple[Longs, Ints, Doubles]
"""The attributes of every token: pointers [n + 1], numbers and values."""
AT_ONCE, LEARNED_AT_ONCE = 1 << 10, 1 << 12
"""Tokens that are read together, in tagging and in training: what Python has of them stays in a near cache."""


def number_dicts(parts: Sequence[Text]) -> tuple[list[str], Ints, list[Encoded]]:
    """The distinct names of all attributes, in the order of their first appearance; the key of each, by its number; and
    every part, encoded."""
    items = [item for text in parts for item in text.items]
    shapes, others = [], []
    for begin in range(0, len(items), LEARNED_AT_ONCE):
        some, irregular = sort_items(items[begin : begin + LEARNED_AT_ONCE])
        shapes += [shape._replace(tokens=shape.tokens + begin) for shape in some]
        others += [begin + p for p in irregular]
    found, flat = find_names(shapes), [flatten_item(p, items, parts) for p in others]
    first = [(p << SHIFT) + k for p, own in zip(others, flat, strict=True) for k in range(len(own))]
    names = [name for own in flat for name in own] + [name for own in found for name in own.names]
    index: dict[str, int] = {}
    for k in np.argsort(np.concatenate([np.array(first, np.int64), *(own.first for own in found)])).tolist():
        index.setdefault(names[k], len(index))
    refuse_halves_in_names(parts, index)
    pointers, attributes, values = lay_out(len(items), shapes, others, flat, index)
    keys = np.full(len(index), -1, np.int32)
    for k, own in enumerate(found):
        where, numbers = pointers[own.tokens] + own.positions, np.array([index[name] for name in own.names], np.int32)
        attributes[where], keys[numbers] = numbers[own.which], k
        if len(own.values):
            values[where] = own.values
    ends = np.cumsum([0, *(len(text.items) for text in parts)]).tolist()
    encoded = []
    for begin, end in pairwise(ends):
        a, b = int(pointers[begin]), int(pointers[end])
        encoded.append((pointers[begin : end + 1] - a, attributes[a:b], values[a:b]))
    return list(index), keys, encoded


def encode_dicts(text: Text, names: AttributeTables) -> Encoded:
    """Unknown attributes are left out; one that is given twice is added up."""
    n = len(text.items)
    parts = [encode_items(text, begin, min(n, begin + AT_ONCE), names) for begin in range(0, n, AT_ONCE)]
    if len(parts) == 1:
        return parts[0]
    shifts = np.cumsum([0, *(len(attributes) for _, attributes, _ in parts)])
    pointers = [own[1:] + shift for (own, _, _), shift in zip(parts, shifts, strict=False)]
    return (
        np.concatenate([np.zeros(1, np.int64), *pointers]),
        np.concatenate([NO_ATTRIBUTES, *(own for _, own, _ in parts)]),
        np.concatenate([NO_VALUES, *(own for _, _, own in parts)]),
    )


def encode_items(text: Text, begin: int, end: int, names: AttributeTables) -> Encoded:
    """The tokens `begin` to `end` − 1."""
    shapes, others = sort_items(text.items[begin:end])
    flat = [flatten_item(begin + p, text.items, [text]) for p in others]
    pointers, attributes, values = lay_out(end - begin, shapes, others, flat, names.names.index if others else {})
    names.find(shapes, pointers, attributes, values)
    n = drop_useless(pointers, attributes, values)
    return pointers, attributes[:n], values[:n]


def lay_out(
    n: int,
    shapes: Sequence[Shape],
    others: Sequence[int],
    flat: Sequence[Mapping[str, float]],
    index: Mapping[str, int],
) -> Encoded:
    """Room for the attributes of n tokens, in their order; those of the tokens `others` are there."""
    sizes = np.zeros(n + 1, np.int64)
    for shape in shapes:
        sizes[shape.tokens + 1] = len(shape.keys)
    for p, own in zip(others, flat, strict=True):
        sizes[p + 1] = len(own)
    pointers = np.cumsum(sizes)
    attributes, values = np.empty(int(pointers[-1]), np.int32), np.ones(int(pointers[-1]))
    for p, own in zip(others, flat, strict=True):
        attributes[pointers[p] : pointers[p + 1]] = [index.get(name, NO_ATTRIBUTE) for name in own]
        values[pointers[p] : pointers[p + 1]] = list(own.values())
    return pointers, attributes, values


def flatten_item(p: int, items: Sequence[Item], parts: Sequence[Text]) -> dict[str, float]:
    """Token p of some texts, end to end: the values of its attributes. One that is given twice is added up."""
    text, item = parts[0], items[p]
    for text in parts:
        if p < len(text.items):
            break
        p -= len(text.items)
    found: dict[str, float] = {}
    try:
        for name, value in flatten(item, text, p):
            found[name] = found.get(name, 0.0) + value
    except RecursionError:
        message = "the attributes are nested too deeply, or a dict contains itself"
        raise DataError(message, location=text.location(p)) from None
    return found


def refuse_halves_in_names(parts: Sequence[Text], names: Iterable[str]) -> None:
    """Refuse halves of surrogate pairs, which no model file can hold."""
    try:
        "".join(names).encode()
    except UnicodeEncodeError:
        for text in parts:
            for p, item in enumerate(text.items):
                for name, _ in flatten(item, text, p):
                    check_encodable(name, text.location(p))


def flatten(item: object, text: Text, p: int) -> Iterator[tuple[str, float]]:
    """The (attribute, value) pairs of one item, token p of a text (for errors)."""
    if isinstance(item, Mapping):
        for key, value in item.items():
            if not isinstance(key, str):
                raise DataError(
                    f"attribute names are strings, found {key!r} ({type(key).__name__})", location=text.location(p)
                )
            if type(value) is str:
                yield f"{key}:{value}", 1.0
            elif value is True or value is False:
                yield key, float(value)
            else:
                yield from _flatten_value(key, value, text, p)
    elif isinstance(item, list | set | frozenset):
        for name in item:
            if not isinstance(name, str):
                raise DataError(f"a list of attributes holds strings, found {name!r}", location=text.location(p))
            yield name, 1.0
    else:
        raise DataError(f"expected a dict of attributes, found {type(item).__name__}", location=text.location(p))


def _flatten_value(key: str, value: object, text: Text, p: int) -> Iterator[tuple[str, float]]:
    if isinstance(value, Real | np.bool_ | Decimal):
        try:
            number = float(value)
        except OverflowError:
            number = inf
        if not isfinite(number):
            cure = "replace it or leave the attribute out"
            raise DataError(f"attribute {key!r} is {number}; values must be finite: {cure}", location=text.location(p))
        yield key, number
    elif isinstance(value, Mapping | list | set | frozenset):
        for name, number in flatten(value, text, p):
            yield f"{key}:{name}", number
    elif isinstance(value, str):
        yield f"{key}:{value}", 1.0
    elif isinstance(value, bytes):
        raise DataError(f"attribute {key!r} is bytes; decode it to a string", location=text.location(p))
    elif value is None:
        cure = "leave the attribute out, or give a string such as 'none'"
        raise DataError(
            f"attribute {key!r} is None, which is neither true nor false: {cure}", location=text.location(p)
        )
    else:
        found = f"attribute {key!r} is {type(value).__name__}"
        raise DataError(f"{found}; expected bool, number, string, list or dict", location=text.location(p))


NO_ATTRIBUTES: Ints = np.empty(0, np.int32)
NO_VALUES: Doubles = np.empty(0)
