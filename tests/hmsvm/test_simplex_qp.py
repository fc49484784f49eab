"""The small quadratic programme against a general solver and against its optimality conditions, each by name."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize, nnls

from tagwright.hmsvm.simplex_qp import solve_simplex_qp


def maximise_on_simplex(
    gains: np.ndarray,
    gram: np.ndarray,
    cap: float = np.inf,
    *,
    start: np.ndarray | None = None,
    tolerance: float = 1e-10,
) -> np.ndarray | None:
    """The α that maximises m·α − ½ αᵀ G α with α ≥ 0 and Σ α ≤ cap; None where the maximum is infinite."""
    alpha = np.zeros(len(gains)) if start is None else start.astype(np.float64)
    m, G = np.ascontiguousarray(gains, np.float64), np.ascontiguousarray(gram, np.float64)
    finite = solve_simplex_qp(m, G, len(m), float(cap), tolerance, 0.0, alpha, np.empty(len(m) + 1))
    return alpha if finite else None


def random_problem(seed: int, K: int, rank: int) -> tuple[np.ndarray, np.ndarray]:
    """m and G = V Vᵀ; with rank < K, the maximum is kept finite by the cap alone."""
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(K, rank))
    return rng.normal(1.0, 1.0, K), vectors @ vectors.T


def value(m: np.ndarray, G: np.ndarray, alpha: np.ndarray) -> float:
    return float(m @ alpha - 0.5 * alpha @ G @ alpha)


def general_solver(m: np.ndarray, G: np.ndarray, cap: float) -> float:
    """The maximum, by SciPy's sequential least squares with constraints; from several starts, the best."""
    K = len(m)
    constraints = [{"type": "ineq", "fun": lambda a: cap - a.sum(), "jac": lambda a: -np.ones(K)}]
    best = 0.0
    for share in (0.0, 0.5, 1.0):
        found = minimize(
            lambda a: -value(m, G, a), np.full(K, share * cap / K), jac=lambda a: G @ a - m, bounds=[(0, cap)] * K,
            constraints=constraints, method="SLSQP", options={"ftol": 1e-15, "maxiter": 1000},
        )  # fmt: skip
        best = max(best, -float(found.fun))
    return best


@pytest.mark.parametrize("cap", [0.1, 1.0, 10.0])
@pytest.mark.parametrize(("K", "rank"), [(1, 1), (3, 3), (6, 8), (8, 3), (12, 12)])
def test_capped_maximum_equals_a_general_solver(K: int, rank: int, cap: float) -> None:
    for seed in range(5):
        m, G = random_problem(seed, K, rank)
        alpha = maximise_on_simplex(m, G, cap)
        assert alpha is not None
        assert alpha.min() >= 0
        assert alpha.sum() <= cap * (1 + 1e-12)
        assert value(m, G, alpha) == pytest.approx(general_solver(m, G, cap), abs=1e-6)


@pytest.mark.parametrize("ridge", [0.0, 0.5])
def test_uncapped_maximum_equals_nonnegative_least_squares(ridge: float) -> None:
    """max m·α − ½ αᵀGα with G = LLᵀ is min ½‖Lᵀα − L⁻¹m‖². ridge: the 1/C that the L2 slack adds everywhere."""
    for seed in range(8):
        m, G = random_problem(seed, 6, 9)
        G = G + ridge
        alpha = maximise_on_simplex(m, G)
        L = np.linalg.cholesky(G)
        expected, _ = nnls(L.T, np.linalg.solve(L, m))
        np.testing.assert_allclose(alpha, expected, atol=1e-6)


@pytest.mark.parametrize("cap", [0.3, 2.0, np.inf])
def test_karush_kuhn_tucker(cap: float) -> None:
    for seed in range(10):
        m, G = random_problem(seed, 7, 9)
        alpha = maximise_on_simplex(m, G, cap)
        assert alpha is not None
        gradient = m - G @ alpha
        price = max(0.0, gradient.max()) if cap < np.inf else 0.0  # λ of the cap
        assert alpha.min() >= 0, "primal feasibility"
        assert alpha.sum() <= cap + 1e-12, "primal feasibility: the cap"
        assert (gradient <= price + 1e-8).all(), "dual feasibility"
        np.testing.assert_allclose(gradient[alpha > 0], price, atol=1e-8, err_msg="complementary slackness of α")
        assert price * (cap - alpha.sum() if cap < np.inf else 0.0) == pytest.approx(0, abs=1e-7), "and of the cap"


def test_the_start_does_not_matter() -> None:
    m, G = random_problem(3, 6, 9)
    cold = maximise_on_simplex(m, G, 1.0)
    for start in (np.full(6, 1 / 6), np.eye(6)[2]):
        np.testing.assert_allclose(maximise_on_simplex(m, G, 1.0, start=start), cold, atol=1e-8)


def test_an_infinite_maximum_is_reported() -> None:
    G = np.array([[1.0, -1.0], [-1.0, 1.0]])  # two constraints that contradict each other
    assert maximise_on_simplex(np.ones(2), G) is None
    assert maximise_on_simplex(np.ones(1), np.zeros((1, 1))) is None
    alpha = maximise_on_simplex(np.ones(2), G, 4.0)
    np.testing.assert_allclose(alpha, [2.0, 2.0])


def test_no_gain_stays_at_zero() -> None:
    m, G = random_problem(0, 4, 6)
    np.testing.assert_array_equal(maximise_on_simplex(-np.abs(m), G, 1.0), np.zeros(4))
