"""Rows and lists of weights against the pattern they come from."""

from __future__ import annotations

import numpy as np
import pytest

from tagwright.scores import wide_rows
from tagwright.scores.expanded import TokenAttributes
from tagwright.scores.pattern import Pattern
from tagwright.scores.wide_rows import TokenData, TokenWeights, WidePattern, add_token_scores

A, n, Y = 30, 40, 11


def make(seed: int, share: float) -> Pattern:
    """Attributes with any number of labels, 0 and all among them."""
    rng = np.random.default_rng(seed)
    seen = rng.random((A, Y)) < share * 2 * rng.random((A, 1))
    seen[:2] = [[False], [True]]
    return Pattern(np.concatenate([[0], np.cumsum(seen.sum(1))]), np.nonzero(seen)[1].astype(np.int32))


@pytest.mark.parametrize("share", [0.1, 0.5, 1.0])
@pytest.mark.parametrize("narrow", [1, 4, 20])
def test_a_wide_pattern_has_the_same_weights(narrow: int, share: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wide_rows, "NARROW", narrow)
    pattern = make(narrow, share)
    wide = WidePattern.build(pattern, Y)
    sizes, before = np.diff(wide.pointers), np.diff(pattern.pointers)
    np.testing.assert_array_equal(sizes, np.where(before > narrow, Y, before))
    indices = wide.indices if len(wide.indices) else np.arange(pattern.n_weights)
    np.testing.assert_array_equal(wide.labels[indices], pattern.labels)
    owners = np.repeat(np.arange(A), sizes)
    np.testing.assert_array_equal(owners[indices], np.repeat(np.arange(A), before))
    in_pattern = wide.in_pattern if len(wide.in_pattern) else np.ones(wide.n_weights, np.bool_)
    np.testing.assert_array_equal(np.flatnonzero(in_pattern), indices)
    for a in np.flatnonzero(sizes == Y):
        np.testing.assert_array_equal(wide.labels[wide.pointers[a] : wide.pointers[a + 1]], np.arange(Y))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("narrow", [2, 20])
def test_scores_equal_the_definition(narrow: int, dtype: type, weighted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wide_rows, "NARROW", narrow)
    pattern, rng = make(3, 0.5), np.random.default_rng(0)
    pointers = np.concatenate([[0], np.cumsum(rng.integers(0, 9, n))])
    attributes = rng.integers(0, A, pointers[-1]).astype(np.int32)
    values = rng.normal(size=len(attributes)) if weighted else np.empty(0)
    wide = WidePattern.build(pattern, Y)
    tokens = TokenWeights.build(TokenAttributes(pointers, attributes, values), wide)
    data = TokenData(np.array([0, n]), np.zeros(n, np.int32), tokens, wide)
    given = rng.normal(size=pattern.n_weights)
    weights = np.full(wide.vector_size, 1e9, dtype)  # what comes after the last weight must not be seen
    weights[: wide.n_weights] = 0
    weights[wide.locate(slice(pattern.n_weights))] = given
    dense = np.zeros((A, Y))
    dense[np.repeat(np.arange(A), np.diff(pattern.pointers)), pattern.labels] = given
    for p in range(n):
        row = np.zeros(16, dtype)
        add_token_scores(p, data, weights, row)
        here = slice(pointers[p], pointers[p + 1])
        truth = (dense[attributes[here]] * (values[here, None] if weighted else 1)).sum(axis=0)
        np.testing.assert_allclose(row[:Y], truth, atol=1e-5 if dtype is np.float32 else 1e-12)
