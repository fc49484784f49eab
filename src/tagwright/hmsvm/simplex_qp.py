"""The small quadratic programme of one sequence: concave, with a cap on the sum of the variables. Solved exactly.

Problem       max_α  m·α − ½ αᵀ G α        α ≥ 0,  Σ α ≤ C          G [K, K] positive semi-definite
Given         gains m, gram G, the cap C (∞: no cap), a feasible α to begin with
Returned      the optimal α, to the tolerance in the optimality conditions; or that there is none: without a cap the
              maximum is infinite if a direction of gain has no curvature (found when α has run away along it)

It is the dual of an HM-SVM restricted to one training sequence and the labellings in its working set (HMSVM section 6;
LM-POS section 4). The L2 slack adds 1/C to every entry of G and has no cap; the hard margin has neither.

Method. A further variable α_K = C − Σ α turns the cap into an equation Σ_{0..K} α = C, with g_K = 0 and no curvature.
With the gradient g = m − G α, α is optimal when (Karush, Kuhn, Tucker)

    g_i ≤ λ for all i,   g_i = λ where α_i > 0                  so max_i g_i − min_{j : α_j > 0} g_j = 0

Otherwise move weight from j to i, where that raises the value most: i has the largest gradient, and j > 0 maximises
(g_i − g_j)² / (G_ii + G_jj − 2 G_ij), the second-order rule of Fan, Chen and Lin (JMLR 2005, WSS 2). The step along
e_i − e_j is exact: (g_i − g_j) / curvature, at most α_j. Variables that reach zero are exactly zero.
"""

from __future__ import annotations

import numpy as np

from tagwright._jit import tight_kernel
from tagwright.arrays import Doubles

MOST_STEPS = 10_000
FLAT = 1e-12
"""A curvature below this share of the diagonal is none."""

RAY = 1e-6
"""α runs away when its curvature has fallen below this share of what its parts would have in one direction."""


@tight_kernel
def solve_simplex_qp(
    gains: Doubles, gram: Doubles, K: int, cap: float, tolerance: float, share: float, alpha: Doubles,
    gradient: Doubles,
) -> bool:  # fmt: skip
    """Maximise over alpha[:K], in place; False where the maximum is infinite. gradient [K + 1]: work.

    gains [≥ K] and gram [≥ K, ≥ K] may be larger than the problem. It ends when the optimality conditions hold to the
    tolerance or, with a cap, when the duality gap Σ_j α_j (max_i g_i − g_j) is down to a share of the first.
    """
    rest = cap  # α_K
    for a in range(K):
        rest -= alpha[a]
        gradient[a] = gains[a]
        for b in range(K):
            gradient[a] -= gram[a, b] * alpha[b]
    rest = max(rest, 0.0)
    gradient[K] = 0.0
    enough = 0.0
    for steps in range(MOST_STEPS):
        i, j, curvature, violation, gap = choose_pair(gram, K, alpha, rest, gradient)
        if steps == 0 and cap < np.inf:
            enough = share * gap
        if violation <= tolerance or gap <= enough:
            return True
        held = alpha[j] if j < K else rest
        move = min((gradient[i] - gradient[j]) / curvature, held) if curvature > 0.0 else held
        if move == np.inf:
            return False
        if i < K:
            alpha[i] += move
        else:
            rest += move
        if j < K:
            alpha[j] = alpha[j] - move if move < held else 0.0
        else:
            rest = rest - move if move < held else 0.0
        for a in range(K):
            gradient[a] -= move * ((gram[a, i] if i < K else 0.0) - (gram[a, j] if j < K else 0.0))
    return cap < np.inf or not runs_along_a_ray(gram, K, alpha)


@tight_kernel
def choose_pair(
    gram: Doubles, K: int, alpha: Doubles, rest: float, gradient: Doubles
) -> tuple[int, int, float, float, float]:
    """The i that has the largest gradient, the j that gives weight to it; and how far α is from the optimum.

    Returns i, j, the curvature along e_i − e_j, max_{a : α_a > 0} g_i − g_a, and the duality gap Σ_a α_a (g_i − g_a).
    Where the last two are 0, there is no j: it is i.
    """
    i = 0
    for a in range(1, K + 1):
        if gradient[a] > gradient[i]:
            i = a
    own = gram[i, i] if i < K else 0.0
    j, best, violation, gap, curvature = i, -1.0, 0.0, 0.0, 0.0
    for a in range(K + 1):
        held = alpha[a] if a < K else rest
        difference = gradient[i] - gradient[a]
        if held <= 0.0 or difference <= 0.0:
            continue
        violation = max(violation, difference)
        gap += held * difference
        other = gram[a, a] if a < K else 0.0
        bend = own + other - (2.0 * gram[i, a] if i < K and a < K else 0.0)
        if bend <= FLAT * (own + other):
            bend = 0.0
        rise = difference * difference / bend if bend > 0.0 else np.inf
        if rise > best:
            j, best, curvature = a, rise, bend
    return i, j, curvature, violation, gap


@tight_kernel
def runs_along_a_ray(gram: Doubles, K: int, alpha: Doubles) -> bool:
    """Whether α has grown in a direction without curvature: αᵀ G α is next to nothing beside (Σ_a α_a √G_aa)²."""
    bend, size = 0.0, 0.0
    for a in range(K):
        size += alpha[a] * np.sqrt(gram[a, a])
        for b in range(K):
            bend += alpha[a] * gram[a, b] * alpha[b]
    return bend < RAY * size * size
