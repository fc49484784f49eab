"""A FlatText: the user's sentences, checked and laid end to end. The encoder's input.

items      all items, sentence after sentence
offsets    [N + 1], where each sentence begins, and the end of the last
width      columns of an item: 1 for strings, more for tuples, 0 for ready-made attributes
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from tagwright.arrays import Longs
from tagwright.errors import DataError
from tagwright.sequence import Item

Sentences = Sequence[Sequence[Item]]


@dataclass(frozen=True, slots=True)
class FlatText:
    items: list[Item]
    offsets: Longs
    width: int

    @classmethod
    def build(cls, X: Sentences, *, argument: str = "X", width: int | None = None) -> FlatText:
        """Check `X` and lay it end to end. `width`: what the model was trained on, if it was."""
        if isinstance(X, str | Mapping) or not hasattr(X, "__len__"):
            raise DataError(f"expected a list of sentences, found {type(X).__name__}", place=argument)
        lengths = [0 if isinstance(sentence, str) else len(sentence) for sentence in X]
        if 0 in lengths:
            _refuse_sentence(X[lengths.index(0)], f"{argument}[{lengths.index(0)}]")
        items: list[Item] = list(chain.from_iterable(X))
        offsets = np.zeros(len(lengths) + 1, np.int64)
        np.cumsum(lengths, out=offsets[1:])
        widths = _widths(items)
        expected = width if width is not None else _width(items[0]) if items else 1
        text = cls(items, offsets, expected)
        if widths - {expected}:
            _refuse_item(text, argument, given=width is not None)
        return text

    def column(self, column: int) -> list[str]:
        """All values of one column."""
        if self.width == 1:
            return self.items  # type: ignore[return-value]  # strings, as the width says
        return [item[column] for item in self.items]  # type: ignore[index,misc]

    def place(self, p: int, argument: str = "X") -> str:
        """The place of token p as the user wrote it: "X[3][7]"."""
        i = int(np.searchsorted(self.offsets, p, side="right")) - 1
        return f"{argument}[{i}][{p - int(self.offsets[i])}]"


def _widths(items: list[Item]) -> set[int]:
    """All widths that occur; quick where all items are strings, or tuples of strings."""
    kinds = set(map(type, items))
    if kinds == {str}:
        return {1}
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


def _refuse_sentence(sentence: object, place: str) -> None:
    if isinstance(sentence, str):
        raise DataError(f"a sentence is a list of items, found the string {sentence[:40]!r}: split it", place=place)
    raise DataError("the sentence is empty; leave empty sentences out", place=place)


def _refuse_item(text: FlatText, argument: str, *, given: bool) -> None:
    """Name the first item that is not of the expected width."""
    kinds = {0: "a dict of attributes", 1: "a string"}
    expected = kinds.get(text.width, f"a tuple of {text.width} strings" if text.width > 0 else "a string")
    why = "as in training" if given else "as the first item"
    for p, item in enumerate(text.items):
        if _width(item) != text.width or _width(item) < 0:
            shown = repr(item)[:60]
            raise DataError(
                f"expected {expected} ({why}), found {type(item).__name__} {shown}", place=text.place(p, argument)
            )
