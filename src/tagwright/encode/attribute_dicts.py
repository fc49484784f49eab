"""Attribute dicts: a dict (or a list of names) a token, as CRFsuite's users have them.

    {"lower": "paris", "title": True, "length": 5.0, "shape": {"X": 1, "x": 1}, "tags": ["a", "b"]}
    ─► lower:paris 1, title 1, length 5, shape:X 1, shape:x 1, tags:a 1, tags:b 1

as python-crfsuite names them. A number is whatever has `__float__` or `__index__`, such as NumPy's numbers and truth
values; bytes are decoded. False and 0 stay attributes with the value 0. None is refused, as there, and so is, unlike
there, a value that is not finite.

`flatten` is the definition. In training, dicts with the same keys are taken together (attribute_columns.py); in
tagging, all dicts and lists of some thousand tokens (attribute_reading.py). Both give the same.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from math import inf, isfinite
from typing import Any

import numpy as np

from tagwright.arrays import Doubles, Ints
from tagwright.encode.attribute_columns import SHIFT, Columns, find_names, sort_items
from tagwright.encode.attribute_lists import NameLists, keys_of_names, names_of_lists, read_lists
from tagwright.encode.attribute_tables import NO_ATTRIBUTE, AttributeTables, Encoded
from tagwright.encode.text import Text, check_encodable
from tagwright.errors import DataError
from tagwright.sequence import Item

AT_ONCE, LEARNED_AT_ONCE = 1 << 10, 1 << 12
"""Tokens that are read together, in tagging and in training: what Python has of them stays in a near cache."""


def number_dicts(parts: Sequence[Text]) -> tuple[list[str], Ints, list[Encoded]]:
    """The distinct names of all attributes, in the order of their first appearance; the key of each, by its number; and
    every part, encoded."""
    items = [item for text in parts for item in text.items]
    columns, lists, others = read_training(items)
    found, flat = find_names(columns), [flatten_item(items[p], *token_of(p, parts)) for p in others]
    of_lists = [names_of_lists(lists)] if lists else []
    first = [(p << SHIFT) + k for p, own in zip(others, flat, strict=True) for k in range(len(own))]
    names = [name for own in flat for name in own] + [name for own in [*found, *of_lists] for name in own.names]
    index: dict[str, int] = {}
    of_names = [np.array(first, np.int64), *(own.first for own in [*found, *of_lists])]
    for k in np.argsort(np.concatenate(of_names)).tolist():
        index.setdefault(names[k], len(index))
    refuse_halves_in_names(parts, index)
    pointers, attributes, values = lay_out(len(items), columns, lists, others, flat, index)
    keys = np.full(len(index), -1, np.int32)
    key_index: dict[str, int] = {}
    for own in [*found, *of_lists]:
        where, numbers = pointers[own.tokens] + own.positions, np.array([index[name] for name in own.names], np.int32)
        attributes[where] = numbers[own.which]
        if own.key is None:
            keys[numbers] = keys_of_names(own.names, key_index)
        else:
            keys[numbers] = key_index.setdefault(own.key, len(key_index))
        if len(own.values):
            values[where] = own.values
    ends = np.cumsum([0, *(len(text.items) for text in parts)]).tolist()
    encoded = []
    for begin, end in pairwise(ends):
        a, b = int(pointers[begin]), int(pointers[end])
        encoded.append((pointers[begin : end + 1] - a, attributes[a:b], values[a:b]))
    return list(index), keys, encoded


def read_training(items: Sequence[Item]) -> tuple[list[Columns], list[NameLists], list[int]]:
    """Items in columns, lists of names, and what is neither."""
    columns, lists, others = [], [], []
    for begin in range(0, len(items), LEARNED_AT_ONCE):
        part = items[begin : begin + LEARNED_AT_ONCE]
        some, irregular = sort_items(part)
        names, rest = read_lists(part, irregular)
        columns += [own._replace(tokens=own.tokens + begin) for own in some]
        lists += [names.shift(begin)] if names is not None else []
        others += [begin + p for p in rest]
    return columns, lists, others


def encode_dicts(text: Text, names: AttributeTables) -> Encoded:
    """Unknown attributes are left out; one that is given twice is added up."""
    n = len(text.items)
    parts = [encode_items(text, begin, min(n, begin + AT_ONCE), names) for begin in range(0, n, AT_ONCE)]
    if len(parts) == 1:
        return parts[0]
    shifts = np.cumsum([0, *(len(attributes) for _, attributes, _ in parts)])
    pointers = [own[1:] + shift for (own, _, _), shift in zip(parts, shifts, strict=False)]
    values = [own for _, _, own in parts]
    if any(map(len, values)):  # a part without values has ones
        values = [own if len(own) else np.ones(len(of)) for own, (_, of, _) in zip(values, parts, strict=True)]
    return (
        np.concatenate([np.zeros(1, np.int64), *pointers]),
        np.concatenate([NO_ATTRIBUTES, *(own for _, own, _ in parts)]),
        np.concatenate([NO_VALUES, *values]),
    )


def encode_items(text: Text, begin: int, end: int, names: AttributeTables) -> Encoded:
    """The tokens `begin` to `end` − 1."""
    items = text.items if end - begin == len(text.items) else text.items[begin:end]
    found = names.find(items, lambda p: flatten_in_order(begin + p, text))
    return encode_one_by_one(text, begin, end, names.names.index) if found is None else found


def encode_one_by_one(text: Text, begin: int, end: int, index: Mapping[str, int]) -> Encoded:
    """The same by definition."""
    pointers, attributes, values = np.zeros(end - begin + 1, np.int64), [], []
    for p in range(begin, end):
        own = [(index[name], value) for name, value in flatten_in_order(p, text).items() if value and name in index]
        attributes += [attribute for attribute, _ in own]
        values += [value for _, value in own]
        pointers[p + 1 - begin] = len(attributes)
    return pointers, np.array(attributes, np.int32), np.array(values, np.float64)


def lay_out(
    n: int,
    columns: Sequence[Columns],
    lists: Sequence[NameLists],
    others: Sequence[int],
    flat: Sequence[Mapping[str, float]],
    index: Mapping[str, int],
) -> Encoded:
    """Room for the attributes of n tokens, in their order; those of the tokens `others` are there."""
    sizes = np.zeros(n + 1, np.int64)
    for own_columns in columns:
        sizes[own_columns.tokens + 1] = len(own_columns.keys)
    for own_lists in lists:
        sizes[own_lists.tokens + 1] = own_lists.sizes
    for p, own in zip(others, flat, strict=True):
        sizes[p + 1] = len(own)
    pointers = np.cumsum(sizes)
    attributes, values = np.empty(int(pointers[-1]), np.int32), np.ones(int(pointers[-1]))
    for p, own in zip(others, flat, strict=True):
        attributes[pointers[p] : pointers[p + 1]] = [index.get(name, NO_ATTRIBUTE) for name in own]
        values[pointers[p] : pointers[p + 1]] = list(own.values())
    return pointers, attributes, values


def flatten_item(item: Item, text: Text, p: int) -> dict[str, float]:
    """Token p of a text: the values of its attributes. One that is given twice is added up."""
    found: dict[str, float] = {}
    try:
        for name, value in flatten(item, text, p):
            found[name] = found.get(name, 0.0) + value
    except RecursionError:
        message = "the attributes are nested too deeply, or a dict contains itself"
        raise DataError(message, location=text.location(p)) from None
    return found


def flatten_in_order(p: int, text: Text) -> dict[str, float]:
    """The same: keys with strings come first, then the others, both sorted. What order a dict has makes no difference
    then, be it in rounding."""
    item: Any = text.items[p]
    if isinstance(item, Mapping):
        keys = sorted(item, key=lambda key: (not isinstance(item[key], str), str(key)))
        item = {key: item[key] for key in keys}
    return flatten_item(item, text, p)


def token_of(p: int, parts: Sequence[Text]) -> tuple[Text, int]:
    """The text that has token p of some texts, end to end; and which of its tokens that is."""
    for text in parts:
        if p < len(text.items):
            break
        p -= len(text.items)
    return text, p


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
            name = read_string(key, "attribute names are strings", text, p)
            if isinstance(value, str | bytes):
                yield f"{name}:{read_string(value, f'attribute {name!r}', text, p)}", 1.0
            elif isinstance(value, Mapping | list | set | frozenset):
                for inner, number in flatten(value, text, p):
                    yield f"{name}:{inner}", number
            else:
                yield name, read_number(name, value, text, p)
    elif isinstance(item, list | set | frozenset):
        for given in item:
            yield read_string(given, "a list of attributes holds strings", text, p), 1.0
    else:
        raise DataError(f"expected a dict of attributes, found {type(item).__name__}", location=text.location(p))


def read_string(value: object, what: str, text: Text, p: int) -> str:
    """A string, without whatever a subclass makes of it; bytes are UTF-8."""
    if isinstance(value, str):
        return str.__str__(value)
    if not isinstance(value, bytes):
        raise DataError(f"{what}, found {value!r:.60} ({type(value).__name__})", location=text.location(p))
    try:
        return value.decode()
    except UnicodeDecodeError:
        message = f"{what}: the bytes {value!r:.60} are not UTF-8; decode them to a string"
        raise DataError(message, location=text.location(p)) from None


def read_number(key: str, value: object, text: Text, p: int) -> float:
    """What C takes for a number."""
    try:
        number: Any = array("d", (value,))[0]  # type: ignore[type-var]  # unlike float(), it reads no strings
    except OverflowError:
        number = inf
    except (TypeError, ValueError):
        if value is None:
            cure = "leave the attribute out, or give a string such as 'none'"
            raise DataError(
                f"attribute {key!r} is None, which is neither true nor false: {cure}", location=text.location(p)
            ) from None
        found = f"attribute {key!r} is {type(value).__name__}"
        raise DataError(f"{found}; expected bool, number, string, list or dict", location=text.location(p)) from None
    if not isfinite(number):
        cure = "replace it or leave the attribute out"
        raise DataError(f"attribute {key!r} is {number}; values must be finite: {cure}", location=text.location(p))
    return float(number)


NO_ATTRIBUTES: Ints = np.empty(0, np.int32)
NO_VALUES: Doubles = np.empty(0)
