"""Viterbi against enumeration; pruning never changes the answer."""

from __future__ import annotations

import numpy as np
import pytest
from oracle import best_path, log_partition, random_lattice

from tagwright.arrays import padded
from tagwright.chain import recursion
from tagwright.chain.lattice import Lattice
from tagwright.chain.viterbi import Steps


def decode(lattice: Lattice, dtype: type = np.float64, *, prune: bool = True) -> tuple[np.ndarray, float]:
    rows = np.zeros((lattice.n_positions, padded(lattice.n_labels)), dtype)
    rows[:, : lattice.n_labels] = lattice.emission
    steps = Steps.build(lattice.transition, lattice.start, lattice.stop, dtype)
    if not prune:
        steps = steps._replace(bounds=np.full_like(steps.bounds, 1e30))
    labels, scores = steps.best_paths(rows, np.array([0, lattice.n_positions]))
    return labels, float(scores[0])


@pytest.mark.parametrize("whole", [False, True])
def test_best_path_equals_enumeration(whole: bool) -> None:
    """With whole scores most labellings are tied: the smallest label must win."""
    rng = np.random.default_rng(3 + whole)
    for _ in range(150):
        lattice = random_lattice(rng, whole=whole)
        labels, score = decode(lattice)
        truth, best = best_path(lattice)
        assert score == pytest.approx(best, rel=1e-12, abs=1e-9)
        if whole:
            np.testing.assert_array_equal(labels, truth)
        else:
            assert lattice.score(labels) == pytest.approx(best, rel=1e-12, abs=1e-9)


def test_impossible_is_minus_infinity() -> None:
    rng = np.random.default_rng(4)
    for _ in range(30):
        lattice = random_lattice(rng, feasible=False)
        assert log_partition(lattice) == -np.inf
        assert decode(lattice)[1] == -np.inf


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("spread", [0.3, 3.0, 30.0])
def test_pruning_changes_nothing(dtype: type, spread: float) -> None:
    """Fifty labels, from no label pruned to nearly all."""
    rng = np.random.default_rng(7)
    Y = 50
    for T in (1, 2, 40):
        lattice = Lattice(
            rng.normal(size=(T, Y)) * spread, rng.normal(size=(Y, Y)), rng.normal(size=Y), rng.normal(size=Y)
        )
        pruned, score = decode(lattice, dtype)
        full, best = decode(lattice, dtype, prune=False)
        np.testing.assert_array_equal(pruned, full)
        assert score == best
        assert score == pytest.approx(recursion.best_score(lattice), rel=1e-5)


def test_pruning_prunes() -> None:
    """The bound of a label is what it can gain at most on the best one in one step, here 2 (plus the margin)."""
    transition = np.array([[0.0, 1.0], [2.0, 0.0]])
    steps = Steps.build(transition, np.zeros(2), np.zeros(2), np.float64)
    bounds = steps.bounds[:, :2]
    np.testing.assert_allclose(bounds, [[0.0, 2.0], [1.0, 0.0]], atol=2e-3)
    assert (bounds > [[-1e-9, 2.0], [1.0, -1e-9]]).all()
