"""Sums over long vectors, in one fixed order.

NumPy hands `a @ b` to a BLAS library, which starts threads of its own: they fight with ours, and the last bits of the
result depend on the number of cores. These kernels do neither.
"""

from __future__ import annotations

import numpy as np

from tagwright._jit import kernel
from tagwright.arrays import Doubles


@kernel
def inner(a: Doubles, b: Doubles) -> float:
    """Σ a_i b_i."""
    total = 0.0
    for i in range(a.shape[0]):
        total += a[i] * b[i]
    return total


@kernel
def add_scaled(a: Doubles, factor: float, b: Doubles) -> None:
    """a += factor · b."""
    for i in range(a.shape[0]):
        a[i] += factor * b[i]


@kernel
def add_and_multiply(a: Doubles, factor: float, b: Doubles, c: Doubles) -> float:
    """a += factor · b; returns Σ c_i a_i: two steps of L-BFGS in one reading of a."""
    total = 0.0
    for i in range(a.shape[0]):
        a[i] += factor * b[i]
        total += c[i] * a[i]
    return total


def norm(a: Doubles) -> float:
    """√Σ a_i²."""
    return float(np.sqrt(inner(a, a)))
