"""OWL-QN against a slow reference and the conditions of a minimum."""

from __future__ import annotations

import numpy as np
import pytest
from landscapes import as_objective, pair_of

from tagwright.objective.evaluation import Objective
from tagwright.optim.descent import Point, Trail
from tagwright.optim.lbfgs import minimise_lbfgs, quasi_newton_direction, remember
from tagwright.optim.owlqn import OWLQN, minimise_owlqn, pseudo_gradient


def logistic(c2: float, seed: int, n: int = 60, d: int = 25) -> Objective:
    """Logistic regression with an L2 penalty."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * np.logspace(-1, 1, d)
    y = np.sign(X @ (rng.normal(size=d) * (rng.random(d) < 0.3)) + 0.3 * rng.normal(size=n))

    @as_objective
    def smooth(w: np.ndarray) -> tuple[float, np.ndarray]:
        margins = y * (X @ w)
        value = np.logaddexp(0, -margins).sum() + c2 * w @ w
        return float(value), -X.T @ (y / (1 + np.exp(margins))) + 2 * c2 * w

    return smooth


def proximal_gradient(smooth: Objective, d: int, c1: float, step: float, rounds: int) -> np.ndarray:
    """w ← shrink(w − t g, t c1), run for very long: slow and plain (with Nesterov's momentum)."""
    w = ahead = np.zeros(d)
    for k in range(rounds):
        moved = ahead - step * smooth(ahead)[1]
        new = np.sign(moved) * np.maximum(np.abs(moved) - step * c1, 0)
        ahead = new + k / (k + 3) * (new - w)
        w = new
    return w


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("c1", "c2"), [(1.0, 0.0), (3.0, 0.1), (0.1, 1.0)])
def test_finds_the_minimum_of_the_slow_reference(c1: float, c2: float, seed: int) -> None:
    smooth = logistic(c2, seed)
    found = minimise_owlqn(smooth, np.zeros(25), c1=c1, epsilon=1e-9, tolerance=0)
    reference = proximal_gradient(smooth, 25, c1, step=1e-3, rounds=30_000)
    value = smooth(reference)[0] + c1 * np.abs(reference).sum()
    assert found.value <= value * (1 + 1e-9)
    assert found.value == pytest.approx(value, rel=1e-6)
    np.testing.assert_allclose(found.weights, reference, atol=1e-3)
    assert found.curve == sorted(found.curve, reverse=True)


@pytest.mark.parametrize("seed", range(5))
def test_the_conditions_of_a_minimum_hold(seed: int) -> None:
    c1 = 2.0
    smooth = logistic(0.05, seed)
    w = minimise_owlqn(smooth, np.zeros(25), c1=c1, epsilon=1e-9, tolerance=0).weights
    gradient = smooth(w)[1]
    zero = w == 0
    assert 3 <= zero.sum() <= 23
    assert np.abs(gradient[zero]).max() <= c1
    np.testing.assert_allclose(gradient[~zero], -c1 * np.sign(w[~zero]), atol=1e-5)


def test_begins_anywhere_and_crosses_zero() -> None:
    smooth = logistic(0.1, 1)
    ends = [
        minimise_owlqn(smooth, start, c1=1.0, epsilon=1e-9, tolerance=0).weights
        for start in (np.zeros(25), np.full(25, 2.0), np.full(25, -2.0))
    ]
    np.testing.assert_allclose(ends[1], ends[0], atol=1e-5)
    np.testing.assert_allclose(ends[2], ends[0], atol=1e-5)


def test_without_penalty_it_is_lbfgs_minimum() -> None:
    smooth = logistic(0.5, 2)
    options = {"epsilon": 1e-8, "tolerance": 0}
    ours, theirs = (
        minimise_owlqn(smooth, np.zeros(25), c1=0.0, **options),
        minimise_lbfgs(smooth, np.zeros(25), **options),
    )
    np.testing.assert_allclose(ours.weights, theirs.weights, atol=1e-6)


def test_a_strong_penalty_leaves_nothing() -> None:
    smooth = logistic(0.1, 0)
    start = smooth(np.zeros(25))[1]
    found = minimise_owlqn(smooth, np.zeros(25), c1=float(np.abs(start).max()) + 1)
    assert found.reason == "gradient"
    assert not found.weights.any()


def test_pseudo_gradient() -> None:
    w = np.array([1.0, -1.0, 0.0, 0.0, 0.0])
    g = np.array([0.5, 0.5, -3.0, 3.0, 1.0])
    np.testing.assert_array_equal(pseudo_gradient(w, g, 2.0), [2.5, -1.5, -1.0, 1.0, 0.0])


def test_a_step_follows_the_slope_in_every_coordinate_and_stays_in_its_orthant() -> None:
    """H mixes coordinates: some of −H v point uphill, and the step would cross zero; neither may happen."""
    rng = np.random.default_rng(4)
    root = rng.normal(size=(8, 8))
    A, b = root @ root.T + np.eye(8), 3 * rng.normal(size=8)
    memory: tuple[np.ndarray, ...] = ()
    for s in rng.normal(size=(4, 8)):
        memory = remember(memory, pair_of(s, A @ s), 6)
    w = np.where(np.arange(8) < 3, 0.0, 0.05 * rng.normal(size=8))
    method = OWLQN(0.5)

    @as_objective
    def objective(w: np.ndarray) -> tuple[float, np.ndarray]:
        return float(0.5 * w @ A @ w + b @ w + 0.5 * np.abs(w).sum()), A @ w + b

    here = Point.evaluated(w, objective(w))
    slope = method.slope(here)
    assert (quasi_newton_direction(memory, slope) * slope > 0).any()
    found = method.advance(objective, Trail(here, memory, (here.value,)))
    assert found is not None
    there = found[0].weights
    assert ((there - w) * slope <= 0).all()
    assert (there * np.where(w == 0, -np.sign(slope), np.sign(w)) >= 0).all()
    assert (there[w != 0] == 0).any()
