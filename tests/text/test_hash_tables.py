"""Tables of strings against a dictionary; keys of numbers against their list."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tagwright.text import hash_tables as module
from tagwright.text.hash_tables import (
    EMPTY,
    LONG,
    SHORT,
    UNKNOWN,
    KeyTable,
    StringTable,
    StringTables,
    first_slot,
    number_strings,
    same_letters,
    slots_for,
    string_key,
)
from tagwright.text.strings import Strings

pytestmark = pytest.mark.bounds

# Clashes, NULs (which look like padding), surrogates, characters of one to four bytes; up to and beyond seven bytes.
STRINGS = st.lists(st.text(st.sampled_from("ab\0\nÉ東\ud800\U0001f600"), max_size=12), max_size=40)


def of(values: list[str]) -> Strings:
    return Strings.of(values, len(values))


def find(tables: StringTables, strings: Strings, c: int = 0, first: int = 0) -> np.ndarray:
    found, unknown = np.empty(strings.n, np.int32), np.empty(strings.n, np.int64)
    n = module.find_strings(strings, tables.plain, c, first, unknown, found)
    np.testing.assert_array_equal(unknown[:n], np.flatnonzero(found == UNKNOWN))
    return found


def table_of(values: list[str]) -> StringTables:
    return StringTables.build([StringTable.build(of(values))])


@settings(deadline=None)  # kernels compile in the first
@given(STRINGS, STRINGS)
def test_find_equals_a_dictionary(keys: list[str], asked: list[str]) -> None:
    distinct = list(dict.fromkeys(keys))
    numbers = {key: number for number, key in enumerate(distinct)}
    asked = asked + keys[::2]
    found = find(table_of(distinct), of(asked))
    assert found.tolist() == [numbers.get(value, UNKNOWN) for value in asked]
    later = find(table_of(distinct), of(asked), first=7)
    np.testing.assert_array_equal(later, np.where(found == UNKNOWN, UNKNOWN, found + 7))


@settings(deadline=None)
@example(["", "\0", "\0\0", "a", "a\0"])
@given(STRINGS)
def test_numbers_are_those_of_first_appearance(values: list[str]) -> None:
    index: dict[str, int] = {}
    expected = [index.setdefault(value, len(index)) for value in values]
    found, first = number_strings(of(values))
    assert found.tolist() == expected
    assert first.tolist() == [values.index(value) for value in index]


def test_many_strings_are_numbered_while_the_table_grows() -> None:
    values = [f"word number {k % 7000}" if k % 3 else f"w{k % 5000}" for k in range(20_000)]
    index: dict[str, int] = {}
    expected = [index.setdefault(value, len(index)) for value in values]
    assert len(index) > 4 * module.SOME
    found, first = number_strings(of(values))
    assert found.tolist() == expected
    assert [values[k] for k in first] == list(index)


def test_an_absent_string_has_no_number() -> None:
    strings = of(["a", "b", "a", "longer than seven"])
    ends = strings.ends.copy()
    ends[[0, 3]] = strings.begins[[0, 3]] - 1
    absent = strings._replace(ends=ends)
    assert number_strings(absent)[0].tolist() == [UNKNOWN, 0, 1, UNKNOWN]
    assert find(table_of(["a", ""]), absent).tolist() == [UNKNOWN, UNKNOWN, 0, UNKNOWN]


def test_many_strings_and_a_long_one() -> None:
    values = [f"w{k}" for k in range(5000)] + ["x" * 1_000_000]
    table = table_of(values)
    np.testing.assert_array_equal(find(table, of(values[::-1])), np.arange(5001)[::-1])
    assert find(table, of(["x" * 999_999, "w5000", ""])).tolist() == [UNKNOWN] * 3


def test_strings_with_the_same_key_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Long strings whose hashes are made equal, in plain Python: they are compared letter by letter."""
    for name in (
        "find_strings",
        "insert_strings",
        "number_next",
        "number_string",
        "find_number",
        "is_string",
        "same_letters",
    ):
        monkeypatch.setattr(module, name, getattr(getattr(module, name), "py_func", getattr(module, name)))
    monkeypatch.setattr(module, "prefetch", lambda *_: None)
    monkeypatch.setattr(module, "first_slot", getattr(first_slot, "py_func", first_slot))
    monkeypatch.setattr(module, "load_bytes", lambda a, p, n: int.from_bytes(a[p : p + n].tobytes(), "little"))
    monkeypatch.setattr(module, "string_key", lambda letters, begin, end: LONG if end >= begin else EMPTY)
    values = ["abcdefghi", "abcdefghj", "bbcdefghi", "abcdefg", "abcdefghij"]
    assert number_strings(of([*values, *values[::-1]]))[0].tolist() == [0, 1, 2, 3, 4, 4, 3, 2, 1, 0]
    assert find(table_of(values), of([*values[::-1], "abcdefgh", ""])).tolist() == [4, 3, 2, 1, 0, UNKNOWN, UNKNOWN]


