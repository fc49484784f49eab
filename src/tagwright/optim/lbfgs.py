"""L-BFGS: minimise a smooth function from its values and gradients, with a memory of m steps.

    direction   d = −H g, H from the last m pairs s = w' − w, y = g' − g by the two-loop recursion
                (Nocedal 1980; Nocedal and Wright, Numerical Optimization, algorithm 7.4)
                which begins with H₀ = γ D, γ = sᵀy / yᵀDy of the last pair; D is a given diagonal, 1 unless given
    step        weak Wolfe conditions (search_line)

The recursion only ever adds multiples of its vectors, so it is made of their products (Chen et al. 2014):

    for i = m ... 1     α_i = s_iᵀq / s_iᵀy_i,     q = −g − Σ_{j>i} α_j y_j
    for i = 1 ... m     β_i = y_iᵀr / s_iᵀy_i,     r = γ D (−g − Σ α_j y_j) + Σ_{j<i} (α_j − β_j) s_j
    direction           d = r after the last i

The vectors are read twice: for their products, and for the sum; step by step they would be read three times as often,
and threads would meet after every step. Pairs are kept in float32, half the memory and half of what is read; products
and sums of them are made in float64.

The loop around it, when it stops, and the search for the step: optim/descent.py.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tagwright._jit import tight_kernel
from tagwright.arrays import Doubles, Floats, Singles, Vectors, add_scaled, empty_rows
from tagwright.objective.evaluation import Objective
from tagwright.optim.descent import PLAIN, Memory, Minimum, Point, Trail, descend, search_line

TILE = 256
"""Numbers of a vector that are taken at a time."""
MOST_PAIRS = 6
"""A longer memory has kernels of its own."""
NO_PAIR: Singles = np.empty(0, np.float32)


class Pair(NamedTuple):
    """A step and what it did to the gradient."""

    s: Singles
    y: Singles
    curvature: float  # sᵀy
    square: float  # yᵀy

    @classmethod
    def between(cls, before: Point, after: Point, vectors: Vectors = PLAIN) -> Pair:
        """s = w' − w and y = g' − g."""
        n = len(before.weights)
        s, y = (empty_rows((1, n), np.float32)[0] for _ in range(2))
        given = after.weights, before.weights, after.gradient, before.gradient, s, y
        products = vectors.of_pieces(lambda begin, end: subtract(*given, begin, end), n)
        return cls(s, y, sum(product[0] for product in products), sum(product[1] for product in products))


@tight_kernel
def subtract(
    w1: Doubles, w0: Doubles, g1: Doubles, g0: Doubles, s: Singles, y: Singles, begin: int, end: int
) -> tuple[float, float]:
    """s = w1 − w0 and y = g1 − g0 from `begin` to `end` − 1, and this part of sᵀy and yᵀy as they are kept."""
    curvature, square = 0.0, 0.0
    for i in range(begin, end):
        s[i] = w1[i] - w0[i]
        y[i] = g1[i] - g0[i]
        kept = np.float64(y[i])
        curvature += kept * s[i]
        square += kept * kept
    return curvature, square


def remember(memory: Memory, pair: Pair, size: int) -> Memory:
    """The memory with one more pair, of at most `size`; unchanged if the curvature is not safely positive. Oldest
    first, each pair as three vectors: s, y, and ρ = 1 / sᵀy alone in a vector of one."""
    if pair.curvature <= 1e-10 * pair.square:
        return memory
    return (*memory, pair.s, pair.y, np.array([1.0 / pair.curvature]))[-3 * size :]


def quasi_newton_direction(
    memory: Memory, gradient: Doubles, diagonal: Doubles | None = None, vectors: Vectors = PLAIN
) -> Doubles:
    """−H g. `diagonal`: D."""
    D = np.empty(0) if diagonal is None else diagonal
    pairs = tuple(vector for k, vector in enumerate(memory) if k % 3 < 2)  # s₁, y₁, s₂, y₂ ...
    m, n = len(pairs) // 2, len(gradient)
    padded = (pairs + 2 * MOST_PAIRS * (NO_PAIR,))[: 2 * max(MOST_PAIRS, m)]  # kernels are compiled for one length

    def multiply(begin: int, end: int) -> Doubles:
        found, work = np.zeros((2, m, m + 1)), np.empty((3, m, TILE))
        multiply_pairs(padded, gradient, D, begin, end, found, work)
        return found

    found = sum(vectors.of_pieces(multiply, n), np.zeros((2, m, m + 1)))
    of_s, of_y = solve_two_loops(found[0], found[1])
    gamma = found[0, m - 1, m - 1] / found[1, m - 1, m - 1] if m else 1.0
    d: Doubles = empty_rows((1, n), np.float64)[0]
    vectors.of_pieces(lambda begin, end: add_pairs(padded, gradient, D, gamma, of_s, of_y, begin, end, d), n)
    return d


def solve_two_loops(sy: Doubles, yy: Doubles) -> tuple[Doubles, Doubles]:
    """The factors α − β of s and −α of y in the direction.

    sy [m, m + 1]: s_iᵀy_j for i ≤ j, then s_iᵀg; yy [m, m + 1]: the same with D y_i in place of s_i.
    """
    m = len(sy)
    alpha, of_s, yy = np.zeros(m), np.zeros(m), yy.copy()
    for i in range(m - 1, -1, -1):
        alpha[i] = (-sy[i, m] - alpha[i + 1 :] @ sy[i, i + 1 : m]) / sy[i, i]
        yy[i + 1 :, i] = yy[i, i + 1 : m]
    for i in range(m):
        gamma = sy[m - 1, m - 1] / yy[m - 1, m - 1]
        product = gamma * (-yy[i, m] - alpha @ yy[i, :m]) + of_s[:i] @ sy[:i, i]
        of_s[i] = alpha[i] - product / sy[i, i]
    return of_s, -alpha


@tight_kernel
def multiply_pairs(
    pairs: tuple[Singles, ...], g: Doubles, D: Doubles, begin: int, end: int, out: Doubles, work: Doubles
) -> None:
    """out[0, i, j] += s_iᵀy_j and out[1, i, j] += (D y_i)ᵀy_j for i ≤ j, y_m = g; of the numbers from `begin` to
    `end` − 1 alone, in tiles that stay in the nearest cache. work [3, m, TILE]: s, y and D y."""
    m = out.shape[1]
    s, y, dy = work[0], work[1], work[2]
    for first in range(begin, end, TILE):
        last = min(first + TILE, end)
        n = last - first
        for i in range(m):
            copy_product(pairs[2 * i][first:last], D[:0], s[i])
            copy_product(pairs[2 * i + 1][first:last], D[:0], y[i])
            copy_product(y[i, :n], D[first:last], dy[i])
        for i in range(m):
            for j in range(i, m):
                add_products_with(y[j, :n], s[i], dy[i], out[:, i, j])
            add_products_with(g[first:last], s[i], dy[i], out[:, i, m])


@tight_kernel
def copy_product(y: Floats, D: Doubles, out: Doubles) -> None:
    """out = D y; D is empty where it is 1."""
    if D.shape[0] == 0:
        for t in range(y.shape[0]):
            out[t] = y[t]
    else:
        for t in range(y.shape[0]):
            out[t] = D[t] * y[t]


@tight_kernel
def add_products_with(y: Doubles, a: Doubles, b: Doubles, out: Doubles) -> None:
    """out += aᵀy, bᵀy."""
    of_a, of_b = 0.0, 0.0
    for t in range(y.shape[0]):
        of_a += a[t] * y[t]
        of_b += b[t] * y[t]
    out[0] += of_a
    out[1] += of_b


@tight_kernel
def add_pairs(
    pairs: tuple[Singles, ...], g: Doubles, D: Doubles, gamma: float, of_s: Doubles, of_y: Doubles, begin: int,
    end: int, out: Doubles,
) -> None:  # fmt: skip
    """out = γ D (−g + Σ of_y[i] y_i) + Σ of_s[i] s_i, from `begin` to `end` − 1."""
    for first in range(begin, end, TILE):
        last = min(first + TILE, end)
        for t in range(first, last):
            out[t] = -gamma * g[t]
        for i in range(of_y.shape[0]):
            add_scaled(out[first:last], gamma * of_y[i], pairs[2 * i + 1][first:last])
        copy_product(out[first:last], D[first:last], out[first:last])
        for i in range(of_s.shape[0]):
            add_scaled(out[first:last], of_s[i], pairs[2 * i][first:last])


class LBFGS:
    """The method with a memory of `size` pairs, and the diagonal D."""

    def __init__(self, size: int = MOST_PAIRS, diagonal: Doubles | None = None, vectors: Vectors = PLAIN) -> None:
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
        del direction  # the new pair takes its room
        return found, remember(trail.memory, Pair.between(here, found, vectors), self.size)


def minimise_lbfgs(
    objective: Objective,
    start: Doubles | Trail,
    *,
    memory: int = MOST_PAIRS,
    diagonal: Doubles | None = None,
    vectors: Vectors = PLAIN,
    **options: Any,
) -> Minimum:
    """Minimise a smooth function; options: see `descend`."""
    return descend(objective, start, LBFGS(memory, diagonal, vectors), vectors=vectors, **options)
