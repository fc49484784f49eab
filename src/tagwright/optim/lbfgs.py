"""L-BFGS: minimise a smooth function from its values and gradients, with a memory of m steps.

    direction   d = −H g, H from the last m pairs s = w' − w, y = g' − g by the two-loop recursion
                (Nocedal 1980; Nocedal and Wright, Numerical Optimization, algorithm 7.4)
    step        weak Wolfe conditions by bisection and doubling (Lewis and Overton 2013, algorithm 2.6):
                f(w + t d) ≤ f(w) + c1 t gᵀd   and   g(w + t d)ᵀd ≥ c2 gᵀd
    stops       when the gradient is small against the weights (‖g‖ ≤ ε max(1, ‖w‖)), when the value has improved by
                less than `tolerance` (relatively) over the last `period` iterations, when rounding allows no better
                step, when a callback says so, on Ctrl-C (the best weights so far are kept), or after `max_iterations`

Given: objective(w) -> (value, gradient). Returned: the last weights, which are also the best.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from tagwright.arrays import Doubles
from tagwright.optim.vectors import add_and_multiply, inner, norm

Objective = Callable[[Doubles], tuple[float, Doubles]]
Reason = Literal["gradient", "tolerance", "precision", "callback", "interrupted", "max_iterations"]

ARMIJO, CURVATURE = 1e-4, 0.9


@dataclass(slots=True)
class Minimum:
    """Where a minimisation ended, and its course."""

    weights: Doubles
    value: float
    iterations: int
    evaluations: int
    reason: Reason
    curve: list[float] = field(default_factory=list)

    @property
    def converged(self) -> bool:
        return self.reason in ("gradient", "tolerance", "precision")


@dataclass(frozen=True, slots=True)
class Point:
    """A place on the way: weights, value, gradient, and the step that led there."""

    weights: Doubles
    value: float
    gradient: Doubles
    step: float = 0.0


@dataclass(frozen=True, slots=True)
class Iteration:
    """What the watcher of a minimisation is told."""

    number: int
    point: Point
    seconds: float


class Memory:
    """The last m pairs (s, y), for the two-loop recursion."""

    def __init__(self, size: int) -> None:
        self.pairs: deque[tuple[Doubles, Doubles, float]] = deque(maxlen=size)

    def add(self, s: Doubles, y: Doubles) -> None:
        """Remember a pair, unless its curvature is not safely positive."""
        product = inner(s, y)
        if product > 1e-10 * inner(y, y):
            self.pairs.append((s, y, 1.0 / product))

    def direction(self, gradient: Doubles) -> Doubles:
        """−H g."""
        d = -gradient
        if not self.pairs:
            return d
        pairs = list(self.pairs)
        factors = []
        product = inner(pairs[-1][0], d)
        for k in range(len(pairs) - 1, -1, -1):
            _, y, rho = pairs[k]
            factors.append(rho * product)
            product = add_and_multiply(d, -factors[-1], y, pairs[k - 1][0])  # of no use at the last pair
        _, y, rho = pairs[-1]
        d /= rho * inner(y, y)
        product = inner(pairs[0][1], d)
        for k, (s, _, rho) in enumerate(pairs):
            factor = factors[len(pairs) - 1 - k] - rho * product
            product = add_and_multiply(d, factor, s, pairs[(k + 1) % len(pairs)][1])
        return d


def search_line(objective: Objective, start: Point, direction: Doubles, step: float, most: int = 30) -> Point | None:
    """A point that satisfies the weak Wolfe conditions, the best that was met if none does, None if none is lower."""
    slope = inner(start.gradient, direction)
    low, high = 0.0, np.inf
    best: Point | None = None
    for _ in range(most):
        weights = start.weights + step * direction
        value, gradient = objective(weights)
        if not value <= start.value + ARMIJO * step * slope:
            high = step
        else:
            best = Point(weights, value, gradient, step)
            if inner(gradient, direction) >= CURVATURE * slope:
                return best
            low = step
        step = 2 * low if high == np.inf else (low + high) / 2
        if high - low <= 1e-12 * high:
            break
    return best


def minimise_lbfgs(
    objective: Objective,
    weights: Doubles,
    *,
    memory: int = 6,
    max_iterations: int = 1000,
    epsilon: float = 1e-5,
    tolerance: float = 1e-5,
    period: int = 10,
    watch: Callable[[Iteration], bool | None] | None = None,
) -> Minimum:
    """Minimise `objective` from `weights` on; see the head of this file."""
    began = time.perf_counter()
    evaluations = 0

    def evaluate(w: Doubles) -> tuple[float, Doubles]:
        nonlocal evaluations
        evaluations += 1
        return objective(w)

    point = Point(weights, *evaluate(weights))
    history = Memory(memory)
    curve = [point.value]
    reason: Reason = "max_iterations"
    try:
        for number in range(1, max_iterations + 1):
            if norm(point.gradient) <= epsilon * max(1.0, norm(point.weights)):
                reason = "gradient"
                break
            direction = history.direction(point.gradient)
            first = 1.0 if history.pairs else 1.0 / norm(point.gradient)
            found = search_line(evaluate, point, direction, first)
            if found is None and history.pairs:
                history.pairs.clear()
                continue
            if found is None:
                reason = "precision"
                break
            history.add(found.weights - point.weights, found.gradient - point.gradient)
            point = found
            curve.append(point.value)
            if watch is not None and watch(Iteration(number, point, time.perf_counter() - began)):
                reason = "callback"
                break
            if len(curve) > period and curve[-1 - period] - point.value <= tolerance * abs(point.value):
                reason = "tolerance"
                break
    except KeyboardInterrupt:
        reason = "interrupted"
    return Minimum(point.weights, point.value, len(curve) - 1, evaluations, reason, curve)
