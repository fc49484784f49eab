"""CoNLL-U: what is a word, what is kept, and that writing changes the tagged column alone."""

from __future__ import annotations

import io
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tagwright.errors import DataError
from tagwright.io import Layout, read_like, read_sentences, write_sentence
from tagwright.sequence import Sentence


def line(*fields: str) -> str:
    return "\t".join([*fields, *["_"] * (10 - len(fields))]) + "\n"


EXAMPLE = (
    "# newdoc id = 1\n# text = He didn't.\n"
    + line("1", "He", "he", "PRON", "PRP", "Case=Nom")
    + line("2-3", "didn't", "_", "_", "_")
    + line("2", "did", "do", "AUX", "VBD")
    + line("2.1", "really", "really", "ADV", "RB")
    + line("3", "n't", "not", "PART", "RB")
    + line("4", ". . .", ".", "PUNCT", ".", "_", "1", "punct", "_", "SpaceAfter=No|X=é")
    + "\n# sent_id = 2\n"
    + line("1", "#", "#", "SYM", "NN")
    + line("2", "_", "_", "_", "_")
    + "\n"
)


def read(text: str, **options: Any) -> list[Sentence]:
    return list(read_sentences(io.StringIO(text), **{"format": "conllu", **options}))


def rewrite(data: bytes, column: str, labels: list[list[str]] | None = None) -> bytes:
    sentences = read_sentences(io.BytesIO(data), format="conllu", label=column)
    stream = io.StringIO(newline="")
    for i, sentence in enumerate(sentences):
        new = labels[i] if labels else sentence.labels
        assert new is not None
        write_sentence(stream, sentence, new, sentences.layout)
    return stream.getvalue().encode()


def test_words_alone_are_items() -> None:
    first, second = read(EXAMPLE)
    assert first.items == ["He", "did", "n't", ". . ."]
    assert first.labels == ["PRON", "AUX", "PART", "PUNCT"]
    assert first.location == "<stream>:3"
    assert (second.items, second.labels, second.location) == (["#", "_"], ["SYM", "_"], "<stream>:11")


@pytest.mark.parametrize(("label", "expected"), [("xpos", "PRP"), (4, "PRP"), ("-8", "he"), ("Feats", "Case=Nom")])
def test_label_column_by_name_or_number(label: int | str, expected: str) -> None:
    labels = read(EXAMPLE, label=label)[0].labels
    assert labels is not None
    assert labels[0] == expected


def test_inputs_by_name() -> None:
    sentences = read_sentences(io.StringIO(EXAMPLE), format="conllu", label="XPOS", inputs=["form", 2])
    assert sentences.layout == Layout("conllu", 4, (1, 2), ("FORM", "LEMMA"), 10, "XPOS", given=True)
    assert next(sentences).items == [("He", "he"), ("did", "do"), ("n't", "not"), (". . .", ".")]


def test_only_the_tagged_column_changes() -> None:
    after = rewrite(EXAMPLE.encode(), "XPOS", [["A", "B", "C", "D"], ["E", "F"]]).decode()
    expected = EXAMPLE
    for old, new in [
        ("PRON\tPRP", "PRON\tA"),
        ("AUX\tVBD", "AUX\tB"),
        ("PART\tRB", "PART\tC"),
        ("PUNCT\t.", "PUNCT\tD"),
        ("SYM\tNN", "SYM\tE"),
        ("2\t_\t_\t_\t_", "2\t_\t_\t_\tF"),
    ]:
        assert expected.count(old) == 1
        expected = expected.replace(old, new)
    assert after == expected


@pytest.mark.parametrize(
    "text",
    [
        EXAMPLE,
        "\ufeff" + EXAMPLE,
        EXAMPLE.replace("\n", "\r\n"),
        "\n\n" + EXAMPLE.replace("\n\n", "\n \t\n\n\n").removesuffix("\n\n"),
        "#licence\n\n# more\n\n" + EXAMPLE,
        "#\n" + EXAMPLE.replace("2.1\t", "# between\n2.1\t"),
    ],
)
def test_byte_for_byte(text: str) -> None:
    assert rewrite(text.encode(), "UPOS") == text.removeprefix("\ufeff").encode()


def test_blank_lines_at_the_end_are_dropped() -> None:
    assert rewrite((EXAMPLE + "\n \n").encode(), "UPOS") == EXAMPLE.encode()


def test_a_missing_last_blank_line_is_added() -> None:
    assert rewrite(EXAMPLE.rstrip("\n").encode(), "UPOS") == EXAMPLE.encode()


kept = st.text(st.characters(exclude_characters="\0\r\n\t", exclude_categories=["Cs"]), min_size=1, max_size=5)
words = st.tuples(st.just("word"), st.lists(kept, min_size=9, max_size=9))
others = st.one_of(
    st.tuples(st.just("range"), st.lists(kept, min_size=9, max_size=9)),
    st.tuples(st.just("empty"), st.lists(kept, min_size=9, max_size=9)),
    st.tuples(st.just("comment"), st.lists(kept, min_size=1, max_size=1)),
)
trees = st.tuples(
    st.lists(kept, max_size=2),
    st.lists(st.one_of(words, others), max_size=5).map(list),
    words,
)


