"""CoNLL-style columns: splitting, choosing columns, refusing bad lines, writing back."""

from __future__ import annotations

import io
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tagwright.errors import DataError
from tagwright.io import Layout, read_like, read_sentences, write_sentence
from tagwright.sequence import Sentence


def read(text: str, **options: Any) -> list[Sentence]:
    return list(read_sentences(io.StringIO(text), **{"format": "columns", **options}))


def refusal(text: str, **options: Any) -> tuple[str | None, str]:
    with pytest.raises(DataError) as caught:
        read(text, **options)
    return caught.value.location, str(caught.value)


def written(sentence: Sentence, labels: list[str], **options: Any) -> str:
    stream = io.StringIO()
    write_sentence(stream, sentence, labels, Layout("columns"), **options)
    return stream.getvalue()


def test_words_and_labels() -> None:
    first, second = read("a X\nb Y\n\n\n \t \nc Z")
    assert (first.items, first.labels, first.location) == (["a", "b"], ["X", "Y"], "<stream>:1")
    assert (second.items, second.labels, second.location) == (["c"], ["Z"], "<stream>:6")


def test_inputs_are_the_columns_left_of_the_label() -> None:
    (last,) = read("a P X L\nb Q Y M\n")
    assert (last.items, last.labels) == ([("a", "P", "X"), ("b", "Q", "Y")], ["L", "M"])
    (middle,) = read("a P X L\nb Q Y M\n", label=1)
    assert (middle.items, middle.labels) == (["a", "b"], ["P", "Q"])
    (chosen,) = read("a P X L\nb Q Y M\n", label=-2, inputs=[3, "0"])
    assert (chosen.items, chosen.labels) == ([("L", "a"), ("M", "b")], ["X", "Y"])


def test_a_line_with_a_tab_is_split_at_tabs_alone() -> None:
    (sentence,) = read("New York\tLOC\n  b   Y  \n")
    assert (sentence.items, sentence.labels) == (["New York", "b"], ["LOC", "Y"])
    (mixed,) = read("b Y\nNew York\tLOC\n")
    assert (mixed.items, mixed.labels) == (["b", "New York"], ["Y", "LOC"])
    (mixed,) = read("b Y\nNew\tLOC\n")  # as many spaces as fields
    assert mixed.items == ["b", "New"]


def test_other_white_space_is_a_word() -> None:
    (sentence,) = read("a\n\x1c\n\u00a0\n", label=None, n_inputs=1)
    assert sentence.items == ["a", "\x1c", "\u00a0"]


def test_a_hash_is_a_word_and_docstart_is_a_sentence() -> None:
    first, second = read("-DOCSTART- -X- O\n\n# # O\n", label=-1)
    assert first.items == [("-DOCSTART-", "-X-")]
    assert second.items == [("#", "#")]


def test_header_names_the_columns() -> None:
    text = "# global.columns = WORD POS ENTITY\na P X\nb Q Y\n\nc R Z\n"
    sentences = read_sentences(io.StringIO(text), label="pos")
    assert sentences.layout == Layout("columns", 1, (0,), ("WORD",), 3, "POS")
    assert [sentence.labels for sentence in sentences] == [["P", "Q"], ["R"]]
    (first, _) = read(text, label="Entity", inputs=["Pos", "WORD"])
    assert (first.items, first.labels, first.location) == ([("P", "a"), ("Q", "b")], ["X", "Y"], "<stream>:2")


def test_blank_line_after_the_header() -> None:
    text = "# global.columns = WORD POS\n\na P\n"
    (sentence,) = read(text)
    assert (sentence.items, sentence.labels, sentence.location) == (["a"], ["P"], "<stream>:3")
    assert written(sentence, ["N"]) == "# global.columns = WORD POS PREDICTED\n\na P N\n\n"


def test_tagging_needs_the_inputs_and_ignores_the_rest() -> None:
    (sentence,) = read("a P X L\nb Q Y M\nc\tR\t\t\n", label=None, n_inputs=2)
    assert (sentence.items, sentence.labels) == ([("a", "P"), ("b", "Q"), ("c", "R")], None)
    (word,) = read("a P\nb  Q\n c R\n", label=None, n_inputs=1)
    assert word.items == ["a", "b", "c"]


