"""JSON lines: words and labels in lists of one object per line. The oracle is Python's own reader of JSON."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tagwright.errors import DataError
from tagwright.io import Layout, detect_format, read_like, read_sentences, write_nbest, write_sentence
from tagwright.sequence import Sentence

FIRST = '{"id": 7, "tokens": ["The", "dog"], "tags": ["DT", "NN"]}'
TWO = '{"words": ["a", "b"], "pos": ["X", "Y"], "ner": ["O", "B-A"], "spans": [1]}'


def read(text: str, **options: Any) -> list[Sentence]:
    return list(read_sentences(io.StringIO(text), format="jsonl", **options))


def refused(text: str, **options: Any) -> str:
    with pytest.raises(DataError) as caught:
        read(text, **options)
    return str(caught.value)


@pytest.mark.parametrize(
    ("lines", "options"),
    [
        ([FIRST], {}),
        ([FIRST], {"labelled": False}),
        (["  " + FIRST, FIRST], {"labelled": False}),
        (['{"a/b": 1}'], {"separator": "/"}),
        (["x"], {"name": "x.jsonl.gz"}),
        (["[" + FIRST + "]"], {}),
        (["[", FIRST], {}),
        (["{", '"tokens": ["a"],'], {"labelled": False}),
        (["[", " {", '  "tokens": ["a"],'], {"labelled": False}),
        ([' {"id" : 1, "tokens":'], {"labelled": False}),
        (['[["The", "DT"]]'], {"labelled": False}),
    ],
)
def test_it_is_detected(lines: list[str], options: dict[str, Any]) -> None:
    assert detect_format(lines, **options) == "jsonl"


@pytest.mark.parametrize("line", ["{ a }", '[ " a " ]', "[1]/CD", '{"/` x/Y', "[ ["])
def test_brackets_alone_are_no_json(line: str) -> None:
    assert detect_format([line], labelled=False) != "jsonl"


def test_the_labels_are_in_the_only_other_list_of_that_length() -> None:
    sentences = read_sentences(io.StringIO(FIRST))
    assert sentences.layout == Layout("jsonl", 1, (0,), ("tokens",), 2, "tags")
    (sentence,) = sentences
    assert (sentence.items, sentence.labels, sentence.location) == (["The", "dog"], ["DT", "NN"], "<stream>:1")
    (sentence,) = read('{"s": ["x"], "words": ["a", "b"], "gold": ["Y", "Z"]}')
    assert (sentence.items, sentence.labels) == (["a", "b"], ["Y", "Z"])
    assert "<stream>:2: found several lists that may be labels among the keys words, pos, ner" in refused("\n" + TWO)
    assert "found no list of labels among the keys tokens" in refused('{"tokens": ["a"]}')


def test_keys_are_chosen_as_columns_are() -> None:
    (sentence,) = read(TWO, label="ner", inputs=["words", "pos"])
    assert (sentence.items, sentence.labels) == ([("a", "X"), ("b", "Y")], ["O", "B-A"])
    assert "nothing is called 'NER': found the keys words, pos" in refused(TWO, label="NER")
    assert "'pos' is asked for as an input and as the label" in refused(TWO, label="pos", inputs=["words", "pos"])
    assert "say which keys they have (--inputs KEY)" in refused('{"text": "The dog"}')
    assert "expected 2 lists for each sentence; say which keys they have (--inputs tokens,pos)" in refused(
        TWO, n_inputs=2
    )


def test_a_model_finds_the_keys_of_training() -> None:
    trained = Layout("jsonl", 2, (0, 1), ("words", "pos"), 3, "ner")
    found = read_like(io.StringIO(TWO), trained, labelled=True)
    assert next(found).labels == ["O", "B-A"]
    turned = '{"ner": ["O"], "pos": ["X"], "words": ["a"], "tags": ["no"]}'
    found = read_like(io.StringIO(turned), trained)
    assert (next(found).items, found.layout.label_name) == ([("a", "X")], "ner")
    with pytest.raises(DataError, match=r"expected 2 lists for each sentence, as in training \(0 words, 1 pos\)"):
        read_like(io.StringIO(FIRST), trained)
    other = read_like(io.StringIO(TWO), Layout("columns", 1), label="pos", labelled=True)
    assert next(other).labels == ["X", "Y"]


def write(text: str, labels: list[str], **options: Any) -> list[str]:
    sentences = read_like(io.StringIO(text), Layout("plain"), **options)
    stream = io.StringIO(newline="")
    for sentence in sentences:
        write_sentence(stream, sentence, labels[: len(sentence)], sentences.layout)
    return stream.getvalue().split("\n")


def test_labels_are_written_beside_what_was_there() -> None:
    assert json.loads(write(FIRST, ["A", "B"])[0]) == json.loads(FIRST) | {"tags": ["A", "B"]}
    assert [*json.loads(write(TWO, ["A", "B"])[0])] == ["words", "pos", "ner", "spans", "tags"]
    assert json.loads(write(TWO, ["A", "B"], label="new")[0])["new"] == ["A", "B"]
    assert json.loads(write(TWO, ["A", "B"], label="pos")[0])["pos"] == ["A", "B"]
    text = '\n{"tokens": []}\n{"tokens": ["é\\ud83d\\ude00"], "n": 12345678901234567890, "x": 0.1, "y": null}\r\n'
    assert write(text, ["A"]) == [
        "",
        '{"tokens": [], "tags": []}',
        '{"tokens": ["é😀"], "n": 12345678901234567890, "x": 0.1, "y": null, "tags": ["A"]}',
        "",
    ]


def test_probabilities_and_ranks_are_members() -> None:
    sentences = read_sentences(io.StringIO("\n" + FIRST))
    sentence = next(sentences)
    stream = io.StringIO()
    write_sentence(stream, sentence, ["A", "B"], sentences.layout, marginals=[1.0, 0.12345])
    write_nbest(stream, sentence, [(["A", "B"], 0.75), (["B", "B"], 0.25)], sentences.layout)
    blank, marginals, *ranked = stream.getvalue().split("\n")[:-1]
    assert (blank, json.loads(marginals)["probabilities"]) == ("", [1.0, 0.1235])  # as other formats round it
    assert [json.loads(line)["rank"] for line in ranked] == [1, 2]
    assert json.loads(ranked[1]) == json.loads(FIRST) | {"tags": ["B", "B"], "rank": 2, "probability": 0.25}


def test_sentences_of_other_formats_are_written_from_their_items() -> None:
    stream = io.StringIO()
    write_sentence(stream, Sentence(["a b", "c"]), ["X", "Y"], Layout("jsonl"))
    write_sentence(stream, Sentence([("a", "b")]), ["X"], Layout("jsonl", 2, (0, 1), ("word", "pos"), 3, "ner"))
    assert [json.loads(line) for line in stream.getvalue().splitlines()] == [
        {"tokens": ["a b", "c"], "tags": ["X", "Y"]},
        {"word": ["a"], "pos": ["b"], "ner": ["X"]},
    ]


def test_a_long_sentence_needs_no_white_space() -> None:
    """Compact JSON was called an overlong word."""
    record = {"tokens": ["a"] * 30_000, "tags": ["X"] * 30_000}
    (sentence,) = read(json.dumps(record, separators=(",", ":")))
    assert len(sentence) == 30_000


def test_objects_without_words_are_not_learned_from() -> None:
    assert [len(sentence) for sentence in read(FIRST + '\n{"tokens": [], "tags": []}\n' + FIRST)] == [2, 2]
    assert "found no sentences" in refused('{"tokens": [], "tags": []}')


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"tokens": ["a", "tags": ["X"]}', "expected a JSON object, whole on its line (Expecting"),
        ("[" + FIRST + "]", "expected a JSON object such as {"),
        ("{", "write each object on a line of its own, for example with: jq -c ."),
        ("nonsense", "expected a JSON object, whole on its line"),
        ('{"tokens": "a b", "tags": ["X"]}', "found str as 'tokens' among the keys tokens, tags"),
        ('{"words": ["a"], "tags": ["X"]}', "found no 'tokens' among the keys words, tags; expected a list of strings"),
        ('{"tokens": ["a"]}', "found no 'tags' among the keys tokens"),
        ('{"tokens": ["a", "b"], "tags": ["X"]}', "found 2 in 'tokens' and 1 in 'tags', expected as many"),
        ('{"tokens": ["a"], "tags": [3]}', "tags[0] is 3, expected a string; write the names that numbers stand for"),
        ('{"tokens": ["a"], "tags": [null]}', "tags[0] is null, expected a string; correct the line"),
        ('{"tokens": [""], "tags": ["X"]}', "tokens[0] is empty"),
        ('{"tokens": ["a"], "tags": [""]}', "tags[0] is empty"),
        ('{"tokens": ["a\\u0000"], "tags": ["X"]}', "tokens[0] is empty, has a NUL"),
        ('{"tokens": ["' + "a " * 40_000 + '"], "tags": ["X"]}', "more than 65,536 characters"),
        ('{"tokens": ["\\ud800"], "tags": ["X"]}', "found an escape of half a character"),
        ('{"tokens": ["a"], "tags": ["X"], "\\uDFFF": 1}', "found an escape of half a character"),
        ('{"tokens": ["a"], "tags": ["X"], "n": NaN}', "NaN is not a number of JSON"),
        ('{"tokens": ["a"], "tags": ["X"], "n": 1e999}', "the number 1e999 is too large"),
        ('{"tokens": ["a"], "tags": ["X"], "n": ' + "1" * 5000 + "}", "found JSON that cannot be used"),
        ('{"tokens": ["a"], "tags": ["X"], "n": ' + "[" * 30_000 + "}", "found JSON that cannot be used"),
    ],
)
def test_bad_lines_are_named(line: str, message: str) -> None:
    found = refused(f"{FIRST}\n\n{line}\n")
    assert found.startswith("<stream>:3: ")
    assert message in found


texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=9)
members = st.recursive(st.none() | st.booleans() | st.integers() | texts, st.lists, max_leaves=5)


@given(st.lists(st.tuples(texts, texts), min_size=1, max_size=5), st.dictionaries(texts, members), st.booleans())
def test_what_json_holds_goes_through(pairs: list[tuple[str, str]], more: dict[str, Any], ascii: bool) -> None:
    words, labels = map(list, zip(*pairs))
    record = more | {"tokens": words, "tags": labels}
    text = json.dumps(record, ensure_ascii=ascii) + "\n"
    sentences = read_sentences(io.StringIO(text, newline=""), format="jsonl", label="tags")
    sentence = next(sentences)
    assert (sentence.items, sentence.labels) == (words, labels)
    stream = io.StringIO(newline="")
    write_sentence(stream, sentence, labels[::-1], sentences.layout)
    assert json.loads(stream.getvalue()) == record | {"tags": labels[::-1]}
