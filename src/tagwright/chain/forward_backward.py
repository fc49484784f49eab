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

Two sentences of like length walk in lock step: each row of M that is loaded serves both (_simd.py).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tagwright._jit import natural, tight_kernel
from tagwright._simd import add_products, close_row, largest, scale_row, weigh_row
from tagwright.arrays import Bools, Doubles, Floats, Ints, Longs, empty_rows, padded, zero_rows
from tagwright.chain.candidate_forward_backward import CandidateBuffers, forward_backward_of_candidates
from tagwright.chain.candidates import Candidates, StepTable
from tagwright.chain.label_chain import ChainScores, Expectations, TermWeights, copy_scores, term_weight
from tagwright.chain.log_space import repeat_in_log_space
from tagwright.chain.scaling import FLOOR, RunSums, exp_row, room_for_powers, sum_logs

SMALL = 1e-5
PAIR_FLOOR = 1e-28


class Chain(NamedTuple):
    """The part of a lattice that all sentences share, ready for the scaled recursions.

    `matrix` is M and `transposed` its transpose; start and stop are exponentials, too; padding is zero.
    `shift`: what was taken out of the transitions, `edge_shift` out of start and stop.
    """

    n_labels: int
    matrix: Floats  # [P, P]
    transposed: Floats  # [P, P]
    start: Floats  # [P]
    stop: Floats  # [P]
    shift: float
    edge_shift: float
    scores: ChainScores  # as they were given

    @classmethod
    def build(cls, transition: Floats, start: Floats, stop: Floats, dtype: type[np.floating[Any]]) -> Chain:
        """From scores [Y, Y], [Y], [Y]; −inf forbids."""
        Y = len(start)
        shift, first, last = (_peak(scores) for scores in (transition, start, stop))
        matrix, transposed = zero_rows((2, padded(Y), padded(Y)), dtype)
        matrix[:Y, :Y] = np.exp(transition - shift)  # in the type of the scores: float32 is the faster one
        transposed[:] = matrix.T
        ends = zero_rows((2, padded(Y)), dtype)
        ends[:, :Y] = np.exp(start - first), np.exp(stop - last)
        scores = copy_scores(transition, start, stop)
        return cls(Y, matrix, transposed, ends[0], ends[1], shift, first + last, scores)

    @property
    def order(self) -> int:
        return 1

    def expect(
        self,
        emission: Floats,
        offsets: Longs,
        given: TermWeights | None = None,
        *,
        candidates: Candidates | None = None,
        out: Floats | None = None,
    ) -> Expectations:
        """Forward-backward of a run of sentences; see LabelChain.

        Scaled numbers first; a sentence that they cannot hold is repeated in log space. log Z is −inf where no
        labelling is possible (such a sentence's marginals are 0).
        """
        Y, N, lengths = self.n_labels, len(offsets) - 1, offsets[1:] - offsets[:-1]
        given = TermWeights.ones(N) if given is None else given
        out = empty_rows(emission.shape, emission.dtype) if out is None else out
        shifts = np.asarray(self.shift * (lengths - 1) + self.edge_shift, np.float64)
        found = RunSums.build(zero_rows(self.matrix.shape, emission.dtype), N)
        run = emission, offsets, given.relative_to(shifts), found, out
        if candidates is None:
            forward_backward(*run, self, PairBuffers.build(int(lengths.max()), emission.shape[1], emission.dtype.type))
        else:
            table = StepTable(1, Y, self.matrix, self.start, self.stop)
            work = CandidateBuffers.build(lengths, candidates, 1, emission)
            forward_backward_of_candidates(*run, candidates, table, work)
        found.log_z[:] += shifts
        found.counts[:] *= self.matrix
        if not found.done.all():
            repeat_in_log_space(found, emission, offsets, candidates, StepTable(1, Y, *self.scores), given, out)
        return Expectations(found.log_z, found.weights, out, found.counts[:Y, :Y].astype(np.float64))

    def score_labels(self, emission: Floats, offsets: Longs, labels: Ints) -> Doubles:
        """F of one labelling of each sentence [N]."""
        scores = np.empty(len(offsets) - 1)
        score_labels(emission, offsets, labels, *self.scores, scores)
        return scores

    def count_trigrams(self, offsets: Longs, labels: Ints, weights: Doubles) -> Doubles:
        """None: trigrams have no weights."""
        return np.empty(0)


