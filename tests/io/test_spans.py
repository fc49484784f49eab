"""Spans and labels, against definitions that try everything."""

from __future__ import annotations

from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tagwright.errors import DataError
from tagwright.io import Span, allowed_transitions, convert, detect_scheme, read_spans, write_spans
from tagwright.io.spans import SCHEMES

ALPHABETS = {
    "iob1": ["O", "B-X", "I-X", "B-Y", "I-Y"],
    "iob2": ["O", "B-X", "I-X", "B-Y", "I-Y"],
    "iobes": ["O", "B-X", "I-X", "E-X", "S-X", "B-Y", "I-Y", "E-Y", "S-Y"],
    "bilou": ["O", "B-X", "I-X", "L-X", "U-X", "B-Y", "I-Y", "L-Y", "U-Y"],
}


def all_segmentations(length: int) -> list[list[Span]]:
    """Every list of spans of types X and Y in a sentence."""
    if length == 0:
        return [[]]
    found = list(all_segmentations(length - 1))  # the last word is outside
    for start in range(length):
        for spans in all_segmentations(start):
            found += [[*spans, Span(start, length, kind)] for kind in "XY"]
    return found


def label_of(t: int, spans: list[Span], scheme: str) -> str:
    """The label of one word, by the definition of the scheme."""
    for span in spans:
        if span.start <= t < span.end:
            first, last = t == span.start, t == span.end - 1
            touches = any(s.end == span.start and s.type == span.type for s in spans)
            if scheme == "iob1":
                prefix = "B" if first and touches else "I"
            elif scheme == "iob2":
                prefix = "B" if first else "I"
            else:
                single, end = {"iobes": ("S", "E"), "bilou": ("U", "L")}[scheme]
                prefix = single if first and last else "B" if first else end if last else "I"
            return f"{prefix}-{span.type}"
    return "O"


def conlleval_spans(labels: list[str]) -> list[Span]:
    """The rules of conlleval.pl (startOfChunk, endOfChunk), with S, U and L as S and E, pair by pair."""
    pairs = [(label[0].translate(str.maketrans("LU", "ES")), label[2:]) for label in labels]
    spans: list[Span] = []
    start = 0
    previous, previous_type = "O", ""
    for t, (tag, kind) in enumerate([*pairs, ("O", "")]):
        ends = (previous + tag) in {"BB", "BO", "IB", "IO", "EE", "EI", "EO", "EB", "BS", "IS"} or previous == "S"
        ends |= previous == "E"
        ends |= previous != "O" and previous_type != kind
        begins = (previous + tag) in {"BB", "IB", "OB", "OI", "EE", "EI", "OE", "EB"} or tag == "S"
        begins |= previous == "S" and tag != "O"
        begins |= tag != "O" and previous_type != kind
        if ends:
            spans.append(Span(start, t, previous_type))
        if begins:
            start = t
        previous, previous_type = tag, kind
    return spans


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("length", range(6))
def test_every_segmentation_there_and_back(scheme: str, length: int) -> None:
    written = set()
    for spans in all_segmentations(length):
        labels = write_spans(reversed(spans), length, scheme)
        assert labels == [label_of(t, spans, scheme) for t in range(length)]
        assert read_spans(labels, scheme) == spans
        assert read_spans(labels) == spans
        written.add(tuple(labels))
    assert len(written) == len(all_segmentations(length))


@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_label_sequence_is_read_as_conlleval_reads_it(scheme: str) -> None:
    for length in range(5 if len(ALPHABETS[scheme]) > 5 else 6):
        for labels in map(list, product(ALPHABETS[scheme], repeat=length)):
            assert read_spans(labels, scheme) == conlleval_spans(labels), labels


@pytest.mark.parametrize("scheme", SCHEMES)
def test_allowed_paths_are_those_that_can_be_written(scheme: str) -> None:
    alphabet = ALPHABETS[scheme]
    allowed, start, stop = allowed_transitions(alphabet, scheme)
    assert allowed.shape == (len(alphabet), len(alphabet))
    assert all(mask.dtype == np.dtype(bool) for mask in (allowed, start, stop))
    for length in range(1, 5):
        good = {tuple(write_spans(spans, length, scheme)) for spans in all_segmentations(length)}
        for path in product(range(len(alphabet)), repeat=length):
            steps = all(allowed[p, c] for p, c in pairwise(path))
            is_allowed = bool(start[path[0]] and steps and stop[path[-1]])
            assert is_allowed == (tuple(alphabet[y] for y in path) in good), [alphabet[y] for y in path]


@pytest.mark.parametrize("source", SCHEMES)
@pytest.mark.parametrize("target", SCHEMES)
def test_convert(source: str, target: str) -> None:
    for spans in all_segmentations(4):
        expected = [label_of(t, spans, target) for t in range(4)]
        assert convert([label_of(t, spans, source) for t in range(4)], source, target) == expected


