"""Factorised scores against the sum over named attributes; the adjoint against numerical differentiation."""

from __future__ import annotations

from dataclasses import replace
from types import ModuleType

import numpy as np
import pytest
from oracle import numerical_gradient
from toy import LABELS, toy_columns, toy_dicts, toy_words

from tagwright.arrays import Workers
from tagwright.attributes import resolve
from tagwright.chain import forward_backward
from tagwright.encode.batch import Batch
from tagwright.encode.encoder import Encoder
from tagwright.encode.text import Text
from tagwright.losses import LOSSES
from tagwright.losses.run import Loss
from tagwright.objective import threads
from tagwright.objective.problem import TrainingProblem, WeightParts
from tagwright.objective.threads import ThreadedObjective
from tagwright.scores.expanded import expand
from tagwright.scores.linear import LinearMap, LinearScores
from tagwright.scores.pattern import find_pattern

TEMPLATES = "word suffix(1) shape @ -1..1\nword[-1] & word[0]\nsuffix(1)[0] & suffix(1)[1]"


def prepare(kind: str, n: int = 25, **options: object) -> tuple[LinearMap, Batch]:
    X, y = {"words": toy_words, "columns": toy_columns, "dicts": toy_dicts}[kind](n)
    text = Text.build(X)
    features = {"words": TEMPLATES, "columns": TEMPLATES + "\nword:1 @ -2..2\nword:1[0] & word[0]", "dicts": None}[kind]
    encoder, (batch,) = Encoder.learn(None if features is None else resolve(features, text.width), [text])
    labels = np.array([sorted(LABELS).index(label) for sentence in y for label in sentence], np.int32)
    data = batch._replace(labels=labels)
    settings = {"all_states": False, "min_count": 1, **options}
    return LinearMap.build(encoder, find_pattern(encoder, data, 3, **settings), 3, np.float64), data


def rows_of(scores: LinearScores, data: Batch) -> np.ndarray:
    """The emission rows of all tokens; padding is 0."""
    out = np.full((data.n_tokens, scores.width), np.nan, scores.dtype)
    scores.rows(data).emission(0, data.n_sentences, out)
    assert (out[:, scores.n_labels :] == 0).all()
    return out[:, : scores.n_labels]


