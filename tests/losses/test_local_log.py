"""The local loss against enumeration and numerical differentiation."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from oracle import numerical_gradient, random_lattice

from tagwright.arrays import padded
from tagwright.chain.forward_backward import Chain
from tagwright.chain.lattice import Lattice
from tagwright.losses.local_log import local_log
from tagwright.losses.run import SentenceRun
from tagwright.losses.sequence import sequence_log


def local_log_probabilities(lattice: Lattice, labels: list[int]) -> list[float]:
    """log softmax(emission[t] + transition[y_{t−1}])[y_t] of every position, written down once more."""
    found = []
    for t, y in enumerate(labels):
        scores = lattice.emission[t] + (lattice.transition[labels[t - 1]] if t else lattice.start)
        found.append(float(scores[y] - np.log(np.exp(scores).sum())))
    return found


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_value_and_gradient(dtype: type) -> None:
    rng = np.random.default_rng(12)
    for _ in range(25):
        lattice = random_lattice(rng, scale=1.0, forbid=0.0)
        T, Y = lattice.emission.shape
        gold = rng.integers(0, Y, T).astype(np.int32)
        weights = rng.choice([0.0, 0.5, 1.0, 2.0], T)

        def value(vector: np.ndarray, T: int = T, Y: int = Y, gold=gold, weights=weights) -> float:
            parts = np.split(vector, np.cumsum([T * Y, Y * Y, Y]))
            one = Lattice(parts[0].reshape(T, Y), parts[1].reshape(Y, Y), parts[2], parts[3])
            return -float(weights @ local_log_probabilities(one, gold.tolist()))

        vector = np.concatenate([lattice.emission.ravel(), lattice.transition.ravel(), lattice.start, lattice.stop])
        rows = np.ones((T, padded(Y)), dtype)
        rows[:, :Y] = lattice.emission
        chain = Chain.build(lattice.transition, lattice.start, lattice.stop, dtype)
        found = local_log(SentenceRun(rows, np.array([0, T]), gold, weights), chain)
        exact = dtype is np.float64
        np.testing.assert_array_equal(found.weights, weights)
        assert weights @ found.terms == pytest.approx(value(vector), abs=1e-10 if exact else 1e-5)
        gradient = np.concatenate([found.emission[:, :Y].ravel(), found.transition.ravel(), found.start, found.stop])
        np.testing.assert_allclose(gradient, numerical_gradient(value, vector), atol=1e-6 if exact else 1e-5)
        assert not found.emission[:, Y:].any()


def test_a_run_is_the_sum_of_its_sentences() -> None:
    rng = np.random.default_rng(2)
    Y, lengths = 3, [4, 1, 6]
    rows, labels = rng.normal(size=(11, padded(Y))), rng.integers(0, Y, 11).astype(np.int32)
    chain = Chain.build(rng.normal(size=(Y, Y)), rng.normal(size=Y), np.zeros(Y), np.float64)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    weights = rng.random(11)
    pieces = [
        local_log(SentenceRun(rows[a:b].copy(), np.array([0, b - a]), labels[a:b], weights[a:b]), chain)
        for a, b in itertools.pairwise(offsets)
    ]
    found = local_log(SentenceRun(rows, offsets, labels, weights), chain)
    np.testing.assert_allclose(found.terms, np.concatenate([piece.terms for piece in pieces]))
    np.testing.assert_allclose(found.transition, sum(piece.transition for piece in pieces))
    np.testing.assert_allclose(found.start, sum(piece.start for piece in pieces))


def test_one_word_is_a_crf() -> None:
    """With one position there is nothing to normalise but the whole; a stop of 0 is none."""
    rng = np.random.default_rng(5)
    chain = Chain.build(rng.normal(size=(4, 4)), rng.normal(size=4), np.zeros(4), np.float64)
    rows = rng.normal(size=(1, padded(4)))
    offsets, gold = np.array([0, 1]), np.array([2], np.int32)
    mine = local_log(SentenceRun(rows, offsets, gold, np.array([1.5])), chain)
    yours = sequence_log(SentenceRun(rows, offsets, gold, np.array([1.5])), chain)
    assert mine.terms[0] == pytest.approx(yours.terms[0], abs=1e-12)
    np.testing.assert_allclose(mine.emission[:, :4], yours.emission[:, :4], atol=1e-12)
    np.testing.assert_allclose(mine.start, yours.start, atol=1e-12)
