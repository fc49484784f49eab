"""The growing corpora of the benchmarks, and what is said of their curves."""

from __future__ import annotations

import zipfile
from collections import Counter
from itertools import chain
from pathlib import Path

import pytest

from benchmarks.brown import read_brown, split
from benchmarks.brown import table as table_of_brown
from benchmarks.grown_text import lengthen, relabel, reshape
from benchmarks.growth import BASE, CURVES, QUICK, make_features, measure, measure_learner
from benchmarks.growth_report import exponent, fill, table
from tagwright import datasets
from tagwright.learners import LEARNERS

WORDS, TAGS = datasets.sample()
SAMPLE = ([[str(word) for word in sentence] for sentence in WORDS], TAGS)


def size(text: tuple[list[list[str]], list[list[str]]]) -> int:
    return sum(map(len, text[0]))


def test_longer_text_has_more_words_as_heaps_says() -> None:
    n = size(SAMPLE)
    assert size(lengthen(SAMPLE, n // 2, 0)) == pytest.approx(n // 2, abs=100)
    longer = lengthen(SAMPLE, 8 * n, 0)
    assert size(longer) == pytest.approx(8 * n, abs=100)
    assert [len(s) for s in longer[0]] == [len(s) for s in longer[1]]
    words, more = (len(set(chain.from_iterable(text[0]))) for text in (SAMPLE, longer))
    assert words * 8**0.5 < more < words * 8**0.9
    assert longer == lengthen(SAMPLE, 8 * n, 0)
    assert longer[0] != lengthen(SAMPLE, 8 * n, 1)[0]


@pytest.mark.parametrize("n_labels", [5, 20, 150])
def test_there_are_as_many_labels_as_asked_for(n_labels: int) -> None:
    words, labels = relabel(SAMPLE, n_labels)
    assert words == SAMPLE[0]
    assert len(set(chain.from_iterable(labels))) == n_labels
    if n_labels == 5:
        counts = Counter(chain.from_iterable(TAGS))
        kept = {label for label, _ in counts.most_common(4)}
        assert set(chain.from_iterable(labels)) == {*kept, "OTHER"}


def test_sentences_get_one_length() -> None:
    words, labels = reshape(SAMPLE, 37)
    assert {*map(len, words), *map(len, labels)} == {37}
    assert list(chain.from_iterable(words)) == list(chain.from_iterable(SAMPLE[0]))[: size((words, labels))]
    assert size((words, labels)) > size(SAMPLE) - 37


def test_exponents_and_tables() -> None:
    points = [{"tokens": n, "pass_s": 1e-6 * n**1.5, "prepare_s": 2.0, "tag_us": 3.0, "memory_mib": float(n),
               "corpus_mib": 1.0, "words": 1, "attributes": 2, "weights": 3} for n in (10, 100, 1000)]  # fmt: skip
    assert exponent(points, "tokens", "pass_s") == pytest.approx(1.5)
    rows = list(table("tokens", points))
    assert rows[-1].startswith("| **exponent** | 1.50 | 0.00 | 0.00 | 1.00 |")
    assert len(rows) == 2 + 3 + 1
    page = "a\n<!-- x -->\nold\n<!-- /x -->\nb"
    assert fill(page, "x", "new") == "a\n<!-- x -->\nnew\n<!-- /x -->\nb"
    with pytest.raises(ValueError, match="expected <!-- y -->"):
        fill(page, "y", "new")


def test_every_curve_has_points_and_a_place_in_the_page() -> None:
    page = (Path(__file__).parents[1] / "docs" / "growth.md").read_text(encoding="utf-8")
    assert list(CURVES) == list(QUICK)
    for curve, points in CURVES.items():
        assert all(set(point) <= set(BASE) for point in points)
        assert f"<!-- {curve} -->" in page
    assert make_features(3).count("&") == 3


def test_a_point_is_measured() -> None:
    found = measure({**BASE, "tokens": 500, "labels": 9, "dictionary": 3}, SAMPLE, (SAMPLE[0][:9], SAMPLE[1][:9]))
    assert found["tokens"] == pytest.approx(500, abs=100)
    assert 2 <= found["passes"] <= 12
    assert min(found[name] for name in ("pass_s", "prepare_s", "tag_us", "weights", "accuracy")) > 0
    assert found["memory_mib"] > -1  # so little may fit into what the process had and gave back to itself
    assert found["n_labels"] == 9


def test_every_learner_has_a_curve_of_labels() -> None:
    assert {point["learner"] for point in CURVES["learners"]} == set(LEARNERS)
    point = {**BASE, "tokens": 500, "labels": 9, "learner": "perceptron"}
    found = measure_learner(point, SAMPLE, (SAMPLE[0][:9], SAMPLE[1][:9]))
    assert found["n_labels"] == 9
    assert min(found[name] for name in ("round_s", "fit_s", "tag_us", "weights")) > 0
    rows = list(table("learners", [found, {**found, "labels": 18, "n_labels": 18, "round_s": 4 * found["round_s"]}]))
    assert rows[0] == "| learner | | 9 labels | 18 labels | exponent |"
    assert rows[2].startswith("| perceptron | round s |")
    assert rows[2].endswith("| 2.00 |")


def test_a_training_that_was_stopped_is_said_in_the_table() -> None:
    row = {"name": "crf", "accuracy": 97.123, "seconds": 4200.4, "processor_seconds": 321.0, "rounds": 27,
           "stopped": True, "memory_mib": 2048.0, "weights": 12345}  # fmt: skip
    rows = table_of_brown([row, {**{k: v for k, v in row.items() if k != "processor_seconds"}, "stopped": False}])
    assert rows.splitlines()[2:] == [
        "| crf | 97.12 | 4,200 | 321 | 27 (stopped) | 2.00 | 12,345 |",
        "| crf | 97.12 | 4,200 |  | 27 | 2.00 | 12,345 |",
    ]


def test_the_brown_corpus_is_read(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "brown.zip", "w") as packed:
        packed.writestr("brown/README", "no/part of/it")
        packed.writestr("brown/cb01", "\n\tHe/pps 1/2/cd ./.\n")
        packed.writestr("brown/ca01", "\n\n\tThe/at end/nn ,/,\n\n\n\tof/in it/ppo\n")
    sentences = list(read_brown(tmp_path / "brown.zip"))
    assert sentences == [
        [("The", "at"), ("end", "nn"), (",", ",")],
        [("of", "in"), ("it", "ppo")],
        [("He", "pps"), ("1/2", "cd"), (".", ".")],
    ]
    (X, y), (X_test, y_test) = split(2 * sentences)
    assert (len(X), X_test, y_test) == (5, [["of", "it"]], [["in", "ppo"]])
    assert [list(zip(words, labels, strict=True)) for words, labels in zip(X, y, strict=True)][:3] == sentences
