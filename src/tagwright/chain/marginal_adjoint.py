"""The derivative of node marginals: what the pointwise losses need, in three passes however long the sentence.

A loss of the marginals of given labels y_t, with h_t = −d loss / d log γ_t(y_t), has the gradient

    Σ_t h_t · (E[Φ] − E[Φ | y_t])  =  E[Φ · Q],    Q(y') = Σ_t q_t(y'_t),    q_t(j) = h_t · (1 − [j = y_t] / γ_t(y_t))

with respect to any score with feature Φ. Q is a sum over positions, so two more linear recursions beside α and β (of
chain/forward_backward.py, in the same scale) carry what it has summed up to so far: the adjoint of Kakade, Teh and
Roweis (2002), or the expectation semiring. O(T·Y²).

    forward    A_t = (A_{t−1} M) ∘ x_t / c_t + α_t ∘ q_t              Q of the positions up to t
    backward   B_{t−1} = M (x_t ∘ (B_t + β_t ∘ q_t)) / Σ u_{t+1}      Q of the positions after t − 1
    nodes      d loss / d emission_t = (A_t ∘ β_t + α_t ∘ B_t) / g_t
    edges      Σ_t (A_{t−1} ⊗ v_t + α_{t−1} ⊗ w_t) ∘ M,      w_t = x_t ∘ (B_t + β_t ∘ q_t) / (c_t g_t)

E[q_t] = 0, hence Σ A_t ∘ β_t = Σ α_t ∘ B_t = 0. Rounding errors in this direction would never fade, so each step takes
them out: numbers stay as small as the chain's memory is short, for 1,000 tokens as for ten.

Underflow is never hidden: as in chain/forward_backward.py, and also where γ_t(y_t) itself falls under RAREST, the
sentence is given up and repeated in log space.

α and A of two sentences of like length walk in lock step; β and B of one do. h_t: chain/label_chain.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tagwright._jit import tight_kernel
from tagwright.arrays import Bools, Doubles, Floats, Ints, Longs, empty_rows, zero_rows
from tagwright.chain.forward_backward import (
    PAIR_FLOOR,
    SMALL,
    Chain,
    add_outer_products,
    copy_row,
    divide_row,
    exponentiate,
    multiply_two,
    walk_forward,
)
from tagwright.chain.label_chain import TokenTerms, term_weight
from tagwright.chain.log_space import log_marginal_adjoint
from tagwright.chain.scaling import FLOOR, room_for_powers

RAREST = 1e-12
"""A gold label below this probability: its term h/γ would drown all others in float32."""


class AdjointBuffers(NamedTuple):
    """Work space for two sentences of at most L positions, whose rows lie end to end."""

    x: Floats  # [2 L, P]
    alpha: Floats  # [2 L, P]
    beta: Floats  # [2 L, P]
    A: Floats  # [2 L, P]
    B: Floats  # [2 L, P], then the gradient of the emission
    v: Floats  # [2 L, P]
    w: Floats  # [2 L, P]
    c: Doubles  # [2 L]
    found: Doubles  # [2 L, 3]: the term −log γ_t(y_t), h_t, 1/g_t
    u: Floats  # [2, P]
    bits: NDArray[Any]  # [P]: of exp_row
    powers: Floats  # [P]: the same memory
    lengths: Longs  # [2]
    safe: Bools  # [2]

    @classmethod
    def build(cls, longest: int, width: int, dtype: type[np.floating[Any]]) -> AdjointBuffers:
        rows = empty_rows((7, 2 * longest, width), dtype)
        return cls(
            rows[0], rows[1], rows[2], rows[3], rows[4], rows[5], rows[6], np.empty(2 * longest),
            np.empty((2 * longest, 3)), empty_rows((2, width), dtype), *room_for_powers(width, dtype),
            np.empty(2, np.int64), np.empty(2, np.bool_),
        )  # fmt: skip


class TermSums(NamedTuple):
    """What a run has of its terms and of the gradient of its transitions."""

    edges: Floats  # [P, P]: the gradient before multiplying by M
    terms: Doubles  # [n]
    done: Bools  # [N] false where scaled numbers would not do


@tight_kernel
def step_back(work: AdjointBuffers, r: int, divisor: float, label: int, given: TokenTerms, weight: float) -> Any:
    """From β_t and B_t in row r: v_t, w_t, and u = (x_t ∘ β_t, x_t ∘ (B_t + β_t ∘ q_t)) / Σ u_{t+1}; work.found.

    Returns Σ u_t and whether all sums can be trusted.
    """
    alpha, x, beta, B, v, w, u = work.alpha[r], work.x[r], work.beta[r], work.B[r], work.v[r], work.w[r], work.u
    c, found, number = work.c[r], work.found[r], x.dtype.type
    g = number(0)
    drift = number(0)
    for j in range(x.shape[0]):
        g += alpha[j] * beta[j]
        drift += alpha[j] * B[j]
    trusted = g > FLOOR and c > FLOOR and divisor > FLOOR and c * g > PAIR_FLOOR
    safe = bool(trusted and alpha[label] * beta[label] > RAREST * g)
    node = number(1) / g if safe else number(0)
    inverse = number(1) / number(divisor) if safe else number(0)
    edge = node / number(c) if safe else number(0)
    gold = alpha[label] * beta[label] * node if safe else number(1)
    found[0] = -np.log(gold)
    found[1] = term_weight(weight, given.rate, found[0] - given.reference)
    found[2] = node
    h = number(found[1])
    drift *= node
    total = number(0)
    for j in range(x.shape[0]):
        B[j] -= drift * beta[j]
        w[j] = x[j] * (B[j] + h * beta[j])
        v[j] = x[j] * beta[j]
    w[label] -= v[label] * (h / gold)
    for j in range(x.shape[0]):
        u[0, j] = v[j] * inverse
        u[1, j] = w[j] * inverse
        total += u[0, j]
        v[j] *= edge
        w[j] *= edge
    return float(total), safe


@tight_kernel
def walk_back(chain: Chain, given: TokenTerms, work: AdjointBuffers, begin: int, T: int, token: int) -> bool:
    """β, B, v, w and `found` of the sentence in the rows from `begin` on, whose first token is `token`. False as soon
    as a sum cannot be trusted."""
    divisor = 1.0
    copy_row(chain.stop, work.beta[begin + T - 1])
    work.B[begin + T - 1, :] = 0
    for t in range(T - 1, -1, -1):
        r = begin + t
        divisor, safe = step_back(work, r, divisor, given.labels[token + t], given, given.weights[token + t])
        if not safe:
            return False
        if divisor < SMALL:
            divide_row(work.u[0], np.float64(divisor))
            divide_row(work.u[1], np.float64(divisor))
            divisor = 1.0
        if t > 0:
            multiply_two(work.u[0], work.u[1], chain.transposed, work.beta[r - 1], work.B[r - 1], chain.n_labels)
    return True


@tight_kernel
def step_again(work: AdjointBuffers, r: int, label: int) -> None:
    """A_t from A_{t−1} M in row r; B_t is overwritten by the gradient of emission_t."""
    alpha, x, beta, A, B = work.alpha[r], work.x[r], work.beta[r], work.A[r], work.B[r]
    number = x.dtype.type
    h, node, inverse = number(work.found[r, 1]), number(work.found[r, 2]), number(1) / number(work.c[r])
    drift = number(0)
    for j in range(x.shape[0]):
        A[j] = A[j] * x[j] * inverse + h * alpha[j]
    A[label] -= h / (beta[label] * node)
    for j in range(x.shape[0]):
        drift += A[j] * beta[j]
    drift *= node
    for j in range(x.shape[0]):
        A[j] -= drift * alpha[j]
        B[j] = (A[j] * beta[j] + alpha[j] * B[j]) * node


@tight_kernel
def walk_again(chain: Chain, labels: Ints, work: AdjointBuffers, tokens: tuple[int, int]) -> None:
    """A of two sentences, whose first tokens are `tokens`, in lock step while both last; B becomes the gradient."""
    A, lengths = work.A, work.lengths
    second = lengths[0]
    for t in range(lengths[0]):
        n = 2 if t < lengths[1] else 1
        if t == 0:
            A[0, :] = 0
            A[second * (n - 1), :] = 0
        else:
            other = second + t if n == 2 else t
            multiply_two(A[t - 1], A[other - 1], chain.matrix, A[t], A[other], chain.n_labels)
        for k in range(n):
            r = k * second + t
            if work.safe[k]:
                step_again(work, r, labels[tokens[k] + t])
            else:
                A[r, :] = 0


@tight_kernel
def marginal_adjoint(
    emission: Floats, offsets: Longs, chain: Chain, given: TokenTerms, work: AdjointBuffers, found: TermSums,
    out: Floats,
) -> None:  # fmt: skip
    """All sentences of a run, two at a time: emission [n, P] scores, offsets [N + 1].

    Returned: out [n, P], the gradient of the emission (it may be `emission` itself); found. A sentence that is not done
    leaves its rows of `out` alone and adds nothing to the edges.
    """
    N, lengths, safe = offsets.shape[0] - 1, work.lengths, work.safe
    for i in range(0, N, 2):
        pair = min(2, N - i)
        first = i if pair == 1 or offsets[i + 1] - offsets[i] >= offsets[i + 2] - offsets[i + 1] else i + 1
        second = first ^ 1 if pair == 2 else first
        lengths[1] = 0
        safe[:] = True
        for k in range(pair):
            s = second if k else first
            lengths[k] = offsets[s + 1] - offsets[s]
            rows = emission[offsets[s] : offsets[s + 1]]
            exponentiate(rows, chain.n_labels, work.x[k * lengths[0] :], work.bits, work.powers)
        walk_forward(work.x, lengths, chain.matrix, chain.start, chain.n_labels, work.alpha, work.c, safe)
        for k in range(pair):
            token = offsets[second if k else first]
            safe[k] = safe[k] and walk_back(chain, given, work, k * lengths[0], lengths[k], token)
        walk_again(chain, given.labels, work, (offsets[first], offsets[second]))
        for k in range(pair):
            s = second if k else first
            begin, end = k * lengths[0], k * lengths[0] + lengths[k]
            found.done[s] = safe[k]
            for r in range(begin, end if safe[k] else begin):
                copy_row(work.B[r], out[offsets[s] + r - begin])
                found.terms[offsets[s] + r - begin] = work.found[r, 0]
            for r in range(begin, begin + 1 if safe[k] else end):  # no edge leads to a first position
                work.v[r, :] = 0
                work.w[r, :] = 0
        add_outer_products(work.A, work.v, lengths[0] + lengths[1], chain.n_labels, found.edges)
        add_outer_products(work.alpha, work.w, lengths[0] + lengths[1], chain.n_labels, found.edges)


@dataclass(frozen=True, slots=True)
class MarginalGradient:
    """The terms of a loss of marginals, and its gradient."""

    terms: Doubles  # −log γ_t(y_t) [n]; inf where the label is impossible (it then adds nothing to the gradient)
    emission: Floats  # [n, P]
    transitions: Doubles  # [Y, Y]


def differentiate_marginals(
    emission: Floats, offsets: Longs, chain: Chain, given: TokenTerms, out: Floats | None = None
) -> MarginalGradient:
    """The gradient of a loss of marginals; `out` [n, P]: for that of the emission, which it may overwrite.

    Scaled numbers first; a sentence that they cannot hold is repeated in log space.
    """
    P, L, Y = emission.shape[1], int(np.diff(offsets).max()), chain.n_labels
    out = empty_rows(emission.shape, emission.dtype) if out is None else out
    found = TermSums(zero_rows((P, P), emission.dtype), np.empty(len(emission)), np.empty(len(offsets) - 1, np.bool_))
    work = AdjointBuffers.build(L, P, emission.dtype.type)
    marginal_adjoint(emission, offsets, chain, given, work, found, out)
    transitions = (found.edges[:Y, :Y] * chain.matrix[:Y, :Y]).astype(np.float64)
    for i in np.flatnonzero(~found.done):
        part = slice(offsets[i], offsets[i + 1])
        log_marginal_adjoint(emission[part], chain.scores, given.part(part), found.terms[part], transitions, out[part])
    return MarginalGradient(found.terms, out, transitions)
