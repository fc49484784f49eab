"""Tagging a sentence at a time: the same labels as rows of scores for all tokens, and then Viterbi."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from toy import toy_columns, toy_dicts, toy_words

from tagwright.arrays import empty_rows
from tagwright.attributes import resolve
from tagwright.attributes.lexicon import TagDictionary
from tagwright.chain.candidates import FEW, Candidates
from tagwright.chain.viterbi import Steps
from tagwright.encode.batch import Batch
from tagwright.encode.encoder import Encoder
from tagwright.encode.text import Text
from tagwright.scores import tagging as module
from tagwright.scores.linear import LinearMap, LinearScores
from tagwright.scores.pattern import find_pattern
from tagwright.scores.tagging import CHUNK, LinearTagging

TEMPLATES = "word suffix(1) shape @ -1..1\nword @ 2\nword[-1] & word[0]"
MAKERS = {"words": toy_words, "columns": toy_columns, "dicts": toy_dicts}


def random_model(kind: str, Y: int, dtype: type, seed: int) -> tuple[LinearScores, Batch, Steps]:
    """Random weights on random labels, and text of which half is new."""
    scores, text, steps = random_scores(kind, Y, dtype, seed)
    return scores, scores.encoder.encode(text), steps


def random_scores(kind: str, Y: int, dtype: type, seed: int) -> tuple[LinearScores, Text, Steps]:
    rng = np.random.default_rng(seed)
    X = MAKERS[kind](40, seed=seed)[0]
    text = Text.build(X[:20])
    encoder, (batch,) = Encoder.learn(None if kind == "dicts" else resolve(TEMPLATES, text.width), [text])
    data = batch._replace(labels=rng.integers(0, Y, len(text.items)).astype(np.int32))
    pattern = find_pattern(encoder, data, Y, all_states=False, min_count=1)
    scores = LinearMap.build(encoder, pattern, Y, dtype).at(rng.normal(size=pattern.n_weights))
    steps = Steps.build(*(rng.normal(size=shape) for shape in ((Y, Y), Y, Y)), dtype)
    return scores, Text.build(X), steps


def random_dictionary(scores: LinearScores, Y: int) -> TagDictionary:
    """A set of labels for every form of the first source, from one label to all."""
    rng = np.random.default_rng(Y)
    masks = rng.random((9, Y)) < np.linspace(0, 1, 9)[:, None]
    masks[np.arange(9), rng.integers(0, Y, 9)] = True
    pointers = np.concatenate([[0], np.cumsum(masks.sum(axis=1))]).astype(np.int64)
    sets_of = rng.integers(0, 9, scores.encoder.sources[0].n_known).astype(np.int32)
    return TagDictionary(0, sets_of, pointers, np.nonzero(masks)[1].astype(np.uint16))


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


def long_sentences(*lengths: int) -> Text:
    """Of words that are known and unknown by turns."""
    rng = np.random.default_rng(5)
    words = [w for s in toy_words(40, seed=4)[0] for w in s] + ["Ωx", "", "x" * 40]
    return Text.build([[words[k] for k in rng.integers(0, len(words), n)] for n in lengths])


@pytest.mark.parametrize("longest", [9, 3 * CHUNK])
def test_nothing_is_written_behind_the_memory_of_a_call(longest: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """It grows with the longest sentence."""
    guards: list[np.ndarray] = []

    def guarded(shape: tuple[int, int], dtype: type) -> np.ndarray:
        larger = empty_rows((shape[0] + 3, shape[1]), dtype)
        larger[-3:] = 77
        guards.append(larger[-3:])
        return larger[:-3]

    scores, _, steps = random_model("words", 5, np.float32, seed=4)
    expected = []
    texts = [long_sentences(7), long_sentences(longest, 1), long_sentences(1, CHUNK - 1, longest, CHUNK + 1)]
    for text in texts:
        batch = scores.encoder.encode(text)
        expected.append(steps.best_paths(all_rows(scores, batch), batch.offsets))
    monkeypatch.setattr(module, "empty_rows", guarded)
    tagging = LinearTagging(scores, steps)
    for order in ([0, 1, 2], [2, 1, 0]):
        for k in order:
            for labels, totals in (tagging.best_of_text(texts[k]), tagging.best(scores.encoder.encode(texts[k]))):
                np.testing.assert_array_equal(labels, expected[k][0])
                np.testing.assert_allclose(totals, expected[k][1], rtol=1e-4)
    assert len(guards) <= 3
    assert all((guard == 77).all() for guard in guards)


@pytest.mark.bounds
@pytest.mark.parametrize("dictionary", [False, True])
@pytest.mark.parametrize("kind", ["words", "columns"])
def test_a_text_gets_the_labels_of_its_batch(kind: str, dictionary: bool) -> None:
    scores, text, steps = random_scores(kind, 30, np.float32, seed=7)
    words = random_dictionary(scores, 30) if dictionary else None
    tagging = LinearTagging(scores, steps, words)
    batch = scores.encoder.encode(text)
    expected, totals = tagging.best(batch, None if words is None else words.find(batch.forms))
    found, scored = tagging.best_of_text(text)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(scored, totals)
    assert batch.unknown.words.n > 20


@pytest.mark.parametrize(
    "odd", [["a\0b", "\0"], ["\0"], ["", ""], ["\u1d6a4", "\U000118a0Σ", "\ud800"], ["x" * 100_000]]
)
def test_odd_words_in_a_text(odd: list[str]) -> None:
    """Words with a separator of their own, empty ones, characters never met, a long one: at either end of a text."""
    scores, _, steps = random_scores("words", 5, np.float64, seed=3)
    tagging = LinearTagging(scores, steps)
    for X in ([odd, ["xa"]], [["xa", *odd]], [*toy_words(400)[0], odd, *toy_words(400)[0]]):
        found = tagging.best_of_text(Text.build(X))[0]  # first: what is met later was met before
        batch = scores.encoder.encode(Text.build(X))
        np.testing.assert_array_equal(found, steps.best_paths(all_rows(scores, batch), batch.offsets)[0])


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
    words = random_dictionary(scores, Y)
    sets = words.find(data.forms)
    candidates = Candidates(sets, words.pointers, words.labels)
    labels, _ = LinearTagging(scores, steps, words).best(data, sets)
    expected, _ = steps.best_paths(all_rows(scores, data), data.offsets, candidates)
    np.testing.assert_array_equal(labels, expected)
    assert candidates.mask(Y)[np.arange(data.n_tokens), labels].all()


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
    words = TagDictionary(0, np.zeros(1, np.int32), pointers, labels)
    found, _ = LinearTagging(scores, flat, words).best(data, sets)
    np.testing.assert_array_equal(found, np.array([worse, max(worse, 2), Y - 1])[sets])


def test_a_sentence_without_a_labelling_is_known_by_its_number() -> None:
    scores, data, steps = random_model("words", 2, np.float64, seed=1)
    closed = steps._replace(
        transition=np.full_like(steps.transition, -np.inf), incoming=np.full_like(steps.incoming, -np.inf)
    )
    everything = TagDictionary(0, np.zeros(1, np.int32), np.array([0, 2]), np.arange(2, dtype=np.uint16))
    for words in (None, everything):
        tagging = LinearTagging(scores, closed, words)
        totals = tagging.best(data, None if words is None else words.find(data.forms))[1]
        np.testing.assert_array_equal(totals == -np.inf, data.lengths > 1)
