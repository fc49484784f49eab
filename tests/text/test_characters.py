"""Classes of characters, and the flags that follow from them."""

from __future__ import annotations

import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tagwright.text.characters import (
    CLASSES,
    FIRST_POINT,
    SHAPES,
    TESTS,
    class_of,
    classes_of,
    flag_grid,
    shape_of,
)

pytestmark = pytest.mark.bounds


def test_every_code_point_has_a_class() -> None:
    """0 means that a code point was not met yet."""
    assert all(class_of(chr(point)) for point in range(0x110000))


@given(st.text(max_size=8))
def test_every_bit_of_the_grid_is_its_test(word: str) -> None:
    first, rest = classes_of(word)
    bits = int(flag_grid()[first, rest])
    assert [bool(bits >> b & 1) for b in range(len(TESTS))] == [bool(test(first, rest)) for test in TESTS]


@given(st.characters(exclude_categories=["Lm", "Nl", "So", "Cs"], exclude_characters="ªº"))
def test_shapes_follow_from_the_category(character: str) -> None:
    """But for letters whose case is not in their category (ª, Ⓐ, ʰ)."""
    letters = {"Lu": "X", "Lt": "X", "Ll": "x", "Nd": "d", "Lo": "o", "Mn": "", "Mc": "", "Me": ""}
    assert shape_of(character) == letters.get(unicodedata.category(character), character)


@given(st.text(max_size=8))
def test_tables_know_what_they_have_met(text: str) -> None:
    points = np.array([ord(character) for character in text], np.uint32)
    CLASSES.meet(points)
    SHAPES.meet(points)
    for character in text:
        assert CLASSES.numbers[ord(character)] == class_of(character)
        letter, shape = int(SHAPES.numbers[ord(character)]), shape_of(character)
        assert letter == (ord(shape) + FIRST_POINT if shape else 1)
