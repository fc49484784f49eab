"""The one entrance: which format a file is in, layouts that models remember, real corpora."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path
from typing import Any

import pytest

from tagwright.errors import DataError, DataWarning, ModelFileError
from tagwright.io import FORMATS, Layout, detect_format, detect_scheme, read_like, read_sentences, write_sentence

DATA = Path(os.environ.get("TAGWRIGHT_DATA", Path(__file__).parents[2] / "../shared/data"))
CONLLU = "1\tHe\the\tPRON\tPRP\t_\t0\troot\t_\t_"


@pytest.mark.parametrize(
    ("text", "options", "expected"),
    [
        (CONLLU, {}, "conllu"),
        (CONLLU, {"labelled": False}, "conllu"),
        ("# text = He\n# more\n1-2" + CONLLU[1:], {}, "conllu"),
        ("#\t#\tO\n", {}, "columns"),
        ("x" + CONLLU, {}, "columns"),
        ("1\tHe\tPRP", {}, "columns"),
        ("# global.columns = WORD TAG\na b", {"labelled": False}, "columns"),
        ("# global.columns = ID FORM MWE\n1\ta\tb", {}, "conllu"),
        ("a\tb", {"labelled": False}, "columns"),
        ("-DOCSTART- -X- O O\n", {"labelled": False, "n_inputs": 1}, "columns"),
        ("He/PRP sees/VBZ 1/2/CD", {}, "slashed"),
        ("He/PRP sees/VBZ", {"labelled": False}, "plain"),
        ("He/PRP sees", {}, "columns"),
        ("a/ /b", {}, "columns"),
        ("EU NNP\nrejects VBZ", {}, "columns"),
        ("The dog barks .", {"labelled": False}, "plain"),
        ("The dog barks .", {"labelled": False, "n_inputs": 1}, "plain"),
        ("The dog\nThe cat", {"labelled": False, "n_inputs": 1}, "plain"),
        ("The DT\ncat NN\n\n", {"labelled": False, "n_inputs": 1}, "columns"),
        ("The cat\n\n", {"labelled": False, "n_inputs": 1}, "plain"),
        ("The DT B\ncat NN I\n\n", {"labelled": False, "n_inputs": 1}, "plain"),
        ("The DT B\ncat NN I\n\n", {"labelled": False, "n_inputs": 2}, "columns"),
        ("The\ndog\nbarks", {"labelled": False}, "columns"),
        ("Title\nThe dog barks", {"labelled": False}, "plain"),
        ("", {"labelled": False}, "plain"),
        ("", {}, "columns"),
        ("a b c", {"name": "x.conllu"}, "conllu"),
        ("a b c", {"name": "X.CoNLLU.gz"}, "conllu"),
        ("a\tb:2", {"name": "x.crfsuite"}, "crfsuite"),
        ("a b c", {"name": "conllu"}, "columns"),
    ],
)
def test_detect_format(text: str, options: dict[str, Any], expected: str) -> None:
    options = {"name": "", **options}
    head = text.split("\n")
    if text.endswith("\n\n"):
        head = [*[line for line in head if line], ""]
    else:
        head = [line for line in head if line]
    assert detect_format(head, options.pop("name"), **options) == expected


def test_the_first_sentence_decides_however_it_arrives() -> None:
    class Letters(io.RawIOBase):
        def __init__(self, data: bytes) -> None:
            self.data = data

        def read(self, n: int = -1) -> bytes:
            piece, self.data = self.data[:1], self.data[1:]
            return piece

    data = b"\n\nThe\ndog\n\nThe dog barks\n"
    assert read_sentences(Letters(data), label=None).layout.format == "columns"
    data = b"The dog\nbarks\nThe dog barks\n"
    assert read_sentences(Letters(data), label=None).layout.format == "plain"
    data = b"The\n" * 31 + b"The dog\n"
    assert read_sentences(Letters(data), label=None).layout.format == "plain"
    assert read_sentences(Letters(b"The\n" * 32 + b"The dog\n"), label=None).layout.format == "columns"


def test_a_blank_line_tells_columns_from_two_words_a_line() -> None:
    assert read_sentences(io.StringIO("The DT\ncat NN\n\n"), label=None).layout.format == "columns"
    assert read_sentences(io.StringIO("The cat\nThe dog\n"), label=None).layout.format == "plain"


def test_reading_after_detection_loses_nothing() -> None:
    text = "\n" + "w T\n" * 100 + "\nx U\n"
    sentences = list(read_sentences(io.StringIO(text)))
    assert [len(sentence) for sentence in sentences] == [100, 1]
    assert [sentence.location for sentence in sentences] == ["<stream>:2", "<stream>:103"]


def test_unknown_format() -> None:
    with pytest.raises(DataError, match="found 'xml', expected auto or one of columns, conllu"):
        read_sentences(io.StringIO("a b"), format="xml")


LAYOUTS = [
    Layout("columns", 2, (0, 1), ("WORD", "POS"), 3),
    Layout("conllu", 4, (1,), ("FORM",), 10),
    Layout("plain"),
    Layout("crfsuite", 0, (1,)),
    Layout("slashed", 1, separator="_", given=True),
]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_layout_is_stored_as_json(layout: Layout) -> None:
    assert Layout.from_json(json.loads(json.dumps(layout.to_json())), FORMATS) == layout


@pytest.mark.parametrize(
    "change",
    [
        {"format": "xml"},
        {"format": ["columns"]},
        {"label": "x"},
        {"label": -1},
        {"label": True},
        {"inputs": [], "names": []},
        {"inputs": "01"},
        {"inputs": [0, "1"]},
        {"inputs": [0, -1]},
        {"inputs": None},
        {"names": ["a"]},
        {"names": "ab"},
        {"names": [1, 2]},
        {"names": None},
        {"width": None},
        {"width": 1.5},
        {"label_name": None},
        {"separator": ""},
        {"separator": " "},
        {"separator": 1},
        {"given": 1},
    ],
)
def test_a_bad_layout_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(ModelFileError, match="layout cannot be used"):
        Layout.from_json({**LAYOUTS[0].to_json(), **change}, FORMATS)


@pytest.mark.parametrize("stored", [None, [], "x", 3])
def test_a_layout_that_is_no_object_is_refused(stored: object) -> None:
    with pytest.raises(ModelFileError, match="not an object"):
        Layout.from_json(stored, FORMATS)


def test_like_training_in_the_same_format() -> None:
    trained = read_sentences(io.StringIO("a P X L\n"), label=2, inputs=[1, 0]).layout
    assert trained == Layout("columns", 2, (1, 0), (), 4)
    with pytest.warns(DataWarning, match="<stream>:1: found 5 columns, the training file had 4; the inputs are taken"):
        (gold,) = read_like(io.StringIO("b Q Y M N\n"), trained, labelled=True)
    assert (gold.items, gold.labels) == ([("Q", "b")], ["Y"])
    (tagging,) = read_like(io.StringIO("b Q\n"), trained)
    assert (tagging.items, tagging.labels) == ([("Q", "b")], None)
    (other,) = read_like(io.StringIO("b Q Y M\n"), trained, labelled=True, label=3, inputs=[0, 1])
    assert (other.items, other.labels) == ([("b", "Q")], ["M"])


def test_like_training_in_another_format() -> None:
    trained = read_sentences(io.StringIO("a/X\n")).layout
    assert (trained.format, trained.n_inputs) == ("slashed", 1)
    (gold,) = read_like(io.StringIO("b Q Y\n"), trained, labelled=True)
    assert (gold.items, gold.labels) == (["b"], ["Y"])
    (gold,) = read_like(io.StringIO("a/X b/Y\n"), trained, labelled=True)
    assert (gold.items, gold.labels) == (["a", "b"], ["X", "Y"])
    (conllu,) = read_like(io.StringIO(CONLLU + "\n"), trained, labelled=True)
    assert (conllu.items, conllu.labels) == (["He"], ["PRON"])
    plain = read_like(io.StringIO("and/or so\n"), trained)
    assert plain.layout.format == "plain"
    assert next(plain).items == ["and/or", "so"]


def test_a_model_of_two_columns_cannot_tag_plain_text() -> None:
    trained = Layout("columns", 2, (0, 1), (), 3)
    message = (
        r"found plain text, expected 2 columns for each word, as in training \(0, 1\): those after the word are miss"
    )
    with pytest.raises(DataError, match=message):
        read_like(io.StringIO("The dog barks\n"), trained, format="plain")
    for text in ("The dog barks loud\n", "The dog\nbarks\n", "De minister Jan Peeters woont in Gent .\nHij is .\n"):
        with pytest.raises(DataError, match=message):
            read_like(io.StringIO(text), trained)
    with pytest.raises(DataError, match=r"<stream>:2: found 1 column in 'barks', expected 2 as on the first line"):
        list(read_like(io.StringIO("The dog\nbarks\n"), trained, format="columns"))


@pytest.mark.parametrize("format", ["columns", "conllu", "slashed", "plain", "crfsuite", "auto"])
def test_tagging_nothing_gives_nothing(format: str) -> None:
    assert list(read_like(io.StringIO(""), Layout("columns", 1), format=format)) == []


CORPORA = [
    ("ewt/en_ewt-ud-dev.conllu", 2001, 25147, "conllu", None),
    ("wsj-sample/dev.tsv", 400, 9495, "columns", None),
    ("conll2002/esp.testa", 1915, 52923, "columns", "iob2"),
    ("conll2000/test.txt", 2012, 47377, "columns", "iob2"),
]


@pytest.mark.skipif(not DATA.is_dir(), reason="the corpora are not here (set TAGWRIGHT_DATA)")
@pytest.mark.parametrize(("path", "n_sentences", "n_words", "format", "scheme"), CORPORA)
def test_real_corpora(path: str, n_sentences: int, n_words: int, format: str, scheme: str | None) -> None:
    reading = read_sentences(DATA / path)
    assert reading.layout.format == format
    sentences = list(reading)
    assert len(sentences) == n_sentences
    assert sum(len(sentence.items) for sentence in sentences) == n_words
    assert detect_scheme([sentence.labels or [] for sentence in sentences]) == scheme
    if format == "conllu":
        stream = io.StringIO()
        for sentence in sentences:
            write_sentence(stream, sentence, sentence.labels or [], reading.layout)
        assert stream.getvalue().encode() == (DATA / path).read_bytes()


@pytest.mark.parametrize(
    ("text", "options"), [("a X\nb Y\n\na X\nb Y\n", {}), ("a b X\nc d Y\n\na b X\nc d Y\n", {"n_inputs": 2})]
)
def test_what_occurs_again_is_one_object(text: str, options: dict[str, Any]) -> None:
    """A string takes more room than all that training makes of a token."""
    X, y = read_sentences(io.StringIO(text), format="columns", **options).collect()
    assert X[0] == X[1]
    assert all(a is b for a, b in zip(X[0] + y[0], X[1] + y[1], strict=True))
    assert X[0] is not X[1]
