"""Slashed and plain text."""

from __future__ import annotations

import io
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tagwright.errors import DataError
from tagwright.io import Layout, read_sentences, write_nbest, write_sentence
from tagwright.sequence import Sentence


def read(text: str, **options: Any) -> list[Sentence]:
    return list(read_sentences(io.StringIO(text), **options))


def written(sentence: Sentence, labels: list[str], format: str = "slashed", **options: Any) -> str:
    stream = io.StringIO()
    write_sentence(stream, sentence, labels, Layout(format), **options)
    return stream.getvalue()


def test_a_token_is_split_at_its_last_slash() -> None:
    (sentence,) = read("1/2/CD //SYM  and/or/CC\tx/Y\n", format="slashed")
    assert sentence.items == ["1/2", "/", "and/or", "x"]
    assert sentence.labels == ["CD", "SYM", "CC", "Y"]


def test_one_sentence_a_line_and_blank_lines_are_kept() -> None:
    first, second = read("\na/X b/Y\n \t\n\nc/Z", format="slashed")
    assert (first.items, first.location) == (["a", "b"], "<stream>:2")
    assert (second.items, second.location) == (["c"], "<stream>:5")
    assert written(first, ["1", "2"]) + written(second, ["3"]) == "\na/1 b/2\n \t\n\nc/3\n"


@pytest.mark.parametrize("token", ["b", "b/", "/B", "/"])
def test_training_needs_a_tag_on_every_token(token: str) -> None:
    with pytest.raises(DataError) as caught:
        read(f"a/X\na/X {token} c/Y\n", format="slashed")
    assert caught.value.location == "<stream>:2"
    assert f"found the token {token!r}, expected word/TAG" in str(caught.value)
    assert read(f"a/X {token}\n", format="slashed", label=None)[0].items == ["a", token]


def test_plain_text() -> None:
    first, second = read("The  dog\tbarks .\n\n It/is so \n", label=None, format="plain")
    assert (first.items, first.labels) == (["The", "dog", "barks", "."], None)
    assert (second.items, second.location) == (["It/is", "so"], "<stream>:3")
    assert written(second, ["A", "B"], "plain") == "\nIt/is/A so/B\n"


def test_plain_text_has_no_labels() -> None:
    with pytest.raises(DataError, match="plain text has no labels"):
        read("a b\n", format="plain")


@pytest.mark.parametrize("format", ["plain", "slashed", "crfsuite"])
def test_no_columns_to_choose_from(format: str) -> None:
    with pytest.raises(DataError, match="has no columns to choose from"):
        read("a b\n", format=format, inputs=[0])
    with pytest.raises(DataError, match="has no columns to choose from"):
        read("a b\n", format=format, label=2)


@pytest.mark.parametrize("text", ["", "\n\n"])
def test_no_sentences(text: str) -> None:
    with pytest.raises(DataError, match="found no sentences"):
        read(text, format="slashed")
    assert read(text, label=None) == []


@pytest.mark.parametrize(
    ("item", "label"), [("a b", "X"), ("a\tb", "X"), ("", "X"), ("a", "X/Y"), ("a", "X Y"), ("a\n", "X"), ("a", "")]
)
def test_what_slashed_text_cannot_hold(item: str, label: str) -> None:
    with pytest.raises(DataError, match=r"cannot (hold|be written)"):
        written(Sentence([item]), [label])


def test_probabilities() -> None:
    assert written(Sentence(["a", "b"]), ["X", "Y"], marginals=[0.5, 1]) == "a/X/0.5000 b/Y/1.0000\n"


def test_plain_text_can_be_written_as_columns() -> None:
    (sentence,) = read("a b\n", label=None)
    assert written(sentence, ["X", "Y"], "columns") == "a\tX\nb\tY\n\n"


def test_best_labellings() -> None:
    (sentence,) = read("\n\na b\n", label=None)
    stream = io.StringIO()
    write_nbest(stream, sentence, [(["X", "Y"], 0.75), (["X", "X"], 1e-7)], Layout("plain"))
    assert stream.getvalue() == "# rank = 1 probability = 0.75\na/X b/Y\n# rank = 2 probability = 1e-07\na/X b/X\n"
    (sentence,) = read("a\nb\n", label=None)
    stream = io.StringIO()
    write_nbest(stream, sentence, [(["X", "Y"], -2.5)], Layout("columns"), measure="score")
    assert stream.getvalue() == "# rank = 1 score = -2.5\na\tX\nb\tY\n\n"


def tokens(excluded: str) -> st.SearchStrategy[str]:
    return st.text(st.characters(exclude_characters="\0\r\n\t " + excluded, exclude_categories=["Cs"]), min_size=1)


@given(st.lists(st.lists(st.tuples(tokens(""), tokens("/")), min_size=1), min_size=1))
def test_read_what_was_written(tagged: list[list[tuple[str, str]]]) -> None:
    text = "".join(written(Sentence([w for w, _ in pairs]), [t for _, t in pairs]) for pairs in tagged)
    assume(not text.startswith("\ufeff"))
    found = read(text, format="slashed")
    assert [list(zip(s.items, s.labels or [])) for s in found] == tagged
