"""Sentences that are read together against the same sentences one by one, which is the definition."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from toy import toy_dicts

from tagwright import pycrfsuite
from tagwright.pycrfsuite import training_data
from tagwright.pycrfsuite.training_data import TrainingData, read_together

X, y = toy_dicts(12)
MIXED: list[Any] = [
    [{"b:": "x", "n": 2, "flag": False}, {"n": 0.5, "b:": "y"}],
    [{}, {"nested": {"a": ["u", "v"], "b": -1.5}, "b:": "x"}],
    [{"n": True, "t": "12:30"}],
    [{"t": "::"}, {"t": ":", "n": 1}, {"t": "12"}, {b"t": b"12"}],
]
GOLD = [["A", "B"], ["C", "A"], ["B"], ["D", "A", "B", "C"]]


def contents(data: TrainingData) -> list[Any]:
    """All that a training sees of the data, but for the keys."""
    batch = data.batch(data.groups() >= 0)
    arrays = (batch.offsets, batch.pointers, batch.attributes, batch.values, batch.labels, data.groups())
    return [list(data.attributes), list(data.labels), *(own.tolist() for own in arrays)]


def one_by_one(*parts: tuple[Any, Any, int]) -> TrainingData:
    data = TrainingData()
    for sentences, gold, group in parts:
        for sentence, labels in zip(sentences, gold, strict=True):
            data.append(sentence, labels, group)
    return data


@pytest.mark.parametrize(
    ("sentences", "gold", "together"),
    [
        (X, y, True),
        (MIXED, GOLD, True),
        ([*MIXED, [["n", "b::x"]]], [*GOLD, ["A"]], False),  # a list of names
        ([*MIXED, []], [*GOLD, []], False),  # an empty sentence
        ([*MIXED, [{"a\0b": 1}]], [*GOLD, ["A"]], False),  # a NUL ends a name
        ([*MIXED, ({"n": 1},)], [*GOLD, ["A"]], False),  # a tuple of items
        ([], [], False),
    ],
)
def test_together_is_one_by_one(sentences: Any, gold: Any, together: bool) -> None:
    assert (read_together(sentences) is not None) == together
    data = TrainingData()
    data.extend(X[:5], y[:5], 2)
    data.extend(sentences, gold, 1)
    data.append(*X[7:8], *y[7:8], 0)
    assert contents(data) == contents(one_by_one((X[:5], y[:5], 2), (sentences, gold, 1), (X[7:8], y[7:8], 0)))


def test_what_cannot_be_taken_gets_the_errors_of_append() -> None:
    for sentence, labels, error, words in (
        ([{"n": None}], ["A"], TypeError, "NoneType"),
        ([{"n": float("nan")}], ["A"], ValueError, "finite"),
        ([{"n": 1}, {"n": 2}], ["A"], ValueError, "found 2 items and 1 labels"),
        ([{1: 1}], ["A"], TypeError, "names of attributes"),
    ):
        with pytest.raises(error, match=words):
            TrainingData().extend([X[0], sentence], [y[0], labels], 0)


def test_keys_are_those_of_the_dicts() -> None:
    data = TrainingData()
    data.extend([*MIXED[:1], [{"n": 1, "t": "12:30"}, {"n": 2, "t": "9"}] * 20], [GOLD[0], ["A"] * 40], 0)
    data.append([["w=1", "w=2", "t:other"]], ["A"], 0)  # whose keys are guessed
    keys = dict(zip(data.attributes, data.keys().tolist(), strict=True))
    assert set(keys) == {"b::x", "b::y", "n", "flag", "t:12:30", "t:9", "w=1", "w=2", "t:other"}
    assert keys["b::x"] == keys["b::y"]
    assert keys["t:12:30"] == keys["t:9"]
    assert keys["w=1"] == keys["w=2"]
    assert len({keys[name] for name in ("b::x", "n", "flag", "t:12:30", "w=1")}) == 5


def test_trainers_take_many_sentences(monkeypatch: pytest.MonkeyPatch) -> None:
    trainer = pycrfsuite.Trainer(verbose=False)
    trainer.clear()
    expected = contents(one_by_one((X, y, 0)))
    monkeypatch.delattr(training_data, "read_exactly")
    trainer.extend(X, y)
    assert trainer._data is not None
    assert contents(trainer._data) == expected
    assert np.array_equal(trainer._data.groups(), np.zeros(len(X)))
