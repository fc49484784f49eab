"""A Text: the user's sentences, checked and laid end to end. The encoder's input. It never changes. And back: label
numbers as lists of strings (`name_labels`).

sentences  as they were given
offsets    [N + 1], where each sentence begins, and the end of the last
width      columns of an item: 1 for strings, more for tuples, 0 for attribute dicts
columns    the strings of every column, as pieces of one array of letters; none for attribute dicts
items      all items, sentence after sentence; made when somebody asks
"""

from __future__ import annotations

import gc
from collections.abc import Mapping, Sequence, Set
from contextlib import suppress
from functools import cached_property
from itertools import accumulate, chain, pairwise

import numpy as np
from numpy.typing import NDArray

from tagwright.arrays import Ints, Longs
from tagwright.errors import DataError
from tagwright.sequence import Item
from tagwright.text.strings import Strings

Sentences = Sequence[Sequence[Item]]
LISTS = {list}
NO_LISTS = (str, bytes, Mapping, Set)
"""What has a length, but no items in an order."""


class Text:
    """As above."""

    def __init__(self, sentences: Sentences, offsets: Longs, width: int, columns: tuple[Strings, ...] = ()) -> None:
        self.sentences = sentences
        self.offsets = offsets
        self.width = width
        self.columns = columns

    @classmethod
    def build(
        cls, X: Sentences, *, argument: str = "X", width: int | None = None, offsets: Longs | None = None
    ) -> Text:
        """Check `X` and lay it end to end. `width`: what the model was trained on, if it was; `offsets`: where the
        sentences begin, if that is known, and that none is empty."""
        if offsets is None:
            X = list_sentences(X, argument)
            offsets, n_empty = sentence_offsets(X, argument)
            if n_empty:
                location = f"{argument}[{int(np.argmin(np.diff(offsets)))}]"
                raise DataError("the sentence is empty; leave empty sentences out", location=location)
        expected = width if width is not None else _width(next(iter(next(iter(X))))) if len(offsets) > 1 else 1
        if expected == 1:
            try:
                return cls(X, offsets, 1, (Strings.of_lists(X, int(offsets[-1])),))  # type: ignore[arg-type]
            except (TypeError, ValueError):
                pass  # some item is no string, or there are not as many as there should be: which is said below
        text = cls(X, offsets, expected)
        if _widths(text.items) - {expected}:
            _refuse_item(text, argument, given=width is not None)
        if expected > 0:
            columns = [[item[c] for item in text.items] for c in range(expected)]  # type: ignore[index]
            strings = tuple(Strings.of(column, len(column)) for column in columns)  # type: ignore[arg-type]
            text = cls(X, offsets, expected, strings)
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

    def location(self, p: int, argument: str = "X") -> str:
        """The location of token p as the user wrote it: "X[3][7]"."""
        i = int(np.searchsorted(self.offsets, p, side="right")) - 1
        return f"{argument}[{i}][{p - int(self.offsets[i])}]"


def list_sentences(X: Sentences, argument: str = "X") -> Sentences:
    """`X` as a list of our own."""
    if type(X) is list:
        return X.copy()
    if not isinstance(X, NO_LISTS) and hasattr(X, "__len__"):
        with suppress(TypeError):  # of a NumPy array without axes
            return list(X)
    raise DataError(f"expected a list of sentences, found {type(X).__name__}", location=argument)


def sentence_offsets(X: Sentences, argument: str = "X") -> tuple[Longs, int]:
    """Where every sentence begins, end to end [N + 1], and how many are empty. What is no list of lists is refused."""
    if X and set(map(type, X)) != LISTS:
        for i, sentence in enumerate(X):
            _check_sentence(sentence, f"{argument}[{i}]")
    lengths = list(map(len, X))
    return np.fromiter(accumulate(lengths, initial=0), np.int64, len(lengths) + 1), lengths.count(0)


def _check_sentence(sentence: object, location: str) -> None:
    """Refuse what is no list of items."""
    if isinstance(sentence, str):
        raise DataError(
            f"a sentence is a list of items, found the string {sentence[:40]!r}: split it", location=location
        )
    if not isinstance(sentence, NO_LISTS) and hasattr(sentence, "__len__") and getattr(sentence, "shape", True) != ():
        return
    raise DataError(f"a sentence is a list of items, found {sentence!r:.60}", location=location)


def name_labels(labels: Ints, offsets: Longs, names: NDArray[np.object_]) -> list[list[str]]:
    """The names of all tokens' labels [n], a list for each sentence; they begin at offsets [N + 1].

    The garbage collector waits meanwhile: so many new lists would set off its rounds, in which all lists of the process
    are looked at, and none of these is garbage (28 ns a token, without it 14)."""
    found, ends, collects = names[labels].tolist(), offsets.tolist(), gc.isenabled()
    gc.disable()
    try:
        return [found[begin:end] for begin, end in pairwise(ends)]
    finally:
        if collects:
            gc.enable()


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


def _refuse_item(text: Text, argument: str, *, given: bool) -> None:
    """Name the first item that is not of the expected width."""
    kinds = {0: "a dict of attributes", 1: "a string"}
    expected = kinds.get(text.width, f"a tuple of {text.width} strings" if text.width > 0 else "a string")
    why = "as in training" if given else "as the first item"
    for p, item in enumerate(text.items):
        if _width(item) != text.width or _width(item) < 0:
            shown = repr(item)[:60]
            raise DataError(
                f"expected {expected} ({why}), found {type(item).__name__} {shown}", location=text.location(p, argument)
            )
