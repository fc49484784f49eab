"""How far to go along a direction: a step that satisfies the Wolfe conditions.

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
from dataclasses import dataclass

from tagwright.arrays import Doubles, inner
from tagwright.objective.evaluation import Objective
from tagwright.optim.descent import Point

DECREASE = 1e-4
NEAREST, FARTHEST = 2.0, 10.0
MARGIN = 0.1
"""A trial keeps this part of the interval away from its ends."""


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
) -> Point | None:
    """A point that satisfies the conditions, the lowest that was met if none does, None if none is lower."""
    slope = inner(start.gradient, direction)
    before = low = Trial(0.0, start.value, slope)
    high = None
    best: Point | None = None
    reference = start.reference
    for _ in range(most):
        weights = start.weights + step * direction
        found = objective(weights, reference)
        reference = found.reference
        trial = Trial(step, found.value, inner(found.gradient, direction))
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
