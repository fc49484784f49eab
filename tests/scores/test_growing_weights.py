"""Growing weights against a dictionary of all pairs that were changed."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest

from tagwright.scores.expanded import TokenAttributes
from tagwright.scores.growing_weights import (
    FIRST,
    GrowingWeights,
    LearnedWeights,
    add_token_scores,
    change_token,
    has_room,
    label_score,
)
from tagwright.scores.pattern import Pattern

A, TOKENS = 60, 25
Dense = np.ndarray


def make_tokens(seed: int, weighted: bool) -> TokenAttributes:
    """Tokens with up to nine attributes; one may occur twice."""
    rng = np.random.default_rng(seed)
    pointers = np.concatenate([[0], np.cumsum(rng.integers(0, 10, TOKENS))])
    attributes = (A * rng.random(pointers[-1]) ** 3).astype(np.int32)
    return TokenAttributes(pointers, attributes, rng.normal(size=len(attributes)) if weighted else np.empty(0))


def change_at_random(
    weights: GrowingWeights, tokens: TokenAttributes, steps: int
) -> tuple[GrowingWeights, Dense, Dense]:
    """After many changes: the weights, and by definition what they and their lazy sums must be [A, Y]."""
    rng, Y = np.random.default_rng(1), weights.n_labels
    dense, sums = np.zeros((2, A, Y))
    for now in range(1, steps + 1):
        p, y, size = int(rng.integers(TOKENS)), int(Y * rng.random() ** 2), float(rng.integers(-2, 3))
        n = int(tokens.pointers[p + 1] - tokens.pointers[p])
        if not has_room(weights, n):
            weights = weights.with_room(n)
            assert has_room(weights, n)
        change_token(tokens, p, y, size, float(now), weights)
        for e in range(tokens.pointers[p], tokens.pointers[p + 1]):
            change = size * (tokens.values[e] if len(tokens.values) else 1.0)
            dense[tokens.attributes[e], y] += change
            sums[tokens.attributes[e], y] += now * change
    return weights, dense, sums


def as_dense(learned: LearnedWeights, Y: int) -> Dense:
    out = np.zeros((A, Y))
    out[np.repeat(np.arange(A), np.diff(learned.pattern.pointers)), learned.pattern.labels] = learned.values
    return out


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("Y", [1, 2, 3, 8, 9, 20, 150])
def test_they_are_what_a_table_of_all_pairs_is(Y: int, dtype: type, weighted: bool) -> None:
    """Past several doublings, lists that become rows, and arrays that become larger."""
    tokens = make_tokens(Y, weighted)
    weights = GrowingWeights.empty(A, Y, dtype=dtype, averaged=True)
    weights, dense, sums = change_at_random(weights, tokens, 3000)
    error = {"rtol": 1e-3, "atol": 1e-3} if dtype is np.float32 else {"rtol": 1e-9, "atol": 1e-9}
    rows = np.empty(10, np.int64)
    for p in range(TOKENS):
        row = np.zeros(-(-Y // 16) * 16, dtype)
        add_token_scores(tokens, p, weights, rows, row)
        here = slice(tokens.pointers[p], tokens.pointers[p + 1])
        values = tokens.values[here, None] if weighted else 1.0
        truth = (dense[tokens.attributes[here]] * values).sum(axis=0)
        np.testing.assert_allclose(row[:Y], truth, **error)
        np.testing.assert_allclose([label_score(tokens, p, weights, y) for y in range(Y)], truth, **error)
    learned = LearnedWeights.none(A).plus(weights, 0.5, 3001)
    np.testing.assert_allclose(as_dense(learned, Y), 0.5 * (dense - sums / 3001), **error)
    twice = learned.plus(weights, 0.25, 3001)
    np.testing.assert_allclose(as_dense(twice, Y), 0.75 * (dense - sums / 3001), **error)
    for a in range(A):
        labels = twice.pattern.labels[twice.pattern.pointers[a] : twice.pattern.pointers[a + 1]]
        assert (np.diff(labels) > 0).all()


def test_weights_that_cancel_are_left_out() -> None:
    tokens = TokenAttributes(np.array([0, 1]), np.array([7], np.int32), np.empty(0))
    weights = GrowingWeights.empty(A, 5, dtype=np.float64, averaged=False).with_room(1)
    for label, size in ((3, 1.0), (1, 2.0), (3, -1.0)):
        change_token(tokens, 0, label, size, 0.0, weights)
    learned = LearnedWeights.none(A).plus(weights, 1.0, 1)
    assert (learned.pattern.labels.tolist(), learned.values.tolist()) == ([1], [2.0])


@pytest.mark.parametrize("Y", [4, 40])
def test_weights_of_a_pattern_stay_its_own(Y: int) -> None:
    """Pairs that it does not have are never changed; rows of many labels have gaps."""
    rng = np.random.default_rng(0)
    seen = rng.random((A, Y)) < rng.random((A, 1))
    pattern = Pattern(np.concatenate([[0], np.cumsum(seen.sum(1))]), np.nonzero(seen)[1].astype(np.int32))
    start = rng.normal(size=pattern.n_weights)
    weights = GrowingWeights.build(pattern, start, Y, grows=False, dtype=np.float64, averaged=False)
    tokens = make_tokens(0, weighted=False)
    weights, dense, _ = change_at_random(weights, tokens, 500)
    expected = np.zeros((A, Y))
    expected[seen] = start + dense[seen]
    np.testing.assert_allclose(as_dense(LearnedWeights.none(A).plus(weights, 1.0, 1), Y), expected, atol=1e-12)


def test_memory_grows_with_the_weights_not_with_attributes_times_labels() -> None:
    """A thousand labels, of which an attribute has a few: a list takes at most twice the places of its weights, and
    what is spare at most as much again and room for one sentence."""
    Y, n_attributes = 1000, 5000
    weights = GrowingWeights.empty(n_attributes, Y, dtype=np.float32, averaged=True)
    pairs: defaultdict[int, set[int]] = defaultdict(set)
    rng = np.random.default_rng(0)
    for _ in range(4000):
        attributes = np.unique(rng.integers(0, n_attributes, 9)).astype(np.int32)
        tokens = TokenAttributes(np.array([0, len(attributes)]), attributes, np.empty(0))
        if not has_room(weights, len(attributes)):
            weights = weights.with_room(len(attributes))
        y = int(rng.integers(Y))
        change_token(tokens, 0, y, 1.0, 1.0, weights)
        for a in attributes.tolist():
            pairs[a].add(y)
    n_pairs = sum(map(len, pairs.values()))
    assert int(weights.places[:, 1].sum()) == n_pairs
    used = int(weights.end[0])
    assert used < 4 * n_pairs + n_attributes
    bytes_held = sum(array.nbytes for array in (weights.labels, weights.values, weights.sums))
    assert bytes_held < 14 * (6 * n_pairs + 2 * n_attributes + 9 * 3 * Y)
    assert bytes_held < 0.1 * n_attributes * Y * 12
    assert len({*weights.places[weights.places[:, 1] > 0, FIRST].tolist()}) == len(pairs)