class PairBuffers(NamedTuple):
    """Work space for two sentences of at most L positions, whose rows lie end to end."""

    x: Floats  # [2 L, P]
    alpha: Floats  # [2 L, P]
    gamma: Floats  # [2 L, P]
    c: Doubles  # [2 L]
    beta: Floats  # [4, P]
    bits: NDArray[Any]  # [P]: of exp_row
    powers: Floats  # [P]: the same memory
    lengths: Longs  # [2]
    divisors: Doubles  # [2]
    safe: Bools  # [2]

    @classmethod
    def build(cls, longest: int, width: int, dtype: type[np.floating[Any]]) -> PairBuffers:
        n = 2 * longest
        rows = empty_rows((3 * n + 4, width), dtype)
        return cls(
            rows[:n], rows[n : 2 * n], rows[2 * n : 3 * n], np.empty(n), rows[3 * n :], *room_for_powers(width, dtype),
            np.empty(2, np.int64), np.empty(2), np.empty(2, np.bool_),
        )  # fmt: skip


def _peak(scores: Floats) -> float:
    top = float(np.max(scores))
    return top if np.isfinite(top) else 0.0


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
def exponentiate(emission: Floats, Y: int, x: Floats, bits: NDArray[Any], powers: Floats) -> float:
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
    inverse = number(1) / number(divisor) if divisor > FLOOR else number(0)
    return float(scale_row(alpha, x, inverse))


@tight_kernel
def step_back(
    alpha: Floats, x: Floats, beta: Floats, c: float, divisor: float, gamma: Floats, u: Floats
) -> tuple[float, bool]:
    """From β_t: u_t and γ_t; x_t becomes v_t. Returns Σ u_t, the next divisor, and whether all sums can be trusted."""
    number = x.dtype.type
    inverse = number(1) / number(divisor) if divisor > FLOOR else number(0)
    g, total = weigh_row(alpha, x, beta, inverse, u)
    safe = bool(g > FLOOR and c > FLOOR and divisor > FLOOR and c * g > PAIR_FLOOR)
    node = number(1) / g if safe else number(0)
    edge = node / number(c) if safe else number(0)
    close_row(alpha, beta, node, edge, x, gamma)
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
                divide_row(alpha[r], np.float64(total))
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
    emission: Floats, offsets: Longs, given: TermWeights, found: RunSums, out: Floats, chain: Chain, work: PairBuffers
) -> None:  # fmt: skip
    """All sentences of a run, two at a time: emission [n, P] scores, offsets [N + 1].

    Returned: out [n, P] = γ (it may be `emission` itself); found, log_z lacking the Chain's shifts. A sentence that is
    not done leaves its rows of `out` alone.
    """
    N, x, alpha, lengths, safe = offsets.shape[0] - 1, work.x, work.alpha, work.lengths, work.safe
    for i in range(0, N, 2):
        pair = min(2, N - i)
        first = i if pair == 1 or offsets[i + 1] - offsets[i] >= offsets[i + 2] - offsets[i + 1] else i + 1
        lengths[1] = 0
        safe[:] = True
        for k in range(pair):
            s = first ^ k if pair == 2 else i
            lengths[k] = offsets[s + 1] - offsets[s]
            rows = emission[offsets[s] : offsets[s + 1]]
            found.log_z[s] = exponentiate(rows, chain.n_labels, x[k * lengths[0] :], work.bits, work.powers)
        walk_forward(x, lengths, chain.matrix, chain.start, chain.n_labels, alpha, work.c, safe)
        walk_backward(
            x, lengths, chain.transposed, chain.stop, chain.n_labels, alpha, work.c, work.beta, work.gamma,
            work.divisors, safe,
        )  # fmt: skip
        for k in range(pair):
            s = first ^ k if pair == 2 else i
            begin, end = k * lengths[0], k * lengths[0] + lengths[k]
            found.done[s] = safe[k]
            x[begin] = 0  # no edge leads to a first position
            if safe[k]:
                found.log_z[s] += log_of_sums(alpha[end - 1], chain.stop, work.c[begin:end])
                found.weights[s] = term_weight(given.weights[s], given.rate, found.log_z[s] - given.pivots[s])
                multiply_rows(x[begin:end], found.weights[s])
                for r in range(begin, end):
                    copy_row(work.gamma[r], out[offsets[s] + r - begin])
            else:
                x[begin:end] = 0
        add_outer_products(alpha, x, lengths[0] + lengths[1], chain.n_labels, found.counts)


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
    return float(np.log(total) + sum_logs(c))


@tight_kernel
def score_labels(
    emission: Floats, offsets: Longs, labels: Ints, transition: Doubles, start: Doubles, stop: Doubles, out: Doubles
) -> None:
    """F of one labelling of every sentence (chain/lattice.py): emission [n, P], offsets [N + 1], labels [n], the chain,
    out [N]."""
    for i in range(offsets.shape[0] - 1):
        begin, end = offsets[i], offsets[i + 1]
        last = natural(labels[begin])
        total = start[last] + emission[begin, last]
        for p in range(begin + 1, end):
            now = natural(labels[natural(p)])
            total += transition[last, now] + emission[natural(p), now]
            last = now
        out[i] = total + stop[last]
