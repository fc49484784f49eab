"""Strings numbered as they come, against a dictionary; lower case against Python's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tagwright.attributes.templates import resolve
from tagwright.encode import visitors as module
from tagwright.encode.encoder import Encoder
from tagwright.encode.flat_text import FlatText
from tagwright.encode.forms import ColumnForms
from tagwright.encode.spelled import Spelled
from tagwright.encode.visitors import Visitors

STRINGS = st.lists(st.text(st.sampled_from("ab\nÉ東\ud800\U0001f600"), max_size=5), max_size=12)


def find(visitors: Visitors, strings: list[str], which: list[int]) -> tuple[list[int], list[int]]:
    """Numbers, −9 where nobody asked, and those that are new."""
    found = np.full(len(strings), -9, np.int32)
    new = visitors.find(Spelled.build(strings), np.array(which, np.int64), found)
    return found.tolist(), new.tolist()


@settings(deadline=None)  # kernels compile in the first
@given(st.lists(st.tuples(STRINGS, st.integers(0, 2**12)), max_size=6), st.booleans())
def test_numbers_equal_those_of_a_dictionary(batches: list[tuple[list[str], int]], narrow: bool) -> None:
    with pytest.MonkeyPatch.context() as patch:
        if narrow:
            patch.setattr(module, "SOME_VISITORS", 1)
        visitors = Visitors(7)
    numbers: dict[str, int] = {}
    for strings, bits in batches:
        which = [k for k in range(len(strings)) if bits >> k & 1]
        found, new = find(visitors, strings, which)
        expected_new = [
            k for k in which if strings[k] not in numbers and strings[k] not in strings_at(strings, which, k)
        ]
        for k in which:
            numbers.setdefault(strings[k], 7 + len(numbers))
        assert found == [numbers[string] if k in which else -9 for k, string in enumerate(strings)]
        assert new == expected_new
        assert len(visitors) == len(numbers)
    assert visitors.strings() == list(numbers)
    assert visitors.strings(2) == list(numbers)[2:]


def strings_at(strings: list[str], which: list[int], before: int) -> set[str]:
    """The strings asked for before this one."""
    return {strings[k] for k in which if k < before}


def test_thousands_come() -> None:
    visitors = Visitors(0)
    values = [f"w{k}" for k in range(3 * module.SOME_VISITORS)] + ["x" * 100_000]
    found, new = find(visitors, values + values[:9], list(range(len(values) + 9)))
    assert found == [*range(len(values)), *range(9)]
    assert len(new) == len(visitors) == len(values)
    assert find(visitors, values, list(range(len(values)))) == (list(range(len(values))), [])
    assert visitors.strings() == values


def test_nothing_is_written_beyond_the_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every array lies in a larger one, of which the rest must stay as it was."""
    guards: list[np.ndarray] = []

    def guarded(array: np.ndarray, n: int, spare: int) -> np.ndarray:
        larger = np.full(max(n, len(array)) + 50, 77, array.dtype)
        larger[: len(array)] = array
        guards.append(larger[-50:])
        return larger[:-50]

    monkeypatch.setattr(module, "SOME_VISITORS", 1)
    monkeypatch.setattr(module, "grown", guarded)
    visitors = Visitors(3)
    for strings in (["a", "bcd", "a"], ["", "e" * 40], [f"{k}" for k in range(300)]):
        find(visitors, strings, list(range(len(strings))))
    assert len(guards) == 6
    assert all((guard == 77).all() for guard in guards)


@settings(deadline=None)
@example(["ΑΣ ΣΑ Σ", "İi", "Ab", ""])
@example(["AB"])
@example(["ΑΣ", "ab"])
@given(st.lists(st.text(st.sampled_from("aAbÉΣİ\n東Ǆ\ud800\U00010400") | st.characters(), max_size=6), max_size=8))
def test_lower_case_is_that_of_python(values: list[str]) -> None:
    for some in (values, values[1::2]):
        points, begins, ends = Spelled.build(values).lower(np.flatnonzero([v in some for v in values]))
        cut = [points[b:e].tobytes().decode("utf-32-le", "surrogatepass") for b, e in zip(begins, ends, strict=True)]
        assert cut == [value.lower() for value in values if value in some]


def test_nobody_stays_without_codes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C while the codes of new words are made: the same words are new again afterwards."""
    encoder = Encoder(resolve("word suffix(1..2) @ 0", 1))
    encoder.learn(FlatText.build([["a", "walking", "dog"]]))
    (column,) = encoder.columns
    text = FlatText.build([["a", "talking", "hog", "talking"]])

    def interrupt(self: ColumnForms, values: Spelled, which: np.ndarray) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(ColumnForms, "_receive", interrupt)
        with pytest.raises(KeyboardInterrupt):
            encoder.encode(text)
    assert len(column.visitors) == 0
    assert column.season == 1  # who has rows for visitors knows that they are gone
    forms = encoder.encode(text).forms[0]
    assert column.season == 1
    suffix = column.terms.index(next(term for term in column.terms if term.argument == 2))
    known = column.vocabularies[suffix].values
    assert [known[code] for code in column.codes[forms[1:], suffix]] == ["ng", "og", "ng"]
