"""The table of strings against a dictionary, classes against those of single words."""

from __future__ import annotations

import copy

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tagwright._registers import LANES
from tagwright.attributes.characters import classes_of
from tagwright.encode.key_table import find_key, first_slot, slots_for
from tagwright.encode.short_strings import ABSENT, NOT_SHORT, SHORT, affix_keys, short_key, short_keys
from tagwright.encode.spelled import Spelled
from tagwright.encode.string_table import HEAD, UNKNOWN, StringTable, StringTables, is_record

# Surrogates, letters that do not fit into short keys and clashes of short strings are all likely.
STRINGS = st.lists(st.text(st.sampled_from("ab\0\nÉ\u0fff\u1000東\ud800\U0001f600"), max_size=6), max_size=40)


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


def test_a_copy_may_be_read_eight_letters_at_a_time() -> None:
    """What a vector may read behind the last string belongs to the array, and so to its copies."""
    table, tables = StringTable.build(["x" * 9]), StringTables.build([["x" * 9], ["y" * 9]])
    for records, used in ((table.records, HEAD + 9), (tables.records, 2 * (HEAD + 9))):
        assert len(copy.deepcopy(records)) >= used + LANES
    assert find(copy.deepcopy(table), ["x" * 9, "y"]).tolist() == [0, UNKNOWN]


def test_a_record_is_compared_to_its_last_letter() -> None:
    for n in (1, 7, 8, 9, 16, 20):
        table = StringTable.build(["x" * n])
        for k in range(n):
            other = Spelled.build(["x" * k + "y" + "x" * (n - k - 1)])
            assert not is_record(table.records, 0, other.points, 0, n)
        assert is_record(table.records, 0, Spelled.build(["x" * n]).points, 0, n)


def test_several_tables_in_the_same_arrays() -> None:
    """Long strings in a table of strings, short ones in a table of keys; their numbers are theirs together."""
    tables = [["b", "a", "b\nb", "東京", "longer", "an even longer one"], [], [""], [f"w{k * 7}" for k in range(9999)]]
    together = StringTables.build(tables)
    for k, values in enumerate(tables):
        (r, s, f), (r_end, s_end, f_end) = together.bounds[k : k + 2]
        longer = find(StringTable(together.records[r:r_end], together.slots[s:s_end]), values)
        shorts = np.array([find_key(key_of(value), together.shorts, f, f_end) for value in values], np.int64)
        is_short = np.array([len(value) <= SHORT and value != "東京" for value in values], np.bool_)
        np.testing.assert_array_equal(np.where(is_short, shorts, longer), np.arange(len(values)))
        np.testing.assert_array_equal(np.where(is_short, longer, shorts), UNKNOWN)


def key_of(value: str) -> int:
    spelled = Spelled.build([value])
    return short_key(spelled.points, 0, len(value))


@settings(deadline=None)  # kernels compile in the first
@given(STRINGS)
def test_short_keys_are_distinct_and_told_from_the_long(values: list[str]) -> None:
    strings, keys = Spelled.build(values), np.empty(len(values), np.int64)
    short_keys(strings.points, strings.begins, strings.ends, keys)
    for value, key in zip(values, keys.tolist(), strict=True):
        assert (key >= 0) == (len(value) <= SHORT and all(ord(c) < 4096 for c in value))
        assert key >= 0 or key == NOT_SHORT
    short = {value: key for value, key in zip(values, keys.tolist(), strict=True) if key >= 0}
    assert len(set(short.values())) == len(short)
    assert short_key(strings.points, 3, 2) == ABSENT


@settings(deadline=None)  # kernels compile in the first
@given(st.text(st.sampled_from("ab\0É東\u0fff\u1000\U0001f600"), max_size=8))
def test_affix_keys_are_those_of_the_affixes(word: str) -> None:
    strings, affixes = Spelled.build([word]), np.full((2, SHORT + 1), -9, np.int64)
    affix_keys(strings.points, 0, len(word), affixes[0], affixes[1])
    for n in range(1, SHORT + 1):
        there = n <= len(word)
        assert affixes[0, n] == (key_of(word[:n]) if there else ABSENT)
        assert affixes[1, n] == (key_of(word[-n:]) if there else ABSENT)


def test_keys_that_differ_in_one_letter_begin_at_different_slots() -> None:
    """Whichever letter it is: a hash that leaves one out would make a look-up long."""
    slots = slots_for(1000)
    for n in range(1, SHORT + 1):
        for place in range(n):
            words = ["a" * place + letter + "a" * (n - place - 1) for letter in "abcdefghijklmnopqrstuvwxyz"]
            assert len({first_slot(key_of(word), len(slots)) for word in words}) >= 20
    codes = np.arange(20_000 * 300, 20_000 * 300 + 500)  # one word with many others
    assert len({first_slot(int(key), len(slots)) for key in codes}) >= 300
