"""Ready-made attributes: a dict (or a list of names) a token, as CRFsuite's users have them.

    {"lower": "paris", "title": True, "length": 5.0, "shape": {"X": 1, "x": 1}, "tags": ["a", "b"]}
    ─► lower:paris 1, title 1, length 5, shape:X 1, shape:x 1, tags:a 1, tags:b 1

as python-crfsuite names them. False and 0 stay attributes with the value 0. A value that is not finite is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import isfinite
from numbers import Real

from tagwright.encode.flat_text import FlatText
from tagwright.errors import DataError


def flatten(item: object, text: FlatText, p: int) -> Iterator[tuple[str, float]]:
    """The (attribute, value) pairs of one item, token p of a text (for errors)."""
    if isinstance(item, Mapping):
        for key, value in item.items():
            if not isinstance(key, str):
                raise DataError(
                    f"attribute names are strings, found {key!r} ({type(key).__name__})", location=text.place(p)
                )
            if type(value) is str:
                yield f"{key}:{value}", 1.0
            else:
                yield from _flatten_value(key, value, text, p)
    elif isinstance(item, list | set | frozenset):
        for name in item:
            if not isinstance(name, str):
                raise DataError(f"a list of attributes holds strings, found {name!r}", location=text.place(p))
            yield name, 1.0
    else:
        raise DataError(f"expected a dict of attributes, found {type(item).__name__}", location=text.place(p))


def _flatten_value(key: str, value: object, text: FlatText, p: int) -> Iterator[tuple[str, float]]:
    if isinstance(value, Real):
        number = float(value)
        if not isfinite(number):
            cure = "replace it or leave the attribute out"
            raise DataError(f"attribute {key!r} is {number}; values must be finite: {cure}", location=text.place(p))
        yield key, number
    elif isinstance(value, Mapping | list | set | frozenset):
        for name, number in flatten(value, text, p):
            yield f"{key}:{name}", number
    elif isinstance(value, str):
        yield f"{key}:{value}", 1.0
    elif isinstance(value, bytes):
        raise DataError(f"attribute {key!r} is bytes; decode it to a string", location=text.place(p))
    else:
        found = f"attribute {key!r} is {type(value).__name__}"
        raise DataError(f"{found}; expected bool, number, string, list or dict", location=text.place(p))
