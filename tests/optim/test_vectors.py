"""The vector kernels against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from tagwright.optim.vectors import add_and_multiply, add_scaled, inner, norm


@pytest.mark.parametrize("n", [0, 1, 7, 1000])
def test_equal_numpy(n: int) -> None:
    a, b, c = np.random.default_rng(n).normal(size=(3, n))
    assert inner(a, b) == pytest.approx(float(a @ b))
    assert norm(a) == pytest.approx(float(np.linalg.norm(a)))
    changed = a.copy()
    add_scaled(changed, -0.5, b)
    np.testing.assert_allclose(changed, a - 0.5 * b)
    assert add_and_multiply(changed, 2.0, c, b) == pytest.approx(float((a - 0.5 * b + 2 * c) @ b))
    np.testing.assert_allclose(changed, a - 0.5 * b + 2 * c)
