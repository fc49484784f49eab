"""Choosing a weak learner: bounds on the normalisation constant Z of a round, minimised feature by feature.

LM-POS section 3.2, equations 7 to 11; BOOST section 5. Everything is multiplied by R = R^exp, so that no sentence's
part depends on the others: R·Z_k(Δ) = Σ_i d_i·(...) with d_i = 1/p(y_i|x_i) − 1. The sentences of a feature come in
classes that share (L, U), the range of u = Φ(x_i, y) − Φ(x_i, y_i) (feature_classes.py). With A = Σ d_i and
B = Σ (E[Φ] − Φ(x_i, y_i)) / p(y_i|x_i) over a class c (sums.py),

    R·Z(Δ) ≤ R + Σ_c [ w⁻_c (e^{ΔL_c} − 1) + w⁺_c (e^{ΔU_c} − 1) ]      w⁻ = (U·A − B)/(U − L),  w⁺ = (B − L·A)/(U − L)

The tight bound has a class for each (L, U) that a sentence has; the loose bound has one, the widest, with A = R (there
w⁻ = R·s and w⁺ = R·(1 − s), s of equation 8). The bound is convex and has the slope m = Σ_c B_c at 0. Its minimum has a
closed form where there is one class (equation 9: Δ = log(w⁻·(−L) / (w⁺·U)) / (U − L)) and where all |L|, |U| are 0 or 1
(Δ = ½ log(N/P)); else a Newton iteration within a bracket finds it. Steps are cut at ±max_step: where L = 0 or U = 0 in
all classes, a bound has no minimum.

Most features need no minimum at all. Since e^{ΔU} − 1 ≥ ΔU + (ΔU)²/2 for Δ > 0 (and so with L for Δ < 0), no step
gains more than m²/(2·Σ w⁺U²) (Σ w⁻L²), nor more than |m|·max_step. Only where that is above the best gain found so far
is the gain itself computed; and before that, a limit from the tangent at the step that was best when last computed.
"""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np

from tagwright._jit import tight_kernel
from tagwright.arrays import Bools, Doubles, Longs
from tagwright.boosting.feature_classes import FeatureClasses

NEWTON_STEPS = 60
PRECISION = 1e-10


class Bounds(NamedTuple):
    """The bounds of all features: their classes with their sums, and what is known of their gains."""

    pointers: Longs  # [K]: feature k has the classes pointers[k] to pointers[k + 1] − 1
    L: Doubles  # [classes]
    U: Doubles  # [classes]
    A: Doubles  # [classes]
    B: Doubles  # [classes]
    unit: Bools  # [K] whether all |L|, |U| of a feature are 0 or 1
    max_step: float
    gains: Doubles  # [K] the gain where `known`, else an upper limit of it
    known: Bools  # [K]
    steps: Doubles  # [K] the best ones when last computed; 0 where there was no need to
    eligible: Bools  # [K] the features that may be chosen

    @classmethod
    def build(cls, classes: FeatureClasses, A: Doubles, B: Doubles, max_step: float) -> Self:
        """Of classes whose sums A and B are kept elsewhere."""
        K = classes.n_features
        unit = classes.have_unit_ranges()
        return cls(*classes, A, B, unit, max_step, np.zeros(K), np.ones(K, np.bool_), np.zeros(K), np.ones(K, np.bool_))


@tight_kernel
def end_weights(b: Bounds, c: int) -> tuple[float, float]:
    """w⁻ and w⁺ of a class, never below 0; 0 where it has no range."""
    L, U, A, B = b.L[c], b.U[c], b.A[c], b.B[c]
    return (max(U * A - B, 0.0) / (U - L), max(B - L * A, 0.0) / (U - L)) if U > L else (0.0, 0.0)


@tight_kernel
def gain_of(b: Bounds, k: int, step: float) -> float:
    """By how much a step lowers the bound on R·Z."""
    total = 0.0
    for c in range(b.pointers[k], b.pointers[k + 1]):
        below, above = end_weights(b, c)
        total -= below * np.expm1(step * b.L[c]) if below > 0 else 0.0
        total -= above * np.expm1(step * b.U[c]) if above > 0 else 0.0
    return total


@tight_kernel
def slope_at(b: Bounds, k: int, step: float) -> tuple[float, float]:
    """First and second derivative of the bound."""
    slope, curvature = 0.0, 0.0
    for c in range(b.pointers[k], b.pointers[k + 1]):
        below, above = end_weights(b, c)
        left = below * b.L[c] * np.exp(step * b.L[c]) if below > 0 else 0.0
        right = above * b.U[c] * np.exp(step * b.U[c]) if above > 0 else 0.0
        slope += left + right
        curvature += left * b.L[c] + right * b.U[c]
    return slope, curvature


# ---- the best step ----


@tight_kernel
def newton_step(b: Bounds, k: int, guess: float) -> float:
    """Where the bound is least, within ±max_step: Newton's steps from `guess`; where they lead out of the bracket, or
    do not become shorter by half, the middle of the bracket."""
    falling, _ = slope_at(b, k, 0.0)
    if falling == 0:
        return 0.0
    end = b.max_step if falling < 0 else -b.max_step
    near, far = 0.0, end  # the slope changes its sign between near and far, if at all
    step = guess if 0 < guess / end < 1 else end
    limit = 2 * abs(end)  # of the next Newton step
    for _ in range(NEWTON_STEPS):
        slope, curvature = slope_at(b, k, step)
        if slope * falling > 0:
            near = step
        else:
            far = step
        if near == end:  # still falling at max_step
            return end
        moved = step - slope / curvature if curvature > 0 else near
        if (moved - end) * end >= 0 and far == end and step != end:
            moved = end
        elif not (min(near, far) < moved < max(near, far) and abs(moved - step) < limit):
            moved = 0.5 * (near + far)
        limit = 0.5 * abs(moved - step)
        if abs(moved - step) <= PRECISION * max(abs(moved), 1e-3):
            return moved
        step = moved
    return step


