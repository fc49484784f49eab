"""A Text: the user's sentences, checked and laid end to end. The encoder's input. It never changes. And back: label
numbers as lists of strings (`name_labels`).

sentences  as they were given; none where only their strings were (of_strings)
offsets    [N + 1], where each sentence begins, and the end of the last
width      columns of an item: 1 for strings, more for tuples, 0 for attribute dicts
letters    of all strings, a separator between two
strings    where they begin and end, column after column; none for attribute dicts
items      all items, sentence after sentence; made when somebody asks
"""

from __future__ import annotations

import gc
from collections.abc import Iterator, Mapping, Sequence, Set
from functools import cached_property
from itertools import accumulate, chain, pairwise

import numpy as np
from numpy.typing import NDArray

from tagwright.arrays import Bytes, Ints, Longs, Plain
from tagwright.errors import DataError
from tagwright.sequence import Item
from tagwright.string_blob import check_text
from tagwright.text.strings import Strings, join_lists

Sentences = Sequence[Sequence[Item]]
LISTS, ATTRIBUTES = {list}, {dict, list, set, frozenset}
NO_LETTERS = join_lists([])
NO_LISTS = (str, bytes, Mapping, Set)
"""What has a length, but is no list: its items are letters, or have no order."""


class Text:
    """As above."""

    def __init__(self, sentences: Sentences | None, offsets: Longs, width: int, letters: Bytes = NO_LETTERS) -> None:
        self.sentences = sentences
        self.offsets = offsets
        self.width = width
        self.letters = letters

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
                return cls(X, offsets, 1, join_lists(X))  # type: ignore[arg-type]
            except TypeError:
                pass  # some item is no string: which is said below
        text = cls(X, offsets, expected)
        if expected < 0 or _widths(text.items) - {expected}:
            _refuse_item(text, argument, given=width is not None)
        if expected > 0:
            text.letters = join_lists(text._lists)
        return text

    @classmethod
    def of_strings(cls, strings: Strings, offsets: Longs, width: int) -> Text:
        """Of strings that are checked, column after column, as files have them. No string is made unless somebody asks
        for the items."""
        text = cls(None, offsets, width, strings.letters)
        text.strings = strings
        return text

    @property
    def _lists(self) -> Sequence[Sequence[str]]:
        """Strings as they were joined."""
        if self.width == 1:
            return self.sentences  # type: ignore[return-value]
        return [[item[c] for item in self.items] for c in range(self.width)]  # type: ignore[index, misc]

    @cached_property
    def strings(self) -> Strings:
        try:
            return Strings.split(self.letters, self._lists, self.width * int(self.offsets[-1]))
        except ValueError:
            _ = self.items  # which says what is wrong
            raise

    def pieces(self, *, split: bool = False) -> tuple[Plain, bool]:
        """Letters, and where strings begin and end [W, n], for kernels; and whether the kernel must find that first."""
        n = int(self.offsets[-1])
        if split or self.width > 1 or "strings" in self.__dict__:
            letters, begins, ends = self.strings
            return (letters, begins.reshape(self.width, n), ends.reshape(self.width, n)), False
        return (self.letters, np.empty((1, n), np.int64), np.empty((1, n), np.int64)), True

    @property
    def columns(self) -> tuple[Strings, ...]:
        """The strings of every column."""
        letters, *bounds = self.strings
        rows = (own.reshape(self.width, -1) for own in bounds)
        return tuple(Strings(letters, *own) for own in zip(*rows, strict=True))

    @cached_property
    def items(self) -> list[Item]:
        if self.sentences is None:
            columns = [column.decode() for column in self.columns]
            return [*columns[0]] if self.width == 1 else [*zip(*columns, strict=True)]
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
    """`X` as a list of our own; what can be read once alone, such as a generator, is read."""
    if isinstance(X, NO_LISTS) or not (hasattr(X, "__len__") or isinstance(X, Iterator)):
        raise DataError(f"expected a list of sentences, found {type(X).__name__}{cure_of(X)}", location=argument)
    try:
        found = list(X)
    except TypeError:  # a NumPy array without axes
        raise DataError(f"expected a list of sentences, found {type(X).__name__}", location=argument) from None
    if set(map(type, found)) == LISTS:
        return found
    return [list(sentence) if isinstance(sentence, Iterator) else sentence for sentence in found]


def has_length(found: object) -> bool:
    """Whether `len` has an answer; a NumPy array without axes has none."""
    return hasattr(found, "__len__") and getattr(found, "shape", None) != ()


def cure_of(found: object) -> str:
    """What to do about sentences, or a sentence, in something without an order."""
    unordered = isinstance(found, Set | Mapping)
    return ", which has no order of its own; give a list" if unordered else ""


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
    if not isinstance(sentence, NO_LISTS) and has_length(sentence):
        return
    raise DataError(f"a sentence is a list of items, found {sentence!r:.60}{cure_of(sentence)}", location=location)


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
    if kinds <= ATTRIBUTES:
        return {0}
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
            found = f"{type(item).__name__} {repr(item)[:60]}"
            cure = _cure_of_item(item, text.width)
            raise DataError(f"expected {expected} ({why}), found {found}; {cure}", location=text.location(p, argument))


def _cure_of_item(item: object, width: int) -> str:
    """What to give instead of an item that does not have so many columns."""
    if width == 0:
        return 'give the attributes that training had, such as {"lower": "the"}'
    if width <= 1:
        return "give the word alone"
    listed = isinstance(item, tuple | list | np.ndarray) and has_length(item)
    given = 1 if isinstance(item, str) else len(item) if listed else 0  # type: ignore[arg-type]
    if given == width:
        return f"give a tuple, and strings in it, as in training: {('word', *['tag'] * (width - 1))}"
    return f"give every word with its other columns, as in training: {('word', *['tag'] * (width - 1))}"


def refuse_halves(text: Text, argument: str = "X") -> None:
    """Refuse halves of surrogate pairs in the strings of a text: no file can hold them, so no model can."""
    try:
        str(text.letters.data, "utf-8")
    except UnicodeDecodeError:
        for p, item in enumerate(text.items):
            for value in (item,) if isinstance(item, str) else item:
                check_encodable(str(value), text.location(p, argument))


def check_encodable(value: str, location: str) -> None:
    """Refuse a string that UTF-8 cannot hold."""
    try:
        check_text(value, repr(value)[:60])
    except ValueError as error:
        raise DataError(str(error), location=location) from None
