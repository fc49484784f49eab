"""The Wolfe conditions, on functions of one variable."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from landscapes import as_objective

from tagwright.objective.evaluation import ValueAndGradient
from tagwright.optim.descent import DECREASE, Point, Trial, farther, lowest_between, search_line

FUNCTIONS: dict[str, Callable[[float], tuple[float, float]]] = {
    "parabola": lambda x: ((x - 3) ** 2, 2 * (x - 3)),
    "wave": lambda x: (-np.sin(x) - 0.1 * x, -np.cos(x) - 0.1),
    "quartic": lambda x: ((x - 2) ** 4 - x, 4 * (x - 2) ** 3 - 1),
    "barrier": lambda x: (-x - 0.01 * np.log(max(5 - x, 0)), -1 + 0.01 / (5 - x)) if x < 5 else (np.nan, np.nan),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("first", [1e-3, 1.0, 50.0])
@pytest.mark.parametrize(("strong", "curvature"), [(False, 0.9), (True, 0.1), (True, 0.01)])
def test_conditions_hold(name: str, first: float, strong: bool, curvature: float) -> None:
    function = FUNCTIONS[name]

    @as_objective
    def objective(w: np.ndarray) -> tuple[float, np.ndarray]:
        value, slope = function(float(w[0]))
        return float(value), np.array([slope])

    with np.errstate(all="ignore"):
        start = Point.evaluated(np.zeros(1), objective(np.zeros(1)))
        found = search_line(objective, start, np.ones(1), first, curvature=curvature, strong=strong)
    assert found is not None
    slope = float(start.gradient[0])
    assert found.value <= start.value + DECREASE * found.step * slope
    assert found.gradient[0] >= curvature * slope
    if strong:
        assert abs(found.gradient[0]) <= curvature * abs(slope)
    assert found.weights[0] == found.step


def test_no_lower_point() -> None:
    start = Point(np.zeros(1), 0.0, np.array([-1.0]))
    assert search_line(as_objective(lambda w: (1.0, np.array([1.0]))), start, np.ones(1), 1.0) is None


def test_the_cubic_is_exact_for_a_cubic() -> None:
    """x³ − 3x falls at 0, rises at 3, and is lowest at 1."""
    ends = [Trial(x, x**3 - 3 * x, 3 * x * x - 3) for x in (0.0, 3.0)]
    assert lowest_between(*ends) == pytest.approx(1.0)


def test_a_longer_step_is_exact_for_a_parabola_within_limits() -> None:
    """(x − 3)² has its minimum at 3."""
    zero, one, two, small = (Trial(x, (x - 3) ** 2, 2 * (x - 3)) for x in (0.0, 1.0, 2.0, 0.01))
    assert farther(zero, one) == pytest.approx(3.0)
    assert farther(one, two) == 4.0  # twice as far at least
    assert farther(zero, small) == pytest.approx(0.1)  # ten times at most
    assert farther(zero, Trial(1.0, -7.0, -7.0)) == 10.0  # it falls ever more steeply


def test_a_first_step_that_is_far_too_short_costs_few_trials() -> None:
    calls = 0

    @as_objective
    def objective(w: np.ndarray) -> tuple[float, np.ndarray]:
        nonlocal calls
        calls += 1
        return float((w[0] - 3) ** 2), 2 * (w - 3)

    assert search_line(objective, Point(np.zeros(1), 9.0, np.array([-6.0])), np.ones(1), 1e-3) is not None
    assert calls == 4


def test_a_trial_is_evaluated_with_the_reference_of_the_one_before() -> None:
    """And the point that is found brings its own."""
    given = []

    def objective(w: np.ndarray, reference: float = 0.0) -> ValueAndGradient:
        given.append(reference)
        return ValueAndGradient(float((w[0] - 3) ** 2), 2 * (w - 3), float(w[0]))

    found = search_line(objective, Point(np.zeros(1), 9.0, np.array([-6.0]), reference=-1.0), np.ones(1), 1e-3)
    assert found is not None
    assert given == pytest.approx([-1.0, 0.001, 0.01, 0.1])
    assert found.reference == found.weights[0]
