"""Scores against their definitions, and against what conlleval.pl (version 2004-01-26) printed for the same labels."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Callable, Sequence
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tagwright.errors import DataError, ParameterError
from tagwright.metrics import SpanScores, conlleval, evaluate, score_spans

# --- what the perl script printed -------------------------------------------------------------------------------------

RECORDED: dict[str, tuple[str, str, str]] = {
    "iob2": (
        "B-NP I-NP O B-VP | B-NP B-NP O B-PP I-PP",
        "B-NP I-NP O B-NP | B-NP I-NP O B-PP I-PP",
        """
processed 9 tokens with 5 phrases; found: 4 phrases; correct: 2.
accuracy:  77.78%; precision:  50.00%; recall:  40.00%; FB1:  44.44
               NP: precision:  33.33%; recall:  33.33%; FB1:  33.33  3
               PP: precision: 100.00%; recall: 100.00%; FB1: 100.00  1
               VP: precision:   0.00%; recall:   0.00%; FB1:   0.00  0
""",
    ),
    "iob1 and a chunk begun by I": (
        "I-PER I-PER O I-LOC B-LOC | O I-PER",
        "I-PER O O B-LOC I-LOC | I-ORG I-PER",
        """
processed 7 tokens with 4 phrases; found: 4 phrases; correct: 1.
accuracy:  42.86%; precision:  25.00%; recall:  25.00%; FB1:  25.00
              LOC: precision:   0.00%; recall:   0.00%; FB1:   0.00  1
              ORG: precision:   0.00%; recall:   0.00%; FB1:   0.00  1
              PER: precision:  50.00%; recall:  50.00%; FB1:  50.00  2
""",
    ),
    "change of type inside a chunk": (
        "B-PER I-LOC I-LOC O B-LOC",
        "B-PER I-LOC I-PER O I-LOC",
        """
processed 5 tokens with 3 phrases; found: 4 phrases; correct: 2.
accuracy:  60.00%; precision:  50.00%; recall:  66.67%; FB1:  57.14
              LOC: precision:  50.00%; recall:  50.00%; FB1:  50.00  2
              PER: precision:  50.00%; recall: 100.00%; FB1:  66.67  2
""",
    ),
    "chunks at a sentence boundary": (
        "O B-X | I-X O | I-X I-X",
        "O B-X | B-X I-X | I-X I-X",
        """
processed 6 tokens with 3 phrases; found: 3 phrases; correct: 2.
accuracy:  66.67%; precision:  66.67%; recall:  66.67%; FB1:  66.67
                X: precision:  66.67%; recall:  66.67%; FB1:  66.67  3
""",
    ),
    "ioe2 and e before b": (
        "I-X E-X E-X O I-Y E-Y B-Y E-Y",
        "I-X E-X I-X O I-Y E-Y I-Y E-Y",
        """
processed 8 tokens with 3 phrases; found: 4 phrases; correct: 2.
accuracy:  75.00%; precision:  50.00%; recall:  66.67%; FB1:  57.14
                X: precision: 100.00%; recall: 100.00%; FB1: 100.00  2
                Y: precision:   0.00%; recall:   0.00%; FB1:   0.00  2
""",
    ),
    "iobes": (
        "S-X S-X B-X E-X O S-Y B-X",
        "S-X S-X B-X E-X O S-Y S-X",
        """
processed 7 tokens with 3 phrases; found: 3 phrases; correct: 3.
accuracy:  85.71%; precision: 100.00%; recall: 100.00%; FB1: 100.00
                X: precision: 100.00%; recall: 100.00%; FB1: 100.00  2
                Y: precision: 100.00%; recall: 100.00%; FB1: 100.00  1
""",
    ),
    "brackets": (
        "[-X ]-X [-X I-X O ]-Y",
        "[-X ]-X B-X I-X O [-Y",
        """
processed 6 tokens with 4 phrases; found: 3 phrases; correct: 3.
accuracy:  66.67%; precision: 100.00%; recall:  75.00%; FB1:  85.71
                X: precision: 100.00%; recall:  66.67%; FB1:  80.00  2
                Y: precision: 100.00%; recall: 100.00%; FB1: 100.00  1
