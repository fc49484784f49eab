"""Exponentials of rows against NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tagwright.chain.scaling import exp_row, room_for_powers


@pytest.mark.parametrize(("dtype", "error", "lowest"), [(np.float32, 4e-7, -87.0), (np.float64, 1e-15, -708.0)])
def test_exponentials_of_a_row(dtype: type[np.floating[Any]], error: float, lowest: float) -> None:
    rng = np.random.default_rng(0)
    scores = np.concatenate([rng.uniform(lowest, 0, 3000), -(10.0 ** rng.uniform(-18, 0, 1000)), [0, lowest + 0.01]])
    scores = np.round(scores, 3).astype(dtype) if dtype == np.float32 else scores
    peak, out = dtype(2.5), np.empty(len(scores), dtype)
    exp_row(scores + peak, peak, out, *room_for_powers(len(scores), dtype))
    exact = np.exp(((scores + peak) - peak).astype(np.longdouble))
    assert float(np.abs(out / exact - 1).max()) < error


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_what_is_too_small_is_zero_and_what_lies_above_the_peak_is_one(dtype: type[np.floating[Any]]) -> None:
    scores = np.array([-np.inf, -800.0, 0.0, 5.0, 7.0], dtype)
    out = np.empty(5, dtype)
    exp_row(scores, dtype(5), out, *room_for_powers(5, dtype))
    np.testing.assert_allclose(out, [0.0, 0.0, np.exp(-5.0), 1.0, 1.0], rtol=4e-7)
