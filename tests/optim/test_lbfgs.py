"""L-BFGS on functions whose minimum is known, and its ways to stop."""

from __future__ import annotations

import numpy as np
import pytest
from landscapes import pair_of, quadratic, rosenbrock

from tagwright.arrays import Vectors, Workers
from tagwright.objective.evaluation import ValueAndGradient
from tagwright.optim.lbfgs import minimise_lbfgs, quasi_newton_direction, remember


def test_finds_the_minimum_of_a_quadratic() -> None:
    objective, middle = quadratic()
    found = minimise_lbfgs(objective, np.zeros(30), epsilon=1e-9, tolerance=0)
    np.testing.assert_allclose(found.weights, middle, atol=1e-6)
    assert found.reason == "gradient"
    assert found.curve == sorted(found.curve, reverse=True)


def test_finds_the_minimum_of_a_curved_valley() -> None:
    found = minimise_lbfgs(rosenbrock, np.array([-1.2, 1.0]), epsilon=1e-9, tolerance=0)
    np.testing.assert_allclose(found.weights, [1, 1], atol=1e-6)
    assert found.evaluations < 80


def test_direction_is_the_inverse_hessian_times_the_gradient() -> None:
    """With n independent pairs of a quadratic, BFGS has its Hessian exactly along the remembered steps."""
    rng = np.random.default_rng(2)
    A = np.diag([1.0, 4.0, 9.0])
    s = rng.normal(size=3)
    memory = remember((), pair_of(s, A @ s), 5)
    np.testing.assert_allclose(quasi_newton_direction(memory, A @ s), -s, atol=1e-12)


def single(numbers: np.ndarray) -> np.ndarray:
    """Rounded to float32."""
    return numbers.astype(np.float32).astype(np.float64)


def two_loops(pairs: list[tuple[np.ndarray, np.ndarray]], g: np.ndarray, D: np.ndarray) -> np.ndarray:
    """Algorithm 7.4 of Nocedal and Wright, step by step."""
    q, alphas = g.copy(), []
    for s, y in reversed(pairs):
        alphas.append((s @ q) / (s @ y))
        q -= alphas[-1] * y
    s, y = pairs[-1]
    r = (s @ y) / (y @ (D * y)) * D * q
    for (s, y), alpha in zip(pairs, reversed(alphas), strict=True):
        r += (alpha - (y @ r) / (s @ y)) * s
    return -r


@pytest.mark.bounds
@pytest.mark.parametrize("n_pairs", [1, 2, 6, 9])
@pytest.mark.parametrize("given", [False, True])
def test_direction_is_that_of_the_two_loops(n_pairs: int, given: bool) -> None:
    """Also for a vector of several tiles, on several threads; of pairs as they are kept."""
    rng = np.random.default_rng(n_pairs)
    n = 3000
    D = rng.uniform(0.1, 3, n) if given else np.ones(n)
    curvature = rng.uniform(0.5, 2, n)
    pairs = [(single(s), single(curvature * s)) for s in rng.normal(size=(n_pairs, n))]
    memory: tuple[np.ndarray, ...] = ()
    for s, y in pairs:
        memory = remember(memory, pair_of(s, y), n_pairs)
    g, workers = rng.normal(size=n), Workers(3)
    expected = two_loops(pairs, g, D)
    for vectors in (Vectors(), Vectors(workers)):
        found = quasi_newton_direction(memory, g, D if given else None, vectors)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
    workers.close()


def test_a_diagonal_is_a_change_of_variables() -> None:
    """D = S²: the direction is S times the one that w = S v has, from the same pairs. S has powers of 2, so that pairs
    are rounded alike."""
    rng = np.random.default_rng(3)
    scale = 2.0 ** rng.integers(-3, 3, 8)
    A = rng.normal(size=(8, 8))
    A = A @ A.T
    steps, g = rng.normal(size=(4, 8)), rng.normal(size=8)
    plain: tuple[np.ndarray, ...] = ()
    scaled: tuple[np.ndarray, ...] = ()
    for s in steps:
        found = quasi_newton_direction(plain, g, scale**2)
        np.testing.assert_allclose(found, scale * quasi_newton_direction(scaled, scale * g), rtol=1e-9)
        plain = remember(plain, pair_of(s, A @ s), 3)
        scaled = remember(scaled, pair_of(s / scale, scale * (A @ s)), 3)
    assert len(plain) == 9


def test_finds_the_same_minimum_with_a_diagonal() -> None:
    objective, middle = quadratic()
    diagonal = np.random.default_rng(0).uniform(0.3, 3, 30)
    found = minimise_lbfgs(objective, np.zeros(30), epsilon=1e-7, tolerance=0, diagonal=diagonal)
    np.testing.assert_allclose(found.weights, middle, atol=1e-5)
    assert found.reason == "gradient"


def test_stops_by_tolerance_callback_and_limit() -> None:
    objective, _ = quadratic()
    assert minimise_lbfgs(objective, np.zeros(30), tolerance=0.5, epsilon=0).reason == "tolerance"
    stopped = minimise_lbfgs(objective, np.zeros(30), watch=lambda now: now.number == 3)
    assert (stopped.reason, stopped.iterations) == ("callback", 3)
    limited = minimise_lbfgs(objective, np.zeros(30), max_iterations=2, tolerance=0)
    assert (limited.reason, limited.iterations, limited.converged) == ("max_iterations", 2, False)


def test_interrupt_keeps_the_best_so_far() -> None:
    objective, _ = quadratic()
    calls = 0

    def interrupted(w: np.ndarray, reference: float = 0.0) -> ValueAndGradient:
        nonlocal calls
        calls += 1
        if calls == 8:
            raise KeyboardInterrupt
        return objective(w, reference)

    found = minimise_lbfgs(interrupted, np.zeros(30))
    assert found.reason == "interrupted"
    assert found.value == min(found.curve) == pytest.approx(objective(found.weights).value)


def test_starts_at_the_minimum() -> None:
    objective, middle = quadratic()
    found = minimise_lbfgs(objective, middle)
    assert (found.reason, found.iterations) == ("gradient", 0)
