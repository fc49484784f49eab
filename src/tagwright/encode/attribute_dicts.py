"""Attribute dicts: a dict (or a list of names) a token, as CRFsuite's users have them.

    {"lower": "paris", "title": True, "length": 5.0, "shape": {"X": 1, "x": 1}, "tags": ["a", "b"]}
    ─► lower:paris 1, title 1, length 5, shape:X 1, shape:x 1, tags:a 1, tags:b 1

as python-crfsuite names them. A number is whatever Python, NumPy or `decimal` has for one, NumPy's truth values too.
False and 0 stay attributes with the value 0. A value that is not finite is refused, and so is None, as there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from math import inf, isfinite
from numbers import Real

import numpy as np

from tagwright.arrays import Doubles, Ints, Longs
from tagwright.encode.text import Text, check_encodable
from tagwright.errors import DataError

Encoded = tuple[Longs, Ints, Doubles]
"""The attributes of every token: pointers [n + 1], numbers and values."""


def number_dicts(parts: Sequence[Text]) -> tuple[list[str], list[Encoded]]:
    """The distinct names of all attributes, in the order of their first appearance; and every part, encoded."""
    index: dict[str, int] = {}
    encoded = [encode_dicts(text, index, learn=True) for text in parts]
    for text in parts:
        refuse_halves_in_names(text, index)
    return list(index), encoded


def refuse_halves_in_names(text: Text, names: Iterable[str]) -> None:
    """Refuse halves of surrogate pairs, which no model file can hold."""
    try:
        "".join(names).encode()
    except UnicodeEncodeError:
        for p, item in enumerate(text.items):
            for name, _ in flatten(item, text, p):
                check_encodable(name, text.location(p))


def encode_dicts(text: Text, index: dict[str, int], *, learn: bool = False) -> Encoded:
    """Unknown attributes are ignored, or numbered where they are to be learned; one that is given twice is added up."""
    counts: list[int] = []
    attributes: list[int] = []
    values: list[float] = []
    for p, item in enumerate(text.items):
        found: dict[int, float] = {}
        try:
            for name, value in flatten(item, text, p):
                number = index.setdefault(name, len(index)) if learn else index.get(name, -1)
                if number >= 0:
                    found[number] = found.get(number, 0.0) + value
        except RecursionError:
            message = "the attributes are nested too deeply, or a dict contains itself"
            raise DataError(message, location=text.location(p)) from None
        counts.append(len(found))
        attributes.extend(found)
        values.extend(found.values())
    pointers = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return pointers, np.array(attributes, np.int32), np.array(values, np.float64)


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
