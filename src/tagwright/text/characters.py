"""What is known of characters: classes, shapes, lower case; and the flags of a word that follow from the classes.

A character's class is a set of bits. A word has two of them: that of its first character, and the union over the rest.
Every flag is a test of these two, which works on numbers (one word) and on arrays (all there are: flag_grid) alike.

A capital is an upper- or title-case letter; a digit is a decimal digit of any script.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tagwright.arrays import Plain

UPPER, TITLE, LOWER, DIGIT, NO_DIGIT, ALPHANUMERIC, HYPHEN, DOT = (1 << bit for bit in range(8))
CAPITAL = UPPER | TITLE
HYPHENS = "-\u058a\u2010\u2011\ufe63\uff0d"  # ASCII, Armenian, hyphen, no-break, small, wide

Classes = NDArray[np.uint8]
Test = Callable[[Any, Any], Any]
"""(class of the first character, union of the classes of the rest) ─► whether the flag holds."""


@lru_cache(maxsize=1 << 12)
def class_of(character: str) -> int:
    """All that is true of one character."""
    return (
        UPPER * character.isupper()
        | TITLE * (character.istitle() and not character.isupper())
        | LOWER * character.islower()
        | (DIGIT if character.isdecimal() else NO_DIGIT)
        | ALPHANUMERIC * character.isalnum()
        | HYPHEN * (character in HYPHENS)
        | DOT * (character == ".")
    )


def classes_of(text: str) -> tuple[int, int]:
    """The class of the first character and the union over the rest; 0 where there is none."""
    rest = 0
    for character in set(text[1:]):
        rest |= class_of(character)
    return class_of(text[0]) if text else 0, rest


class CodePointTable:
    """A number for every code point, for kernels: a cache of a pure function, filled as code points are met, ASCII
    before. 0: not met yet. Threads that fill the same entry write the same number."""

    def __init__(self, dtype: type[np.unsignedinteger[Any]], number_of: Callable[[str], int]) -> None:
        self.numbers: NDArray[Any] = np.zeros(0x110000, dtype)
        self._number_of = number_of
        self.meet(np.arange(128, dtype=np.uint32))

    def meet(self, points: NDArray[np.uint32]) -> NDArray[Any]:
        """The table, with all these code points in it."""
        for point in np.unique(points[self.numbers[points] == 0]).tolist():
            self.numbers[point] = self._number_of(chr(point))
        return self.numbers


FIRST_POINT = 2
"""What is added to a code point that a CodePointTable gives: 0 is for not met yet, 1 for nothing."""
CLASSES = CodePointTable(np.uint8, class_of)


def shape_of(character: str) -> str:
    """X capital, x lower case, d digit, o letter without case (東, ع), nothing for accents, others themselves."""
    if character.istitle():  # one character: upper or title case
        return "X"
    if character.islower():
        return "x"
    if character.isdecimal():
        return "d"
    if character.isalpha():
        return "o"
    return "" if unicodedata.category(character).startswith("M") else character


def shape_number(character: str) -> int:
    """The code point of its shape, FIRST_POINT up; 1 for nothing."""
    shape = shape_of(character)
    return ord(shape) + FIRST_POINT if shape else 1


SHAPES = CodePointTable(np.uint32, shape_number)


POINT_BITS, CASED, CASE_IGNORABLE = (1 << 24) - 1, 1 << 24, 1 << 25
CAPITAL_SIGMA, FINAL_SIGMA = 0x3A3, 0x3C2
"""Its lower case depends on the letters around it: ς at the end of a word, else σ."""
DOTTED_CAPITAL_I = 0x130
"""The one character whose lower case is two: i and a dot above."""


def lower_number(character: str) -> int:
    """The code point of its lower case, FIRST_POINT up, and two bits that decide about a sigma beside it (Unicode's
    Final_Sigma): whether it is a letter with case, and whether it is passed over. Python tells them by what it makes of
    such a sigma."""
    cased = f"{character}Σ".lower().endswith("ς")
    ignorable = not cased and f"A{character}Σ".lower().endswith("ς")
    return (ord(character.lower()[0]) + FIRST_POINT) | CASED * cased | CASE_IGNORABLE * ignorable


LOWERS = CodePointTable(np.uint32, lower_number)


def meet_characters(letters: NDArray[np.uint8]) -> None:
    """Put all characters of some text in UTF-8 into the tables."""
    text = letters.tobytes().decode("utf-8", "surrogatepass")
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    for table in (CLASSES, SHAPES, LOWERS):
        table.meet(points)


def capitalised(first: Any, rest: Any) -> Any:
    return first & CAPITAL != 0


def all_capitals(first: Any, rest: Any) -> Any:
    return ((first | rest) & UPPER != 0) & ((first | rest) & (TITLE | LOWER) == 0)


def has_capital(first: Any, rest: Any) -> Any:
    return (first | rest) & CAPITAL != 0


def mixed_case(first: Any, rest: Any) -> Any:
    return (rest & CAPITAL != 0) & (all_capitals(first, rest) == 0)


def has_digit(first: Any, rest: Any) -> Any:
    return (first | rest) & DIGIT != 0


def all_digits(first: Any, rest: Any) -> Any:
    return ((first | rest) & DIGIT != 0) & ((first | rest) & NO_DIGIT == 0)


def has_hyphen(first: Any, rest: Any) -> Any:
    return (first | rest) & HYPHEN != 0


def has_dot(first: Any, rest: Any) -> Any:
    return (first | rest) & DOT != 0


def capital_dot(first: Any, rest: Any) -> Any:
    return (first & CAPITAL != 0) & ((first | rest) & DOT != 0)


def punctuation(first: Any, rest: Any) -> Any:
    return (first != 0) & ((first | rest) & ALPHANUMERIC == 0)


TESTS = (
    capitalised, all_capitals, has_capital, mixed_case, has_digit, all_digits, has_hyphen, has_dot, capital_dot,
    punctuation,
)  # fmt: skip


def flag_grid() -> NDArray[np.uint16]:
    """All flags at once, for kernels: bit b of grid[first, rest] says whether TESTS[b] holds."""
    first, rest = np.arange(256, dtype=np.uint8)[:, None], np.arange(256, dtype=np.uint8)
    grid = np.zeros((256, 256), np.uint16)
    for bit, test in enumerate(TESTS):
        grid |= np.left_shift(test(first, rest), bit, dtype=np.uint16)
    return grid


class CharacterTables(NamedTuple):
    """All of this, for kernels."""

    classes: Classes
    shapes: NDArray[np.uint32]
    lowers: NDArray[np.uint32]
    flags: NDArray[np.uint16]


CHARACTERS: Plain = CLASSES.numbers, SHAPES.numbers, LOWERS.numbers, flag_grid()
"""CharacterTables, plain. They are filled as characters are met: a kernel that comes to a new one stops, and is called
again after meet_characters."""
