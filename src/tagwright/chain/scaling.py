"""Scaled probabilities, which forward-backward computes with: exponentials of scores, logarithms of what was divided
out, and the sums that are found. Stands before forward_backward, candidate_forward_backward and marginal_adjoint."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tagwright._jit import tight_kernel
from tagwright.arrays import Bools, Doubles, Floats, Ints

FLOOR = 1e-18
"""A sum of scaled numbers below this cannot be trusted: its sentence is repeated in log space."""

_F = np.float32
_LOG2E, _LN2_HIGH, _LN2_LOW, _LOWEST = _F(1.44269504), _F(0.693359375), _F(-2.12194440e-4), _F(-87.0)
_HALF, _ONE, _ZERO = _F(0.5), _F(1.0), _F(0.0)
_C3, _C4, _C5, _C6 = _F(1 / 6), _F(1 / 24), _F(1 / 120), _F(1 / 720)
_BIAS, _SHIFT = np.int32(127), np.int32(23)


class RunSums(NamedTuple):
    """What scaled recursions find in a run of sentences."""

    counts: Floats  # [≥ R, ≥ Y] Σ α ⊗ v; times W, the expected number of each step
    log_z: Doubles  # [N], without what was taken out of the scores
    weights: Doubles  # [N] how much each sentence counted
    done: Bools  # [N] false where scaled numbers would not do: such a sentence has added nothing

    @classmethod
    def build(cls, counts: Floats, n_sentences: int) -> RunSums:
        return cls(counts, np.empty(n_sentences), np.empty(n_sentences), np.empty(n_sentences, np.bool_))


@tight_kernel
def exp_row(scores: Floats, peak: Any, out: Floats, bits: Ints, powers: Floats) -> None:
    """out = exp(min(scores − peak, 0)). With float32, 0 below exp(−87); `powers` is `bits` seen as float32.

    float32: e^x = 2^n · e^r, n = round(x / ln 2), e^r by Taylor to r^6 (|r| < 0.35: relative error 2e-7), 2^n written
    straight into the exponent bits; such loops vectorise. float64 (`bits` is empty): libm's exp.
    The minimum is for the padding, whose score 0 may lie above the peak.
    """
    P = out.shape[0]
    if bits.shape[0] == 0:
        for j in range(P):
            out[j] = np.exp(min(scores[j] - peak, 0.0))
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
def sum_logs(c: Doubles) -> float:
    """Σ log c_t, for c_t from 1e-50 to 1e50: a logarithm takes as long as ten products."""
    total, product = 0.0, 1.0
    for t in range(c.shape[0]):
        product *= c[t]
        if not 1e-200 < product < 1e200:
            total += np.log(product)
            product = 1.0
    return float(total + np.log(product))
