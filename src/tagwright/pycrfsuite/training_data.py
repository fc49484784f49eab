"""The sentences that a Trainer was given, as numbers.

    append(xseq, yseq, group) ─► names numbered in the order of their first appearance ─► a Batch of some groups
    extend(X, y, group)       the same for many sentences of dicts, which are read together (encode/attribute_dicts.py)

A name is kept once, a token as numbers and values: what was appended may be changed afterwards.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

import numpy as np

from tagwright.arrays import Bools, Ints, Longs
from tagwright.encode.attribute_dicts import number_dicts
from tagwright.encode.attribute_tables import Encoded
from tagwright.encode.batch import Batch
from tagwright.encode.forms import NO_WORDS
from tagwright.encode.text import Text
from tagwright.errors import DataError
from tagwright.pycrfsuite.items import (
    LISTS,
    NUMBERS,
    ItemSequence,
    Letters,
    encode_name,
    list_values,
    read_exactly,
    split_names,
)


class Numbers(dict[Any, int]):
    """Strings, numbered in the order of their first appearance. What is no string in UTF-8 without a NUL is looked at
    when it comes: bytes, and names that a NUL ends."""

    def __missing__(self, name: object) -> int:
        raw = encode_name(name)
        try:
            plain = raw.partition(b"\0")[0].decode()
        except UnicodeDecodeError:
            raise DataError(f"the name {raw[:40]!r} is not UTF-8; encode names in UTF-8, or give strings") from None
        if plain != name:
            return self[plain]
        return self.setdefault(plain, len(self))

    def forget(self, n: int) -> None:
        """All but the first n."""
        while len(self) > n:
            self.popitem()


class TrainingData:
    """All sentences so far."""

    def __init__(self) -> None:
        self.attributes, self.labels = Numbers(), Numbers()
        self._numbers, self._values = array("i"), array("d")
        self._ends, self._gold = array("q", [0]), array("i")
        self._lengths, self._groups = array("q"), array("q")
        self._told: dict[int, int] = {}  # the keys of attributes that are known, by numbers

    def append(self, xseq: Any, yseq: Iterable[Any], group: int) -> None:
        """One sentence; an empty one leaves nothing behind. If it cannot be taken, nothing has changed."""
        before = len(self.attributes), len(self.labels), len(self._numbers), len(self._ends), len(self._gold)
        try:
            self._read_items(xseq)
            length = len(self._ends) - before[3]
            names = list(yseq)
            if len(names) != length:
                raise DataError(f"found {length} items and {len(names)} labels; give a label for each item")
            self._gold.extend(map(self.labels.__getitem__, names))
            if not math.isfinite(sum(self._values[before[2] :])):
                raise DataError(
                    f"sentence {len(self._lengths)}: values of attributes must be finite; replace NaN and inf"
                )
        except BaseException:
            self._forget(*before)
            raise
        if length:
            self._lengths.append(length)
            self._groups.append(group)

    def extend(self, X: Sequence[Any], y: Sequence[Any], group: int) -> None:
        """Many sentences, none of them empty."""
        gold = [labels if type(labels) is list else list(labels) for labels in y]
        read = read_together(X) if list(map(len, X)) == list(map(len, gold)) else None
        if read is None:
            for sentence, labels in zip(X, gold, strict=True):
                self.append(sentence, labels, group)
            return
        names, keys, (pointers, attributes, values) = read
        known, shift = len(self.attributes), len(self._numbers)
        index = self.attributes  # number_dicts has looked at the names: they are UTF-8
        own = np.fromiter((index.setdefault(name, len(index)) for name in names), np.int32, len(names))
        is_told = (own >= known) & (keys >= 0)
        self._told.update(zip(own[is_told].tolist(), keys[is_told].tolist(), strict=True))
        self._numbers.frombytes(own[attributes].tobytes())
        self._values.frombytes(values.tobytes())
        self._ends.extend((pointers[1:] + shift).tolist())
        self._gold.extend(map(self.labels.__getitem__, chain.from_iterable(gold)))
        self._lengths.extend(map(len, gold))
        self._groups.extend([group] * len(gold))

    def _forget(self, attributes: int, labels: int, numbers: int, ends: int, gold: int) -> None:
        self.attributes.forget(attributes)
        self.labels.forget(labels)
        del self._numbers[numbers:], self._values[numbers:], self._ends[ends:], self._gold[gold:]

    def _read_items(self, xseq: Any) -> None:
        if isinstance(xseq, ItemSequence):
            self._take(xseq.letters)
            return
        for item in xseq:
            kind = type(item)
            if kind in LISTS:
                self._numbers.extend(map(self.attributes.__getitem__, item))
                self._values.extend([1.0] * len(item))
            elif kind is not dict or not self._read_plain(item):
                self._take(read_exactly([item]))
                continue
            self._ends.append(len(self._numbers))

    def _read_plain(self, item: dict[Any, Any]) -> bool:
        """A dict of strings and numbers; False, and nothing is kept, where there is anything else."""
        find, numbers, values = self.attributes.__getitem__, [], []
        for key, value in item.items():
            kind = type(value)
            if kind is str and type(key) is str:
                numbers.append(find(key + ":" + value))
                values.append(1.0)
            elif kind in NUMBERS:
                numbers.append(find(key))
                values.append(value)
            else:
                return False
        self._numbers.extend(numbers)
        self._values.extend(values)
        return True

    def _take(self, letters: Letters) -> None:
        shift = len(self._numbers)
        self._numbers.extend(map(self.attributes.__getitem__, split_names(letters)))
        self._values.extend(list_values(letters))
        self._ends.extend((letters.pointers[1:] + shift).tolist())

    def groups(self) -> Longs:
        """Of every sentence."""
        return np.array(self._groups, np.int64)

    def batch(self, chosen: Bools) -> Batch:
        """Some of the sentences."""
        offsets = np.concatenate([[0], np.cumsum(np.array(self._lengths, np.int64))])
        forms = np.empty((0, int(offsets[-1])), np.int32)
        every = Batch(
            offsets, forms, NO_WORDS, np.array(self._ends, np.int64), np.array(self._numbers, np.int32),
            np.array(self._values), np.array(self._gold, np.int32),
        )  # fmt: skip
        return every if chosen.all() else every.take(np.flatnonzero(chosen))

    def keys(self) -> Ints:
        """The key of every attribute, what stands before its value, by numbers (encode/encoder.py): a good guess makes
        training quicker, and no guess changes what is learned."""
        index: dict[str | int, int] = {}
        told = self._told
        keys = (told[a] if a in told else guess_key(name) for a, name in enumerate(self.attributes))
        return np.array([index.setdefault(key, len(index)) for key in keys], np.int32)


def read_together(X: Sequence[Any]) -> tuple[list[str], Ints, Encoded] | None:
    """The names, their keys and the encoded tokens of sentences of dicts; None where one by one decides."""
    if not all(type(sentence) is list for sentence in X) or set(map(type, chain.from_iterable(X))) != {dict}:
        return None
    try:
        names, keys, (encoded,) = number_dicts([Text.build(X)])
    except DataError:
        return None
    return None if any("\0" in name for name in names) else (names, keys, encoded)


def guess_key(name: str) -> str:
    """Of "w[-1]=the" and of "w[-1]:the" it is w[-1]; of a name without a value, the name."""
    end = name.find("=", 1)
    end = name.rfind(":", 1) if end < 0 else end
    return name if end < 0 else name[:end]
