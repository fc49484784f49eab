"""Kernels between observations: functions of the inner product of two attribute vectors, and of their lengths.

    linear   k(x, z) = ⟨x, z⟩
    poly     k(x, z) = (γ ⟨x, z⟩ + coef0)^degree          the papers': degree 2 (HMSVM section 8)
    rbf      k(x, z) = exp(−γ ‖x − z‖²)
    callable k(products [Q, M], left [Q], right [M]) ─► [Q, M], of ⟨x, z⟩, ‖x‖² and ‖z‖²

A kernel must be finite, or scores would not be numbers; and positive semi-definite, or there is no space in which
margins could be large. The first is checked wherever kernel values are computed, the second on a sample of the training
data.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tagwright.arrays import Floats
from tagwright.errors import ParameterError

KERNELS = ("linear", "poly", "rbf")
KernelFunction = Callable[[Any, Any, Any], Any]
ROUNDING = 1e-4
"""A negative eigenvalue within this share of the largest is rounding (the matrix is float32)."""


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel with its numbers. `function` is the user's own."""

    name: str
    degree: int = 2
    gamma: float = 1.0
    coef0: float = 1.0
    function: KernelFunction | None = None

    def __call__(self, products: Floats, left: Floats, right: Floats) -> Floats:
        """k of all pairs [Q, M], from ⟨x, z⟩ [Q, M], ‖x‖² [Q] and ‖z‖² [M]; `products` may be overwritten.

        Values that are not finite are refused.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            values = self._values(products, left, right)
        if not np.isfinite(values).all():
            raise ParameterError(
                f"kernel: {self} gave values that are not finite; use smaller attribute values, or another kernel"
                + ("" if self.function is not None else ", or a smaller gamma, coef0 or degree")
            )
        return values

    def __str__(self) -> str:
        if self.name == "poly" and self.function is None:
            return f"poly (gamma={self.gamma:g}, coef0={self.coef0:g}, degree={self.degree})"
        return f"rbf (gamma={self.gamma:g})" if self.name == "rbf" and self.function is None else self.name

    def _values(self, products: Floats, left: Floats, right: Floats) -> Floats:
        if self.function is not None:
            return self._call_function(self.function, products, left, right)
        if self.name == "rbf":
            products *= -2.0
            products += left[:, None]
            products += right
            products *= -self.gamma
            return np.asarray(np.exp(products, out=products))
        if self.name == "poly":
            products *= self.gamma
            products += self.coef0
            base = products.copy() if self.degree > 2 else products
            for _ in range(self.degree - 1):
                products *= base
        return products

    def _call_function(self, function: KernelFunction, products: Floats, left: Floats, right: Floats) -> Floats:
        shape = products.shape
        found = np.asarray(function(products, left, right))
        if found.shape != shape or not np.issubdtype(found.dtype, np.number):
            raise ParameterError(
                f"kernel: {self.name} gave {found.dtype} of shape {found.shape}, expected numbers of shape {shape}, "
                "one for each pair of the inner products it is given"
            )
        return found.astype(np.float32, copy=False)


def make_kernel(
    kernel: str | KernelFunction, *, degree: int, gamma: float | None, coef0: float, length: float
) -> Kernel:
    """The kernel that the parameters mean. gamma None: 1, for "rbf" 1 / `length`, the mean ‖x‖² in training."""
    if callable(kernel):
        return Kernel(getattr(kernel, "__name__", "a callable"), function=kernel)
    usual = 1.0 / length if kernel == "rbf" and length > 0 else 1.0
    return Kernel(kernel, degree, usual if gamma is None else gamma, coef0)


def check_positive(kernel: Kernel, matrix: Floats) -> None:
    """Refuse a kernel whose matrix on some observations [m, m] is not symmetric and positive semi-definite."""
    values = matrix.astype(np.float64)
    size = max(float(np.abs(values).max(initial=0.0)), 1e-30)
    if np.abs(values - values.T).max(initial=0.0) > 1e-5 * size:
        raise ParameterError(f"kernel: {kernel.name} is not symmetric: k(x, z) and k(z, x) differ")
    eigenvalues = np.linalg.eigvalsh((values + values.T) / 2)
    if len(eigenvalues) and eigenvalues[0] < -ROUNDING * max(eigenvalues[-1], 0.0):
        raise ParameterError(
            f"kernel: {kernel.name} is not positive semi-definite: on {len(values)} observations of the training "
            f"data it has the eigenvalue {eigenvalues[0]:.3g} (largest: {eigenvalues[-1]:.3g}); use another kernel"
        )
