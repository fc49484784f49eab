"""L-BFGS: minimise a smooth function from its values and gradients, with a memory of m steps.

    direction   d = −H g, H from the last m pairs s = w' − w, y = g' − g by the two-loop recursion
                (Nocedal 1980; Nocedal and Wright, Numerical Optimization, algorithm 7.4)
                which begins with H₀ = D sᵀy / yᵀDy; D is a given diagonal, 1 unless given
    step        weak Wolfe conditions (search_line)

The loop around it, when it stops, and the search for the step: optim/descent.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tagwright.arrays import Doubles, Vectors
from tagwright.objective.evaluation import Objective
from tagwright.optim.descent import PLAIN, Minimum, Point, Trail, descend, search_line

Memory = tuple[Doubles, ...]
"""The last pairs, oldest first, each as three vectors: s, y, and ρ = 1 / sᵀy alone in a vector of one."""


def remember(memory: Memory, s: Doubles, y: Doubles, size: int, vectors: Vectors = PLAIN) -> Memory:
    """The memory with one more pair, of at most `size`; unchanged if the curvature is not safely positive."""
    product = vectors.inner(s, y)
    if product <= 1e-10 * vectors.inner(y, y):
        return memory
    return (*memory, s, y, np.array([1.0 / product]))[-3 * size :]


def quasi_newton_direction(
    memory: Memory, gradient: Doubles, diagonal: Doubles | None = None, vectors: Vectors = PLAIN
) -> Doubles:
    """−H g. `diagonal`: D."""
    d = -gradient
    if not memory:
        return d if diagonal is None else d * diagonal
    pairs = [(memory[k], memory[k + 1], float(memory[k + 2][0])) for k in range(0, len(memory), 3)]
    factors = []
    product = vectors.inner(pairs[-1][0], d)
    for k in range(len(pairs) - 1, -1, -1):
        _, y, rho = pairs[k]
        factors.append(rho * product)
        product = vectors.add_and_multiply(d, -factors[-1], y, pairs[k - 1][0])  # of no use at the last pair
    _, y, rho = pairs[-1]
    if diagonal is None:
        d /= rho * vectors.inner(y, y)
    else:
        vectors.scale_by(d, 1 / (rho * vectors.weighted_square(y, diagonal)), diagonal)
    product = vectors.inner(pairs[0][1], d)
    for k, (s, _, rho) in enumerate(pairs):
        factor = factors[len(pairs) - 1 - k] - rho * product
        product = vectors.add_and_multiply(d, factor, s, pairs[(k + 1) % len(pairs)][1])
    return d


class LBFGS:
    """The method with a memory of `size` pairs, and the diagonal D."""

    def __init__(self, size: int = 6, diagonal: Doubles | None = None, vectors: Vectors = PLAIN) -> None:
        self.size = size
        self.diagonal = diagonal
        self.vectors = vectors

    def slope(self, point: Point) -> Doubles:
        return point.gradient

    def advance(self, objective: Objective, trail: Trail) -> tuple[Point, Memory] | None:
        """One line search along −H g."""
        here, vectors = trail.point, self.vectors
        direction = quasi_newton_direction(trail.memory, here.gradient, self.diagonal, vectors)
        first = 1.0 if trail.memory else 1.0 / vectors.norm(direction)
        found = search_line(objective, here, direction, first, vectors=vectors)
        if found is None:
            return None
        s, y = (vectors.sum_of(b, -1.0, a) for a, b in ((here.weights, found.weights), (here.gradient, found.gradient)))
        return found, remember(trail.memory, s, y, self.size, vectors)


def minimise_lbfgs(
    objective: Objective,
    start: Doubles | Trail,
    *,
    memory: int = 6,
    diagonal: Doubles | None = None,
    vectors: Vectors = PLAIN,
    **options: Any,
) -> Minimum:
    """Minimise a smooth function; options: see `descend`."""
    return descend(objective, start, LBFGS(memory, diagonal, vectors), vectors=vectors, **options)
