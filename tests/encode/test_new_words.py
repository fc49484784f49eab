"""The codes of new words against the functions of single words, one by one."""

from __future__ import annotations

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tagwright.attributes.cells import Term
from tagwright.attributes.characters import TESTS, classes_of, flag_grid
from tagwright.attributes.words import FUNCTIONS
from tagwright.encode.new_words import SOURCES, NewWords
from tagwright.encode.spelled import Spelled
from tagwright.encode.string_table import UNKNOWN
from tagwright.encode.vocabulary import Vocabulary

# Surrogates, line ends, letters that change their length in lower case, accents and clashes of short strings.
CHARACTERS = st.sampled_from("aAbB1-.\nÉéİΣß東\u0301\ud800\U0001f600") | st.characters()
WORDS = st.lists(st.text(CHARACTERS, max_size=5) | st.text(max_size=80), max_size=12)
BOTH = np.arange(2)
TERMS = [
    Term(name, n)
    for name, function in FUNCTIONS.items()
    if name != "cluster"
    for n in ([1, 2, 3] if function.n_arguments else [None])
]


def expected_codes(terms: list[Term], vocabularies: list[Vocabulary], words: list[str]) -> list[list[int]]:
    functions = [term.compile(None) for term in terms]
    pairs = list(zip(functions, vocabularies, strict=True))
    return [[v.index.get(f(word), UNKNOWN) for f, v in pairs] for word in words]  # type: ignore[arg-type]


@settings(deadline=None)  # kernels compile in the first
@example(["", "x" * 70 + "X"], ["", "x" * 64, "x" * 70 + "Y"])
@given(WORDS, WORDS)
def test_codes_equal_those_of_single_words(known: list[str], words: list[str]) -> None:
    vocabularies = []
    for term in TERMS:
        function = term.compile(None)
        vocabularies.append(Vocabulary(dict.fromkeys(v for word in known if (v := function(word)) is not None)))
    new = NewWords(TERMS, vocabularies)
    found = np.full((len(words), len(TERMS)), -9, np.int32)
    new.find(Spelled.build(words), np.arange(len(words)), found)
    expected = np.array(expected_codes(TERMS, vocabularies, words), np.int32).reshape(found.shape)
    mine = [k for k in range(len(TERMS)) if k not in new.others]
    np.testing.assert_array_equal(found[:, mine], expected[:, mine])
    assert (found[:, new.others] == -9).all()
    assert {TERMS[k].function for k in new.others} == {"digits", "first_type", "length", "bias"}


def test_a_column_with_one_term() -> None:
    for term, value in ((Term("word"), "Run"), (Term("suffix", 2), "un"), (Term("longshape"), "Xxx")):
        codes = np.empty((2, 1), np.int32)
        NewWords([term], [Vocabulary(["other", value])]).find(Spelled.build(["Run", "?"]), BOTH, codes)
        assert codes.tolist() == [[1], [UNKNOWN]]


def test_a_word_too_short_has_no_affix_even_where_the_empty_one_is_known() -> None:
    codes = np.empty((1, 2), np.int32)
    NewWords([Term("suffix", 3), Term("prefix", 3)], [Vocabulary([""]), Vocabulary([""])]).find(
        Spelled.build(["ab"]), BOTH[:1], codes
    )
    assert codes.tolist() == [[UNKNOWN, UNKNOWN]]


@given(st.text(max_size=8))
def test_every_bit_of_the_grid_is_its_test(word: str) -> None:
    first, rest = classes_of(word)
    bits = int(flag_grid()[first, rest])
    assert [bool(bits >> b & 1) for b in range(len(TESTS))] == [bool(test(first, rest)) for test in TESTS]


def test_every_function_has_a_source() -> None:
    """A function that is added is worked out by Python until it gets a place here."""
    assert set(SOURCES) <= set(FUNCTIONS)
    assert {f.test for f in FUNCTIONS.values() if f.test} == set(TESTS)
