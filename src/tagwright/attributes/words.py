"""Spelling functions: what one string says about itself.

Stands first in the flow: templates name these functions, the encoder runs them once per distinct word. Each takes one
string and returns its value, or None where the attribute is absent. A flag returns "" where it holds, so that its
name alone identifies it. `FUNCTIONS` is the list of what a template may name.

Flags follow from the classes of a word's characters (characters.py), affixes are parts of its code points, and shapes
are classes in order; the encoder works these out for many words at once (encode/new_words.py). The other functions also
run on every unknown word while tagging, so they are short: 0.1 to 0.4 µs each.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache
from itertools import groupby
from typing import NamedTuple

import numpy as np

from tagwright.attributes import characters
from tagwright.attributes.characters import FIRST_POINT, PointTable, Test, classes_of
from tagwright.attributes.clusters import need_clusters

WordFunction = Callable[[str], str | None]

LONGEST_AFFIX = 32
LONGSHAPE_LENGTH = 12
SHAPE_LENGTH = 64  # a longer word is no word; this also bounds the memory of `_collapse`

_find_digit = re.compile(r"\d").search
_replace_digits = re.compile(r"\d").sub


# Verbatim and affixes


def word(text: str) -> str:
    return text


def lower(text: str) -> str:
    return text.lower()


def make_prefix(n: int) -> WordFunction:
    def prefix(text: str) -> str | None:
        return text[:n] if len(text) >= n else None

    return prefix


def make_suffix(n: int) -> WordFunction:
    start = -n

    def suffix(text: str) -> str | None:
        return text[start:] if len(text) >= n else None

    return suffix


def make_lower_prefix(n: int) -> WordFunction:
    def lower_prefix(text: str) -> str | None:
        text = text.lower()
        return text[:n] if len(text) >= n else None

    return lower_prefix


def make_lower_suffix(n: int) -> WordFunction:
    start = -n

    def lower_suffix(text: str) -> str | None:
        text = text.lower()
        return text[start:] if len(text) >= n else None

    return lower_suffix


# Shapes


class _Classes(dict[int, str]):
    """code point → class letter, for `str.translate`; filled as characters are met."""

    def __missing__(self, code: int) -> str:
        self[code] = value = _class_of(chr(code))
        return value


def _class_of(character: str) -> str:
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


_ASCII_CLASSES = "".join([_class_of(chr(code)) for code in range(128)]).encode().ljust(256)
_CLASSES = _Classes()


def _classes(text: str) -> str:
    if text.isascii():  # bytes.translate is the faster one
        return text.encode().translate(_ASCII_CLASSES).decode()
    return text.translate(_CLASSES)


def letter_of(character: str) -> int:
    """Its class letter, FIRST_POINT up; 1 for nothing."""
    letter = _class_of(character)
    return ord(letter) + FIRST_POINT if letter else 1


LETTERS = PointTable(np.uint32, letter_of)


@lru_cache(maxsize=8192)  # distinct shapes are few: nearly every call is a hit
def _collapse(classes: str) -> str:
    return "".join([character for character, _ in groupby(classes)])


def shape(text: str) -> str:
    return _collapse(_classes(text[:SHAPE_LENGTH]))


def longshape(text: str) -> str:
    return _classes(text[:LONGSHAPE_LENGTH])


def digits(text: str) -> str | None:
    return _replace_digits("0", text) if _find_digit(text) else None


def first_type(text: str) -> str | None:
    first = text[:1]
    if first.islower():
        return "lower"
    if first.istitle():
        return "upper"
    if first.isdecimal():
        return "digit"
    return "other" if first else None


_LENGTHS = ("0", "1", "2", "3", "4", "5", *["6-7"] * 2, *["8-10"] * 3, *["11-14"] * 4)


def length(text: str) -> str:
    n = len(text)
    return _LENGTHS[n] if n < 15 else "15+"


# Flags


def make_flag(test: Test) -> WordFunction:
    """ "" where the test of the word's character classes holds."""

    def flag(text: str) -> str | None:
        return "" if test(*classes_of(text)) else None

    return flag


def bias(text: str) -> str:
    return ""


def edge(text: str) -> None:
    return None


class Function(NamedTuple):
    """A function that templates may name.

    make: called with the integer arguments (`n_arguments` of them), gives the function of a string
    doc: one line for the user
    flag: the value is always "", so names of attributes leave it out
    test: of a flag that follows from the word's character classes
    """

    make: Callable[..., WordFunction]
    doc: str
    n_arguments: int = 0
    flag: bool = False
    test: Test | None = None


def _plain(function: WordFunction, doc: str, *, flag: bool = False) -> Function:
    return Function(lambda: function, doc, 0, flag)


def _flag(test: Test, doc: str) -> Function:
    return Function(lambda: make_flag(test), doc, 0, True, test)


FUNCTIONS: dict[str, Function] = {
    "word": _plain(word, "the string itself"),
    "lower": _plain(lower, "the string in lower case"),
    "prefix": Function(make_prefix, "the first n characters; absent in a shorter word", 1),
    "suffix": Function(make_suffix, "the last n characters; absent in a shorter word", 1),
    "lprefix": Function(make_lower_prefix, "the first n characters of the lower-cased word", 1),
    "lsuffix": Function(make_lower_suffix, "the last n characters of the lower-cased word", 1),
    "shape": _plain(shape, "letter classes, runs collapsed: McDonald-1998 is XxXx-d"),
    "longshape": _plain(longshape, f"letter classes of the first {LONGSHAPE_LENGTH} characters: Mc-98 is Xx-dd"),
    "digits": _plain(digits, "the word with every digit as 0: 3.14 is 0.00; absent without a digit"),
    "first_type": _plain(first_type, "the first character: lower, upper, digit or other"),
    "length": _plain(length, "the length: 0 to 5, 6-7, 8-10, 11-14, 15+"),
    "capitalised": _flag(characters.capitalised, "the first character is a capital"),
    "all_capitals": _flag(characters.all_capitals, "every letter is a capital (USA, U.S., B-52, I)"),
    "has_capital": _flag(characters.has_capital, "there is a capital"),
    "mixed_case": _flag(characters.mixed_case, "a capital after the first character, and not all capitals (iPhone)"),
    "has_digit": _flag(characters.has_digit, "there is a digit"),
    "all_digits": _flag(characters.all_digits, "all characters are digits"),
    "has_hyphen": _flag(characters.has_hyphen, "there is a hyphen"),
    "has_dot": _flag(characters.has_dot, "there is a dot"),
    "capital_dot": _flag(characters.capital_dot, "the first character is a capital and there is a dot (Mr., U.S.)"),
    "punctuation": _flag(characters.punctuation, "no letter and no digit"),
    "cluster": Function(need_clusters, "the first n bits of the word's cluster; absent without one", 1),
    "bias": _plain(bias, "always there, beyond the sentence too", flag=True),
    "edge": _plain(edge, "there only beyond the sentence: `edge @ -1` means first in the sentence"),
}
