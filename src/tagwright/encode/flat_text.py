"""A FlatText: the user's sentences, checked and laid end to end. The encoder's input.

sentences  as they were given
offsets    [N + 1], where each sentence begins, and the end of the last
width      columns of an item: 1 for strings, more for tuples, 0 for ready-made attributes
words      all items as code points where they are strings: reading them is the check too
items      all items, sentence after sentence; made when somebody asks
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, chain
from typing import Any

import numpy as np

from tagwright.arrays import Longs
from tagwright.encode.spelled import Spelled, measure_lists
from tagwright.errors import DataError
from tagwright.sequence import Item

Sentences = Sequence[Sequence[Item]]


@dataclass(eq=False)
class FlatText:
    sentences: Sentences
    offsets: Longs
    width: int
    words: Spelled | None = None

    @classmethod
    def build(
        cls, X: Sentences, *, argument: str = "X", width: int | None = None, offsets: Longs | None = None
    ) -> FlatText:
        """Check `X` and lay it end to end. `width`: what the model was trained on, if it was; `offsets`: where the
        sentences begin, if that is known, and that none is empty."""
        if offsets is None:
            offsets, n_empty = sentence_offsets(X, argument)
            if n_empty:
                place = f"{argument}[{int(np.argmin(np.diff(offsets)))}]"
                raise DataError("the sentence is empty; leave empty sentences out", location=place)
        expected = width if width is not None else _width(next(iter(next(iter(X))))) if len(offsets) > 1 else 1
        text = cls(X, offsets, expected, _read(X, offsets) if expected == 1 else None)
        if text.words is None and _widths(text.items) - {expected}:
            _refuse_item(text, argument, given=width is not None)
        return text

    @cached_property
    def items(self) -> list[Item]:
        found = list(chain.from_iterable(self.sentences))
        if len(found) != self.offsets[-1]:  # a table, say: as long as it has rows, and then it gives its columns
            raise DataError(
                f"the sentences say that they have {self.offsets[-1]} items, and have {len(found)}; give lists",
                location="X",
            )
        return found

    def column(self, column: int) -> list[str]:
        """All values of one column."""
        if self.width == 1:
            return self.items  # type: ignore[return-value]  # strings, as the width says
        return [item[column] for item in self.items]  # type: ignore[index,misc]

    def spelled(self, column: int) -> Spelled:
        """The same as code points."""
        return Spelled.build(self.column(column)) if self.words is None else self.words

    def place(self, p: int, argument: str = "X") -> str:
        """The place of token p as the user wrote it: "X[3][7]"."""
        i = int(np.searchsorted(self.offsets, p, side="right")) - 1
        return f"{argument}[{i}][{p - int(self.offsets[i])}]"


def sentence_offsets(X: Sentences, argument: str = "X") -> tuple[Longs, int]:
    """Where every sentence begins, end to end [N + 1], and how many are empty. What is no list of lists is refused."""
    if type(X) is list and set(map(type, X)) == {list}:
        offsets = np.empty(len(X) + 1, np.int64)
        return offsets, measure_lists(id(X), offsets)
    if isinstance(X, str | Mapping) or not hasattr(X, "__len__"):
        raise DataError(f"expected a list of sentences, found {type(X).__name__}", location=argument)
    if not any(issubclass(kind, str) or not hasattr(kind, "__len__") for kind in set(map(type, X))):
        lengths = list(map(len, X))
        return np.array(list(accumulate(lengths, initial=0)), np.int64), lengths.count(0)
    for i, sentence in enumerate(X):
        if isinstance(sentence, str):
            found = f"found the string {sentence[:40]!r}: split it"
        elif not hasattr(sentence, "__len__"):
            found = f"found {sentence!r:.60}"
        else:
            continue
        raise DataError(f"a sentence is a list of items, {found}", location=f"{argument}[{i}]")
    raise AssertionError("some sentence was no list")


def _read(X: Sentences, offsets: Longs) -> Spelled | None:
    """All strings; None where there are other items, or not as many as there should be."""
    lists: list[Any] = X if type(X) is list else list(X)
    if set(map(type, lists)) != {list}:  # others may have ways of their own to tell what is in them
        lists = [list(sentence) for sentence in lists]
        if list(map(len, lists)) != np.diff(offsets).tolist():
            return None
    return Spelled.read(lists, offsets)


def _widths(items: list[Item]) -> set[int]:
    """All widths that occur; quick where all items are tuples of strings."""
    kinds = set(map(type, items))
    if kinds == {tuple} and set(map(type, chain.from_iterable(items))) == {str}:
        return {width if width > 1 else -1 for width in map(len, items)}
    return set(map(_width, items))


def _width(item: object) -> int:
    """Columns of an item; −1 for what is no item."""
    if isinstance(item, str):
        return 1
    if isinstance(item, tuple):
        return len(item) if all(isinstance(value, str) for value in item) and len(item) > 1 else -1
    return 0 if isinstance(item, Mapping | list | set | frozenset) else -1


def _refuse_item(text: FlatText, argument: str, *, given: bool) -> None:
    """Name the first item that is not of the expected width."""
    kinds = {0: "a dict of attributes", 1: "a string"}
    expected = kinds.get(text.width, f"a tuple of {text.width} strings" if text.width > 0 else "a string")
    why = "as in training" if given else "as the first item"
    for p, item in enumerate(text.items):
        if _width(item) != text.width or _width(item) < 0:
            shown = repr(item)[:60]
            raise DataError(
                f"expected {expected} ({why}), found {type(item).__name__} {shown}", location=text.place(p, argument)
            )
