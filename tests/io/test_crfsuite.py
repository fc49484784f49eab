"""CRFsuite's text format."""

from __future__ import annotations

import io
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tagwright.errors import DataError
from tagwright.io import Layout, read_like, read_sentences, write_sentence
from tagwright.io.crfsuite import read_attribute, write_items
from tagwright.sequence import Sentence


def read(text: str, **options: Any) -> list[Sentence]:
    return list(read_sentences(io.StringIO(text), format="crfsuite", **options))


def test_labels_and_weights() -> None:
    first, second = read("B-NP\tw=a\tlength:2.5\tbias:\nO\n\nO\tw=b\t\tx:-1e2\tw=b\n")
    assert first.items == [{"w=a": 1.0, "length": 2.5, "bias": 1.0}, {}]
    assert (first.labels, first.location) == (["B-NP", "O"], "<stream>:1")
    assert second.items == [{"w=b": 2.0, "x": -100.0}]
    assert (second.labels, second.location) == (["O"], "<stream>:4")


@pytest.mark.parametrize(
    ("field", "name", "weight"),
    [
        (r"url=http\://x", "url=http://x", 1.0),
        (r"url=http\://x:3", "url=http://x", 3.0),
        (r"a\\:2", "a\\", 2.0),
        (r"a\\\:2", "a\\:2", 1.0),
        (r"\:\::0.5", "::", 0.5),
        (r"a\b:2", r"a\b", 2.0),  # CRFsuite keeps a backslash before any other letter
        ("a\\", "a\\", 1.0),
        ("two words:4", "two words", 4.0),
    ],
)
def test_escapes(field: str, name: str, weight: float) -> None:
    assert read_attribute(field) == (name, weight)


def test_what_is_escaped_when_written() -> None:
    assert write_items([{"a\\:b": 1.0, "c": 0.5}], [":"]) == ["\\:\ta\\\\\\:b\tc:0.5", ""]


def test_label_escapes() -> None:
    (sentence,) = read("\\:\tw=\\:\n``\tw=``\n")
    assert sentence.labels == [":", "``"]


@pytest.mark.parametrize(
    ("text", "location", "message"),
    [
        ("X\ta\n\tb\n", 2, "expected a label"),
        ("X\ta\nX\ta:1:2\n", 2, "found the attribute 'a:1:2', expected name or name:weight"),
        ("X\ta:heavy\n", 1, "found the attribute 'a:heavy'"),
        ("X\ta:nan\n", 1, "with a finite number"),
        ("X\t:1\n", 1, "found the attribute ':1'"),
        ("X\ta\n\n:\tb\n", 3, "found a colon in the label ':'"),
        ("@weight:2\nX\ta\n", 1, "found the declaration '@weight:2'"),
        ("", None, "found no sentences"),
    ],
)
def test_bad_files(text: str, location: int | None, message: str) -> None:
    with pytest.raises(DataError) as caught:
        read(text)
    assert caught.value.location == ("<stream>" if location is None else f"<stream>:{location}")
    assert message in str(caught.value)


def test_tagging_needs_no_labels_and_writes_them_alone() -> None:
    trained = read_sentences(io.StringIO("X\ta\n"), format="crfsuite").layout
    sentences = read_like(io.StringIO("\ta\nY\tb:2\n\n\tc\n"), trained)
    stream = io.StringIO()
    for sentence in sentences:
        assert sentence.labels is None
        write_sentence(stream, sentence, ["P"] * len(sentence), sentences.layout)
    assert stream.getvalue() == "P\nP\n\nP\n\n"
    stream = io.StringIO()
    write_sentence(stream, Sentence([{"a": 1.0}]), ["P"], Layout("crfsuite"), marginals=[0.5])
    assert stream.getvalue() == "P:0.5000\n\n"


def test_attributes_are_not_words() -> None:
    for format in ("columns", "slashed", "conllu"):
        with pytest.raises(DataError, match="attributes cannot be written as words"):
            write_sentence(io.StringIO(), Sentence([{"a": 1.0}]), ["X"], Layout(format))


@pytest.mark.parametrize(
    ("name", "label"), [("", "X"), ("a\tb", "X"), ("a", ""), ("a", "@x"), ("a", "b\n"), (" ", "X")]
)
def test_names_the_format_cannot_hold(name: str, label: str) -> None:
    with pytest.raises(DataError, match=r"cannot hold|begins with"):
        write_items([{name: 1.0}], [label])


names = st.text(st.characters(exclude_characters="\0\r\n\t", exclude_categories=["Cs"]), min_size=1).filter(
    lambda name: name.strip(" ")
)
labels = names.filter(lambda name: not name.startswith("@"))
items = st.dictionaries(names, st.floats(allow_nan=False, allow_infinity=False), max_size=4)


@given(st.lists(st.lists(st.tuples(items, labels), min_size=1, max_size=4), min_size=1, max_size=4))
def test_read_what_was_written(sequences: list[list[tuple[dict[str, float], str]]]) -> None:
    lines = [write_items([item for item, _ in s], [label for _, label in s]) for s in sequences]
    text = "".join(line + "\n" for block in lines for line in block)
    assume(not text.startswith("\ufeff"))
    found = read(text)
    assert [list(zip(s.items, s.labels or [])) for s in found] == sequences