def test_tagging_refuses_lines_of_another_width_than_the_first() -> None:
    location, message = refusal("a P\nb\n", label=None, n_inputs=2)
    assert location == "<stream>:2"
    assert "found 1 column in 'b', expected 2 as on the first line" in message
    assert refusal("a P\n\nb\n", label=None, n_inputs=2)[0] == "<stream>:3"  # a whole sentence without
    for text in ("a\nb c\n", "a\tb\nc\n", "a b\nc d e\n", "a b c\n\nd e f g h i j k\n"):
        assert "as on the first line" in refusal(text, label=None, format="columns")[1]


def test_names_of_columns_are_words_where_no_labels_are_read() -> None:
    assert read("word\ttag\na\tX\n", label=None, inputs=[0])[0].items == ["word", "a"]
    assert read("word NN\n")[0].items == ["word"]
    assert read("word TAG\nword TAG\n")[0].items == ["word", "word"]


@pytest.mark.parametrize(
    ("text", "options", "location", "message"),
    [
        ("a P X\nb Q\n", {}, 2, "found 2 columns in 'b Q', expected 3"),
        ("a P X\nb Q Y Z\n", {}, 2, "found 4 columns in 'b Q Y Z', expected 3"),
        ("a P X\n\nb Q\n", {}, 3, "found 2 columns"),
        ("a\tP\tX\nb\tQ\nc\tR\tZ\tU\n", {}, 2, "found 2 columns"),  # too short and too long make up for each other
        ("a P X\nb  X\n", {"inputs": [0]}, 2, "found 2 columns"),  # ... and so does a run of spaces
        ("a\tX\n\tY\n", {}, 2, "column 0 is empty, expected a field"),
        ("a\tP\tX\nb\t\tY\n", {}, 2, "column 1 is empty, expected a field"),
        ("a\tX\nb\t\n", {}, 2, "column 1 is empty, expected a label"),
        ("\n\na X\n", {"label": 2}, 3, "there is no column 2; the line has 2 columns: choose from 0 to 1"),
        ("a X\n", {"label": -3}, 1, "there is no column -3"),
        ("a X\n", {"label": "NER"}, 1, "no column is called 'NER'; the line has 2 columns"),
        ("# global.columns = W POS\na X\n", {"label": "NER"}, 2, "the columns are 0 W, 1 POS"),
        ("# global.columns = W POS\na X Y\n", {}, 2, "found 3 columns, expected 2: line 1 names W POS"),
        ("a X\n", {"label": 0}, 1, "no input columns are left of the label's column"),
        ("a\n", {}, 1, "found 1 column in 'a', expected a word and then its label"),
        ("a X\n", {"inputs": [0, 1]}, 1, "column 1 is asked for as an input and as the label"),
        ("a X\n", {"n_inputs": 3}, 1, "there is no column 2"),
        ("a X\n", {"inputs": [5]}, 1, "there is no column 5"),
        ("\nword\ttag\na\tX\n", {}, 2, "names of columns, 'word' and 'tag', expected a word and its label; delete"),
        ("Sentence Word POS\n1 a X\n", {}, 1, "or write it as: # global.columns = Sentence Word POS"),
        ("a,X\nb,Y\n", {}, 1, "columns are separated by tabs or spaces: write tabs, for example with: tr ',' '\\t'"),
        ("id;new_word;a_tag\n", {}, 1, "write tabs, for example with: tr ';' '\\t'"),
    ],
)
def test_bad_files(text: str, options: dict[str, Any], location: int, message: str) -> None:
    found_location, found = refusal(text, **options)
    assert found_location == f"<stream>:{location}"
    assert message in found


@pytest.mark.parametrize("text", ["", "\n \n\t\n", "# global.columns = A B\n", "\ufeff"])
def test_no_sentences(text: str) -> None:
    assert "found no sentences" in refusal(text)[1]
    assert read(text, label=None, n_inputs=1) == []


def test_an_empty_field_nobody_asked_for_is_accepted() -> None:
    (sentence,) = read("a\t\tX\nb\tQ\tY\n", inputs=[0])
    assert (sentence.items, sentence.labels) == (["a", "b"], ["X", "Y"])