@tight_kernel
def log_ratio(a: float, b: float) -> float:
    """log(a / b), infinite where one of them is 0; no number where both are, or rounding made one negative."""
    if a < 0 or b < 0 or a == b == 0:
        return np.nan
    if a == 0:
        return -np.inf
    return np.log(a / b) if b > 0 else np.inf


@tight_kernel
def best_step(b: Bounds, k: int) -> float:
    """The step that minimises the bound: in closed form where there is one, else from the last one."""
    first, last = b.pointers[k], b.pointers[k + 1]
    if b.unit[k]:
        N, P = 0.0, 0.0  # the bound is constant + N·e^−Δ + P·e^Δ
        for c in range(first, last):
            below, above = end_weights(b, c)
            N += below if b.L[c] < 0 else 0.0
            P += above if b.U[c] > 0 else 0.0
        step = 0.5 * log_ratio(N, P)
    elif last == first + 1:
        below, above = end_weights(b, first)
        step = log_ratio(-b.L[first] * below, b.U[first] * above) / (b.U[first] - b.L[first])
    else:
        return newton_step(b, k, b.steps[k])
    if step != step:  # 0/0: nothing to gain
        return 0.0
    return min(max(step, -b.max_step), b.max_step)


# ---- the best feature ----


@tight_kernel
def tangent_limit(b: Bounds, k: int, step: float) -> float:
    """No step gains more than this: a convex function lies above its tangents at 0 and at `step`. inf where they tell
    nothing."""
    slope, here, gain = 0.0, 0.0, 0.0
    for c in range(b.pointers[k], b.pointers[k + 1]):
        below, above = end_weights(b, c)
        left = np.expm1(step * b.L[c]) if below > 0 else 0.0
        right = np.expm1(step * b.U[c]) if above > 0 else 0.0
        gain -= below * left + above * right
        here += below * b.L[c] * (left + 1) + above * b.U[c] * (right + 1)
        slope += below * b.L[c] + above * b.U[c]
    if step * slope >= 0:
        return np.inf
    if here * slope > 0:  # both fall: the lowest point is at max_step
        return float(gain - here * (b.max_step if step > 0 else -b.max_step) + here * step)
    return float(slope * (gain + here * step) / (slope - here))


@tight_kernel
def limit_gains(b: Bounds, changed: Longs, feature_pointers: Longs) -> None:
    """The sums of some attributes' features have changed (a: feature_pointers[a] to feature_pointers[a + 1] − 1):
    gains = what no step exceeds by the slope at 0, and the curvature in its direction; known = False."""
    for n in range(changed.shape[0]):
        for k in range(feature_pointers[changed[n]], feature_pointers[changed[n] + 1]):
            slope, upper, lower = 0.0, 0.0, 0.0
            for c in range(b.pointers[k], b.pointers[k + 1]):
                if b.U[c] > b.L[c]:
                    below, above = end_weights(b, c)
                    slope += b.B[c]
                    upper += above * b.U[c] * b.U[c]
                    lower += below * b.L[c] * b.L[c]
            curvature = upper if slope < 0 else lower
            limit = abs(slope) * b.max_step
            b.gains[k] = min(limit, slope * slope / (2 * curvature)) if curvature > 0 else limit
            b.known[k] = False


@tight_kernel
def compute_gain(b: Bounds, k: int, best: float) -> None:
    """The gain of one feature instead of its limit; or a lower limit, if that one is below `best`."""
    if b.steps[k] != 0:
        b.gains[k] = min(b.gains[k], tangent_limit(b, k, b.steps[k]))
        if b.gains[k] < best:
            return
    b.steps[k] = best_step(b, k)
    b.gains[k] = gain_of(b, k, b.steps[k])
    b.known[k] = True


@tight_kernel
def compute_gains(b: Bounds, features: Longs, gains: Doubles) -> None:
    """The gains of some features, each with its best step."""
    for n in range(features.shape[0]):
        gains[n] = gain_of(b, features[n], best_step(b, features[n]))


@tight_kernel
def best_feature(b: Bounds) -> int:
    """The eligible feature with the largest gain, the first of equals; −1 where there is none. Computes what gains it
    must."""
    K: int = b.gains.shape[0]
    best = K  # none. (−1 would have Numba compile all of the above for that one number, too)
    for k in range(K):  # of the known ones first, as most of those below need not be known then
        if b.eligible[k]:
            alike = best < K and b.known[k] == b.known[best]
            if best == K or (b.gains[k] > b.gains[best] if alike else b.known[k]):
                best = k
    if best == K:
        return -1
    if not b.known[best]:
        compute_gain(b, best, -np.inf)
    for k in range(K):
        if b.eligible[k] and (b.gains[k] > b.gains[best] or (b.gains[k] == b.gains[best] and k < best)):
            if not b.known[k]:
                compute_gain(b, k, b.gains[best])
            if b.gains[k] > b.gains[best] or (b.gains[k] == b.gains[best] and k < best):
                best = k
    return best
