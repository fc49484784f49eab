"""Forward-backward over a run of sentences: log Z, node marginals, edge counts. The CRF's inner loop.

Stands between scores/ (which fill emission rows) and losses/ (which read marginals). The definition is
chain/recursion.py; this file is the same mathematics with scaled probabilities, many times faster than log space.

    x_t = exp(emission_t − max)     M = exp(transition − max)
    forward    α_0 = x_0 ∘ exp(start) / c_0,   α_t = (α_{t−1} M) ∘ x_t / c_t       c_t makes Σ α_t = 1
    backward   β_{T−1} = exp(stop),            β_{t−1} = M u_t,   u_t = x_t ∘ β_t / Σ (x_t ∘ β_t)
    nodes      γ_t = α_t ∘ β_t / g_t,          g_t = α_t · β_t
    edges      Σ_t α_{t−1} ⊗ v_t ∘ M,          v_t = x_t ∘ β_t / (c_t g_t)
    log Z      = Σ log c_t + log(α_{T−1} · exp(stop)) + all the maxima taken out

Only labels that matter are walked. A label with α_t[i] ≤ ε (of a total of 1) is not carried on to t + 1, nor one with
u_t[j] ≤ ε back to t − 1. With trained weights, or with few allowed labels, most of the work falls away. What is lost is
known afterwards: the marginals γ of the labels that were left out. When they add up to more than LOST in a sentence,
it is walked again with ε = 0. In float64 ε is always 0.

Underflow is never hidden. Every factor is at most 1, so what a step flushes to zero is below the smallest float; that
is harmless unless the step's own sum (c_t, g_t or Σ u_t) is that small too. A sentence where one falls under FLOOR is
given up here, `done` says so, and the caller repeats it with chain/log_space.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tagwright._jit import kernel
from tagwright.arrays import Bools, Doubles, Floats, Ints, Longs, padded
from tagwright.chain.log_space import log_forward_backward

FLOOR = 1e-18
EPSILON = 1e-10
LOST = 1e-6
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
def list_alive(row: Floats, Y: int, epsilon: float, alive: Ints) -> int:
    """The labels with row[y] > ε, into `alive`; returns how many."""
    n = 0
    for y in range(Y):
        alive[n] = y
        n += row[y] > epsilon
    return n


@kernel
def times_matrix(a: Floats, alive: Ints, n: int, M: Floats, out: Floats) -> None:
    """out = Σ_{i alive} a_i M_i, four rows of M at a time."""
    for j in range(out.shape[0]):
        out[j] = 0
    fours = n // 4 * 4
    for k in range(0, fours, 4):
        i0, i1, i2, i3 = alive[k], alive[k + 1], alive[k + 2], alive[k + 3]
        r0, r1, r2, r3 = M[i0], M[i1], M[i2], M[i3]
        a0, a1, a2, a3 = a[i0], a[i1], a[i2], a[i3]
        for j in range(out.shape[0]):
            out[j] += a0 * r0[j] + a1 * r1[j] + a2 * r2[j] + a3 * r3[j]
    for k in range(fours, n):
        r0, a0 = M[alive[k]], a[alive[k]]
        for j in range(out.shape[0]):
            out[j] += a0 * r0[j]


@kernel
def add_outer_product(a: Floats, alive: Ints, n: int, v: Floats, out: Floats) -> None:
    """out_i += a_i v for the labels i alive, two at a time."""
    twos = n // 2 * 2
    for k in range(0, twos, 2):
        a0, a1 = a[alive[k]], a[alive[k + 1]]
        out0, out1 = out[alive[k]], out[alive[k + 1]]
        for j in range(v.shape[0]):
            out0[j] += a0 * v[j]
            out1[j] += a1 * v[j]
    if twos < n:
        a0, out0 = a[alive[twos]], out[alive[twos]]
        for j in range(v.shape[0]):
            out0[j] += a0 * v[j]


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
def look_back(
    alpha: Floats, x: Floats, beta: Floats, c: float, epsilon: float, gamma: Floats, u: Floats
) -> tuple[bool, float]:
    """From β_t: γ_t and u_t; x_t becomes v_t. Returns whether the sums can be trusted (else all three are zero), and
    the marginals of the labels that are left out here."""
    g = x[0] * 0
    total = x[0] * 0
    for j in range(x.shape[0]):
        g += alpha[j] * beta[j]
        total += x[j] * beta[j]
    safe = g > FLOOR and total > FLOOR and c > FLOOR
    node = 1 / g if safe else g * 0
    step = 1 / total if safe else g * 0
    edge = node / x.dtype.type(c) if safe else g * 0
    lost = g * 0
    for j in range(x.shape[0]):
        weight = x[j] * beta[j]
        gamma[j] = alpha[j] * beta[j] * node
        u[j] = weight * step
        x[j] = weight * edge
        lost += gamma[j] if alpha[j] <= epsilon or u[j] <= epsilon else g * 0
    return safe, float(lost)


@kernel
def walk(
    emission: Floats, M: Floats, MT: Floats, start: Floats, stop: Floats, Y: int, epsilon: float,
    x: Floats, alpha: Floats, gamma: Floats, c: Doubles, beta: Floats, alive: Ints, counts: Ints, bits: Ints,
    powers: Floats,
) -> tuple[bool, float, float]:  # fmt: skip
    """Both passes over one sentence: α, γ, and v in x. Returns if sums can be trusted, what was lost, log Z."""
    T = emission.shape[0]
    log_z = exponentiate(emission, Y, x, bits, powers)
    for t in range(T):
        if t == 0:
            alpha[0] = start
        else:
            times_matrix(alpha[t - 1], alive[t - 1], counts[t - 1], M, alpha[t])
        c[t] = scale(alpha[t], x[t])
        if not c[t] > FLOOR:
            return False, 0.0, 0.0
        counts[t] = list_alive(alpha[t], Y, epsilon, alive[t])
    log_z += log_of_sums(alpha[T - 1], stop, c[:T])
    beta[0] = stop
    lost = 0.0
    for t in range(T - 1, -1, -1):
        safe, more = look_back(alpha[t], x[t], beta[0], c[t], epsilon, gamma[t], beta[1])
        if not safe:
            return False, 0.0, 0.0
        lost += more
        if t > 0:
            n = list_alive(beta[1], Y, epsilon, alive[T])
            times_matrix(beta[1], alive[T], n, MT, beta[0])
    return True, lost, log_z


@kernel
def forward_backward(
    emission: Floats, offsets: Longs, M: Floats, MT: Floats, start: Floats, stop: Floats, Y: int, epsilon: float,
    x: Floats, alpha: Floats, gamma: Floats, c: Doubles, beta: Floats, alive: Ints, counts: Ints, bits: Ints,
    powers: Floats, edges: Floats, log_z: Doubles, done: Bools,
) -> None:  # fmt: skip
    """All sentences of a run.

    Given: emission [n, P] scores; offsets [N + 1]; a Chain's arrays; ε.
    Work space: x, alpha, gamma [L, P], c, counts [L] with L the longest length; beta [2, P]; alive [L + 1, Y + 1];
    bits, powers [P].
    Returned: emission is overwritten by γ; edges [P, P] += Σ α ⊗ v (multiply by M for the expected counts);
    log_z [N] without the Chain's shifts; done [N], false where scaled numbers would not do: such a sentence keeps its
    emission and adds nothing to edges.
    """
    for i in range(offsets.shape[0] - 1):
        rows = emission[offsets[i] : offsets[i + 1]]
        limit = epsilon
        for _ in range(2):
            done[i], lost, log_z[i] = walk(
                rows, M, MT, start, stop, Y, limit, x, alpha, gamma, c, beta, alive, counts, bits, powers
            )
            if lost <= LOST:
                break
            limit = 0.0
        if done[i]:
            for t in range(rows.shape[0]):
                rows[t] = gamma[t]
                if t > 0:
                    add_outer_product(alpha[t - 1], alive[t - 1], counts[t - 1], x[t], edges)


@kernel
def log_of_sums(last: Floats, stop: Floats, c: Doubles) -> float:
    """log(α_{T−1} · exp(stop)) + Σ log c_t."""
    total = 0.0
    for j in range(last.shape[0]):
        total += last[j] * stop[j]
    total = np.log(total) if total > 0 else -np.inf
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
    Y, single = chain.n_labels, emission.dtype == np.float32
    work = np.empty((3, L, P), emission.dtype)
    bits = np.empty(P if single else 0, np.int32)
    edges = np.zeros((P, P), emission.dtype)
    log_z = np.empty(N)
    done = np.empty(N, np.bool_)
    forward_backward(
        emission, offsets, chain.matrix, chain.transposed, chain.start, chain.stop, Y, EPSILON if single else 0.0,
        work[0], work[1], work[2], np.empty(L), np.empty((2, P), emission.dtype),
        np.empty((L + 1, Y + 1), np.int32), np.empty(L, np.int32), bits, bits.view(np.float32), edges, log_z, done,
    )  # fmt: skip
    log_z += chain.shift * (np.diff(offsets) - 1) + chain.edge_shift
    transitions = (edges[:Y, :Y] * chain.matrix[:Y, :Y]).astype(np.float64)
    for i in np.flatnonzero(~done):
        rows = slice(offsets[i], offsets[i + 1])
        log_z[i] = log_forward_backward(emission[rows], *chain.scores, emission[rows], transitions)
    return Expectations(log_z, transitions)
