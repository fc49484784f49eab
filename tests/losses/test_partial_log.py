"""The loss of labels known in part against enumeration and numerical differentiation."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from oracle import log_partition, numerical_gradient

from tagwright.arrays import padded
from tagwright.chain.forward_backward import Chain
from tagwright.chain.lattice import Lattice
from tagwright.losses.partial_log import PartialLog, allowed_labels, possible_transitions
from tagwright.losses.run import SentenceRun
from tagwright.losses.sequence import sequence_log


def test_allowed_labels() -> None:
    sets = np.array([[True, False, True], [True, True, True]])
    found = allowed_labels(np.array([1, -1, -2, 0], np.int32), sets)
    assert found.astype(int).tolist() == [[0, 1, 0], [1, 0, 1], [1, 1, 1], [1, 0, 0]]


def test_possible_transitions() -> None:
    sets = np.array([[True, False, True]])
    found = possible_transitions(np.array([0, -1, 1, 2, 1], np.int32), np.array([0, 3, 5]), sets)
    assert {tuple(pair) for pair in np.argwhere(found).tolist()} == {(0, 0), (0, 2), (0, 1), (2, 1)}
    alone = possible_transitions(np.array([0, 1], np.int32), np.array([0, 1, 2]), sets)
    assert not alone.any()


def split(vector: np.ndarray, lengths: list[int], Y: int) -> list[Lattice]:
    """Lattices of some sentences that share the chain at the end of the vector."""
    parts = np.split(vector, np.cumsum([*[T * Y for T in lengths], Y * Y, Y]))
    chain = (parts[-3].reshape(Y, Y), parts[-2], parts[-1])
    return [Lattice(part.reshape(-1, Y), *chain) for part in parts[: len(lengths)]]


@pytest.mark.parametrize("mixed", [False, True])
def test_value_and_gradient(mixed: bool) -> None:
    """Runs of sentences known in part; where mixed, some are known as a whole, and one is all unknown."""
    rng = np.random.default_rng(13)
    for _ in range(15):
        Y, lengths = int(rng.integers(2, 4)), rng.integers(1, 5, 3).tolist()
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        n = int(offsets[-1])
        sets = np.array([[True] * Y, [True] + [False] * (Y - 2) + [True]])
        labels = rng.integers(-2, Y, n).astype(np.int32)
        labels[offsets[:-1]] = -1
        if mixed:
            labels[: lengths[0]] = rng.integers(0, Y, lengths[0])
            labels[offsets[1] : offsets[2]] = -1
        allowed = allowed_labels(labels, sets)
        weights = rng.choice([0.0, 0.5, 1.0, 2.0], n)

        def values(vector: np.ndarray, Y=Y, lengths=lengths, allowed=allowed, offsets=offsets) -> list[float]:
            rows = zip(split(vector, lengths, Y), itertools.pairwise(offsets), strict=True)
            return [
                log_partition(one) - log_partition(replace(one, emission=np.where(allowed[a:b], one.emission, -np.inf)))
                for one, (a, b) in rows
            ]

        vector = rng.normal(size=n * Y + Y * Y + 2 * Y)
        one = split(vector, lengths, Y)[0]
        rows = np.zeros((n, padded(Y)))
        rows[:, :Y] = vector[: n * Y].reshape(n, Y)
        chain = Chain.build(one.transition, one.start, one.stop, np.float64)
        run = SentenceRun(rows, offsets, labels, weights)
        found = PartialLog(sets)(run, chain)
        means = [weights[a:b].mean() for a, b in itertools.pairwise(offsets)]
        np.testing.assert_allclose(found.terms, values(vector), atol=1e-10)
        np.testing.assert_allclose(found.weights, means)
        gradient = np.concatenate([found.emission[:, :Y].ravel(), found.transition.ravel(), found.start, found.stop])
        wanted = numerical_gradient(lambda w, values=values, means=means: float(np.dot(means, values(w))), vector)
        np.testing.assert_allclose(gradient, wanted, atol=1e-6)
        assert not found.emission[:, Y:].any()


def test_known_labels_take_the_short_way() -> None:
    rng = np.random.default_rng(3)
    rows, labels = rng.normal(size=(6, padded(3))).astype(np.float32), rng.integers(0, 3, 6).astype(np.int32)
    chain = Chain.build(rng.normal(size=(3, 3)), rng.normal(size=3), rng.normal(size=3), np.float32)
    offsets = np.array([0, 2, 6])
    weights = rng.random(6)
    found = PartialLog(np.ones((1, 3), bool))(SentenceRun(rows, offsets, labels, weights), chain)
    wanted = sequence_log(SentenceRun(rows, offsets, labels, weights), chain)
    np.testing.assert_array_equal(found.emission, wanted.emission)
    np.testing.assert_array_equal(found.terms, wanted.terms)
    np.testing.assert_array_equal(found.transition, wanted.transition)