""",
    ),
    "dots and typed outsides": (
        ".-X I-X O-X I-X .-Y B-Y",
        ".-X I-X O I-X .-X B-Y",
        """
processed 6 tokens with 1 phrases; found: 2 phrases; correct: 0.
accuracy:  66.67%; precision:   0.00%; recall:   0.00%; FB1:   0.00
                X: precision:   0.00%; recall:   0.00%; FB1:   0.00  1
                Y: precision:   0.00%; recall:   0.00%; FB1:   0.00  1
""",
    ),
    "hyphens in types and no types": (
        "B-A-B I-A-B B I O B-0",
        "B-A-B I-A B I O B",
        """
processed 6 tokens with 3 phrases; found: 4 phrases; correct: 2.
accuracy:  83.33%; precision:  50.00%; recall:  66.67%; FB1:  57.14
                 : precision: 100.00%; recall: 100.00%; FB1: 100.00  2
                A: precision:   0.00%; recall:   0.00%; FB1:   0.00  1
              A-B: precision:   0.00%; recall:   0.00%; FB1:   0.00  1
""",
    ),
    "nothing found": (
        "B-X I-X O",
        "O O O",
        """
processed 3 tokens with 1 phrases; found: 0 phrases; correct: 0.
accuracy:  33.33%; precision:   0.00%; recall:   0.00%; FB1:   0.00
                X: precision:   0.00%; recall:   0.00%; FB1:   0.00  0
""",
    ),
    "odd prefixes left open": (
        "B-X S O | S M | O",
        "B-X S O | S B | O",
        """
processed 6 tokens with 2 phrases; found: 2 phrases; correct: 1.
accuracy:  83.33%; precision:  50.00%; recall:  50.00%; FB1:  50.00
                 : precision:   0.00%; recall:   0.00%; FB1:   0.00  1
                X: precision: 100.00%; recall: 100.00%; FB1: 100.00  1
""",
    ),
    "seven of nine": (
        "B-LOC O B-LOC O B-LOC O B-LOC O B-LOC O B-LOC O B-LOC O B-LOC O B-LOC",
        "B-LOC O B-LOC O B-LOC O B-LOC O B-LOC O B-LOC O B-LOC O O O B-PER",
        """
processed 17 tokens with 9 phrases; found: 8 phrases; correct: 7.
accuracy:  88.24%; precision:  87.50%; recall:  77.78%; FB1:  82.35
              LOC: precision: 100.00%; recall:  77.78%; FB1:  87.50  7
              PER: precision:   0.00%; recall:   0.00%; FB1:   0.00  1
