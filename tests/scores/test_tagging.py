"""Tagging a sentence at a time: the same labels as rows of scores for all tokens, and then Viterbi."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from toy import toy_columns, toy_dicts, toy_words

from tagwright.arrays import empty_rows
from tagwright.attributes import resolve
from tagwright.chain.candidates import FEW, Candidates
from tagwright.chain.viterbi import Steps
from tagwright.encode.batch import Batch
from tagwright.encode.encoder import Encoder
from tagwright.encode.text import Text
from tagwright.scores import tagging as module
from tagwright.scores.linear import LinearMap, LinearScores
from tagwright.scores.pattern import find_pattern
from tagwright.scores.tagging import LinearTagging

TEMPLATES = "word suffix(1) shape @ -1..1\nword @ 2\nword[-1] & word[0]"
MAKERS = {"words": toy_words, "columns": toy_columns, "dicts": toy_dicts}


def random_model(kind: str, Y: int, dtype: type, seed: int) -> tuple[LinearScores, Batch, Steps]:
    """Random weights on random labels, and text of which half is new."""
    rng = np.random.default_rng(seed)
    X = MAKERS[kind](40, seed=seed)[0]
    text = Text.build(X[:20])
    encoder, (batch,) = Encoder.learn(None if kind == "dicts" else resolve(TEMPLATES, text.width), [text])
    data = batch._replace(labels=rng.integers(0, Y, len(text.items)).astype(np.int32))
    pattern = find_pattern(encoder, data, Y, all_states=False, min_count=1)
    scores = LinearMap.build(encoder, pattern, Y, dtype).at(rng.normal(size=pattern.n_weights))
    steps = Steps.build(*(rng.normal(size=shape) for shape in ((Y, Y), Y, Y)), dtype)
    return scores, encoder.encode(Text.build(X)), steps


def all_rows(scores: LinearScores, data: Batch) -> np.ndarray:
    rows = np.empty((data.n_tokens, scores.width), scores.dtype)
    scores.rows(data).emission(0, data.n_sentences, rows)
    return rows


@pytest.mark.parametrize("dtype", [pytest.param(np.float32, marks=pytest.mark.bounds), np.float64])
@pytest.mark.parametrize("Y", [2, FEW, 70])
@pytest.mark.parametrize("kind", list(MAKERS))
def test_labels_equal_those_of_rows_and_viterbi(kind: str, Y: int, dtype: type) -> None:
    scores, data, steps = random_model(kind, Y, dtype, seed=Y)
    labels, totals = LinearTagging(scores, steps).best(data)
    expected, best = steps.best_paths(all_rows(scores, data), data.offsets)
    np.testing.assert_array_equal(labels, expected)
    np.testing.assert_allclose(totals, best, rtol=1e-5)


def test_nothing_is_written_behind_the_memory_of_a_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """It grows with the longest sentence."""
    guards: list[np.ndarray] = []

    def guarded(shape: tuple[int, int], dtype: type) -> np.ndarray:
        larger = empty_rows((shape[0] + 3, shape[1]), dtype)
        larger[-3:] = 77
        guards.append(larger[-3:])
        return larger[:-3]

    monkeypatch.setattr(module, "empty_rows", guarded)
    scores, data, steps = random_model("words", 5, np.float32, seed=4)
    tagging = LinearTagging(scores, steps)
    by_length = np.argsort(data.lengths, kind="stable")
    for i in (*by_length, *by_length[::-1]):
        one = data.take(np.array([i]))
        expected, _ = steps.best_paths(all_rows(scores, one), one.offsets)
        np.testing.assert_array_equal(tagging.best(one)[0], expected)
    assert len(guards) == len(set(data.lengths.tolist())) > 3
    assert all((guard == 77).all() for guard in guards)


def test_threads_have_memory_of_their_own() -> None:
    scores, data, steps = random_model("words", 5, np.float32, seed=4)
    tagging = LinearTagging(scores, steps)
    parts = [data.take(np.array([i])) for i in range(data.n_sentences)] * 10
    expected = [tagging.best(part)[0].tolist() for part in parts]
    with ThreadPoolExecutor(8) as pool:
        assert [found.tolist() for found, _ in pool.map(tagging.best, parts)] == expected


@pytest.mark.parametrize("dtype", [pytest.param(np.float32, marks=pytest.mark.bounds), np.float64])
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
    scores = scores.map.at(np.zeros(scores.pattern.n_weights))
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
