"""Sentences of every kind, laid end to end."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

import numpy as np
import pytest

from tagwright.encode import spelled
from tagwright.encode.flat_text import FlatText
from tagwright.encode.spelled import USUAL_LENGTH, Spelled
from tagwright.errors import DataError

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
    text = FlatText.build(X)
    assert text.offsets.tolist() == [0, 3, 4, 7]
    assert text.words is not None
    assert text.spelled(0).strings() == [word for sentence in TEXT for word in sentence]


def test_a_list_that_says_itself_what_is_in_it() -> None:
    class Lower(list):
        def __iter__(self) -> Iterator[str]:
            return map(str.lower, super().__iter__())

    text = FlatText.build([Lower(["The", "dog"])])
    assert text.spelled(0).strings() == text.items == ["the", "dog"]


def test_columns_are_read_too() -> None:
    text = FlatText.build([[("a", "x"), ("b", "")], [("c", "é\n")]])
    assert text.words is None
    assert text.spelled(1).strings() == ["x", "", "é\n"]


@pytest.mark.parametrize("wrong", [None, 3, b"b", ["b"], ("b",), ("b", "c")])
@pytest.mark.parametrize("kind", [list, tuple])
def test_what_is_no_word_is_named(wrong: object, kind: type) -> None:
    with pytest.raises(DataError, match=r"X\[1\]\[1\]: expected a string .*found"):
        FlatText.build([kind(["a"]), kind(["a", wrong])])


@pytest.mark.parametrize("columns", [["a"], ["a", "b", "c"]])
def test_a_table_whose_length_is_not_its_number_of_items(columns: list[str]) -> None:
    class Table(dict):
        def __len__(self) -> int:
            return 2

    with pytest.raises(DataError, match=f"say that they have 2 items, and have {len(columns)}"):
        FlatText.build([Table(dict.fromkeys(columns))])


def test_strings_longer_than_there_is_room_for() -> None:
    values = ["x" * (USUAL_LENGTH - 1), "y" * (100 * USUAL_LENGTH), "", "z"]
    found = Spelled.build(values)
    assert found.strings() == values
    assert len(found.points) == sum(map(len, values))
    for more in (0, 1):  # as much as there is room for, and a letter more
        tight = ["u" * USUAL_LENGTH, "v" * (USUAL_LENGTH + more)]
        assert Spelled.build(tight).strings() == tight


def test_strings_that_grow_while_they_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """As another thread could have it, each time."""
    lists, lengths = [["a" * 20, "b"]], iter((200, 2000))
    read = spelled.read_strings

    def read_and_lengthen(*arguments: object) -> int:
        size = read(*arguments)
        lists[0][0] = "a" * next(lengths, 2000)
        return size

    monkeypatch.setattr(spelled, "read_strings", read_and_lengthen)
    found = Spelled.read(lists, np.array([0, 2]))
    assert found is not None
    assert found.strings() == ["a" * 2000, "b"]


def test_lists_that_are_shorter_than_they_should_be() -> None:
    assert Spelled.read([["a", "b"], ["c"]], np.array([0, 2, 4])) is None
    assert Spelled.read([["a", "b"]], np.array([0, 2, 3])) is None
    with pytest.raises(TypeError, match="expected strings"):
        Spelled.build(["a", None])
