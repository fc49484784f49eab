"""What line-search methods share: the loop (when to stop, whom to tell, what to remember), and the search for a step.

    learners/ ─► objective ─► descend( Method: L-BFGS, OWL-QN or conjugate gradient ) ─► Minimum
                                       L-BFGS and conjugate gradient ─► search_line

A `Trail` is all there is to know about a descent between two iterations: going on from a stored one gives the same bits
as never having stopped. It is a value, replaced in one assignment, so that Ctrl-C at any moment leaves a whole one.

    stops   when the gradient is small against the weights (‖g‖ ≤ ε max(1, ‖w‖)), when the value has improved by less
            than `tolerance` (relatively) over the last `period` iterations, when rounding allows no better step, when
            the watcher says so, on Ctrl-C (the best weights so far are kept), or after `max_iterations`

Given: an Objective (objective/evaluation.py). Returned: the last weights, which are also the best.

The step satisfies the Wolfe conditions:

    sufficient decrease   φ(t) ≤ φ(0) + c1 t φ'(0)                      φ(t) = f(w + t d)
    weak curvature        φ'(t) ≥ c2 φ'(0)                              enough for L-BFGS (sᵀy > 0)
    strong curvature      |φ'(t)| ≤ c2 |φ'(0)|                          for conjugate gradients

The interval [low, high] always holds such a step (Lewis and Overton 2013, algorithm 2.6; Nocedal and Wright, section
3.5): `low` decreases enough and still falls steeply, `high` fails to decrease or already rises. While there is no
`high`, the next trial is where the slopes of the last two would meet zero, at least twice and at most ten times `low`;
then it is the minimum of the cubic through both ends, kept away from them.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol

from tagwright.arrays import Doubles, Floats, Vectors
from tagwright.objective.evaluation import Objective, ValueAndGradient

PLAIN = Vectors()
"""Vectors on one thread."""
PERIOD = 10
"""Iterations over which an improvement is measured: one alone may be small by accident."""
DECREASE = 1e-4
NEAREST, FARTHEST = 2.0, 10.0
MARGIN = 0.1
"""A trial keeps this part of the interval away from its ends."""

Reason = Literal["gradient", "tolerance", "precision", "callback", "interrupted", "max_iterations"]


@dataclass(frozen=True, slots=True)
class Point:
    """Weights with value and gradient, the step that led there, and the reference for evaluations nearby."""

    weights: Doubles
    value: float
    gradient: Doubles
    step: float = 0.0
    reference: float = 0.0

    @classmethod
    def evaluated(cls, weights: Doubles, found: ValueAndGradient, step: float = 0.0) -> Point:
        return cls(weights, found.value, found.gradient, step, found.reference)


Memory = tuple[Floats, ...]
"""The vectors that a method remembers, as it defines them."""


@dataclass(frozen=True, slots=True)
class Trail:
    """Where a descent stands, the vectors its method remembers, and the values so far."""

    point: Point
    memory: Memory = ()
    curve: tuple[float, ...] = ()

    @property
    def number(self) -> int:
        """Iterations so far."""
        return len(self.curve) - 1


@dataclass(frozen=True, slots=True)
class Iteration:
    """What the watcher of a descent is told."""

    trail: Trail
    gradient_norm: float
    seconds: float

    @property
    def number(self) -> int:
        return self.trail.number

    @property
    def point(self) -> Point:
        return self.trail.point


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


class Method(Protocol):
    """What makes one descent different from another."""

    def slope(self, point: Point) -> Doubles:
        """The gradient of what is minimised: zero at a minimum."""

    def advance(self, objective: Objective, trail: Trail) -> tuple[Point, Memory] | None:
        """A lower point and the memory after it; None if none is found."""


Watcher = Callable[[Iteration], bool | None]


def descend(
    objective: Objective,
    start: Doubles | Trail,
    method: Method,
    *,
    max_iterations: int = 1000,
    epsilon: float = 1e-5,
    tolerance: float = 1e-5,
    period: int = PERIOD,
    watch: Watcher | None = None,
    vectors: Vectors = PLAIN,
) -> Minimum:
    """Minimise `objective` from weights, or go on along a Trail; see the head of this file."""
    began = time.perf_counter()
    evaluations = 0

    def evaluate(weights: Doubles, reference: float = 0.0) -> ValueAndGradient:
        nonlocal evaluations
        evaluations += 1
        return objective(weights, reference)

    trail = start if isinstance(start, Trail) else _begin(evaluate, start)
    steepness = vectors.norm(method.slope(trail.point))
    reason: Reason = "max_iterations"
    try:
        while True:
            if steepness <= epsilon * max(1.0, vectors.norm(trail.point.weights)):
                reason = "gradient"
                break
            if flattened(trail.curve, period, tolerance):
                reason = "tolerance"
                break
            if trail.number >= max_iterations:
                break
            found = method.advance(evaluate, trail)
            if found is None and trail.memory:
                trail = replace(trail, memory=())
                continue
            if found is None:
                reason = "precision"
                break
            trail = Trail(*found, (*trail.curve, found[0].value))
            steepness = vectors.norm(method.slope(trail.point))
            if watch is not None and watch(Iteration(trail, steepness, time.perf_counter() - began)):
                reason = "callback"
                break
    except KeyboardInterrupt:
        reason = "interrupted"
    point = trail.point
    return Minimum(point.weights, point.value, trail.number, evaluations, reason, list(trail.curve))


def _begin(objective: Objective, weights: Doubles) -> Trail:
    point = Point.evaluated(weights, objective(weights))
    return Trail(point, curve=(point.value,))


def flattened(curve: tuple[float, ...], period: int, tolerance: float) -> bool:
    """Whether the last `period` rounds have improved the value by no more than `tolerance`, relatively."""
    return len(curve) > period and curve[-1 - period] - curve[-1] <= tolerance * abs(curve[-1])


@dataclass(frozen=True, slots=True)
class Trial:
    """φ at a step."""

    step: float
    value: float
    slope: float


def search_line(
    objective: Objective,
    start: Point,
    direction: Doubles,
    step: float,
    *,
    curvature: float = 0.9,
    strong: bool = False,
    most: int = 30,
    vectors: Vectors = PLAIN,
) -> Point | None:
    """A point that satisfies the conditions, the lowest that was met if none does, None if none is lower."""
    slope = vectors.inner(start.gradient, direction)
    before = low = Trial(0.0, start.value, slope)
    high = None
    best: Point | None = None
    reference = start.reference
    for _ in range(most):
        weights = vectors.sum_of(start.weights, step, direction)
        found = objective(weights, reference)
        reference = found.reference
        trial = Trial(step, found.value, vectors.inner(found.gradient, direction))
        if not found.value <= start.value + DECREASE * step * slope:
            high = trial
        else:
            if best is None or found.value < best.value:
                best = Point.evaluated(weights, found, step)
            if trial.slope < curvature * slope:
                before, low = low, trial
            elif strong and trial.slope > -curvature * slope:
                high = trial
            else:
                return Point.evaluated(weights, found, step)
        if high is not None and abs(high.step - low.step) <= 1e-12 * high.step:
            break
        step = farther(before, low) if high is None else lowest_between(low, high)
    return best


def farther(before: Trial, low: Trial) -> float:
    """Where a line through both slopes is zero, from NEAREST to FARTHEST times as far as `low`."""
    rise = (low.slope - before.slope) / (low.step - before.step)
    zero = low.step - low.slope / rise if rise > 0 else math.inf
    return min(max(zero, NEAREST * low.step), FARTHEST * low.step)


def lowest_between(low: Trial, high: Trial) -> float:
    """The minimum of the cubic with the values and slopes of both ends (Nocedal and Wright, equation 3.59)."""
    width = high.step - low.step
    rise = low.slope + high.slope - 3 * (high.value - low.value) / width
    square = rise * rise - low.slope * high.slope
    part = 0.5
    if square > 0:  # false for NaN, too
        root = math.sqrt(square)
        bottom = high.slope - low.slope + 2 * root
        if bottom != 0:
            part = 1 - (high.slope + root - rise) / bottom
    if not math.isfinite(part):
        part = 0.5
    return low.step + width * min(max(part, MARGIN), 1 - MARGIN)
