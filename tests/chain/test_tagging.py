"""Tagging a sentence at a time: the same labels as rows of scores for all tokens, and then Viterbi."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tagwright.chain.tagging import LinearTagging
from tagwright.encode.dataset import Dataset
from tagwright.encode.flat_text import FlatText
from toy import toy_columns, toy_dicts, toy_words

from tagwright.arrays import Workers, zero_rows
from tagwright.attributes import resolve
from tagwright.chain import tagging as module
from tagwright.chain.candidates import FEW, Candidates
from tagwright.chain.viterbi import Steps
from tagwright.encode.encoder import Encoder
from tagwright.scores.linear import LinearScores
from tagwright.scores.pattern import find_pattern

TEMPLATES = "word suffix(1) shape @ -1..1\nword @ 2\nword[-1] & word[0]"
MAKERS = {"words": toy_words, "columns": toy_columns, "dicts": toy_dicts}


def random_model(kind: str, Y: int, dtype: type, seed: int) -> tuple[LinearScores, Dataset, Steps]:
    """Random weights on random labels, and text of which half is new."""
    rng = np.random.default_rng(seed)
    X = MAKERS[kind](40, seed=seed)[0]
    text = FlatText.build(X[:20])
    encoder = Encoder(None if kind == "dicts" else resolve(TEMPLATES, text.width))
    data = replace(encoder.learn(text), labels=rng.integers(0, Y, len(text.items)).astype(np.int32))
    scores = LinearScores(encoder, find_pattern(encoder, data, Y, all_states=False, min_count=1), Y, dtype)
    scores.set_weights(rng.normal(size=scores.pattern.n_weights), Workers(1))
    steps = Steps.build(*(rng.normal(size=shape) for shape in ((Y, Y), Y, Y)), dtype)
    new = encoder.encode(FlatText.build(X))
    scores.fill_tables(Workers(1))
    return scores, new, steps


def all_rows(scores: LinearScores, data: Dataset) -> np.ndarray:
    rows = np.empty((data.n_tokens, scores.width), scores.dtype)
    scores.emission(data, 0, data.n_sentences, rows)
    return rows


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("Y", [2, FEW, 70])
@pytest.mark.parametrize("kind", list(MAKERS))
def test_labels_equal_those_of_rows_and_viterbi(kind: str, Y: int, dtype: type) -> None:
    scores, data, steps = random_model(kind, Y, dtype, seed=Y)
    labels, totals = LinearTagging(scores, steps).best(data)
    expected, best = steps.best_paths(all_rows(scores, data), data.offsets)
    np.testing.assert_array_equal(labels, expected)
    np.testing.assert_allclose(totals, best, rtol=1e-5)


def test_a_sentence_longer_than_the_rows_that_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """It has rows of its own: behind the kept ones nothing is written."""
    guards: list[np.ndarray] = []

    def guarded(shape: tuple[int, int], dtype: type) -> np.ndarray:
        larger = zero_rows((shape[0] + 3, shape[1]), dtype)
        larger[-3:] = 77
        guards.append(larger[-3:])
        return larger[:-3]

    monkeypatch.setattr(module, "zero_rows", guarded)
    scores, data, steps = random_model("words", 5, np.float32, seed=4)
    expected, _ = steps.best_paths(all_rows(scores, data), data.offsets)
    longest = int(data.lengths.max())
    for kept, made in ((2, 4), (longest, 4), (longest + 1, 2)):
        guards.clear()
        monkeypatch.setattr(module, "KEPT_ROWS", kept)
        tagging = LinearTagging(scores, steps)
        for _ in range(2):
            np.testing.assert_array_equal(tagging.best(data)[0], expected)
        assert len(guards) == made
        assert all((guard == 77).all() for guard in guards)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("Y", [2, FEW, 30])
@pytest.mark.parametrize("kind", ["words", "columns"])
def test_candidates_equal_those_of_rows_and_viterbi(kind: str, Y: int, dtype: type) -> None:
    scores, data, steps = random_model(kind, Y, dtype, seed=Y + 100)
    rng = np.random.default_rng(Y)
    masks = rng.random((9, Y)) < np.linspace(0, 1, 9)[:, None]  # from one label to all
    masks[np.arange(9), rng.integers(0, Y, 9)] = True
    pointers = np.concatenate([[0], np.cumsum(masks.sum(axis=1))]).astype(np.int64)
    sets = rng.integers(0, 9, data.n_tokens).astype(np.int32)
    candidates = Candidates(sets, pointers, np.nonzero(masks)[1].astype(np.uint16))
    labels, _ = LinearTagging(scores, steps, (pointers, candidates.labels)).best(data, sets)
    expected, _ = steps.best_paths(all_rows(scores, data), data.offsets, candidates)
    np.testing.assert_array_equal(labels, expected)
    assert masks[sets, labels].all()


@pytest.mark.parametrize("worse", [0, 1, 4])
@pytest.mark.parametrize("Y", [FEW - 2, FEW, FEW + 4])
def test_of_equal_candidates_the_smallest_wins(Y: int, worse: int) -> None:
    scores, data, _ = random_model("words", Y, np.float32, seed=Y)
    scores.set_weights(np.zeros(scores.pattern.n_weights), Workers(1))
    start, transition = np.zeros(Y), np.zeros((Y, Y))
    start[:worse], transition[:, :worse] = -1, -1  # all others are equal
    flat = Steps.build(transition, start, np.zeros(Y), np.float32)
    pointers = np.array([0, Y, 2 * Y - 2, 2 * Y - 1], np.int64)  # all, all but two, one
    labels = np.concatenate([np.arange(Y), np.arange(2, Y), [Y - 1]]).astype(np.uint16)
    sets = np.arange(data.n_tokens, dtype=np.int32) % 3
    found, _ = LinearTagging(scores, flat, (pointers, labels)).best(data, sets)
    np.testing.assert_array_equal(found, np.array([worse, max(worse, 2), Y - 1])[sets])


def test_a_sentence_without_a_labelling_is_known_by_its_number() -> None:
    scores, data, steps = random_model("words", 2, np.float64, seed=1)
    closed = steps._replace(
        transition=np.full_like(steps.transition, -np.inf), incoming=np.full_like(steps.incoming, -np.inf)
    )
    everything = Candidates.everything(data.n_tokens, 2)
    for sets in (None, everything.rows):
        totals = LinearTagging(scores, closed, (everything.pointers, everything.labels)).best(data, sets)[1]
        np.testing.assert_array_equal(totals == -np.inf, data.lengths > 1)
