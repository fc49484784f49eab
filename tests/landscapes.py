"""Functions whose minimum is known, for the tests of optim/."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tagwright.objective.evaluation import Objective, ValueAndGradient
from tagwright.optim.descent import Point
from tagwright.optim.lbfgs import Pair


def as_objective(function: Callable[[np.ndarray], tuple[float, np.ndarray]]) -> Objective:
    """A plain function of the weights, value and gradient, as solvers see it."""
    return lambda weights, reference=0.0: ValueAndGradient(*function(weights), reference)


def quadratic(n: int = 30, seed: int = 0) -> tuple[Objective, np.ndarray]:
    """½ (w − m)ᵀ A (w − m), ill conditioned."""
    rng = np.random.default_rng(seed)
    basis, _ = np.linalg.qr(rng.normal(size=(n, n)))
    A = basis * np.logspace(-2, 2, n) @ basis.T
    middle = rng.normal(size=n)
    return as_objective(lambda w: (0.5 * float((w - middle) @ A @ (w - middle)), A @ (w - middle))), middle


@as_objective
def rosenbrock(w: np.ndarray) -> tuple[float, np.ndarray]:
    x, y = w
    value = (1 - x) ** 2 + 100 * (y - x * x) ** 2
    return value, np.array([-2 * (1 - x) - 400 * x * (y - x * x), 200 * (y - x * x)])


def pair_of(s: np.ndarray, y: np.ndarray) -> Pair:
    """As if the first point were 0."""
    zero = np.zeros(len(s))
    return Pair.between(Point(zero, 0.0, zero), Point(s, 0.0, y))
