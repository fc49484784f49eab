"""Bounds of a round: no step gains more than the limits say, and Newton's way to the best step ends at the best."""

from __future__ import annotations

import numpy as np
import pytest

from tagwright.boosting.bounds import Bounds, best_feature, best_step, gain_of, limit_gains, newton_step, tangent_limit
from tagwright.boosting.exact_step import find_zero, minimise_masses
from tagwright.boosting.feature_classes import FeatureClasses

MOST = 2.0
GRID = np.linspace(-MOST, MOST, 4001)


def random_bounds(seed: int) -> Bounds:
    """One feature. Classes with ranges around 0, and B within what A allows; every fourth is least at max_step."""
    rng = np.random.default_rng(seed)
    C = int(rng.integers(1, 7))
    low, high = -rng.integers(0, 6, C).astype(float), rng.integers(0, 6, C).astype(float)
    high[0] += 1.0
    if seed % 4 == 3:
        low[:] = 0
    A = rng.exponential(size=C)
    B = A * (low + rng.random(C) * (high - low))
    return Bounds.build(FeatureClasses(np.array([0, C]), low, high), A, B, MOST)


@pytest.mark.parametrize("seed", range(24))
def test_newton_finds_the_best_step_from_anywhere(seed: int) -> None:
    bounds = random_bounds(seed)
    best = max(gain_of(bounds, 0, step) for step in GRID)
    steps = [newton_step(bounds, 0, guess) for guess in (0.0, -0.01, 0.3, 1.9, -1.9, 2.0, -5.0)]
    np.testing.assert_allclose(steps, steps[0], atol=1e-7)
    assert abs(steps[0]) <= MOST
    assert gain_of(bounds, 0, steps[0]) >= best * (1 - 1e-12)


@pytest.mark.parametrize("seed", range(24))
def test_no_step_gains_more_than_the_limits(seed: int) -> None:
    bounds = random_bounds(seed)
    step = newton_step(bounds, 0, 0.0)
    gain = gain_of(bounds, 0, step)
    limit_gains(bounds, np.array([0]), np.array([0, 1]))
    assert bounds.gains[0] >= gain * (1 - 1e-12)
    for near in (-1.5, -0.2, 0.1, 0.7, 2.0, 0.5 * step, 1.3 * step):
        assert tangent_limit(bounds, 0, near) >= gain * (1 - 1e-9)
    if step:
        assert tangent_limit(bounds, 0, step) == pytest.approx(gain, rel=1e-6)


@pytest.mark.parametrize("guess", [0.0, 1e-3, -0.3, 0.9])
@pytest.mark.parametrize("zero", [-0.8, 0.02, 0.5, 3.0])
@pytest.mark.parametrize("bend", [0.3, 8.0, 60.0])
def test_zeros_of_rising_slopes(zero: float, bend: float, guess: float) -> None:
    tried = []

    def slope(step: float) -> float:
        tried.append(step)
        return float(np.expm1(min(bend * (step - zero), 800.0)))

    falling = slope(0.0)
    step = find_zero(slope, falling, guess, 1.0)
    if abs(zero) > 1:
        assert step == 1.0
    else:
        assert abs(slope(step)) <= 1e-3 * abs(falling) * (1 + 1e-9)
    assert len(tried) <= 30
    assert max(map(abs, tried)) <= 1


@pytest.mark.parametrize("seed", range(8))
def test_exact_step_is_the_least_point_of_the_masses(seed: int) -> None:
    rng = np.random.default_rng(seed)
    counts = np.arange(-3.0, 4.0)
    logs = rng.normal(size=7) * 5
    step = minimise_masses(counts, logs, MOST)
    best = min(np.logaddexp.reduce(logs + d * counts) for d in GRID)
    assert np.logaddexp.reduce(logs + step * counts) <= best + 1e-12


@pytest.mark.parametrize("loose", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_closed_forms_find_the_best_step(seed: int, loose: bool) -> None:
    """Ranges of 0 and 1 alone, or one wide class."""
    rng = np.random.default_rng(seed)
    C = 1 if loose else 4
    L, U = -rng.integers(0, 6 if loose else 2, C).astype(float), rng.integers(0, 6 if loose else 2, C).astype(float)
    U[0] += L[0] == U[0] == 0
    A = rng.exponential(size=C)
    bounds = Bounds.build(FeatureClasses(np.array([0, C]), L, U), A, A * (L + rng.random(C) * (U - L)), MOST)
    assert bounds.unit[0] == (max(-L.min(), U.max()) <= 1)
    best = max(gain_of(bounds, 0, step) for step in GRID)
    assert gain_of(bounds, 0, best_step(bounds, 0)) >= best * (1 - 1e-12)


def test_nothing_to_choose() -> None:
    bounds = random_bounds(0)
    assert best_feature(bounds) == 0
    bounds.eligible[:] = False
    assert best_feature(bounds) == -1
