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

from functools import partial
from typing import Any

import numpy as np

from tagwright._jit import tight_kernel
from tagwright.arrays import Doubles, Vectors, empty_rows
from tagwright.objective.evaluation import Objective, ValueAndGradient
from tagwright.optim.descent import PLAIN, Memory, Minimum, Point, Trail, descend
from tagwright.optim.lbfgs import MOST_PAIRS, Pair, quasi_newton_direction, remember

DECREASE = 1e-4
MOST_STEPS = 30


def pseudo_gradient(weights: Doubles, gradient: Doubles, c1: float, vectors: Vectors = PLAIN) -> Doubles:
    """v: of the one-sided derivatives of f + c1 ‖w‖₁, the one that falls; 0 where neither does."""
    out: Doubles = empty_rows((1, len(weights)), np.float64)[0]
    vectors.of_pieces(partial(write_pseudo_gradient, weights, gradient, c1, out), len(weights))
    return out


@tight_kernel
def write_pseudo_gradient(weights: Doubles, gradient: Doubles, c1: float, out: Doubles, begin: int, end: int) -> None:
    """out = v from `begin` to `end` − 1."""
    for i in range(begin, end):
        g = gradient[i]
        if weights[i] == 0:
            out[i] = g + c1 if g < -c1 else g - c1 if g > c1 else 0.0
        else:
            out[i] = g + c1 if weights[i] > 0 else g - c1


@tight_kernel
def drop_rising(direction: Doubles, slope: Doubles, begin: int, end: int) -> None:
    """direction = 0 where its sign is not that of −slope."""
    for i in range(begin, end):
        if direction[i] * slope[i] >= 0:
            direction[i] = 0.0


@tight_kernel
def step_in_orthant(
    weights: Doubles, slope: Doubles, direction: Doubles, step: float, out: Doubles, begin: int, end: int
) -> float:
    """out = π(w + t d; ξ) from `begin` to `end` − 1, and this part of vᵀ(w' − w)."""
    fall = 0.0
    for i in range(begin, end):
        w = weights[i]
        moved, orthant = w + step * direction[i], w if w != 0 else -slope[i]
        kept = (moved > 0 and orthant > 0) or (moved < 0 and orthant < 0)
        out[i] = moved if kept else 0.0
        fall += slope[i] * (out[i] - w)
    return fall


@tight_kernel
def sum_sizes(a: Doubles, begin: int, end: int) -> float:
    """Σ |a_i| from `begin` to `end` − 1."""
    total = 0.0
    for i in range(begin, end):
        total += abs(a[i])
    return total


class OWLQN:
    """The method for the penalty c1 ‖w‖₁, with a memory of `size` pairs."""

    def __init__(self, c1: float, size: int = MOST_PAIRS, vectors: Vectors = PLAIN) -> None:
        self.c1 = c1
        self.size = size
        self.vectors = vectors

    def slope(self, point: Point) -> Doubles:
        return pseudo_gradient(point.weights, point.gradient, self.c1, self.vectors)

    def advance(self, objective: Objective, trail: Trail) -> tuple[Point, Memory] | None:
        """One step inside the orthant; `objective` has the penalty in its value, not in its gradient."""
        here, vectors, n = trail.point, self.vectors, len(trail.point.weights)
        slope = self.slope(here)
        direction = quasi_newton_direction(trail.memory, slope, vectors=vectors)
        vectors.of_pieces(partial(drop_rising, direction, slope), n)
        step = 1.0 if trail.memory else 1.0 / vectors.norm(slope)
        reference = here.reference
        for _ in range(MOST_STEPS):
            weights: Doubles = empty_rows((1, n), np.float64)[0]
            falls = vectors.of_pieces(partial(step_in_orthant, here.weights, slope, direction, step, weights), n)
            found = objective(weights, reference)
            reference = found.reference
            if found.value <= here.value + DECREASE * sum(falls) and found.value < here.value:
                point = Point.evaluated(weights, found, step)
                return point, remember(trail.memory, Pair.between(here, point, vectors), self.size)
            step /= 2
        return None


def minimise_owlqn(
    smooth: Objective,
    start: Doubles | Trail,
    *,
    c1: float,
    memory: int = MOST_PAIRS,
    vectors: Vectors = PLAIN,
    **options: Any,
) -> Minimum:
    """Minimise smooth(w) + c1 ‖w‖₁; options: see `descend`."""

    def penalised(weights: Doubles, reference: float = 0.0) -> ValueAndGradient:
        found = smooth(weights, reference)
        size = sum(vectors.of_pieces(partial(sum_sizes, weights), len(weights)))
        return found._replace(value=found.value + c1 * size)

    return descend(penalised, start, OWLQN(c1, memory, vectors), vectors=vectors, **options)
