"""Every spelling function on concrete words, and the shapes against their definition on any text."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tagwright.attributes.characters import class_of
from tagwright.attributes.words import FUNCTIONS, LONGSHAPE_LENGTH, SHAPE_LENGTH, WordFunction

NO = None


def make(name: str, *arguments: int) -> WordFunction:
    return FUNCTIONS[name].make(*arguments)


VALUES: dict[str, dict[str, str | None]] = {
    "word": {"Étude": "Étude", "": ""},
    "lower": {"ÉTUDE": "étude", "the": "the", "İ": "i̇"},
    "shape": {
        "running": "x",
        "McDonald-1998": "XxXx-d",
        "U.S.": "X.X.",
        "...": ".",
        "3.14": "d.d",
        "a_b": "x_x",
        "Étienne": "Xx",
        "E\u0301tienne": "Xx",  # decomposed accent
        "Ørsted-٣٤": "Xx-d",  # Arabic digits
        "ǅ": "X",  # title case
        "東京": "o",
        "東京Tower": "oXx",
        "नमस्ते": "o",
        "x²": "x²",
        "don't": "x'x",
        "": "",
        "Aa" * 40: "Xx" * 32,  # only the first 64 characters count
        "\ud800": "\ud800",  # a lone surrogate is kept, not an error
    },
    "longshape": {"McDonald-1998": "XxXxxxxx-ddd", "étés": "xxxx", "B-52": "X-dd", "": ""},
    "digits": {"1998": "0000", "3.14": "0.00", "٣x": "0x", "word": NO, "x²": NO, "": NO},
    "first_type": {"the": "lower", "The": "upper", "ǅ": "upper", "9th": "digit", "$": "other", "東": "other", "": NO},
    "length": {"": "0", "a": "1", "of": "2", "five5": "5", "sixsix": "6-7", "seven77": "6-7", "a" * 8: "8-10"},
    "capitalised": {"The": "", "É": "", "ǅ": "", "the": NO, "1A": NO, "東": NO, "": NO},
    "all_capitals": {"USA": "", "U.S.": "", "B-52": "", "I": "", "ÉTÉ": "", "Usa": NO, "12": NO, "": NO},
    "has_capital": {"iPhone": "", "The": "", "1A": "", "ǆ": NO, "ǅ": "", "the": NO, "12": NO, "": NO, "𝐀": ""},
    "mixed_case": {
        "iPhone": "",
        "McDonald": "",
        "aB": "",
        "The": NO,
        "USA": NO,
        "the": NO,
        "A1B": NO,
        "12": NO,
        "": NO,
    },
    "has_digit": {"B-52": "", "٣": "", "²": NO, "two": NO, "": NO},
    "all_digits": {"1998": "", "٣٤": "", "19.9": NO, "x1": NO, "²": NO, "": NO},
    "has_hyphen": {"well-known": "", "-": "", "a\u2010b": "", "a\u2011b": "", "a\u2013b": NO, "a_b": NO, "": NO},
    "has_dot": {"U.S.": "", ".": "", "a,b": NO, "": NO},
    "capital_dot": {"Mr.": "", "U.S.": "", "e.g.": NO, "Mr": NO, ".A": NO, "": NO},
    "punctuation": {"...": "", "$": "", "_": "", "«": "", "a.": NO, "1": NO, "東": NO, "": NO},
    "bias": {"x": "", "": ""},
    "edge": {"x": NO, "<s>": NO, "": NO},
}
CASES = [(name, word, value) for name, values in VALUES.items() for word, value in values.items()]
AFFIXES = {
    "prefix": {("Running", 3): "Run", ("of", 2): "of", ("of", 3): NO, ("Éa", 1): "É"},
    "suffix": {("Running", 3): "ing", ("of", 2): "of", ("of", 3): NO, ("", 1): NO, ("caFÉ", 1): "É"},
    "lprefix": {("Running", 3): "run", ("OF", 2): "of", ("OF", 3): NO, ("İ", 2): "i̇"},
    "lsuffix": {("RUNNING", 3): "ing", ("OF", 2): "of", ("OF", 3): NO, ("caFÉ", 1): "é"},
}
AFFIX_CASES = [(name, word, n, value) for name, values in AFFIXES.items() for (word, n), value in values.items()]


@pytest.mark.parametrize(("name", "word", "value"), CASES)
def test_value(name: str, word: str, value: str | None) -> None:
    assert make(name)(word) == value


@pytest.mark.parametrize(("name", "word", "n", "value"), AFFIX_CASES)
def test_affix(name: str, word: str, n: int, value: str | None) -> None:
    assert make(name, n)(word) == value


def test_length_buckets() -> None:
    found = [make("length")("x" * n) for n in (7, 8, 10, 11, 14, 15, 400)]
    assert found == ["6-7", "8-10", "8-10", "11-14", "11-14", "15+", "15+"]


def test_every_function_has_a_case_and_a_doc() -> None:
    assert set(FUNCTIONS) == set(VALUES) | set(AFFIXES) | {"cluster"}  # that one: test_clusters.py
    assert all(function.doc for function in FUNCTIONS.values())


@given(st.text(max_size=30))
def test_flags_are_empty_or_absent(text: str) -> None:
    for function in FUNCTIONS.values():
        if function.flag:
            assert function.make()(text) in ("", None)


def plain_classes(text: str) -> str:
    """The definition, by Unicode category instead of `str` methods, where the two must agree."""
    letters = {"Lu": "X", "Lt": "X", "Ll": "x", "Nd": "d", "Lo": "o", "Mn": "", "Mc": "", "Me": ""}
    return "".join(letters.get(unicodedata.category(character), character) for character in text)


# Letters whose case is not in their category (ª, Ⓐ, ʰ) are left out here.
simple_text = st.text(st.characters(exclude_categories=["Lm", "Nl", "So", "Cs"], exclude_characters="ªº"), max_size=80)


@given(simple_text)
def test_shapes_agree_with_definition(text: str) -> None:
    assert make("longshape")(text) == plain_classes(text[:LONGSHAPE_LENGTH])
    classes = plain_classes(text[:SHAPE_LENGTH])
    collapsed = "".join(c for i, c in enumerate(classes) if i == 0 or c != classes[i - 1])
    assert make("shape")(text) == collapsed


@given(st.text(max_size=30))
def test_capitals_agree_with_definition(text: str) -> None:
    capitals = [character.isupper() or character.istitle() for character in text]
    assert (make("has_capital")(text) is not None) == any(capitals)
    assert (make("mixed_case")(text) is not None) == (any(capitals[1:]) and not text.isupper())


DEFINITIONS = {
    "capitalised": lambda text: text[:1].istitle(),
    "all_capitals": str.isupper,
    "has_capital": lambda text: any(c.isupper() or c.istitle() for c in text),
    "mixed_case": lambda text: any(c.isupper() or c.istitle() for c in text[1:]) and not text.isupper(),
    "has_digit": lambda text: re.search(r"\d", text) is not None,
    "all_digits": str.isdecimal,
    "has_hyphen": lambda text: any(c in text for c in "-\u058a\u2010\u2011\ufe63\uff0d"),
    "has_dot": lambda text: "." in text,
    "capital_dot": lambda text: text[:1].istitle() and "." in text,
    "punctuation": lambda text: text != "" and re.search(r"[^\W_]", text) is None,
}


@given(st.one_of(st.text(max_size=12), st.text(st.sampled_from("aZ9.-_ǅ\u2011٣É東"), max_size=6)))
def test_flags_agree_with_their_definitions(text: str) -> None:
    assert set(DEFINITIONS) == {name for name, function in FUNCTIONS.items() if function.test is not None}
    for name, holds in DEFINITIONS.items():
        assert make(name)(text) == ("" if holds(text) else None), name


def test_every_code_point_has_a_class() -> None:
    """0 means that a code point was not met yet."""
    assert all(class_of(chr(point)) for point in range(0x110000))
