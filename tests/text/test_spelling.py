"""Every spelling function on concrete words, and on any text against plain Python (spelling_reference.py)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from text import spelling_reference as reference

from tagwright.attributes.clusters import WordClusters
from tagwright.errors import TemplateError
from tagwright.text.spelling import FUNCTIONS, LONGEST_AFFIX, Pieces, Speller
from tagwright.text.strings import Strings

pytestmark = pytest.mark.bounds

NO = None
Terms = list[tuple[str, int | None]]


def values_of(pieces: Pieces, k: int) -> list[str | None]:
    """The values of term k, None where it gives none."""
    absent = pieces.ends[:, k] < pieces.begins[:, k]
    return [None if none else text for none, text in zip(absent, pieces.of_term(k).decode(), strict=True)]


def spell(words: list[str], terms: Terms, clusters: WordClusters | None = None) -> list[list[str | None]]:
    """The values of every term for all words."""
    pieces = Speller(terms, clusters).spell(Strings.of(words, len(words)))
    return [values_of(pieces, k) for k in range(len(terms))]


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


def test_values() -> None:
    for name, expected in VALUES.items():
        assert spell(list(expected), [(name, None)]) == [list(expected.values())], name


@pytest.mark.parametrize(("name", "word", "n", "value"), AFFIX_CASES)
def test_affix(name: str, word: str, n: int, value: str | None) -> None:
    assert spell([word], [(name, n)]) == [[value]]


def test_length_buckets() -> None:
    words = ["x" * n for n in (7, 8, 10, 11, 14, 15, 400)]
    assert spell(words, [("length", None)]) == [["6-7", "8-10", "8-10", "11-14", "11-14", "15+", "15+"]]


def test_every_function_has_a_case_a_doc_and_a_reference() -> None:
    plain = set(VALUES) | set(AFFIXES)
    assert set(FUNCTIONS) == plain | {"cluster"}
    assert plain == set(reference.VALUES) | set(reference.FLAGS) | set(reference.AFFIXES)
    flags = {name for name, function in FUNCTIONS.items() if function.flag}
    assert set(reference.FLAGS) == flags - {"bias"}
    assert all(function.doc for function in FUNCTIONS.values())


# Line ends, NUL, sigma at the end and within, letters that grow in lower case, accents, digits of other scripts, title
# case, surrogates, characters of one to four bytes.
CHARACTERS = st.sampled_from("aAbB19-.\0\nÉéİΣσςß東\u0301٣²ǅ_\u2011\ud800\udfff\U0001f600\U00010400") | st.characters()
WORDS = st.lists(st.text(CHARACTERS, max_size=6) | st.text(CHARACTERS, max_size=80), max_size=10)
TERMS: Terms = [
    (name, n)
    for name, function in FUNCTIONS.items()
    if name != "cluster"
    for n in ([1, 2, 3, 5, LONGEST_AFFIX] if function.n_arguments else [None])
]


@settings(deadline=None)  # kernels compile in the first
@example(["", "ΑΣ", "ΑΣΑ", "Σ", "\0Σ\0", "İΣ", "Aa" * 40, "x" * 70 + "X"])
@given(WORDS)
def test_values_are_those_of_plain_python(words: list[str]) -> None:
    for (name, n), found in zip(TERMS, spell(words, TERMS), strict=True):
        function = reference.value(name, n)
        assert found == [function(word) for word in words], (name, n)


@pytest.mark.parametrize("term", TERMS, ids=lambda term: f"{term[0]}({term[1]})" if term[1] else term[0])
def test_a_speller_with_one_term(term: tuple[str, int | None]) -> None:
    """What it does not ask for is not there: no lower case, no paths."""
    words = ["Running", "ΑΣ", "", "3.14", "U.S.", "é\ud800", "\0"]
    assert spell(words, [term]) == [list(map(reference.value(*term), words))]


def test_a_few_words_of_many() -> None:
    """Pieces of the letters of others: nothing before or after them is seen."""
    strings = Strings.of(["ΑΣ", "Running", "ΣΑ", "x9", "İ", ""], 6).take(np.array([4, 0, 0, 3, 5]))
    pieces = Speller(TERMS).spell(strings)
    for k, (name, n) in enumerate(TERMS):
        function = reference.value(name, n)
        assert values_of(pieces, k) == [function(word) for word in ("İ", "ΑΣ", "ΑΣ", "x9", "")], name


def test_clusters() -> None:
    clusters = WordClusters({"the": "0110", "Paris": "1", "paris": "00", "Σ": "10", "": "111"})
    words = ["the", "The", "Paris", "PARIS", "Σ", "σ", "", "other", "東"]
    for n in (1, 2, 4, 9):
        expected = [None if (path := clusters.find(word)) is None else path[:n] for word in words]
        assert spell(words, [("suffix", 1), ("cluster", n)], clusters)[1] == expected
    assert spell(words, [("cluster", 2)], WordClusters({})) == [[None] * len(words)]
    with pytest.raises(TemplateError, match="needs word clusters"):
        Speller([("cluster", 2)])


LETTERS = st.sampled_from("aAbÉΣİ\0\n東Ǆ\ud800\U00010400") | st.characters()


@settings(deadline=None)
@example(["ΑΣ ΣΑ Σ", "İi", "Ab", ""])
@example(["ΑΣ", "ab"])
@example(["Σ", "Σ\0Σ", "aΣ", "Σa"])
@example(["ΑΣ", "\u0301", "Α\u0301Σ\u0301", "Α", "Σ\u0301", "\u0301Σ"])
@given(st.lists(st.text(LETTERS, max_size=6), max_size=10))
def test_lower_case_is_that_of_python(values: list[str]) -> None:
    assert spell(values, [("lower", None)]) == [[value.lower() for value in values]]


def test_every_character_in_lower_case() -> None:
    """One by one and behind a sigma, whose lower case depends on what follows; those that become two among them."""
    characters = [chr(point) for point in range(0x110000)]
    assert "\u0130" in characters
    for values in (characters, [f"ΑΣ{c}" for c in characters if c.lower() == c]):
        assert spell(values, [("lower", None)]) == [[value.lower() for value in values]]