def test_letters_are_compared_to_the_last() -> None:
    for n in (1, 6, 7, 8, 13, 14, 15, 29):
        letters = of(["x" * n, "x" * n]).letters
        assert same_letters(letters, 0, letters, n + 1, n)
        for k in range(n):
            other = of(["?" + "x" * k + "y" + "x" * (n - k - 1)]).letters
            assert not same_letters(letters, 0, other, 1, n)


@settings(deadline=None)
@given(STRINGS)
def test_short_keys_are_distinct_and_told_from_the_long(values: list[str]) -> None:
    strings = of(values)
    keys = [string_key(strings.letters, *bounds) for bounds in zip(strings.begins, strings.ends, strict=True)]
    short = {}
    for value, key in zip(values, keys, strict=True):
        size = len(value.encode("utf-8", "surrogatepass"))
        assert key >= 0
        assert (key < LONG) == (size <= SHORT)
        if size <= SHORT:
            short[value] = key
    assert len(set(short.values())) == len(short)
    assert string_key(strings.letters, 0, -1) == EMPTY


def key_of(value: str) -> int:
    strings = of([value])
    return int(string_key(strings.letters, 0, strings.ends[0]))


def test_several_tables_in_the_same_arrays() -> None:
    parts = [["b", "a", "b\nb", "東京", "longer", "an even longer one"], [], [""], [f"w{k * 7}" for k in range(999)]]
    together = StringTables.build([StringTable.build(of(part)) for part in parts])
    assert together.empty.tolist() == [UNKNOWN, UNKNOWN, 0, UNKNOWN]
    for k, values in enumerate(parts):
        assert together.strings.take(np.arange(together.firsts[k], together.firsts[k + 1])).decode() == values
        assert find(together, of(values), k).tolist() == list(range(len(values)))
        assert find(together, of(["w1", "an even longer onf"]), k).tolist() == [UNKNOWN] * 2
    assert StringTables.build([]).strings.n == 0


def test_keys_that_differ_in_one_letter_begin_at_different_slots() -> None:
    """Whichever letter it is: a hash that leaves one out would make a look-up long."""
    slots = slots_for(1000)
    for n in range(1, SHORT + 9):
        for k in range(n):
            words = ["a" * k + letter + "a" * (n - k - 1) for letter in "abcdefghijklmnopqrstuvwxyz"]
            assert len({first_slot(key_of(word), len(slots)) for word in words}) >= 20
    codes = np.arange(20_000 * 300, 20_000 * 300 + 500)  # one word with many others
    assert len({first_slot(int(key), len(slots)) for key in codes}) >= 300


def test_key_table_finds_every_key_and_no_other() -> None:
    rng = np.random.default_rng(0)
    keys = np.unique(np.concatenate([rng.integers(0, 2**62, 5000), [0, 2**63 - 1]]))
    table = KeyTable(keys)
    np.testing.assert_array_equal(table.find(keys), np.arange(len(keys)))
    others = np.setdiff1d(rng.integers(0, 2**62, 5000), keys)
    assert (table.find(others) == -1).all()
    assert (table.find(np.array([-1, -5])) == -1).all()
    assert KeyTable(keys[:0]).find(keys[:3]).tolist() == [-1, -1, -1]