@given(st.lists(trees, min_size=1, max_size=4), st.integers(2, 9))
def test_any_tree_is_read_and_written_back(forest: list[Any], column: int) -> None:
    text = ""
    expected: list[list[tuple[str, str]]] = []
    for comments, rows, last in forest:
        text += "".join(f"# {comment}\n" for comment in comments)
        expected.append([])
        number = 0
        for kind, cells in [*rows, last]:
            number += kind == "word"
            identity = {"word": f"{number}", "range": f"{number + 1}-{number + 2}", "empty": f"{number}.1"}.get(kind)
            text += "\t".join([identity, *cells]) + "\n" if identity else f"# {cells[0]}\n"
            if kind == "word":
                expected[-1].append((cells[0], cells[column - 1]))
        text += "\n"
    found = read(text, label=column)
    assert [list(zip(s.items, s.labels or [])) for s in found] == expected
    assert rewrite(text.encode(), str(column)) == text.encode()


@pytest.mark.parametrize(
    ("text", "location", "message"),
    [
        (EXAMPLE + "1 He he PRON\n", 14, "found 1 column in '1 He he PRON', expected 10 separated by tabs"),
        (EXAMPLE.replace("SpaceAfter=No|X=é", "a\tb"), 8, "found 11 columns"),
        (line("1", "a").replace("_\n", "_\t_\n") + line("2", "b").replace("\t_\n", "\n"), 1, "found 11 columns"),
        (line("1", "a") + line("x", "b"), 2, "found the ID 'x', expected a number"),
        (line("1", "a") + line("", "b"), 2, "found the ID ''"),
        (line("1-2", "ab"), 1, "expected words"),
        (line("1", "a") + line("2", ""), 2, "column 1 is empty, expected a field"),
        (line("1", "a") + line("2", "b", "b", ""), 2, "column 3 is empty, expected a label"),
        (EXAMPLE + "\n# sent_id = 3\n# text = cut\n", 16, "found '# text = cut' and no words after it"),
        ("", None, "found no sentences"),
        ("\n\n", None, "found no sentences"),
    ],
)
def test_bad_files(text: str, location: int | None, message: str) -> None:
    with pytest.raises(DataError) as caught:
        read(text)
    assert caught.value.location == ("<stream>" if location is None else f"<stream>:{location}")
    assert message in str(caught.value)


def test_label_column_that_is_not_there() -> None:
    with pytest.raises(DataError, match=r"no column is called 'NER'; the columns are 0 ID, 1 FORM, .* 9 MISC"):
        read(EXAMPLE, label="NER")
    with pytest.raises(DataError, match="there is no column 10"):
        read(EXAMPLE, label=10)


@pytest.mark.parametrize("label", ["ID", "id", 0])
def test_numbers_of_words_are_no_place_for_labels(label: str | int) -> None:
    """The file was written, and could not be read again."""
    with pytest.raises(DataError, match="column ID numbers the words, expected one for labels; choose another"):
        read(EXAMPLE, label=label)


def test_an_empty_field_nobody_asked_for_is_kept() -> None:
    text = line("1", "a", "", "X") + "\n"
    assert rewrite(text.encode(), "UPOS") == text.encode()


def test_plus_has_its_own_columns() -> None:
    text = "# global.columns = ID FORM MWE\n# c\n1\ta\tX\n1-2\tab\t_\n2\tb\tY\n\n"
    sentences = read_sentences(io.StringIO(text), label="mwe")
    assert sentences.layout == Layout("conllu", 2, (1,), ("FORM",), 3, "MWE")
    (sentence,) = sentences
    assert (sentence.items, sentence.labels) == (["a", "b"], ["X", "Y"])
    assert rewrite(text.encode(), "MWE") == text.encode()


def test_tagging_fills_the_column_of_training() -> None:
    trained = read_sentences(io.StringIO(EXAMPLE), format="conllu", label="XPOS").layout
    sentences = read_like(io.StringIO(line("1", "a") + "\n"), trained)
    (sentence,) = sentences
    assert sentence.labels is None
    stream = io.StringIO()
    write_sentence(stream, sentence, ["NN"], sentences.layout, marginals=[0.5])
    assert stream.getvalue() == line("1", "a", "_", "_", "NN", "_", "_", "_", "_", "Probability=0.5000") + "\n"


def test_probability_is_added_to_misc() -> None:
    sentences = read_sentences(io.StringIO(line(*"1aaX_____", "K=v") + "\n"), label=None)
    stream = io.StringIO()
    write_sentence(stream, next(sentences), ["Y"], sentences.layout, marginals=[1])
    assert stream.getvalue() == line(*"1aaY_____", "K=v|Probability=1.0000") + "\n"


def test_writing_from_items() -> None:
    stream = io.StringIO()
    items: list[tuple[str, ...]] = [("a", "P"), ("b c", "Q")]
    write_sentence(stream, Sentence(items), ["X", "Y"], Layout("conllu", 4))
    assert stream.getvalue() == line("1", "a", "_", "_", "X") + line("2", "b c", "_", "_", "Y") + "\n"


def test_several_inputs_of_another_format_must_be_named() -> None:
    with pytest.raises(DataError, match=r"expected 2 input columns as in training .*; say which"):
        read_like(io.StringIO(EXAMPLE), Layout("columns", 2, (0, 1)), format="conllu")
    sentences = read_like(io.StringIO(EXAMPLE), Layout("columns", 2, (0, 1)), format="conllu", inputs=["FORM", "XPOS"])
    assert next(sentences).items[0] == ("He", "PRP")


def test_writing_needs_a_column() -> None:
    text = "# global.columns = ID FORM MWE\n1\ta\tX\n"
    sentences = read_sentences(io.StringIO(text), label=None)
    with pytest.raises(DataError, match="which column the labels go to is not known"):
        write_sentence(io.StringIO(), next(sentences), ["X"], sentences.layout)
