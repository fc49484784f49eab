"""Calibration: the error of known cases, the map on data whose truth is known, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from oracle import numerical_gradient

from tagwright.calibration import Platt, expected_calibration_error, reliability
from tagwright.errors import DataError, ParameterError


def test_error_of_known_cases() -> None:
    assert expected_calibration_error([1.0] * 4, np.array([True, True, True, False])) == pytest.approx(25)
    assert expected_calibration_error([0.75] * 4, np.array([True, True, True, False])) == pytest.approx(0)
    # two bins: 0.25 (nobody right) and 0.9 (half of them right), each half of all
    right = np.array([False, False, True, False])
    assert expected_calibration_error([0.25, 0.25, 0.9, 0.9], right) == pytest.approx(100 * (0.5 * 0.25 + 0.5 * 0.4))
    # with one bin, over- and underconfidence cancel
    assert expected_calibration_error([0.0, 1.0], np.array([True, False]), bins=1) == pytest.approx(0)
    assert expected_calibration_error([0.0, 1.0], np.array([True, False])) == pytest.approx(100)
    rows = reliability([0.0, 0.05, 0.1, 1.0], np.array([False, True, True, True]))
    assert [(row.share, row.right) for row in rows] == [(0.5, 0.5), (0.25, 1.0), (0.25, 1.0)]


@pytest.mark.parametrize(("slope", "intercept"), [(1.0, 0.0), (0.5, -0.3), (2.0, 0.7)])
def test_platt_finds_the_map_that_made_the_data(slope: float, intercept: float) -> None:
    rng = np.random.default_rng(0)
    given = 1 / (1 + np.exp(-rng.normal(1, 2, size=40_000)))
    truth = Platt(slope, intercept)(given)
    right = rng.random(len(given)) < truth
    found = Platt.fit(given, right)
    assert (found.slope, found.intercept) == pytest.approx((slope, intercept), abs=0.06)
    assert expected_calibration_error(found(given), right) < 1.0
    if slope != 1.0:
        assert expected_calibration_error(given, right) > 4.0


def test_platt_is_at_a_minimum() -> None:
    rng = np.random.default_rng(1)
    given = rng.random(300)
    right = rng.random(300) < given**2
    n_right, n_wrong = right.sum(), (~right).sum()
    targets = np.where(right, (n_right + 1) / (n_right + 2), 1 / (n_wrong + 2))

    def loss(w: np.ndarray) -> float:
        p = Platt(w[0], w[1])(given)
        return -float(np.sum(targets * np.log(p) + (1 - targets) * np.log(1 - p)))

    found = Platt.fit(given, right)
    gradient = numerical_gradient(loss, np.array([found.slope, found.intercept]))
    np.testing.assert_allclose(gradient, 0, atol=1e-4)


@pytest.mark.parametrize("right", [True, False])
def test_little_or_one_sided_data_stays_finite(right: bool) -> None:
    for given in ([0.9], [1.0, 1.0], [0.0, 1.0, 0.5], [0.7] * 10):
        found = Platt.fit(given, np.full(len(given), right))
        assert np.isfinite([found.slope, found.intercept]).all()
        assert ((found(given) > 0.5) == right).all()


def test_identity_changes_nothing() -> None:
    given = np.linspace(0.01, 0.99, 50)
    np.testing.assert_allclose(Platt(1.0, 0.0)(given), given, atol=1e-12)


def test_bad_input() -> None:
    with pytest.raises(DataError, match="one boolean a probability"):
        Platt.fit([0.5, 0.5], [True])
    with pytest.raises(DataError, match="one boolean a probability"):
        Platt.fit([0.5, 0.5], [1, 0])
    with pytest.raises(DataError, match="nothing to calibrate"):
        Platt.fit([], np.zeros(0, bool))
    with pytest.raises(DataError, match=r"found 1\.5, expected 0 to 1"):
        expected_calibration_error([0.5, 1.5], np.array([True, False]))
    with pytest.raises(ParameterError, match="bins"):
        expected_calibration_error([0.5], np.array([True]), bins=0)