def cut_small(monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    """Let little data make several blocks, of so many bytes, and runs."""
    for name, value in {"BLOCK_BYTES": block, "RUN_BYTES": 640, "BLOCK_RUNS": 1, "RUN_TOKENS_A_LABEL": 1}.items():
        monkeypatch.setattr(threads, name, value)


def make_objective(
    scores: LinearMap, data: Batch, loss: str | Loss, weights: np.ndarray | None = None, n_jobs: int = 1
) -> ThreadedObjective:
    """The objective of all weights, with three labels."""
    free = np.ones(scores.pattern.n_weights + 15, np.bool_)
    chosen = LOSSES[loss] if isinstance(loss, str) else loss
    problem = TrainingProblem(scores, data, weights, chosen, free, np.zeros(len(free)), ThreadedObjective)
    return ThreadedObjective(problem, Workers(n_jobs))


def plain_emission(scores: LinearMap, data: Batch, weights: np.ndarray) -> np.ndarray:
    """emission[p, y] = Σ over the attributes of p, one by one."""
    tokens = expand(scores.encoder, data)
    out = np.zeros((data.n_tokens, 3))
    for p in range(data.n_tokens):
        for e in range(tokens.pointers[p], tokens.pointers[p + 1]):
            a = tokens.attributes[e]
            value = tokens.values[e] if len(tokens.values) else 1.0
            for w in range(scores.pattern.pointers[a], scores.pattern.pointers[a + 1]):
                out[p, scores.pattern.labels[w]] += value * weights[w]
    return out


@pytest.mark.parametrize("kind", ["words", "columns", "dicts"])
def test_emission_equals_the_plain_sum(kind: str) -> None:
    scores, data = prepare(kind)
    weights = np.random.default_rng(0).normal(size=scores.pattern.n_weights)
    linear = scores.at(weights)
    out = rows_of(linear, data)
    np.testing.assert_allclose(out, plain_emission(scores, data, weights), atol=1e-12)
    part = np.empty((int(data.offsets[9] - data.offsets[4]), scores.width))
    linear.rows(data).emission(4, 9, part)
    np.testing.assert_array_equal(part[:, :3], out[data.offsets[4] : data.offsets[9]])


def named_emission(scores: LinearScores, X: list) -> np.ndarray:
    """emission[p, y] = Σ of the weights of the attributes that FeatureSet.explain names; unknown ones have none."""
    encoder, pattern = scores.encoder, scores.pattern
    number = {name: a for a, name in enumerate(encoder.attribute_names())}
    out = []
    for sentence in X:
        for t in range(len(sentence)):
            row = np.zeros(scores.n_labels)
            for name in encoder.features.explain(sentence, t):
                if name in number:
                    part = slice(pattern.pointers[number[name]], pattern.pointers[number[name] + 1])
                    row[pattern.labels[part]] += scores.weights.values[part]
            out.append(row)
    return np.array(out)


@pytest.mark.bounds
@pytest.mark.parametrize("kind", ["words", "columns"])
def test_emission_of_unknown_words_is_the_sum_over_named_attributes(kind: str) -> None:
    scores, _ = prepare(kind)
    linear = scores.at(np.random.default_rng(0).normal(size=scores.pattern.n_weights))
    for seed in (21, 22):
        X = {"words": toy_words, "columns": toy_columns}[kind](30, seed=seed)[0]
        odd = ["", "Σ", "東a", "\ud800b", "x\0c", "never met, and long"]
        X.append(odd if kind == "words" else [(word, "odd") for word in odd])
        data = linear.encoder.encode(Text.build(X))
        assert data.unknown.words.n > 10
        out = rows_of(linear, data)
        np.testing.assert_allclose(out, named_emission(linear, X), atol=1e-12)
        np.testing.assert_allclose(out, plain_emission(scores, data, linear.weights.values), atol=1e-12)


def test_scores_are_values() -> None:
    """Rows of one batch do not change when others are scored, nor those of one weight vector with another."""
    scores, data = prepare("words")
    rng = np.random.default_rng(0)
    first, second = (scores.at(rng.normal(size=scores.pattern.n_weights)) for _ in range(2))
    fresh = [scores.encoder.encode(Text.build(toy_words(20, seed=seed)[0])) for seed in (31, 32)]
    expected = [rows_of(linear, batch) for linear in (first, second) for batch in (data, *fresh)]
    held = [linear.rows(batch) for linear in (first, second) for batch in (data, *fresh)]
    for rows, one in zip(reversed(held), reversed(expected), strict=True):
        out = np.empty((rows.batch.n_tokens, scores.width))
        rows.emission(0, rows.batch.n_sentences, out)
        np.testing.assert_array_equal(out[:, :3], one)


def test_pattern_is_what_was_seen_together() -> None:
    scores, data = prepare("columns")
    tokens = expand(scores.encoder, data)
    token_of = np.repeat(np.arange(data.n_tokens), np.diff(tokens.pointers))
    seen = set(zip(tokens.attributes.tolist(), data.labels[token_of].tolist(), strict=True))
    attribute = np.repeat(np.arange(scores.encoder.n_attributes), np.diff(scores.pattern.pointers))
    assert set(zip(attribute.tolist(), scores.pattern.labels.tolist(), strict=True)) == seen
    counts = np.bincount(tokens.attributes, minlength=scores.encoder.n_attributes)
    rare, _ = prepare("columns", min_count=3)
    assert ((np.diff(rare.pattern.pointers) > 0) == (counts >= 3)).all()
    full, _ = prepare("columns", all_states=True)
    np.testing.assert_array_equal(np.diff(full.pattern.pointers), np.where(counts > 0, 3, 0))


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("kind", ["words", "columns", "dicts"])
def test_objective_gradient_equals_numerical_differentiation(
    kind: str, loss: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Through tables, emission, loss and adjoint, with several blocks and runs, and a weight for every token."""
    cut_small(monkeypatch, 5120)
    monkeypatch.setattr(threads, "RUN_BYTES", 1536)
    monkeypatch.setattr(threads, "RUN_TOKENS_A_LABEL", 1)
    scores, data = prepare(kind, n=30)
    size = scores.pattern.n_weights + 3 * 3 + 2 * 3
    rng = np.random.default_rng(1)
    weights = rng.random(data.n_tokens) * 2
    objective = make_objective(scores, data, loss, weights)
    assert len(objective.blocks) > 1
    assert max(map(len, objective.runs)) > 1
    vector = rng.normal(size=size) * 0.3
    gradient = objective(vector).gradient
    for _ in range(12):
        direction = rng.normal(size=size)
        slope = numerical_gradient(lambda t, d=direction: objective(vector + t[0] * d)[0], np.zeros(1))
        assert float(gradient @ direction) == pytest.approx(slope[0], rel=1e-6)
    chosen = rng.choice(size, 25, replace=False)
    slopes = numerical_gradient(lambda part: objective(replaced(vector, chosen, part))[0], vector[chosen])
    np.testing.assert_allclose(gradient[chosen], slopes, atol=1e-6)


@pytest.mark.parametrize("kind", ["words", "columns", "dicts"])
def test_features_are_counted(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Token by token, in several blocks; a label that is not known counts nowhere."""
    cut_small(monkeypatch, 5120)
    scores, data = prepare(kind, n=30)
    labels = np.where(np.arange(data.n_tokens) % 7 == 3, -1, data.labels).astype(np.int32)
    labels[data.offsets[5]] = -1
    objective = make_objective(scores, data._replace(labels=labels), "sequence_log")
    assert len(objective.blocks) > 1
    counts = WeightParts.split(objective.count_features(), 3)
    tokens, pattern = expand(scores.encoder, data), scores.pattern
    truth = np.zeros(pattern.n_weights)
    edges = np.zeros((3, 3)), np.zeros(3), np.zeros(3)
    for begin, end in zip(data.offsets[:-1], data.offsets[1:], strict=True):
        for p in range(begin, end):
            for e in range(tokens.pointers[p], tokens.pointers[p + 1]):
                a, v = tokens.attributes[e], tokens.values[e] if len(tokens.values) else 1.0
                own = slice(pattern.pointers[a], pattern.pointers[a + 1])
                truth[own] += v * (pattern.labels[own] == labels[p])
            if p > begin and min(labels[p - 1], labels[p]) >= 0:
                edges[0][labels[p - 1], labels[p]] += 1
        for p, part in ((begin, edges[1]), (end - 1, edges[2])):
            if labels[p] >= 0:
                part[labels[p]] += 1
    np.testing.assert_allclose(counts.attributes, truth, atol=1e-6)
    for found, expected in zip((counts.transition, counts.start, counts.stop), edges, strict=True):
        np.testing.assert_array_equal(found, expected)


def replaced(vector: np.ndarray, which: np.ndarray, values: np.ndarray) -> np.ndarray:
    out = vector.copy()
    out[which] = values
    return out


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_any_number_of_threads_gives_the_same_bits(dtype: type, loss: str, monkeypatch: pytest.MonkeyPatch) -> None:
    cut_small(monkeypatch, 7680)
    monkeypatch.setattr(threads, "RUN_BYTES", 2560)
    monkeypatch.setattr(threads, "RUN_TOKENS_A_LABEL", 1)
    results = []
    for n_jobs in (1, 2, 3):
        scores, data = prepare("columns", n=60)
        scores = LinearMap.build(scores.encoder, scores.pattern, 3, dtype)
        size = scores.pattern.n_weights + 15
        objective = make_objective(scores, data, loss, n_jobs=n_jobs)
        results.append(objective(np.random.default_rng(0).normal(size=size)))
    for value, gradient, _ in results[1:]:
        assert value == results[0][0]
        np.testing.assert_array_equal(gradient, results[0][1])


@pytest.mark.bounds
@pytest.mark.parametrize("scale", [0.5, 60.0])  # of the weights; with 60, scaled probabilities underflow
@pytest.mark.parametrize("loss", ["sequence_log", "sequence_exp"])
@pytest.mark.parametrize("kind", ["words", "columns", "dicts"])
def test_one_kernel_for_a_run_gives_what_steps_give(
    kind: str, loss: str, scale: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same bits for the log loss. Sentences that are repeated in log space are added after the others, and the
    weights of the exp loss depend on the order in which the compiler adds log Z, gold score and reference."""
    cut_small(monkeypatch, 5120)
    scores, data = prepare(kind, n=60)
    scores = LinearMap.build(scores.encoder, scores.pattern, 3, np.float32)
    rng = np.random.default_rng(5)
    weights, vector = rng.random(data.n_tokens) * 2, rng.normal(size=scores.pattern.n_weights + 15) * scale
    whole = make_objective(scores, data, loss, weights, n_jobs=2)
    stepwise = make_objective(scores, data, replace(LOSSES[loss], rate=None), weights)
    assert whole._sequences is not None
    assert stepwise._sequences is None
    repeated = count_calls(monkeypatch, forward_backward, "repeat_in_log_space")
    found, expected = whole(vector, 3.0), stepwise(vector, 3.0)
    assert (len(repeated) > 0) == (scale > 1)
    rounded = bool(repeated) or loss == "sequence_exp"
    np.testing.assert_allclose(
        found.gradient, expected.gradient, rtol=1e-6 if rounded else 0, atol=1e-5 if rounded else 0
    )
    assert found.value == pytest.approx(expected.value, rel=1e-14)
    assert found.reference == pytest.approx(expected.reference, rel=1e-14)


def count_calls(monkeypatch: pytest.MonkeyPatch, module: ModuleType, name: str) -> list[None]:
    """As long as the function has been called often."""
    calls: list[None] = []
    original = getattr(module, name)

    def counted(*given: object) -> object:
        calls.append(None)
        return original(*given)

    monkeypatch.setattr(module, name, counted)
    return calls


def test_weights_split_into_views() -> None:
    vector = np.arange(5.0 + 4 + 4)
    parts = WeightParts.split(vector, 2)
    assert (parts.attributes.tolist(), parts.start.tolist(), parts.stop.tolist()) == (
        [0, 1, 2, 3, 4],
        [9, 10],
        [11, 12],
    )
    parts.transition[1, 0] = -1
    assert vector[7] == -1


@pytest.mark.parametrize("loss", LOSSES)
def test_an_objective_remembers_nothing(loss: str) -> None:
    """The same weights and reference give the same bits, whatever was evaluated between; so does the reference that
    comes back with a value, to rounding."""
    scores, data = prepare("words", n=30)
    objective = make_objective(scores, data, loss)
    here, there = np.random.default_rng(0).normal(size=(2, scores.pattern.n_weights + 15))
    first = objective(here)
    objective(30 * there)
    again, near = objective(here), objective(here, first.reference)
    assert (again.value, again.reference) == (first.value, first.reference)
    np.testing.assert_array_equal(again.gradient, first.gradient)
    assert near.value == pytest.approx(first.value, rel=1e-12)
    np.testing.assert_allclose(near.gradient, first.gradient, rtol=1e-9, atol=1e-12)
