"""The table of strings against a dictionary, affixes against slices, classes against those of single words."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tagwright.attributes.characters import classes_of
from tagwright.attributes.words import LONGSHAPE_LENGTH, SHAPE_LENGTH, longshape, shape
from tagwright.encode.spelled import Spelled
from tagwright.encode.string_table import UNKNOWN, StringTable

# Surrogates, the separator and clashes of short strings are all likely.
STRINGS = st.lists(st.text(st.sampled_from("ab\nÉ東\ud800\U0001f600"), max_size=6), max_size=40)


@settings(deadline=None)  # kernels compile in the first
@given(STRINGS, STRINGS)
def test_find_equals_a_dictionary(keys: list[str], asked: list[str]) -> None:
    distinct = list(dict.fromkeys(keys))
    numbers = {key: number for number, key in enumerate(distinct)}
    found = StringTable.build(distinct).find(Spelled.build(asked))
    assert found.tolist() == [numbers.get(value, UNKNOWN) for value in asked]


@settings(deadline=None)  # kernels compile in the first
@given(STRINGS, st.integers(1, 4))
def test_affixes_equal_slices(values: list[str], n: int) -> None:
    spelled = Spelled.build(values)
    for parts, cut in ((spelled.prefixes(n), lambda s: s[:n]), (spelled.suffixes(n), lambda s: s[-n:])):
        known = sorted({cut(value) for value in values if len(value) >= n})
        numbers = {key: number for number, key in enumerate(known)}
        expected = [numbers[cut(value)] if len(value) >= n else UNKNOWN for value in values]
        assert StringTable.build(known).find(parts).tolist() == expected


@settings(deadline=None)  # kernels compile in the first
@given(STRINGS)
def test_a_short_string_has_no_affix_even_where_the_empty_one_is_known(values: list[str]) -> None:
    found = StringTable.build([""]).find(Spelled.build(values).suffixes(7))
    assert (found == UNKNOWN).all()


@settings(deadline=None)  # kernels compile in the first
@given(st.lists(st.text(max_size=8), max_size=20))
def test_character_classes_equal_those_of_single_words(values: list[str]) -> None:
    first, rest = Spelled.build(values).character_classes()
    assert list(zip(first.tolist(), rest.tolist(), strict=True)) == [classes_of(value) for value in values]


def test_many_strings_and_a_long_one() -> None:
    values = [f"w{k}" for k in range(5000)] + ["x" * 1_000_000]
    table = StringTable.build(values)
    np.testing.assert_array_equal(table.find(Spelled.build(values[::-1])), np.arange(5001)[::-1])
    assert table.find(Spelled.build(["x" * 999_999, "w5000", ""])).tolist() == [UNKNOWN] * 3


@settings(deadline=None)  # kernels compile in the first
@given(st.lists(st.text(max_size=80), max_size=20))
def test_shapes_equal_those_of_single_words(values: list[str]) -> None:
    spelled = Spelled.build(values)
    for shapes, function in (
        (spelled.shapes(SHAPE_LENGTH, collapse=True), shape),
        (spelled.shapes(LONGSHAPE_LENGTH, collapse=False), longshape),
    ):
        found = ["".join(map(chr, shapes.points[a:b])) for a, b in zip(shapes.begins, shapes.ends, strict=True)]
        assert found == list(map(function, values))
