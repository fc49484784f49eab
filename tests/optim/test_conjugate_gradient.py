"""Conjugate gradients on functions whose minimum is known."""

from __future__ import annotations

import numpy as np
import pytest
from landscapes import quadratic, rosenbrock

from tagwright.optim.conjugate_gradient import minimise_cg, next_direction
from tagwright.optim.descent import Point


def test_finds_the_minimum_of_a_quadratic() -> None:
    objective, middle = quadratic()
    found = minimise_cg(objective, np.zeros(30), epsilon=1e-9, tolerance=0)
    np.testing.assert_allclose(found.weights, middle, atol=1e-6)
    assert found.reason == "gradient"
    assert found.curve == sorted(found.curve, reverse=True)


def test_finds_the_minimum_of_a_curved_valley() -> None:
    found = minimise_cg(rosenbrock, np.array([-1.2, 1.0]), epsilon=1e-9, tolerance=0)
    np.testing.assert_allclose(found.weights, [1, 1], atol=1e-6)
    assert found.evaluations < 250


def test_n_steps_with_exact_searches_solve_a_quadratic() -> None:
    """On ½ wᵀAw + bᵀw with exact steps, n conjugate directions reach the minimum: the method's defining property."""
    rng = np.random.default_rng(0)
    basis, _ = np.linalg.qr(rng.normal(size=(5, 5)))
    A = basis * np.array([1.0, 2.0, 3.0, 4.0, 5.0]) @ basis.T
    b = rng.normal(size=5)
    w, memory, directions = np.zeros(5), (), []
    for _ in range(5):
        here = Point(w, 0.5 * float(w @ A @ w) + float(b @ w), A @ w + b, 1.0)
        d, _step = next_direction(here, memory)
        directions.append(d)
        memory = (d, here.gradient)
        w = w - (here.gradient @ d) / (d @ A @ d) * d
    np.testing.assert_allclose(w, np.linalg.solve(A, -b), atol=1e-9)
    products = np.array([[p @ A @ q for q in directions] for p in directions])
    assert np.abs(products - np.diag(np.diag(products))).max() < 1e-9


@pytest.mark.parametrize(("overlap", "restarts"), [(0.0, False), (0.9, True)])
def test_restarts_when_gradients_are_not_orthogonal(overlap: float, restarts: bool) -> None:
    before, old = np.array([-1.0, 0.0]), np.array([1.0, 0.0])
    gradient = np.array([overlap, 0.5])
    direction, _ = next_direction(Point(np.zeros(2), 0.0, gradient, 1.0), (before, old))
    assert np.array_equal(direction, -gradient) == restarts
