"""Products and maxima in registers against NumPy, for every width of a row."""

from __future__ import annotations

import numpy as np
import pytest

from tagwright._registers import BYTES, add_products, largest
from tagwright.arrays import padded


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("Y", [1, 3, 4, 7, 8, 9, 16, 24, 31, 32, 33, 50, 63, 64, 65, 130])
def test_products_equal_numpy_and_add(dtype: type, Y: int) -> None:
    rng = np.random.default_rng(Y)
    P, n = padded(Y), 5
    M, rows = rng.normal(size=(n, P)).astype(dtype), rng.normal(size=(2, n * 3)).astype(dtype)
    before = rng.normal(size=(2, P)).astype(dtype)
    out = before.copy()
    add_products(rows[0], rows[1], 3, M, n, Y, out[0], out[1])
    lanes = BYTES // M.itemsize
    written = -(-Y // lanes) * lanes
    truth = before.astype(np.float64) + rows[:, ::3].astype(np.float64) @ M
    np.testing.assert_allclose(out[:, :Y], truth[:, :Y], atol=1e-5 if dtype is np.float32 else 1e-13)
    np.testing.assert_array_equal(out[:, written:], before[:, written:])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_largest_equals_numpy(dtype: type) -> None:
    rng = np.random.default_rng(0)
    for n in range(1, 70):
        row = rng.normal(size=80).astype(dtype)
        row[n:] = 100  # what lies behind the n numbers must not be seen
        row[rng.random(80) < 0.3] = -np.inf
        row[n:] = 100
        assert largest(row, n) == row[:n].max()
        for place in range(n):  # wherever it stands
            row[:n] = -np.inf
            row[place] = -5
            assert largest(row, n) == -5
