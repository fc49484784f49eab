"""Nonlinear conjugate gradients, by Polak and Ribière: minimise a smooth function with a memory of one direction.

    direction   d = −g + β d_before,   β = max(0, gᵀ(g − g_before) / ‖g_before‖²)       PR+; β < 0 begins anew
    restart     d = −g when successive gradients are far from orthogonal, |gᵀg_before| ≥ ν ‖g‖² (Powell), or when d
                would not go down
    step        strong Wolfe conditions with c2 = 0.1 (search_line); the first try would fall as far as the
                last step fell, t = t_before · g_beforeᵀd_before / gᵀd

Nocedal and Wright, Numerical Optimization, section 5.2. One of the papers' two optimisers (the other: L-BFGS). The loop
around it, and the search for the step: optim/descent.py.
"""

from __future__ import annotations

from typing import Any

from tagwright.arrays import Doubles, add_scaled, inner, norm
from tagwright.objective.evaluation import Objective
from tagwright.optim.descent import Memory, Minimum, Point, Trail, descend, search_line

CURVATURE = 0.1
RESTART = 0.5
"""ν. Nocedal and Wright give 0.1 for exact line searches; with inexact ones that restarts all the time."""


class ConjugateGradient:
    """The method. It remembers the last direction and the gradient where that began."""

    def slope(self, point: Point) -> Doubles:
        return point.gradient

    def advance(self, objective: Objective, trail: Trail) -> tuple[Point, Memory] | None:
        """One line search along d."""
        here = trail.point
        direction, first = next_direction(here, trail.memory)
        found = search_line(objective, here, direction, first, curvature=CURVATURE, strong=True)
        return None if found is None else (found, (direction, here.gradient))


def next_direction(here: Point, memory: Memory) -> tuple[Doubles, float]:
    """d, and the first step to try along it."""
    gradient = here.gradient
    square = inner(gradient, gradient)
    direction = -gradient
    if not memory:
        return direction, 1.0 / norm(gradient)
    before, old = memory
    overlap = inner(gradient, old)
    if abs(overlap) < RESTART * square:
        add_scaled(direction, max(0.0, (square - overlap) / inner(old, old)), before)
    if inner(gradient, direction) >= 0:
        direction = -gradient
    return direction, here.step * inner(old, before) / inner(gradient, direction)


def minimise_cg(objective: Objective, start: Doubles | Trail, **options: Any) -> Minimum:
    """Minimise a smooth function; options: see `descend`."""
    return descend(objective, start, ConjugateGradient(), **options)
