"""Forward-backward over a run of sentences: log Z, node marginals, edge counts. The CRF's inner loop.

Stands between scores/ (which fill emission rows) and losses/ (which read marginals). The definition is
chain/recursion.py; this file is the same mathematics with scaled probabilities, many times faster than log space.

    x_t = exp(emission_t − max)     M = exp(transition − max)
    forward    α_0 = x_0 ∘ exp(start) / c_0,   α_t = (α_{t−1} M) ∘ x_t / c_t       c_t makes Σ α_t = 1
    backward   β_{T−1} = exp(stop),            β_{t−1} = M u_t,   u_t = x_t ∘ β_t / Σ (x_t ∘ β_t)
    nodes      γ_t = α_t ∘ β_t / g_t,          g_t = α_t · β_t
    edges      Σ_t α_{t−1} ⊗ v_t ∘ M,          v_t = x_t ∘ β_t / (c_t g_t)
    log Z      = Σ log c_t + log(α_{T−1} · exp(stop)) + all the maxima taken out

Underflow is never hidden. Every factor is at most 1, so what a step flushes to zero is below the smallest float; that
is harmless unless the step's own sum (c_t, g_t or Σ u_t) is that small too. A sentence where one falls under FLOOR is
given up here, `done` says so, and the caller repeats it with chain/log_space.py.

Two sentences of like length walk in lock step: each row of M that is loaded serves both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tagwright._jit import kernel
from tagwright.arrays import Bools, Doubles, Floats, Ints, Longs, padded
from tagwright.chain.log_space import log_forward_backward

FLOOR = 1e-18
_F = np.float32
_LOG2E, _LN2_HIGH, _LN2_LOW, _LOWEST = _F(1.44269504), _F(0.693359375), _F(-2.12194440e-4), _F(-87.0)
_HALF, _ONE, _ZERO = _F(0.5), _F(1.0), _F(0.0)
_C3, _C4, _C5, _C6 = _F(1 / 6), _F(1 / 24), _F(1 / 120), _F(1 / 720)
_BIAS, _SHIFT = np.int32(127), np.int32(23)


@dataclass(frozen=True, slots=True)
class Chain:
    """The part of a lattice that all sentences share, ready for the scaled recursions.

    `matrix` [P, P] is M and `transposed` its transpose; `start`, `stop` [P] are exponentials too; padding is zero.
    `shift`: what was taken out of the transitions, `edge_shift` out of start and stop.
    """

    n_labels: int
    matrix: Floats
    transposed: Floats
    start: Floats
    stop: Floats
    shift: float
    edge_shift: float
    scores: tuple[Doubles, Doubles, Doubles]  # transition [Y, Y], start [Y], stop [Y] as they were given

    @classmethod
    def build(cls, transition: Floats, start: Floats, stop: Floats, dtype: type[np.floating[Any]]) -> Chain:
        """From scores [Y, Y], [Y], [Y]; −inf forbids."""
        Y = len(start)
        shift, first, last = (_peak(scores) for scores in (transition, start, stop))
        scores = (np.array(transition, np.float64), np.array(start, np.float64), np.array(stop, np.float64))
        matrix = np.zeros((padded(Y), padded(Y)), dtype)
        matrix[:Y, :Y] = np.exp(scores[0] - shift)
        ends = np.zeros((2, padded(Y)), dtype)
        ends[:, :Y] = np.exp(scores[1] - first), np.exp(scores[2] - last)
        return cls(Y, matrix, np.ascontiguousarray(matrix.T), ends[0], ends[1], shift, first + last, scores)


def _peak(scores: Floats) -> float:
    top = float(np.max(scores))
    return top if np.isfinite(top) else 0.0


@kernel
def exp_row(scores: Floats, peak: float, out: Floats, bits: Ints, powers: Floats) -> None:
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


@kernel
def times_matrix(a: Floats, M: Floats, out: Floats, Y: int) -> None:
    """out = a M, four rows of M at a time (rows from Y on are zero)."""
    for j in range(out.shape[0]):
        out[j] = 0
    for i in range(0, Y, 4):
        r0, r1, r2, r3 = M[i], M[i + 1], M[i + 2], M[i + 3]
        a0, a1, a2, a3 = a[i], a[i + 1], a[i + 2], a[i + 3]
        for j in range(out.shape[0]):
            out[j] += a0 * r0[j] + a1 * r1[j] + a2 * r2[j] + a3 * r3[j]


@kernel
def two_times_matrix(a: Floats, b: Floats, M: Floats, out_a: Floats, out_b: Floats, Y: int) -> None:
    """out_a = a M and out_b = b M, sharing the rows of M."""
    P = M.shape[1]
    for j in range(P):
        out_a[j] = 0
        out_b[j] = 0
    for i in range(0, Y, 4):
        r0, r1, r2, r3 = M[i], M[i + 1], M[i + 2], M[i + 3]
        a0, a1, a2, a3 = a[i], a[i + 1], a[i + 2], a[i + 3]
        b0, b1, b2, b3 = b[i], b[i + 1], b[i + 2], b[i + 3]
        for j in range(P):
            e0, e1, e2, e3 = r0[j], r1[j], r2[j], r3[j]
            out_a[j] += a0 * e0 + a1 * e1 + a2 * e2 + a3 * e3
            out_b[j] += b0 * e0 + b1 * e1 + b2 * e2 + b3 * e3


@kernel
def add_outer_products(alpha: Floats, v: Floats, T: int, Y: int, out: Floats) -> None:
    """out += Σ_{t=1}^{T−1} α_{t−1} ⊗ v_t. Rows T−1.. of alpha and T.. of v up to the next four must be zero."""
    P = out.shape[1]
    for t in range(0, T - 1, 4):
        v0, v1, v2, v3 = v[t + 1], v[t + 2], v[t + 3], v[t + 4]
        for i in range(0, Y, 2):
            a0, a1, a2, a3 = alpha[t, i], alpha[t + 1, i], alpha[t + 2, i], alpha[t + 3, i]
            b0, b1, b2, b3 = alpha[t, i + 1], alpha[t + 1, i + 1], alpha[t + 2, i + 1], alpha[t + 3, i + 1]
            out_a, out_b = out[i], out[i + 1]
            for j in range(P):
                e0, e1, e2, e3 = v0[j], v1[j], v2[j], v3[j]
                out_a[j] += a0 * e0 + a1 * e1 + a2 * e2 + a3 * e3
                out_b[j] += b0 * e0 + b1 * e1 + b2 * e2 + b3 * e3


@kernel
def exponentiate(emission: Floats, Y: int, x: Floats, bits: Ints, powers: Floats) -> float:
    """x_t = exp(emission_t − max_t) for every row; returns Σ max_t. A row of nothing but −inf becomes 0."""
    shift = 0.0
    for t in range(emission.shape[0]):
        row = emission[t]
        peak = row[0]
        for y in range(1, Y):
            peak = max(peak, row[y])
        if peak == -np.inf:
            x[t, :] = 0
        else:
            exp_row(row, peak, x[t], bits, powers)
            shift += peak
    return shift


@kernel
def scale(row: Floats, factor: Floats) -> float:
    """row ∘= factor; row /= Σ row. Returns the sum; one too small to trust leaves a zero row."""
    total = row[0] * 0
    for j in range(row.shape[0]):
        row[j] *= factor[j]
        total += row[j]
    inverse = 1 / total if total > FLOOR else row[0] * 0
    for j in range(row.shape[0]):
        row[j] *= inverse
    return float(total)


@kernel
def look_back(alpha: Floats, x: Floats, beta: Floats, c: float, gamma: Floats, u: Floats) -> bool:
    """From β_t: γ_t and u_t; x_t becomes v_t. False when a sum is too small to trust (then all three are zero)."""
    P = x.shape[0]
    g = x[0] * 0
    total = x[0] * 0
    for j in range(P):
        g += alpha[j] * beta[j]
        total += x[j] * beta[j]
    safe = g > FLOOR and total > FLOOR and c > FLOOR
    node = 1 / g if safe else g * 0
    step = 1 / total if safe else g * 0
    edge = node / x.dtype.type(c) if safe else g * 0
    for j in range(P):
        weight = x[j] * beta[j]
        gamma[j] = alpha[j] * beta[j] * node
        u[j] = weight * step
        x[j] = weight * edge
    return safe


@kernel
def walk_forward(
    x: Floats, lengths: Longs, M: Floats, start: Floats, Y: int, alpha: Floats, c: Doubles, safe: Bools
) -> None:
    """α and c of two sentences, in lock step while both last (the first is not the shorter)."""
    for t in range(lengths[0]):
        both = t < lengths[1]
        if t == 0:
            alpha[0, 0] = start
            alpha[1, 0] = start
        elif both:
            two_times_matrix(alpha[0, t - 1], alpha[1, t - 1], M, alpha[0, t], alpha[1, t], Y)
        else:
            times_matrix(alpha[0, t - 1], M, alpha[0, t], Y)
        for k in range(2 if both else 1):
            c[k, t] = scale(alpha[k, t], x[k, t])
            safe[k] &= c[k, t] > FLOOR


@kernel
def walk_backward(
    x: Floats, lengths: Longs, MT: Floats, stop: Floats, Y: int, alpha: Floats, c: Doubles, beta: Floats,
    gamma: Floats, safe: Bools,
) -> None:  # fmt: skip
    """γ and v (in place of x) of two sentences, in lock step while both last.

    beta [4, P]: β and u of the first, then of the second.
    """
    for t in range(lengths[0] - 1, -1, -1):
        both = t < lengths[1]
        for k in range(2 if both else 1):
            if t == lengths[k] - 1:
                beta[2 * k] = stop
            safe[k] &= look_back(alpha[k, t], x[k, t], beta[2 * k], c[k, t], gamma[k, t], beta[2 * k + 1])
        if t > 0 and both:
            two_times_matrix(beta[1], beta[3], MT, beta[0], beta[2], Y)
        elif t > 0:
            times_matrix(beta[1], MT, beta[0], Y)


@kernel
def forward_backward(
    emission: Floats, offsets: Longs, M: Floats, MT: Floats, start: Floats, stop: Floats, Y: int,
    x: Floats, alpha: Floats, gamma: Floats, c: Doubles, beta: Floats, bits: Ints, powers: Floats,
    edges: Floats, log_z: Doubles, done: Bools,
) -> None:  # fmt: skip
    """All sentences of a run, two at a time.

    Given: emission [n, P] scores; offsets [N + 1]; a Chain's arrays.
    Work space: x, alpha, gamma [2, L + 4, P] and c [2, L] with L the longest length; beta [4, P]; bits, powers [P].
    Returned: emission is overwritten by γ; edges [P, P] += Σ α ⊗ v (multiply by M for the expected counts);
    log_z [N] without the Chain's shifts; done [N], false where scaled numbers would not do: such a sentence keeps its
    emission and adds nothing to edges.
    """
    N = offsets.shape[0] - 1
    lengths = np.zeros(2, np.int64)
    rows = np.zeros(2, np.int64)
    safe = np.ones(2, np.bool_)
    for i in range(0, N, 2):
        pair = min(2, N - i)
        lengths[1] = 0
        safe[:] = True
        for k in range(pair):
            rows[k] = offsets[i + k]
            lengths[k] = offsets[i + k + 1] - offsets[i + k]
        first = 0 if lengths[0] >= lengths[1] else 1
        if first == 1:
            lengths[0], lengths[1] = lengths[1], lengths[0]
            rows[0], rows[1] = rows[1], rows[0]
        for k in range(pair):
            T = lengths[k]
            log_z[i + (k ^ first)] = exponentiate(emission[rows[k] : rows[k] + T], Y, x[k], bits, powers)
            x[k, T : T + 4] = 0
            alpha[k, T : T + 4] = 0
        walk_forward(x, lengths, M, start, Y, alpha, c, safe)
        walk_backward(x, lengths, MT, stop, Y, alpha, c, beta, gamma, safe)
        for k in range(pair):
            T = lengths[k]
            done[i + (k ^ first)] = safe[k]
            if safe[k]:
                log_z[i + (k ^ first)] += log_of_sums(alpha[k, T - 1], stop, c[k, :T])
                add_outer_products(alpha[k], x[k], T, Y, edges)
                emission[rows[k] : rows[k] + T] = gamma[k, :T]


@kernel
def log_of_sums(last: Floats, stop: Floats, c: Doubles) -> float:
    """log(α_{T−1} · exp(stop)) + Σ log c_t."""
    total = 0.0
    for j in range(last.shape[0]):
        total += last[j] * stop[j]
    total = np.log(total)
    for t in range(c.shape[0]):
        total += np.log(c[t])
    return float(total)


@dataclass(frozen=True, slots=True)
class Expectations:
    """What forward-backward found: log Z of each sentence and expected transition counts [Y, Y] of all."""

    log_z: Doubles
    transitions: Doubles


def expect(emission: Floats, offsets: Longs, chain: Chain) -> Expectations:
    """Forward-backward of a run of sentences: emission [n, P] is overwritten by the node marginals.

    Scaled numbers first; a sentence that they cannot hold is repeated in log space. log Z is −inf where no labelling
    is possible (such a sentence's marginals mean nothing).
    """
    N, P, L = len(offsets) - 1, emission.shape[1], int(np.diff(offsets).max())
    work = np.empty((3, 2, L + 4, P), emission.dtype)
    bits = np.empty(P if emission.dtype == np.float32 else 0, np.int32)
    edges = np.zeros((P, P), emission.dtype)
    log_z = np.empty(N)
    done = np.empty(N, np.bool_)
    forward_backward(
        emission, offsets, chain.matrix, chain.transposed, chain.start, chain.stop, chain.n_labels,
        work[0], work[1], work[2], np.empty((2, L)), np.empty((4, P), emission.dtype), bits, bits.view(np.float32),
        edges, log_z, done,
    )  # fmt: skip
    log_z += chain.shift * (np.diff(offsets) - 1) + chain.edge_shift
    Y = chain.n_labels
    transitions = (edges[:Y, :Y] * chain.matrix[:Y, :Y]).astype(np.float64)
    for i in np.flatnonzero(~done):
        rows = slice(offsets[i], offsets[i + 1])
        log_z[i] = log_forward_backward(emission[rows], *chain.scores, emission[rows], transitions)
    return Expectations(log_z, transitions)
