"""Choosing a weak learner and its step: bounds on the partition function Z of a round, minimised feature by feature.

BOOST section 5, LM-POS section 3.2 (equations 7 to 11). Everything is multiplied by R = R^exp, so that no sentence's
part depends on the others: R·Z_k(Δ) = Σ_i d_i·(...) with d_i = 1/p(y_i|x_i) − 1. A feature's sentences come in classes
that share (L, U), the range of u = Φ(x_i, y) − Φ(x_i, y_i). With A = Σ d_i and B = Σ (E[Φ] − Φ(x_i, y_i)) / p(y_i|x_i)
over a class c,

    R·Z(Δ) ≤ R + Σ_c [ w⁻_c (e^{ΔL_c} − 1) + w⁺_c (e^{ΔU_c} − 1) ]      w⁻ = (U·A − B)/(U − L),  w⁺ = (B − L·A)/(U − L)

The tight bound has a class for each (L, U) that a sentence has; the loose bound has one, the widest, with A = R. The
bound is convex and has the slope m = Σ_c B_c at 0. It has a closed form of its minimum where there is one class (LM-POS
equation 9: Δ = log(w⁻·(−L) / (w⁺·U)) / (U − L)) and where all |L|, |U| ≤ 1 (Δ = ½ log(N/P)); else a Newton iteration
within a bracket finds it. Steps are cut at ±`most`: where L = 0 or U = 0 in all classes, a bound has no minimum.

Most features need no minimum at all. Since e^{ΔU} − 1 ≥ ΔU + (ΔU)²/2 for Δ > 0 (and so with L for Δ < 0), no step
gains more than m²/(2·Σ w⁺U²) (Σ w⁻L²), nor more than |m|·most. Only where that is above the best gain found so far is
the gain itself computed; and before that, a limit from the tangent at the step that was best when last looked at.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tagwright._jit import tight_kernel
from tagwright.arrays import Bools, Doubles, Longs

NEWTON_STEPS = 60
PRECISION = 1e-10
SEARCH_STEPS = 30
SLOPE_PRECISION = 1e-3


@tight_kernel
def lower_weight(low: float, high: float, A: float, B: float) -> float:
    """w⁻, never below 0."""
    return max(high * A - B, 0.0) / (high - low)


@tight_kernel
def upper_weight(low: float, high: float, A: float, B: float) -> float:
    """w⁺, never below 0."""
    return max(B - low * A, 0.0) / (high - low)


@tight_kernel
def gain_of(step: float, first: int, last: int, low: Doubles, high: Doubles, A: Doubles, B: Doubles) -> float:
    """By how much a step lowers the bound on R·Z."""
    total = 0.0
    for c in range(first, last):
        if high[c] > low[c]:
            below, above = lower_weight(low[c], high[c], A[c], B[c]), upper_weight(low[c], high[c], A[c], B[c])
            total -= below * np.expm1(step * low[c]) if below > 0 else 0.0
            total -= above * np.expm1(step * high[c]) if above > 0 else 0.0
    return total


@tight_kernel
def slope_at(
    step: float, first: int, last: int, low: Doubles, high: Doubles, A: Doubles, B: Doubles
) -> tuple[float, float]:
    """First and second derivative of the bound."""
    slope, bend = 0.0, 0.0
    for c in range(first, last):
        if high[c] > low[c]:
            below, above = lower_weight(low[c], high[c], A[c], B[c]), upper_weight(low[c], high[c], A[c], B[c])
            left = below * low[c] * np.exp(step * low[c]) if below > 0 else 0.0
            right = above * high[c] * np.exp(step * high[c]) if above > 0 else 0.0
            slope += left + right
            bend += left * low[c] + right * high[c]
    return slope, bend


@tight_kernel
def newton_step(
    first: int, last: int, low: Doubles, high: Doubles, A: Doubles, B: Doubles, most: float, guess: float
) -> float:
    """Where the bound is least, within ±most: Newton's steps from `guess`; where they lead out of the bracket, or do
    not become shorter by half, the middle of the bracket."""
    falling, _ = slope_at(0.0, first, last, low, high, A, B)
    if falling == 0:
        return 0.0
    end = most if falling < 0 else -most
    near, far = 0.0, end  # the slope changes its sign between near and far, if at all
    step = guess if 0 < guess / end < 1 else end
    reach = 2 * abs(end)
    for _ in range(NEWTON_STEPS):
        slope, bend = slope_at(step, first, last, low, high, A, B)
        if slope * falling > 0:
            near = step
        else:
            far = step
        if near == end:  # still going down at the end of the road
            return end
        moved = step - slope / bend if bend > 0 else near
        if (moved - end) * end >= 0 and far == end and step != end:
            moved = end
        elif not (min(near, far) < moved < max(near, far) and abs(moved - step) < reach):
            moved = 0.5 * (near + far)
        reach = 0.5 * abs(moved - step)
        if abs(moved - step) <= PRECISION * max(abs(moved), 1e-3):
            return moved
        step = moved
    return step


@tight_kernel
def is_unit(first: int, last: int, low: Doubles, high: Doubles) -> bool:
    """Whether all |L|, |U| are 0 or 1."""
    for c in range(first, last):  # noqa: SIM110  # Numba knows no all()
        if not ((low[c] == 0 or low[c] == -1) and (high[c] == 0 or high[c] == 1)):
            return False
    return True


@tight_kernel
def sum_units(first: int, last: int, low: Doubles, high: Doubles, A: Doubles, B: Doubles) -> tuple[float, float]:
    """N and P of the bound C + N·e^−Δ + P·e^Δ."""
    N, P = 0.0, 0.0
    for c in range(first, last):
        if low[c] < 0:
            N += lower_weight(low[c], high[c], A[c], B[c])
        if high[c] > 0:
            P += upper_weight(low[c], high[c], A[c], B[c])
    return N, P


@tight_kernel
def cut(step: float, most: float) -> float:
    """`step` within ±most; 0 for what is not a number (0/0: nothing to gain)."""
    if step != step:
        return 0.0
    return min(max(step, -most), most)


@tight_kernel
def log_ratio(a: float, b: float) -> float:
    """log(a / b), infinite where one of them is 0; no number where both are, or rounding made one negative."""
    if a < 0 or b < 0 or a == b == 0:
        return np.nan
    if a == 0:
        return -np.inf
    return np.log(a / b) if b > 0 else np.inf


@tight_kernel
def best_step(
    first: int, last: int, low: Doubles, high: Doubles, A: Doubles, B: Doubles, most: float, guess: float
) -> float:
    """The step that minimises the bound of the feature with the classes `first` to `last` − 1, near `guess` or not."""
    if is_unit(first, last, low, high):
        N, P = sum_units(first, last, low, high, A, B)
        return cut(0.5 * log_ratio(N, P), most)
    if last == first + 1:
        below = -low[first] * lower_weight(low[first], high[first], A[first], B[first])
        above = high[first] * upper_weight(low[first], high[first], A[first], B[first])
        return cut(log_ratio(below, above) / (high[first] - low[first]), most)
    return newton_step(first, last, low, high, A, B, most, guess)


@tight_kernel
def most_gain(first: int, last: int, low: Doubles, high: Doubles, A: Doubles, B: Doubles, most: float) -> float:
    """No step gains more than this."""
    slope, upper, lower = 0.0, 0.0, 0.0
    for c in range(first, last):
        if high[c] > low[c]:
            slope += B[c]
            upper += upper_weight(low[c], high[c], A[c], B[c]) * high[c] * high[c]
            lower += lower_weight(low[c], high[c], A[c], B[c]) * low[c] * low[c]
    bend = upper if slope < 0 else lower
    limit = abs(slope) * most
    return min(limit, slope * slope / (2 * bend)) if bend > 0 else limit


@tight_kernel
def most_gain_near(
    step: float, first: int, last: int, low: Doubles, high: Doubles, A: Doubles, B: Doubles, most: float
) -> float:
    """No step gains more than this: a convex bound lies above its tangents at 0 and at `step`. inf where they tell
    nothing."""
    slope, here, gain = 0.0, 0.0, 0.0
    for c in range(first, last):
        if high[c] > low[c]:
            below, above = lower_weight(low[c], high[c], A[c], B[c]), upper_weight(low[c], high[c], A[c], B[c])
            left = np.expm1(step * low[c]) if below > 0 else 0.0
            right = np.expm1(step * high[c]) if above > 0 else 0.0
            gain -= below * left + above * right
            here += below * low[c] * (left + 1) + above * high[c] * (right + 1)
            slope += below * low[c] + above * high[c]
    if step * slope >= 0:
        return np.inf
    if here * slope > 0:  # both fall: the end of the road is the lowest point
        return float(gain - here * (most if step > 0 else -most) + here * step)
    return float(slope * (gain + here * step) / (slope - here))


@tight_kernel
def limit_gains(
    changed: Longs, feature_pointers: Longs, pointers: Longs, low: Doubles, high: Doubles, A: Doubles, B: Doubles,
    most: float, gains: Doubles, known: Bools,
) -> None:  # fmt: skip
    """For the features of the owners `changed` (owner o has feature_pointers[o] to [o + 1] − 1): gains = their limits,
    known = False."""
    for n in range(changed.shape[0]):
        for k in range(feature_pointers[changed[n]], feature_pointers[changed[n] + 1]):
            gains[k] = most_gain(pointers[k], pointers[k + 1], low, high, A, B, most)
            known[k] = False


@tight_kernel
def learn_gain(
    k: int, best: float, pointers: Longs, low: Doubles, high: Doubles, A: Doubles, B: Doubles, most: float,
    gains: Doubles, known: Bools, steps: Doubles,
) -> None:  # fmt: skip
    """The gain of one feature in place of its limit; or, if that is enough to be below `best`, a lower limit."""
    first, last = pointers[k], pointers[k + 1]
    if steps[k] != 0:
        gains[k] = min(gains[k], most_gain_near(steps[k], first, last, low, high, A, B, most))
        if gains[k] < best:
            return
    steps[k] = best_step(first, last, low, high, A, B, most, steps[k])
    gains[k] = gain_of(steps[k], first, last, low, high, A, B)
    known[k] = True


@tight_kernel
def choose(
    pointers: Longs, low: Doubles, high: Doubles, A: Doubles, B: Doubles, most: float, gains: Doubles, known: Bools,
    steps: Doubles, eligible: Bools,
) -> int:  # fmt: skip
    """The eligible feature with the largest gain; the first of equals. Computes what gains it must."""
    best = -1
    for k in range(gains.shape[0]):  # of the known ones first, as most of those below need not be known then
        if eligible[k] and (
            best < 0 or (known[k] and not known[best]) or (known[k] == known[best] and gains[k] > gains[best])
        ):
            best = k
    if not known[best]:
        learn_gain(best, -np.inf, pointers, low, high, A, B, most, gains, known, steps)
    for k in range(gains.shape[0]):
        if eligible[k] and (gains[k] > gains[best] or (gains[k] == gains[best] and k < best)):
            if not known[k]:
                learn_gain(k, gains[best], pointers, low, high, A, B, most, gains, known, steps)
            if gains[k] > gains[best] or (gains[k] == gains[best] and k < best):
                best = k
    return best


@dataclass(frozen=True, slots=True)
class Bound:
    """The bounds of all features: their classes, and what is known of their gains (else a limit of it)."""

    pointers: Longs  # [K + 1]
    low: Doubles
    high: Doubles
    A: Doubles
    B: Doubles
    most: float  # of a step
    gains: Doubles  # [K]
    known: Bools  # [K]
    steps: Doubles  # [K], the best ones when last looked at; 0 where there was no need to look
    eligible: Bools  # [K], never all false

    @classmethod
    def build(cls, pointers: Longs, low: Doubles, high: Doubles, most: float) -> Bound:
        K = len(pointers) - 1
        sums = np.zeros((2, len(low)))
        zeros, ones = np.zeros((2, K)), np.ones((2, K), np.bool_)
        return cls(pointers, low, high, sums[0], sums[1], most, zeros[0], ones[0], zeros[1], ones[1])

    def limit(self, changed: Longs, feature_pointers: Longs) -> None:
        """The sums of these owners' features changed."""
        limit_gains(
            changed, feature_pointers, self.pointers, self.low, self.high, self.A, self.B, self.most, self.gains,
            self.known,
        )  # fmt: skip

    def choose(self) -> int:
        """The feature to add."""
        return choose(
            self.pointers, self.low, self.high, self.A, self.B, self.most, self.gains, self.known, self.steps,
            self.eligible,
        )  # fmt: skip

    def step(self, k: int) -> float:
        """The step that the bound gives to feature k."""
        first, last = int(self.pointers[k]), int(self.pointers[k + 1])
        return best_step(first, last, self.low, self.high, self.A, self.B, self.most, self.steps[k])

    def gain(self, k: int, step: float) -> float:
        """By how much a step lowers the bound on R·Z."""
        return gain_of(step, int(self.pointers[k]), int(self.pointers[k + 1]), self.low, self.high, self.A, self.B)