@pytest.mark.parametrize(
    ("labels", "spans"),
    [
        (["O", "I-PER", "I-PER"], [(1, 3, "PER")]),
        (["B-PER", "I-LOC"], [(0, 1, "PER"), (1, 2, "LOC")]),
        (["B-X", "B-X"], [(0, 1, "X"), (1, 2, "X")]),
        (["E-X", "E-X", "I-X"], [(0, 1, "X"), (1, 2, "X"), (2, 3, "X")]),
        (["B-X", "S-X", "I-X"], [(0, 1, "X"), (1, 2, "X"), (2, 3, "X")]),
        (["B-some-type", "I-some-type"], [(0, 2, "some-type")]),
        (["B", "I", "O", "I"], [(0, 2, ""), (3, 4, "")]),
        (["B-X", "M-X", "E-X", "S-X"], [(0, 3, "X"), (3, 4, "X")]),
        ([], []),
    ],
)
def test_lenient_reading(labels: list[str], spans: list[tuple[int, int, str]]) -> None:
    assert read_spans(labels) == spans


def test_labels_without_a_type_are_written_without_a_hyphen() -> None:
    assert write_spans([Span(0, 2, ""), Span(2, 3, "")], 4, "iob2") == ["B", "I", "B", "O"]


@pytest.mark.parametrize(
    ("labels", "scheme"),
    [
        ([["O", "B-X", "I-X"]], "iob2"),
        ([["O", "I-X", "I-X"]], "iob1"),
        ([["O", "B-X", "O"]], "iob2"),
        ([["I-X", "B-X", "O"], ["I-Y"]], "iob1"),
        ([["B-X", "I-X", "B-X", "B-Y"], ["O", "I-X"]], "iob2"),  # one mistake
        ([["I-X", "I-Y", "B-Y", "I-X"], ["O", "B-X"]], "iob1"),  # one mistake
        ([["B-X", "E-X"], ["O"]], "iobes"),
        ([["S-X", "O"]], "iobes"),
        ([["B-X", "M-X"]], "iobes"),
        ([["B-X", "L-X"]], "bilou"),
        ([["U-X"]], "bilou"),
        ([["S-X", "U-X"]], None),
        ([["B", "I", "O"]], "iob2"),
        ([["NN", "VB"], ["O"]], None),
        ([["B-X", "NN"]], None),
        ([["O", "O"], []], None),
        ([], None),
        ([["B-", "O"]], None),
        ([["O-X", "B-X"]], None),
        (["O", "B-X", "I-X"], "iob2"),  # one sentence
        (["O", "I-X"], "iob1"),
        ({"O", "B-X", "I-X"}, "iob2"),
        ({"O", "I-X", "I-Y"}, "iob1"),
        ({"O", "S-X", "B-X"}, "iobes"),
        ({"NN", "O"}, None),
        (frozenset({"O"}), None),
    ],
)
def test_detect_scheme(labels: Any, scheme: str | None) -> None:
    assert detect_scheme(labels) == scheme


spans_and_length = st.lists(
    st.tuples(st.integers(0, 3), st.integers(1, 4), st.sampled_from(["PER", "LOC", "", "a-b"])), max_size=8
)


@given(spans_and_length, st.integers(0, 3), st.sampled_from(SCHEMES))
def test_long_sentences_there_and_back(gaps: list[tuple[int, int, str]], tail: int, scheme: str) -> None:
    spans, end = [], 0
    for gap, size, kind in gaps:
        spans.append(Span(end + gap, end + gap + size, kind))
        end = spans[-1].end
    assert read_spans(write_spans(spans, end + tail, scheme), scheme) == spans


@given(st.lists(st.lists(st.sampled_from(ALPHABETS["iobes"]), max_size=6), max_size=6))
def test_written_corpora_are_detected(corpus: list[list[str]]) -> None:
    spans = [read_spans(labels) for labels in corpus]
    lengths = [len(labels) for labels in corpus]
    has_single = any(s.end - s.start == 1 for sentence in spans for s in sentence)
    has_long = any(s.end - s.start > 1 for sentence in spans for s in sentence)
    for scheme in SCHEMES:
        found = detect_scheme([write_spans(s, n, scheme) for s, n in zip(spans, lengths)])
        assert found == (scheme if has_single or has_long else None)


@pytest.mark.parametrize(
    "spans", [[Span(0, 2, "X"), Span(1, 3, "X")], [Span(2, 2, "X")], [Span(-1, 1, "X")], [Span(3, 5, "X")]]
)
def test_spans_that_cannot_be_written(spans: list[Span]) -> None:
    with pytest.raises(DataError, match="do not overlap"):
        write_spans(spans, 4, "iob2")


def test_labels_that_are_not_spans() -> None:
    with pytest.raises(DataError, match="found 'NN', expected O, or a prefix") as caught:
        read_spans(["O", "NN"])
    assert caught.value.location == "labels[1]"
    with pytest.raises(DataError, match="found 'S-X', expected a label of iob2"):
        read_spans(["S-X"], "iob2")
    with pytest.raises(DataError, match="found 'NN', expected a label of iobes"):
        allowed_transitions(["O", "NN"], "iobes")


def test_unknown_scheme() -> None:
    for call in (lambda: read_spans([], "iob3"), lambda: write_spans([], 0, "auto"), lambda: convert([], "auto", "x")):
        with pytest.raises(DataError, match="expected one of iob1"):
            call()
