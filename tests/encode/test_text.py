"""Sentences of every kind, laid end to end."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

import numpy as np
import pytest

from tagwright.encode.text import Text
from tagwright.errors import DataError

pytestmark = pytest.mark.bounds

TEXT = [["a", "", "Ωé"], ["東京"], ["\n", "\ud800", "\U0001f600b"]]


class Sentences(list):
    """As users have them."""


@pytest.mark.parametrize(
    "X",
    [
        TEXT,
        tuple(TEXT),
        [tuple(sentence) for sentence in TEXT],
        [TEXT[0], tuple(TEXT[1]), deque(TEXT[2])],
        [np.array(sentence, object) for sentence in TEXT],
        Sentences(Sentences(sentence) for sentence in TEXT),
        [[np.str_(word) for word in sentence] for sentence in TEXT],
    ],
)
def test_words_are_read_from_any_sequences(X: list[list[str]]) -> None:
    text = Text.build(X)
    assert text.offsets.tolist() == [0, 3, 4, 7]
    assert text.width == 1
    assert text.columns[0].decode() == [word for sentence in TEXT for word in sentence]


def test_a_list_that_says_itself_what_is_in_it() -> None:
    class Lower(list):
        def __iter__(self) -> Iterator[str]:
            return map(str.lower, super().__iter__())

    text = Text.build([Lower(["The", "dog"])])
    assert text.columns[0].decode() == text.items == ["the", "dog"]


def test_columns_are_read_too() -> None:
    text = Text.build([[("a", "x"), ("b", "")], [("c", "é\n")]])
    assert text.width == 2
    assert [column.decode() for column in text.columns] == [["a", "b", "c"], ["x", "", "é\n"]]


@pytest.mark.parametrize("wrong", [None, 3, b"b", ["b"], ("b",), ("b", "c")])
@pytest.mark.parametrize("kind", [list, tuple])
def test_what_is_no_word_is_named(wrong: object, kind: type) -> None:
    with pytest.raises(DataError, match=r"X\[1\]\[1\]: expected a string .*found"):
        Text.build([kind(["a"]), kind(["a", wrong])])


@pytest.mark.parametrize("columns", [["a"], ["a", "b", "c"]])
def test_a_table_whose_length_is_not_its_number_of_items(columns: list[str]) -> None:
    class Table(tuple):
        def __len__(self) -> int:
            return 2

    with pytest.raises(DataError, match=f"say that they have 2 items, and have {len(columns)}"):
        Text.build([Table(columns)]).columns  # noqa: B018 (strings are looked at when somebody asks)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ("abc", "list of sentences"),
        (["abc"], r"X\[0\].*split"),
        ([["a"], []], r"X\[1\].*empty"),
        ([["a", ("b", "c")]], r"X\[0\]\[1\]"),
        ([["a"], ["b", 3]], r"X\[1\]\[1\].*int"),
        ([[("a", "b")], [("a", "b", "c")]], r"X\[1\]\[0\]"),
        ([["a"], [{"b": 1}]], r"X\[1\]\[0\].*dict"),
    ],
)
def test_bad_sentences(X: object, message: str) -> None:
    with pytest.raises(DataError, match=message):
        Text.build(X)  # type: ignore[arg-type]


def test_text_that_can_only_be_looked_through() -> None:
    text = Text.build({"first": ["a", "b"], "second": ("c",)}.values())  # type: ignore[arg-type]
    assert (text.items, text.offsets.tolist(), text.width) == (["a", "b", "c"], [0, 2, 3], 1)


def test_words_with_a_separator_of_their_own() -> None:
    """As many pieces as words, but not those words: they are counted, not believed."""
    X = [["a\0b", "\0"], ["", "c"]]
    assert Text.build(X).columns[0].decode() == ["a\0b", "\0", "", "c"]


def test_locations_are_those_of_the_user() -> None:
    text = Text.build([["a"], ["b", "c"], ["d"]])
    assert [text.location(p) for p in range(4)] == ["X[0][0]", "X[1][0]", "X[1][1]", "X[2][0]"]
    assert text.location(3, "X_dev") == "X_dev[2][0]"


class Table:
    """As long as it has rows; it gives its columns."""

    def __init__(self, rows: int, *columns: object) -> None:
        self.rows, self.columns = rows, columns

    def __len__(self) -> int:
        return self.rows

    def __iter__(self) -> Iterator[object]:
        return iter(self.columns)


@pytest.mark.parametrize("rows", [1, 9])
def test_a_sentence_that_is_not_as_long_as_it_says_is_refused(rows: int) -> None:
    with pytest.raises(DataError, match=f"{rows} items, and have 3; give lists"):
        Text.build([Table(rows, "a", "b", "a")], width=1).columns  # type: ignore[list-item]  # noqa: B018
    with pytest.raises(DataError, match=f"{rows} items, and have 2; give lists"):
        Text.build([Table(rows, ("a", "b"), ("c", "d"))])  # type: ignore[list-item]
