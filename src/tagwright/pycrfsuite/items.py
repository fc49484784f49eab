"""What python-crfsuite takes for a sentence, as letters; and ItemSequence, a sentence that was read before.

    lists of names          ["cap", "w=Paris"]                        names, each with the value 1
    dicts                   {"w": "Paris", "len": 5, "cap": True}     w:Paris 1, len 5, cap 1
    nested in dicts         {"suffix": {"2": "is", "3": ["a"]}}       suffix:2:is 1, suffix:3:a 1
    names as bytes          b"cap"                                    as the string that they are in UTF-8

`flatten` is the definition, with python-crfsuite's rules: what is not a dict is a collection of names, of whatever
kind; a name ends at a NUL; one that is given twice counts twice. The usual kinds are read by a join or two, and where
that might mean something else, `flatten` decides.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import ldexp
from typing import Any, NamedTuple

import numpy as np

from tagwright.arrays import Bytes, Doubles, Longs
from tagwright.errors import DataError
from tagwright.pycrfsuite.attribute_weights import BOTH, ONE_ONLY
from tagwright.text.strings import PADDING, ZEROS

JOIN_NAMES, JOIN_ITEMS = "\0".join, "\1".join
LISTS, DICTS = frozenset((list, tuple)), frozenset((dict,))
NUMBERS, COLLECTIONS = frozenset((float, int, bool)), frozenset((list, set))
NOTHING = ZEROS.decode()
NO_POINTERS: Longs = np.empty(0, np.int64)
NO_VALUES: Doubles = np.empty(0)


class Letters(NamedTuple):
    """The names of a sentence of T items, end to end (attribute_weights.add_scores).

    separators: ONE_ONLY, or BOTH, where `pointers` is empty and it is not sure that there are n names of T items
    """

    T: int
    letters: Bytes
    separators: int
    n: int
    pointers: Longs
    values: Doubles  # [n], or [0], which are 1


class ItemSequence:
    """The items of one sentence, read once, for a Trainer or a Tagger: no need to read them every time.

    ItemSequence([{"w": "Paris", "len": 5}, ["w=is", "len:2"]])
    """

    __slots__ = ("letters",)

    def __init__(self, pyseq: Any) -> None:
        self.letters: Letters = pyseq.letters if isinstance(pyseq, ItemSequence) else read_exactly(pyseq)

    def items(self) -> list[dict[str, float]]:
        """The attributes of every item with their values; of one that is given twice, the last value."""
        names = iter(zip(split_names(self.letters), list_values(self.letters), strict=True))
        sizes = np.diff(self.letters.pointers).tolist()
        return [dict(next(names) for _ in range(size)) for size in sizes]

    def __len__(self) -> int:
        return self.letters.T

    def __repr__(self) -> str:
        return f"<ItemSequence of size {len(self)}>"


def read_lists(items: Sequence[Sequence[str]]) -> Letters | None:
    """Of lists of names; None where some are bytes, or wrong."""
    try:
        text = JOIN_ITEMS((*map(JOIN_NAMES, items), NOTHING)).encode()
    except TypeError:
        return None
    return Letters(len(items), np.frombuffer(text, np.uint8), BOTH, sum(map(len, items)), NO_POINTERS, NO_VALUES)


def read_exactly(items: Iterable[Any]) -> Letters:
    """A sentence by the definition."""
    names: list[bytes] = []
    values: list[float] = []
    ends = [0]
    for item in items:
        for name, value in flatten(item):
            names.append(name.partition(b"\0")[0])
            values.append(value)
        ends.append(len(names))
    letters = np.frombuffer(b"\0".join([*names, ZEROS]), np.uint8)
    return Letters(len(ends) - 1, letters, ONE_ONLY, len(names), np.array(ends), np.array(values))


def flatten(item: Any) -> Iterator[tuple[bytes, float]]:
    """The (name, value) pairs of one item."""
    len(item)  # python-crfsuite refuses what has no length, such as generators
    if not isinstance(item, dict):
        for name in item:
            yield encode_name(name), 1.0
        return
    for key, value in item.items():
        name = encode_name(key)
        if isinstance(value, dict | list | set):
            for inner, number in flatten(value):
                yield name + b":" + inner, number
        elif isinstance(value, str | bytes):
            yield name + b":" + encode_name(value), 1.0
        else:
            yield name, ldexp(value, 0)  # a float of whatever has one, but not of bytearray


def add_up(item: Any) -> dict[str, float]:
    """The attributes of one item; the values of one that is given twice are added up."""
    found: dict[str, float] = {}
    if type(item) is dict and add_strings("", item, found):
        return found  # a name that is no UTF-8, no model has
    found = {}
    for raw, value in flatten(item):
        name = raw.decode(errors="replace")  # what is not UTF-8, no model has
        found[name] = found.get(name, 0.0) + value
    return found


def add_strings(prefix: str, item: dict[Any, Any], found: dict[str, float]) -> bool:
    """The same for a dict of the usual kinds, with dicts, lists and sets of names in it; False for others."""
    for key, value in item.items():
        kind = type(value)
        if type(key) is not str:
            return False
        name = prefix + key
        if kind is str:
            name = f"{name}:{value}"
            found[name] = found.get(name, 0.0) + 1.0
        elif kind in NUMBERS:
            found[name] = found.get(name, 0.0) + value
        elif kind is dict:
            if not add_strings(f"{name}:", value, found):
                return False
        elif kind in COLLECTIONS and set(map(type, value)) <= {str}:
            for inner in value:
                whole = f"{name}:{inner}"
                found[whole] = found.get(whole, 0.0) + 1.0
        else:
            return False
    return True


def encode_name(name: Any) -> bytes:
    """A string in UTF-8."""
    if isinstance(name, str):
        return name.encode()
    if isinstance(name, bytes):
        return name
    raise TypeError(f"found {name!r} ({type(name).__name__}); names of attributes and labels are strings")


def split_names(letters: Letters) -> list[str]:
    """The names, as Python has them."""
    if not letters.n:
        return []
    raw = letters.letters[: -PADDING - 1].tobytes()
    try:
        return raw.decode().split("\0")
    except UnicodeDecodeError as error:
        bad = raw[raw.rfind(b"\0", 0, error.start) + 1 :].partition(b"\0")[0]
        raise DataError(f"the attribute {bad!r} is not UTF-8; encode names in UTF-8, or give strings") from None


def list_values(letters: Letters) -> list[float]:
    """The values, all of them."""
    return letters.values.tolist() if len(letters.values) else [1.0] * letters.n