def test_writing_adds_a_column_and_keeps_the_rest() -> None:
    text = "\n\na\tP Q\nb R\nc\t\nd  S \n \t\n"
    (sentence,) = read(text, label=None, n_inputs=1)
    assert written(sentence, list("1234")) == "\n\na\tP Q\t1\nb R 2\nc\t\t3\nd  S  4\n \t\n"
    probable = written(sentence, list("1234"), marginals=[1.0, 0.5, 0.25, 0.99996])
    assert probable == "\n\na\tP Q\t1\t1.0000\nb R 2 0.5000\nc\t\t3\t0.2500\nd  S  4 1.0000\n \t\n"
    (alone,) = read("a\nb\n", label=None, n_inputs=1)
    assert written(alone, list("12")) == "a\t1\nb\t2\n\n"


def test_writing_adds_the_missing_blank_line_and_keeps_crlf() -> None:
    (sentence,) = read_sentences(io.BytesIO(b"a\r\nb"), label=None)
    assert written(sentence, ["1", "2"]) == "a\t1\r\nb\t2\r\n\r\n"


fields = st.text(st.characters(exclude_characters="\0\r\n\t", exclude_categories=["Cs"]), min_size=1).filter(
    lambda field: field.strip(" ")
)


@given(st.integers(1, 3).flatmap(lambda n: st.lists(st.lists(st.tuples(*[fields] * (n + 1)), min_size=1), min_size=1)))
def test_read_what_was_written(sentences: list[list[tuple[str, ...]]]) -> None:
    """From items to lines to items again; then tagged once more, as lines."""
    stream = io.StringIO()
    for rows in sentences:
        items: Any = [row[:-1] if len(row) > 2 else row[0] for row in rows]
        write_sentence(stream, Sentence(items), [row[-1] for row in rows], Layout("columns"))
    text = stream.getvalue()
    assume(not text.startswith("\ufeff"))
    found = read(text)
    assert [s.items for s in found] == [[row[:-1] if len(row) > 2 else row[0] for row in rows] for rows in sentences]
    assert [s.labels for s in found] == [[row[-1] for row in rows] for rows in sentences]
    again = io.StringIO()
    for sentence in found:
        write_sentence(again, sentence, sentence.labels or [], Layout("columns"))
    assert again.getvalue() == "".join(
        "".join("\t".join((*row, row[-1])) + "\n" for row in rows) + "\n" for rows in sentences
    )


spaced = st.text("ab#/-_.", min_size=1, max_size=3)


@given(
    st.integers(2, 4).flatmap(lambda n: st.lists(st.lists(spaced, min_size=n, max_size=n), min_size=1)),
    st.data(),
)
def test_runs_of_spaces_do_not_matter(rows: list[list[str]], data: st.DataObject) -> None:
    gap = st.integers(1, 3).map(" ".__mul__)
    text = "".join(
        data.draw(st.sampled_from(["", " ", "  "])) + "".join(field + data.draw(gap) for field in row) + "\n"
        for row in rows
    )
    (sentence,) = read(text)
    assert sentence.labels == [row[-1] for row in rows]
    assert sentence.items == [tuple(row[:-1]) if len(row) > 2 else row[0] for row in rows]


@pytest.mark.parametrize("field", ["", " ", "a\tb", "a\nb", "a\rb"])
def test_a_word_the_format_cannot_hold(field: str) -> None:
    with pytest.raises(DataError, match="cannot hold the word"):
        written(Sentence([field]), ["X"])


def test_number_of_labels_must_fit() -> None:
    (sentence,) = read("a X\nb Y\n")
    with pytest.raises(DataError, match="2 items but 1 labels"):
        written(sentence, ["X"])
    with pytest.raises(DataError, match="2 items but 2 labels and 1 marginals"):
        written(sentence, ["X", "Y"], marginals=[0.5])


def test_own_output_can_be_evaluated_and_trained_on() -> None:
    sentences = read_sentences(io.StringIO("# global.columns = W POS NER\na P X\nb Q Y\n"))
    (sentence,) = sentences
    stream = io.StringIO()
    write_sentence(stream, sentence, ["U", "V"], sentences.layout)
    (gold,) = read_like(io.StringIO(stream.getvalue()), sentences.layout, labelled=True)
    assert (gold.items, gold.labels) == (sentence.items, sentence.labels)
    (predicted,) = read_sentences(io.StringIO(stream.getvalue()), label="predicted")
    assert predicted.labels == ["U", "V"]