""",
    ),
}

# Totals of the perl script's counts over 400 random cases per alphabet, and a digest of all it printed.
RECORDED_TOTALS: dict[str, tuple[int, int, int, str]] = {
    "BIO": (5112, 5130, 2769, "0c518abbb839cf68"),
    "BIEO": (5493, 5449, 2920, "74dead8b3eea7341"),
    "BIESO": (5194, 5215, 2768, "923af71f27654eb4"),
    "BIEO[]": (5886, 5922, 3040, "54b5eba2e260b5c7"),
    "BIESO[].LUM": (5234, 5264, 2508, "49b01745048c8744"),
}


def parse(text: str) -> list[list[str]]:
    return [sentence.split() for sentence in text.split("|")]


@pytest.mark.parametrize("name", RECORDED)
def test_conlleval_prints_what_the_script_printed(name: str) -> None:
    gold, predicted, table = RECORDED[name]
    assert conlleval(parse(gold), parse(predicted)).format() == table.strip("\n")


def random_cases(prefixes: str, n: int = 400) -> list[tuple[list[list[str]], list[list[str]]]]:
    """Ill-formed label sequences, the prediction a corrupted copy. Uses only random(), which never changes."""
    generator = random.Random(prefixes)
    types = ("A", "B", "C-x", "", "0", None)

    def pick(n: int) -> int:
        return int(generator.random() * n)

    def label() -> str:
        prefix, kind = prefixes[pick(len(prefixes))], types[pick(8) % 6]
        return prefix if kind is None or (prefix == "O" and pick(4)) else f"{prefix}-{kind}"

    cases = []
    for _ in range(n):
        gold = [[label() for _ in range(1 + pick(12))] for _ in range(1 + pick(5))]
        keep = generator.random()
        predicted = [[old if generator.random() < keep else label() for old in sentence] for sentence in gold]
        cases.append((gold, predicted))
    return cases


@pytest.mark.parametrize("prefixes", RECORDED_TOTALS)
def test_conlleval_agrees_with_the_script_on_random_labels(prefixes: str) -> None:
    scores = [conlleval(gold, predicted) for gold, predicted in random_cases(prefixes)]
    text = "\n".join(score.format() for score in scores)
    totals = (sum(s.gold for s in scores), sum(s.predicted for s in scores), sum(s.correct for s in scores))
    assert (*totals, hashlib.sha256(text.encode()).hexdigest()[:16]) == RECORDED_TOTALS[prefixes]


def test_f1_is_rounded_as_the_script_rounded_it() -> None:
    """Both F1 are ties, 3.125 and 21.875, but not in floating point: the script printed 3.13 and 21.87."""
    up = conlleval([["B-X"] + ["O"] * 62], [["B-X"] * 63])
    down = conlleval([["B-X"] * 11 + ["O"] * 46], [["B-X"] * 7 + ["O"] * 4 + ["B-X"] * 46])
    assert up.format().split("\n")[1] == "accuracy:   1.59%; precision:   1.59%; recall: 100.00%; FB1:   3.13"
    assert down.format().split("\n")[1] == "accuracy:  12.28%; precision:  13.21%; recall:  63.64%; FB1:  21.87"


def test_scores_of_a_small_case() -> None:
    scores = conlleval([["B-PER", "I-PER", "O", "B-LOC"]], [["B-PER", "I-PER", "B-LOC", "B-LOC"]])
    assert (scores.gold, scores.predicted, scores.correct) == (2, 3, 2)
    assert scores.precision == pytest.approx(200 / 3)
    assert scores.recall == 100.0
    assert scores.f1 == pytest.approx(80.0)
    assert scores.accuracy == 75.0
    assert scores.types["LOC"].f1 == pytest.approx(200 / 3)


# --- spans by definition ----------------------------------------------------------------------------------------------

Span = tuple[int, int, str]
Score = Callable[[Sequence[Sequence[str]], Sequence[Sequence[str]]], SpanScores]


def spans_where(labels: list[str], is_new: Callable[[str, str], bool]) -> set[Span]:
    """Chunks token by token. One begins outside another, at a new type, or where is_new(previous, current prefix)."""
    spans, start = set(), 0
    for place, (previous, current) in enumerate(pairwise(["O", *labels, "O"])):
        if previous[1:] == current[1:] and not is_new(previous[0], current[0]):
            continue
        if previous != "O":
            spans.add((start, place, previous[2:]))
        start = place
    return spans


def new_in_conlleval(previous: str, current: str) -> bool:
    """B after B or I; anything but B after E."""
    return (previous == "E") != (current == "B")


def new_in_all_schemes(previous: str, current: str) -> bool:
    """A first or only token begins a chunk, a last or only token ends one."""
    return current in "BSU" or previous in "ESLU"


def sentences_of(labels: list[str]) -> st.SearchStrategy[list[tuple[list[str], list[str]]]]:
    """Sentences of (gold, predicted) labels; predictions agree with gold in about half of the tokens."""
    label = st.sampled_from(labels)
    token = st.one_of(label.map(lambda x: (x, x)), st.tuples(label, label))
    sentence = st.lists(token, min_size=1, max_size=10).map(
        lambda pairs: ([g for g, _ in pairs], [p for _, p in pairs])
    )
    return st.lists(sentence, min_size=1, max_size=4)


def assert_common_spans(scores: SpanScores, pairs: list[tuple[set[Span], set[Span]]]) -> None:
    counts = [sum(map(len, column)) for column in zip(*((g, p, g & p) for g, p in pairs))]
    assert [scores.gold, scores.predicted, scores.correct] == counts
    assert set(scores.types) == {kind for pair in pairs for side in pair for _, _, kind in side}
    for kind, row in scores.types.items():
        of_kind = [[{span for span in side if span[2] == kind} for side in pair] for pair in pairs]
        counts = [sum(map(len, column)) for column in zip(*((g, p, g & p) for g, p in of_kind))]
        assert [row.gold, row.predicted, row.correct] == counts


@settings(deadline=None)
@given(sentences_of(["O", "B-X", "I-X", "E-X", "B-Y", "I-Y", "E-Y"]))
def test_correct_spans_are_the_common_ones(sentences: list[tuple[list[str], list[str]]]) -> None:
    pairs = [(spans_where(g, new_in_conlleval), spans_where(p, new_in_conlleval)) for g, p in sentences]
    assert_common_spans(conlleval([g for g, _ in sentences], [p for _, p in sentences]), pairs)


@pytest.mark.parametrize(
    ("score", "prefixes", "is_new"),
    [
        (conlleval, "BIE", new_in_conlleval),
        (score_spans, "BIES", new_in_all_schemes),
        (score_spans, "BILU", new_in_all_schemes),
    ],
)
def test_every_pair_of_neighbours(score: Score, prefixes: str, is_new: Callable[[str, str], bool]) -> None:
    labels = ["O", *(f"{prefix}-{kind}" for kind in ("X", "Y", "") for prefix in prefixes)]
    sentences = {pair: spans_where(list(pair), is_new) for pair in product(labels, repeat=2)}
    gold, predicted = zip(*product(sentences, repeat=2))
    assert_common_spans(score(gold, predicted), [(sentences[g], sentences[p]) for g, p in zip(gold, predicted)])


@st.composite
def span_lists(draw: st.DrawFn) -> tuple[int, list[Span], list[Span]]:
    """A sentence length and two lists of spans, many of them shared and many side by side."""
    sides: list[list[Span]] = [[], []]
    place = 0
    for size, gap, kind, where in draw(
        st.lists(st.tuples(st.integers(1, 3), st.integers(0, 1), st.sampled_from("XY"), st.integers(0, 3)), max_size=6)
    ):
        for side in (0, 1):
            if where in (side, 2, 3):
                sides[side].append((place, place + size, kind))
        place += size + gap
    return place + 1, sides[0], sides[1]


def encode(length: int, spans: list[Span], scheme: str) -> list[str]:
    """Well-formed labels; a scheme is its letters for first, inner, last and only token of a span."""
    first, inner, last, only = list(scheme)
    labels = ["O"] * length
    for start, end, kind in spans:
        letters = only if end - start == 1 else first + inner * (end - start - 2) + last
        labels[start:end] = [f"{letter}-{kind}" for letter in letters]
    return labels


@pytest.mark.parametrize("scheme", ["BIIB", "BIES", "BILU", "IIEE"])
@settings(deadline=None)
@given(case=span_lists())
def test_every_scheme_gives_the_same_spans(scheme: str, case: tuple[int, list[Span], list[Span]]) -> None:
    length, gold, predicted = case
    scores = score_spans([encode(length, gold, scheme)], [encode(length, predicted, scheme)])
    assert (scores.gold, scores.predicted) == (len(gold), len(predicted))
    assert scores.correct == len(set(gold) & set(predicted))


@settings(deadline=None)
@given(sentences_of(["O", "B-X", "I-X", "B-Y", "I-Y"]))
def test_score_spans_is_conlleval_on_iob_labels(sentences: list[tuple[list[str], list[str]]]) -> None:
    gold, predicted = [g for g, _ in sentences], [p for _, p in sentences]
    assert score_spans(gold, predicted) == conlleval(gold, predicted)


def test_conlleval_joins_single_token_spans_and_score_spans_does_not() -> None:
    labels = [["S-X", "S-X", "B-X", "E-X", "B-X", "E-X"]]
    assert conlleval(labels, labels).gold == 1
    assert score_spans(labels, labels).gold == 4
    assert evaluate(labels, labels).spans == score_spans(labels, labels)


# --- evaluate ---------------------------------------------------------------------------------------------------------


@settings(deadline=None)
@given(sentences_of(["N", "V", "D"]), st.sets(st.sampled_from(["N0", "V0", "D0", "N1"])))
def test_evaluate_by_definition(sentences: list[tuple[list[str], list[str]]], known: set[str]) -> None:
    gold, predicted = [g for g, _ in sentences], [p for _, p in sentences]
    tokens = [[f"{label}{i % 2}" for i, label in enumerate(sentence)] for sentence in gold]
    result = evaluate(gold, predicted, tokens=tokens, known=known)
    flat = [(g, p, w) for gs, ps, ws in zip(gold, predicted, tokens) for g, p, w in zip(gs, ps, ws)]

    def accuracy(hits: list[bool]) -> float | None:
        return 100 * sum(hits) / len(hits) if hits else None

    assert result.tokens == len(flat)
    assert result.sentences == len(gold)
    assert result.accuracy == accuracy([g == p for g, p, _ in flat])
    assert result.sentence_accuracy == accuracy([g == p for g, p in sentences])
    assert result.known_accuracy == accuracy([g == p for g, p, w in flat if w in known])
    assert result.unknown_accuracy == accuracy([g == p for g, p, w in flat if w not in known])
    assert result.spans is None
    assert result.f1 is None
    assert set(result.labels) == {label for g, p, _ in flat for label in (g, p)}
    for label, row in result.labels.items():
        assert row.support == sum(g == label for g, _, _ in flat)
        assert row.predicted == sum(p == label for _, p, _ in flat)
        assert row.correct == sum(g == p == label for g, p, _ in flat)
    labels, matrix = result.confusion
    assert labels == sorted(result.labels)
    expected = [[sum((g, p) == (row, column) for g, p, _ in flat) for column in labels] for row in labels]
    assert matrix.tolist() == expected
    assert np.issubdtype(matrix.dtype, np.integer)


def test_label_scores() -> None:
    row = evaluate([["N", "N", "N", "V"]], [["N", "N", "V", "N"]]).labels["N"]
    assert [row.precision, row.recall, row.f1] == pytest.approx([200 / 3] * 3)
    assert row.support == 3
    never = evaluate([["N"]], [["V"]]).labels
    assert [(row.precision, row.recall, row.f1) for row in never.values()] == [(0.0, 0.0, 0.0)] * 2


def test_known_may_be_a_test() -> None:
    arguments = ([["N", "V"]], [["N", "N"]])
    result = evaluate(*arguments, tokens=[["a", "b"]], known=lambda word: word == "a")
    assert (result.known_accuracy, result.unknown_accuracy) == (100.0, 0.0)
    assert result == evaluate(*arguments, tokens=[["a", "b"]], known={"a": 3})
    assert evaluate(*arguments, tokens=[["a", "b"]], known=set()).known_accuracy is None
    assert evaluate(*arguments, tokens=[["a", "b"]]).unknown_accuracy is None


@pytest.mark.parametrize(
    ("labels", "are_spans"),
    [
        ("O B-X I-X", True),
        ("U-X L-X", True),
        ("S-X E-X O", True),
        ("O O", False),
        ("N V", False),
        ("B-X N", False),
        ("B I O", False),
        ("[-X O", False),
    ],
)
def test_spans_are_scored_where_gold_has_spans(labels: str, are_spans: bool) -> None:
    gold = [labels.split()]
    result = evaluate(gold, [["N"] * len(gold[0])])
    assert (result.spans is not None) is are_spans
    assert (result.f1 is not None) is are_spans
    assert result.to_json()["f1"] == (0.0 if are_spans else None)


def test_json_is_plain() -> None:
    gold, predicted = [["B-X", "O"], ["O"]], [["B-X", "I-X"], ["O"]]
    data = evaluate(gold, predicted, tokens=[["a", "b"], ["a"]], known={"a"}).to_json()
    assert json.loads(json.dumps(data)) == data
    spans = data.pop("spans")
    labels = data.pop("labels")
    scores = {"tokens": 3, "sentences": 2, "accuracy": 200 / 3, "sentence_accuracy": 50.0}
    assert data == scores | {"known_accuracy": 100.0, "unknown_accuracy": 0.0, "f1": 0.0}
    row = {"precision": 0.0, "recall": 0.0, "f1": 0.0, "support": 1, "predicted": 1, "correct": 0}
    assert spans == row | {"accuracy": 200 / 3, "types": {"X": row}}
    assert list(labels) == ["O", "B-X", "I-X"]
    assert labels["O"]["precision"] == 100.0
    assert labels["O"]["recall"] == 50.0


REPORT = """\
1,003 tokens in 2 sentences; all scores in percent
accuracy           99.70
sentence accuracy   0.00
known words       100.00
unknown words       0.00
"""


def test_report() -> None:
    gold, predicted = [["N"] * 1001, ["V", "a-very-long-label"]], [["N"] * 1000 + ["V"], ["N", "N"]]
    tokens = [["w"] * 1000 + ["x"], ["x", "x"]]
    report = evaluate(gold, predicted, tokens=tokens, known={"w"}).format(60)
    assert report.startswith(REPORT)
    assert report[len(REPORT) :].split("\n") == [
        "",
        "label          precision      recall          F1     support",
        "N                  99.80       99.90       99.85       1,001",
        "V                   0.00        0.00        0.00           1",
        "a-very-long…        0.00        0.00        0.00           1",
        "",
        "gold              predicted              tokens % of errors",
        "N                 V                           1       33.33",
        "V                 N                           1       33.33",
        "a-very-long-label N                           1       33.33",
    ]
    assert max(map(len, report.split("\n"))) == 60


def test_report_with_spans_and_without_errors() -> None:
    labels = [["B-X", "B-Y", "I-Y", "B-Y"]]
    lines = evaluate(labels, labels).format().split("\n")
    assert "span F1           100.00" in lines
    assert [line.split()[0] for line in lines if line][4:] == ["span", "Y", "X", "label", "B-Y", "B-X", "I-Y"]


def test_most_confused_first() -> None:
    result = evaluate([["N", "N", "V", "D", "D"]], [["V", "V", "N", "D", "N"]])
    assert result.most_confused(2) == [("N", "V", 2), ("D", "N", 1)]


# --- errors -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("score", [conlleval, score_spans, evaluate])
def test_errors_say_where(score: Callable[..., object]) -> None:
    with pytest.raises(DataError, match=r"predicted\[1\]: found 3 labels; expected 1"):
        score([["O"], ["O"], ["O"]], [["O"], ["O"] * 3, []])
    with pytest.raises(DataError, match="predicted: found 1 sentences; expected 2"):
        score([["O"], ["O"]], [["O"]])
    empties: list[list[list[str]]] = [[], [[]], [[], []]]
    for empty in empties:
        with pytest.raises(DataError, match="gold: no labels"):
            score(empty, empty)
    with pytest.raises(DataError, match="gold: found a string for a sentence"):
        score(["O", "O"], [["O"], ["O"]])
    with pytest.raises(DataError, match=r"predicted\[0\]\[1\]: found 3 for a label"):
        score([["O", "O"]], [["O", 3]])


def test_errors_about_tokens() -> None:
    with pytest.raises(ParameterError, match="known is given without tokens"):
        evaluate([["O"]], [["O"]], known={"a"})
    with pytest.raises(DataError, match=r"tokens\[0\]: found 2 tokens; expected 1"):
        evaluate([["O"]], [["O"]], tokens=[["a", "b"]], known={"a"})


def test_empty_sentences_among_others_are_right() -> None:
    result = evaluate([[], ["B-X"], []], [[], ["O"], []])
    assert (result.sentences, result.tokens) == (3, 1)
    assert result.sentence_accuracy == pytest.approx(200 / 3)
    assert result.spans is not None
    assert result.spans.gold == 1
