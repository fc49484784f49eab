"""Forward-backward over a run of sentences: log Z, node marginals, edge counts. The CRF's inner loop.

Stands between scores/ (which fill emission rows) and losses/ (which read marginals). The definition is
chain/recursion.py; this file is the same mathematics with scaled probabilities, many times faster than log space.

    x_t = exp(emission_t − max)     M = exp(transition − max)
    forward    α_0 = x_0 ∘ exp(start),  c_0 = 1,   α_t = (α_{t−1} M) ∘ x_t / c_t,   c_t = Σ α_{t−1}
    backward   β_{T−1} = exp(stop),                β_{t−1} = M u_t,   u_t = x_t ∘ β_t / Σ u_{t+1}
    nodes      γ_t = α_t ∘ β_t / g_t,          g_t = α_t · β_t
    edges      Σ_t α_{t−1} ⊗ v_t ∘ M,          v_t = x_t ∘ β_t / (c_t g_t)
    log Z      = Σ log c_t + log(α_{T−1} · exp(stop)) + all the maxima taken out

A step divides by the sum of the row before it, which is there already: nobody waits for a sum. Only a row whose own sum
is SMALL is divided by it at once; c_t, or the next step, then takes that into account.

Underflow is never hidden. Every factor is at most 1, so a step's entries below 1e-38 become zero; that is harmless
unless the sums they belong to (c_t, g_t, Σ u_t) are about as small. A sentence where one falls under FLOOR, or c_t g_t
under PAIR_FLOOR, is given up here, `done` says so, and the caller repeats it with chain/log_space.py.

Two sentences of like length walk in lock step: each row of M that is loaded serves both (_registers.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tagwright._jit import tight_kernel
from tagwright._registers import add_products, largest
from tagwright.arrays import Bools, Doubles, Floats, Ints, Longs, empty_rows, padded, zero_rows
from tagwright.chain.log_space import log_forward_backward
from tagwright.chain.tilt import tilt

SMALL = 1e-5
FLOOR = 1e-18
PAIR_FLOOR = 1e-28
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
        matrix, transposed = zero_rows((2, padded(Y), padded(Y)), dtype)
        matrix[:Y, :Y] = np.exp(transition - shift)  # in the type of the scores: float32 is the faster one
        transposed[:] = matrix.T
        ends = zero_rows((2, padded(Y)), dtype)
        ends[:, :Y] = np.exp(start - first), np.exp(stop - last)
        return cls(Y, matrix, transposed, ends[0], ends[1], shift, first + last, scores)


def _peak(scores: Floats) -> float:
    top = float(np.max(scores))
    return top if np.isfinite(top) else 0.0


@tight_kernel
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


@tight_kernel
def copy_row(source: Floats, target: Floats) -> None:
    for j in range(source.shape[0]):
        target[j] = source[j]


@tight_kernel
def divide_row(row: Floats, divisor: float) -> None:
    inverse = row.dtype.type(1 / divisor)
    for j in range(row.shape[0]):
        row[j] *= inverse


@tight_kernel
def multiply_two(a: Floats, b: Floats, M: Floats, out_a: Floats, out_b: Floats, Y: int) -> None:
    """out_a = a M and out_b = b M."""
    out_a[:] = 0
    out_b[:] = 0
    add_products(a, b, 1, M, Y, Y, out_a, out_b)


@tight_kernel
def add_outer_products(alpha: Floats, v: Floats, n: int, Y: int, out: Floats) -> None:
    """out += Σ_{r=1}^{n−1} α_{r−1} ⊗ v_r, two rows of out at a time."""
    P = out.shape[1]
    columns = alpha.reshape(-1)
    for i in range(0, Y, 2):
        add_products(columns[i:], columns[i + 1 :], P, v[1:], n - 1, Y, out[i], out[i + 1])


@tight_kernel
def exponentiate(emission: Floats, Y: int, x: Floats, bits: Ints, powers: Floats) -> float:
    """x_t = exp(emission_t − max_t) for every row; returns Σ max_t. A row of nothing but −inf becomes 0."""
    shift = 0.0
    for t in range(emission.shape[0]):
        peak = largest(emission[t], Y)
        if peak == -np.inf:
            x[t, :] = 0
        else:
            exp_row(emission[t], peak, x[t], bits, powers)
            shift += peak
    return shift


@tight_kernel
def step_forward(alpha: Floats, x: Floats, divisor: float) -> float:
    """α_t = α_t ∘ x_t / c_t; returns Σ α_t, the next divisor. One that is too small to trust leaves a zero row."""
    number = x.dtype.type  # a plain 0 or 1 would make all of this float64
    total = number(0)
    inverse = number(1) / number(divisor) if divisor > FLOOR else number(0)
    for j in range(x.shape[0]):
        alpha[j] *= x[j] * inverse
        total += alpha[j]
    return float(total)


@tight_kernel
def step_back(
    alpha: Floats, x: Floats, beta: Floats, c: float, divisor: float, gamma: Floats, u: Floats
) -> tuple[float, bool]:
    """From β_t: u_t and γ_t; x_t becomes v_t. Returns Σ u_t, the next divisor, and whether all sums can be trusted."""
    number = x.dtype.type
    g = number(0)
    total = number(0)
    inverse = number(1) / number(divisor) if divisor > FLOOR else number(0)
    for j in range(x.shape[0]):
        g += alpha[j] * beta[j]
        x[j] *= beta[j]
        u[j] = x[j] * inverse
        total += u[j]
    safe = bool(g > FLOOR and c > FLOOR and divisor > FLOOR and c * g > PAIR_FLOOR)
    node = number(1) / g if safe else number(0)
    edge = node / number(c) if safe else number(0)
    for j in range(x.shape[0]):
        gamma[j] = alpha[j] * beta[j] * node
        x[j] *= edge
    return float(total), safe


@tight_kernel
def walk_forward(
    x: Floats, lengths: Longs, M: Floats, start: Floats, Y: int, alpha: Floats, c: Doubles, safe: Bools
) -> None:
    """α and c of two sentences, in lock step while both last (the first is not the shorter)."""
    second = lengths[0]
    for t in range(lengths[0]):
        n = 2 if t < lengths[1] else 1
        if t == 0:
            copy_row(start, alpha[0])
            copy_row(start, alpha[second])
        else:  # when the second is over, the first is multiplied twice: one kernel for both cases
            other = second + t if n == 2 else t
            multiply_two(alpha[t - 1], alpha[other - 1], M, alpha[t], alpha[other], Y)
        for k in range(n):
            r = k * second + t
            c[r] = 1.0 if t == 0 else c[r]
            total = step_forward(alpha[r], x[r], c[r])
            safe[k] &= total > FLOOR
            if FLOOR < total < SMALL:
                divide_row(alpha[r], total)
                c[r] *= total
                total = 1.0
            if t + 1 < lengths[k]:
                c[r + 1] = total


@tight_kernel
def walk_backward(
    x: Floats, lengths: Longs, MT: Floats, stop: Floats, Y: int, alpha: Floats, c: Doubles, beta: Floats,
    gamma: Floats, divisors: Doubles, safe: Bools,
) -> None:  # fmt: skip
    """γ and v (in place of x) of two sentences, in lock step while both last.

    beta [4, P]: β and u of the first, then of the second.
    """
    divisors[:] = 1
    for t in range(lengths[0] - 1, -1, -1):
        n = 2 if t < lengths[1] else 1
        for k in range(n):
            r = k * lengths[0] + t
            if t == lengths[k] - 1:
                copy_row(stop, beta[2 * k])
            divisors[k], trusted = step_back(alpha[r], x[r], beta[2 * k], c[r], divisors[k], gamma[r], beta[2 * k + 1])
            safe[k] &= trusted
            if FLOOR < divisors[k] < SMALL:
                divide_row(beta[2 * k + 1], divisors[k])
                divisors[k] = 1
        if t > 0:
            multiply_two(beta[1], beta[2 * n - 1], MT, beta[0], beta[2 * n - 2], Y)


@tight_kernel
def forward_backward(
    emission: Floats, offsets: Longs, M: Floats, MT: Floats, start: Floats, stop: Floats, Y: int,
    x: Floats, alpha: Floats, gamma: Floats, c: Doubles, beta: Floats, bits: Ints, powers: Floats,
    lengths: Longs, divisors: Doubles, safe: Bools, edges: Floats, log_z: Doubles, done: Bools,
    weights: Doubles, pivots: Doubles, rate: float,
) -> None:  # fmt: skip
    """All sentences of a run, two at a time.

    Given: emission [n, P] scores; offsets [N + 1]; a Chain's arrays; weights [N], which become the tilted ones
    (chain/tilt.py) of log_z − pivots: by them the edges of each sentence are multiplied.
    Work space: x, alpha, gamma [2 L, P] and c [2 L] with L the longest length (a pair's rows lie end to end); beta
    [4, P]; bits, powers [P].
    Returned: emission is overwritten by γ; edges [P, P] += Σ α ⊗ v (multiply by M for the expected counts);
    log_z [N] without the Chain's shifts; done [N], false where scaled numbers would not do: such a sentence keeps its
    emission and adds nothing to edges.
    """
    N = offsets.shape[0] - 1
    for i in range(0, N, 2):
        pair = min(2, N - i)
        first = i if pair == 1 or offsets[i + 1] - offsets[i] >= offsets[i + 2] - offsets[i + 1] else i + 1
        lengths[1] = 0
        safe[:] = True
        for k in range(pair):
            s = first ^ k if pair == 2 else i
            lengths[k] = offsets[s + 1] - offsets[s]
            log_z[s] = exponentiate(emission[offsets[s] : offsets[s + 1]], Y, x[k * lengths[0] :], bits, powers)
        walk_forward(x, lengths, M, start, Y, alpha, c, safe)
        walk_backward(x, lengths, MT, stop, Y, alpha, c, beta, gamma, divisors, safe)
        for k in range(pair):
            s = first ^ k if pair == 2 else i
            begin, end = k * lengths[0], k * lengths[0] + lengths[k]
            done[s] = safe[k]
            x[begin] = 0  # no edge leads to a first position
            if safe[k]:
                log_z[s] += log_of_sums(alpha[end - 1], stop, c[begin:end])
                weights[s] = tilt(weights[s], rate, log_z[s] - pivots[s])
                multiply_rows(x[begin:end], weights[s])
                for r in range(begin, end):
                    copy_row(gamma[r], emission[offsets[s] + r - begin])
            else:
                x[begin:end] = 0
        add_outer_products(alpha, x, lengths[0] + lengths[1], Y, edges)


@tight_kernel
def multiply_rows(rows: Floats, factor: float) -> None:
    """rows *= factor."""
    if factor != 1:
        number = rows.dtype.type(factor)
        for t in range(rows.shape[0]):
            for j in range(rows.shape[1]):
                rows[t, j] *= number


@tight_kernel
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
    """What forward-backward found: log Z and tilted weight of each sentence, transition counts [Y, Y] of all."""

    log_z: Doubles
    transitions: Doubles
    weights: Doubles


def expect(
    emission: Floats,
    offsets: Longs,
    chain: Chain,
    *,
    weights: Doubles | None = None,
    pivots: Doubles | None = None,
    rate: float = 0.0,
) -> Expectations:
    """Forward-backward of a run of sentences: emission [n, P] is overwritten by the node marginals.

    Sentence i counts weights[i] · exp(rate · (log Z_i − pivots[i])) times in the transitions; once if nothing is given.

    Scaled numbers first; a sentence that they cannot hold is repeated in log space. log Z is −inf where no labelling
    is possible (such a sentence's marginals mean nothing).
    """
    N, P, L = len(offsets) - 1, emission.shape[1], int(np.diff(offsets).max())
    work = empty_rows((3, 2 * L, P), emission.dtype)
    bits = np.empty(P if emission.dtype == np.float32 else 0, np.int32)
    edges = zero_rows((P, P), emission.dtype)
    log_z = np.empty(N)
    done = np.empty(N, np.bool_)
    shifts = chain.shift * (np.diff(offsets) - 1) + chain.edge_shift
    weights = np.ones(N) if weights is None else weights.copy()
    pivots = np.zeros(N) if pivots is None else pivots
    forward_backward(
        emission, offsets, chain.matrix, chain.transposed, chain.start, chain.stop, chain.n_labels,
        work[0], work[1], work[2], np.empty(2 * L), empty_rows((4, P), emission.dtype), bits, bits.view(np.float32),
        np.empty(2, np.int64), np.empty(2), np.empty(2, np.bool_), edges, log_z, done,
        weights, pivots - shifts, rate,
    )  # fmt: skip
    log_z += shifts
    Y = chain.n_labels
    transitions = (edges[:Y, :Y] * chain.matrix[:Y, :Y]).astype(np.float64)
    for i in np.flatnonzero(~done):
        rows = slice(offsets[i], offsets[i + 1])
        counts = np.zeros((Y, Y))
        log_z[i] = log_forward_backward(emission[rows], *chain.scores, emission[rows], counts)
        weights[i] = tilt(weights[i], rate, log_z[i] - pivots[i])
        transitions += weights[i] * counts
    return Expectations(log_z, transitions, weights)
