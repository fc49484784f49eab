"""Scaled probabilities, which forward-backward computes with: exponentials of scores, logarithms of what was divided
out, and the sums that are found. Stands before forward_backward, candidate_forward_backward and marginal_adjoint."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tagwright._jit import tight_kernel
from tagwright.arrays import Bools, Doubles, Floats

FLOOR = 1e-18
"""A sum of scaled numbers below this cannot be trusted: its sentence is repeated in log space."""

_F = np.float32
_LOG2E, _LN2_HIGH, _LN2_LOW, _LOWEST = _F(1.44269504), _F(0.693359375), _F(-2.12194440e-4), _F(-87.0)
_HALF, _ONE, _ZERO = _F(0.5), _F(1.0), _F(0.0)
_C3, _C4, _C5, _C6 = _F(1 / 6), _F(1 / 24), _F(1 / 120), _F(1 / 720)
_BIAS, _SHIFT = np.int32(127), np.int32(23)
LOG2E, LN2_HIGH, LN2_LOW, LOWEST = 1.4426950408889634, 0.693147180369123816, 1.90821492927058770e-10, -708.0
D3, D4, D5, D6, D7 = 1 / 6, 1 / 24, 1 / 120, 1 / 720, 1 / 5040
D8, D9, D10, D11, D12 = 1 / 40320, 1 / 362880, 1 / 3628800, 1 / 39916800, 1 / 479001600
BIAS, SHIFT = np.int64(1023), np.int64(52)


class RunSums(NamedTuple):
    """What scaled recursions find in a run of sentences."""

    counts: Floats  # [≥ R, ≥ Y] Σ α ⊗ v; times W, the expected number of each step
    log_z: Doubles  # [N], without what was taken out of the scores
    weights: Doubles  # [N] how much each sentence counted
    done: Bools  # [N] false where scaled numbers would not do: such a sentence has added nothing

    @classmethod
    def build(cls, counts: Floats, n_sentences: int) -> RunSums:
        return cls(counts, np.empty(n_sentences), np.empty(n_sentences), np.empty(n_sentences, np.bool_))


def room_for_powers(width: int, dtype: type[np.floating[Any]]) -> tuple[NDArray[Any], Floats]:
    """bits and powers of exp_row, for rows of so many numbers: the same memory, once as whole numbers."""
    bits = np.empty(width, np.int32 if dtype == np.float32 else np.int64)
    return bits, bits.view(dtype)


@tight_kernel
def exp_row(scores: Floats, peak: Any, out: Floats, bits: NDArray[Any], powers: Floats) -> None:
    """out = exp(min(scores − peak, 0)); 0 below exp(−87), in float64 below exp(−708). bits, powers: room_for_powers.

    e^x = 2^n · e^r, n = round(x / ln 2), e^r by Taylor (|r| < 0.35: to r^6 with a relative error of 2e-7, in float64 to
    r^12 with 2e-16), 2^n written straight into the exponent bits; such loops vectorise. The minimum is for the padding,
    whose score 0 may lie above the peak.
    """
    P = out.shape[0]
    if powers.itemsize == 8:
        exp_doubles(scores, peak, out, bits, powers)
        return
    for j in range(P):
        x = min(max(scores[j] - peak, _LOWEST), _ZERO)
        n = np.int32(x * _LOG2E - _HALF)
        bits[j] = (n + _BIAS) << _SHIFT
        out[j] = x - _F(n) * _LN2_HIGH - _F(n) * _LN2_LOW
    for j in range(P):
        r = out[j]
        e = _ONE + r * (_ONE + r * (_HALF + r * (_C3 + r * (_C4 + r * (_C5 + r * _C6)))))
        out[j] = e * powers[j] if scores[j] - peak > _LOWEST else _ZERO


@tight_kernel
def exp_doubles(scores: Floats, peak: Any, out: Floats, bits: NDArray[Any], powers: Floats) -> None:
    """exp_row in float64; libm's exp, a number at a time, takes five times as long."""
    for j in range(out.shape[0]):
        x = min(max(scores[j] - peak, LOWEST), 0.0)
        n = np.int32(x * LOG2E - 0.5)
        bits[j] = (np.int64(n) + BIAS) << SHIFT
        out[j] = x - n * LN2_HIGH - n * LN2_LOW
    for j in range(out.shape[0]):
        r = out[j]
        low = 1.0 + r * (1.0 + r * (0.5 + r * (D3 + r * (D4 + r * D5))))
        r6 = (r * r) * (r * r) * (r * r)
        e = low + r6 * (D6 + r * (D7 + r * (D8 + r * (D9 + r * (D10 + r * (D11 + r * D12))))))
        out[j] = e * powers[j] if scores[j] - peak > LOWEST else 0.0


@tight_kernel
def sum_logs(c: Doubles) -> float:
    """Σ log c_t, for c_t from 1e-50 to 1e50: a logarithm takes as long as ten products."""
    total, product = 0.0, 1.0
    for t in range(c.shape[0]):
        product *= c[t]
        if not 1e-200 < product < 1e200:
            total += np.log(product)
            product = 1.0
    return float(total + np.log(product))
