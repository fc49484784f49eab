"""Bounds of a round: no step gains more than the limits say, and Newton's way to the best step ends at the best."""

from __future__ import annotations

import numpy as np
import pytest

from tagwright.optim.boosting import find_zero, gain_of, minimise_exactly, most_gain, most_gain_near, newton_step

MOST = 2.0
GRID = np.linspace(-MOST, MOST, 4001)


def random_classes(seed: int) -> tuple[int, int, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Classes with ranges around 0, and B within what A allows; every fourth has its minimum at the end of the road."""
    rng = np.random.default_rng(seed)
    C = int(rng.integers(1, 7))
    low, high = -rng.integers(0, 6, C).astype(float), rng.integers(0, 6, C).astype(float)
    high[0] += 1.0
    if seed % 4 == 3:
        low[:] = 0
    A = rng.exponential(size=C)
    B = A * (low + rng.random(C) * (high - low))
    return 0, C, low, high, A, B


@pytest.mark.parametrize("seed", range(24))
def test_newton_finds_the_best_step_from_anywhere(seed: int) -> None:
    classes = random_classes(seed)
    best = max(gain_of(step, *classes) for step in GRID)
    steps = [newton_step(*classes, MOST, guess) for guess in (0.0, -0.01, 0.3, 1.9, -1.9, 2.0, -5.0)]
    np.testing.assert_allclose(steps, steps[0], atol=1e-7)
    assert abs(steps[0]) <= MOST
    assert gain_of(steps[0], *classes) >= best * (1 - 1e-12)


@pytest.mark.parametrize("seed", range(24))
def test_no_step_gains_more_than_the_limits(seed: int) -> None:
    classes = random_classes(seed)
    step = newton_step(*classes, MOST, 0.0)
    gain = gain_of(step, *classes)
    assert most_gain(*classes, MOST) >= gain * (1 - 1e-12)
    for near in (-1.5, -0.2, 0.1, 0.7, 2.0, 0.5 * step, 1.3 * step):
        assert most_gain_near(near, *classes, MOST) >= gain * (1 - 1e-9)
    if step:
        assert most_gain_near(step, *classes, MOST) == pytest.approx(gain, rel=1e-6)


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
    step = minimise_exactly(logs, counts, MOST)
    best = min(np.logaddexp.reduce(logs + d * counts) for d in GRID)
    assert np.logaddexp.reduce(logs + step * counts) <= best + 1e-12