def find_zero(slope: Callable[[float], float], falling: float, guess: float, most: float) -> float:
    """Where the rising function `slope`, `falling` at 0, is 0 to SLOPE_PRECISION · |falling|; at most ±most.

    For slopes that are dear: secants from `guess`, stretched until the zero is bracketed; then regula falsi, and the
    middle of the bracket wherever that did not halve it.
    """
    end = most if falling < 0 else -most
    near, at_near, far, at_far = 0.0, falling, np.inf * end, np.nan
    step = guess if 0 < guess / end < 1 else end
    width = np.inf
    for _ in range(SEARCH_STEPS):
        here = slope(step)
        if abs(here) <= SLOPE_PRECISION * abs(falling) or (step == end and here * falling > 0):
            break
        before, at_before = near, at_near
        if here * falling > 0:
            near, at_near = step, here
        else:
            far, at_far = step, here
        if np.isinf(far):  # stretch, up to four times as far
            secant = step - here * (step - before) / (here - at_before) if here != at_before else end
            step = min(max(min(secant / step, 4.0), 1.5) * step / end, 1.0) * end
        else:
            halved, width = abs(far - near) <= 0.5 * width, abs(far - near)
            share = at_near / (at_near - at_far) if halved and np.isfinite(at_far) else 0.5
            step = near + share * (far - near)
    return step


def minimise_exactly(log_masses: Doubles, counts: Doubles, most: float) -> float:
    """The Δ within ±most at which Σ_u exp(log_masses[u] + Δ·counts[u]) is least: Newton within a bracket."""

    def slope_and_bend(step: float) -> tuple[float, float]:
        exponents = log_masses + step * counts
        terms = np.exp(exponents - exponents.max())
        return float(terms @ counts), float(terms @ counts**2)

    slope, bend = slope_and_bend(0.0)
    end = most if slope < 0 else -most
    if slope == 0 or slope_and_bend(end)[0] * slope >= 0:
        return 0.0 if slope == 0 else end
    falling, near, far, step, reach = slope, 0.0, end, 0.0, abs(end)
    for _ in range(NEWTON_STEPS):
        moved = step - slope / bend if bend > 0 else near
        if not (min(near, far) < moved < max(near, far) and abs(moved - step) < reach):
            moved = 0.5 * (near + far)
        reach = 0.5 * abs(moved - step)
        if abs(moved - step) <= PRECISION * max(abs(moved), 1e-3):
            return moved
        step = moved
        slope, bend = slope_and_bend(step)
        near, far = (step, far) if slope * falling > 0 else (near, step)
    return step
