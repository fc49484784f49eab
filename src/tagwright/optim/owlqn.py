"""OWL-QN: minimise f(w) + c1 ‖w‖₁ for a smooth f. Most weights of the result are exactly zero.

Andrew and Gao 2007, Scalable training of L1-regularized log-linear models. Within one orthant the penalty is linear, so
L-BFGS works there; an iteration never leaves the orthant it chose.

    pseudo-gradient   v = g + c1 sign(w)          where w ≠ 0                                            (equation 4)
                        = g + c1, g − c1 or 0     where w = 0: if g < −c1, if g > c1, else
    direction         d = −H v, zero where its sign is not that of −v; H as in optim/lbfgs.py, from gradients of f
    orthant           ξ = sign(w), sign(−v) where w = 0
    step              w' = π(w + t d; ξ), zero where the sign is not ξ's; t halves until
                      F(w') ≤ F(w) + γ vᵀ(w' − w)

At a minimum v = 0: |g| ≤ c1 where w = 0, g = −c1 sign(w) elsewhere. The loop around it: optim/descent.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tagwright.arrays import Doubles, inner, norm
from tagwright.objective.evaluation import Objective, ValueAndGradient
from tagwright.optim.descent import Minimum, Point, Trail, descend
from tagwright.optim.lbfgs import Memory, Pair, quasi_newton_direction, remember

DECREASE = 1e-4
MOST_STEPS = 30


def pseudo_gradient(weights: Doubles, gradient: Doubles, c1: float) -> Doubles:
    """v: of the one-sided derivatives of f + c1 ‖w‖₁, the one that falls; 0 where neither does."""
    at_zero = np.sign(gradient) * np.maximum(np.abs(gradient) - c1, 0.0)
    return np.where(weights == 0, at_zero, gradient + c1 * np.sign(weights))


class OWLQN:
    """The method for the penalty c1 ‖w‖₁, with a memory of `size` pairs."""

    def __init__(self, c1: float, size: int = 6) -> None:
        self.c1 = c1
        self.size = size

    def slope(self, point: Point) -> Doubles:
        return pseudo_gradient(point.weights, point.gradient, self.c1)

    def advance(self, objective: Objective, trail: Trail) -> tuple[Point, Memory] | None:
        """One step inside the orthant; `objective` has the penalty in its value, not in its gradient."""
        here = trail.point
        slope = self.slope(here)
        direction = quasi_newton_direction(trail.memory, slope)
        direction[direction * slope >= 0] = 0.0
        orthant = np.where(here.weights == 0, -np.sign(slope), np.sign(here.weights))
        step = 1.0 if trail.memory else 1.0 / norm(slope)
        reference = here.reference
        for _ in range(MOST_STEPS):
            weights = here.weights + step * direction
            weights[weights * orthant <= 0] = 0.0
            found = objective(weights, reference)
            reference = found.reference
            move = weights - here.weights
            if found.value <= here.value + DECREASE * inner(slope, move) and found.value < here.value:
                point = Point.evaluated(weights, found, step)
                return point, remember(trail.memory, Pair.between(here, point), self.size)
            step /= 2
        return None


def minimise_owlqn(smooth: Objective, start: Doubles | Trail, *, c1: float, memory: int = 6, **options: Any) -> Minimum:
    """Minimise smooth(w) + c1 ‖w‖₁; options: see `descend`."""

    def penalised(weights: Doubles, reference: float = 0.0) -> ValueAndGradient:
        found = smooth(weights, reference)
        return found._replace(value=found.value + c1 * float(np.abs(weights).sum()))

    return descend(penalised, start, OWLQN(c1, memory), **options)
