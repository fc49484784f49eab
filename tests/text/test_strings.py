"""Strings in one array of letters against Python's own."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tagwright.text.strings import PADDING, Strings, join

pytestmark = pytest.mark.bounds

CHARACTERS = st.sampled_from("aAbÉΣİ\0\n東Ǆ\ud800\U00010400") | st.characters()
VALUES = st.lists(st.text(CHARACTERS, max_size=6), max_size=10)
SOME = ["a", "", "\0", "Ωé", "東京", "\ud800\udc00", "\U0001f600b", "x\0y\0", "", "x" * 1000]


@settings(deadline=None)  # kernels compile in the first
@example([])
@example([""])
@example(["", ""])
@example(["\0"])
@example(["\0", "a"])
@given(VALUES)
def test_strings_come_back_as_they_were(values: list[str]) -> None:
    for given_values in (values, tuple(values)):
        strings = Strings.of(given_values, len(values))
        assert strings.decode() == values
        assert strings.n == len(values)
        assert (strings.letters[-PADDING:] == 0).all()
        assert strings.ends.max(initial=0) <= len(strings.letters) - PADDING


@pytest.mark.parametrize("values", [["a"], ["a", "b", "c"], ["a\0b", "c", "d"], []])
def test_another_number_of_strings_is_refused(values: list[str]) -> None:
    with pytest.raises(ValueError, match=f"{len(values)} strings, expected 2"):
        Strings.of(values, 2)


@pytest.mark.parametrize("wrong", [None, 3, b"b", ["b"], ("b",)])
def test_what_is_no_string_is_refused(wrong: object) -> None:
    with pytest.raises(TypeError):
        Strings.of(["a", wrong], 2)  # type: ignore[list-item]


@settings(deadline=None)
@given(VALUES, st.data())
def test_some_compact_and_joined(values: list[str], data: st.DataObject) -> None:
    strings = Strings.of(values, len(values))
    which = data.draw(st.lists(st.integers(0, len(values) - 1), max_size=8)) if values else []
    some = strings.take(np.array(which, np.int64))
    expected = [values[k] for k in which]
    assert some.decode() == expected
    compact = some.compact()
    assert compact.decode() == expected
    assert len(compact.letters) == sum(len(v.encode("utf-8", "surrogatepass")) + 1 for v in expected) + PADDING
    assert join([compact, strings, compact]).decode() == expected + values + expected


def test_an_absent_string_is_empty() -> None:
    strings = Strings.of(SOME, len(SOME))
    ends = strings.ends.copy()
    ends[3] = strings.begins[3] - 1
    assert strings._replace(ends=ends).decode() == [*SOME[:3], "", *SOME[4:]]


class Changing(list[str]):
    """A list that another thread changes while it is read."""

    def __iter__(self) -> Iterator[str]:
        values = list(super().__iter__())
        self[:] = ["long" * 1000 for _ in values]
        return iter(values)


def test_lists_that_change_while_they_are_read() -> None:
    """A word with a separator makes them be read twice."""
    strings = Strings.of_lists([Changing(["a\0b", "c"])], 2)
    assert strings.ends.max() <= len(strings.letters) - PADDING
    assert len(strings.decode()) == 2
