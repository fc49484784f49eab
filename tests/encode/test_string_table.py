"""The table of strings against a dictionary, classes against those of single words."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tagwright.attributes.characters import classes_of
from tagwright.encode.spelled import Spelled
from tagwright.encode.string_table import UNKNOWN, StringTable, StringTables

# Surrogates, the separator and clashes of short strings are all likely.
STRINGS = st.lists(st.text(st.sampled_from("ab\nÉ東\ud800\U0001f600"), max_size=6), max_size=40)


def find(table: StringTable, strings: list[str]) -> np.ndarray:
    found = np.empty(len(strings), np.int32)
    unknown = table.find(Spelled.build(strings), found)
    np.testing.assert_array_equal(unknown, np.flatnonzero(found == UNKNOWN))
    return found


@settings(deadline=None)  # kernels compile in the first
@given(STRINGS, STRINGS)
def test_find_equals_a_dictionary(keys: list[str], asked: list[str]) -> None:
    distinct = list(dict.fromkeys(keys))
    numbers = {key: number for number, key in enumerate(distinct)}
    found = find(StringTable.build(distinct), asked)
    assert found.tolist() == [numbers.get(value, UNKNOWN) for value in asked]
    later = find(StringTable.build(distinct, 7), asked)
    np.testing.assert_array_equal(later, np.where(found == UNKNOWN, UNKNOWN, found + 7))


@settings(deadline=None)  # kernels compile in the first
@given(st.lists(st.text(max_size=8), max_size=20))
def test_character_classes_equal_those_of_single_words(values: list[str]) -> None:
    first, rest = Spelled.build(values).character_classes()
    assert list(zip(first.tolist(), rest.tolist(), strict=True)) == [classes_of(value) for value in values]


def test_many_strings_and_a_long_one() -> None:
    values = [f"w{k}" for k in range(5000)] + ["x" * 1_000_000]
    table = StringTable.build(values)
    np.testing.assert_array_equal(find(table, values[::-1]), np.arange(5001)[::-1])
    assert find(table, ["x" * 999_999, "w5000", ""]).tolist() == [UNKNOWN] * 3


def test_several_tables_in_the_same_arrays() -> None:
    tables = [["b", "a", "b\nb"], [], [""], [f"w{k}" for k in range(70)]]
    together = StringTables.build(tables)
    for k, values in enumerate(tables):
        (r, s), (r_end, s_end) = together.bounds[k : k + 2]
        table = StringTable(together.records[r:r_end], together.slots[s:s_end])
        assert find(table, [*values, "none"]).tolist() == [*range(len(values)), UNKNOWN]
