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

α and A of two sentences of like length walk in lock step; β and B of one do.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tagwright._jit import tight_kernel
from tagwright.arrays import Bools, Doubles, Floats, Ints, Longs, empty_rows, zero_rows
from tagwright.chain.forward_backward import (
    FLOOR,
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
from tagwright.chain.log_marginal_adjoint import log_marginal_adjoint
from tagwright.chain.tilt import tilt

RAREST = 1e-12
"""A gold label below this probability: its term h/γ would drown all others in float32."""


@tight_kernel
def step_back(
    alpha: Floats, x: Floats, beta: Floats, B: Floats, c: float, divisor: float, label: int, weight: float, rate: float,
    reference: float, v: Floats, w: Floats, u: Floats, found: Doubles,
) -> tuple[float, bool]:  # fmt: skip
    """From β_t and B_t: v_t, w_t, and u = (x_t ∘ β_t, x_t ∘ (B_t + β_t ∘ q_t)) / Σ u_{t+1}.

    found [3]: the term −log γ_t(y_t), h_t, 1/g_t. Returns Σ u_t and whether all sums can be trusted.
    """
    number = x.dtype.type
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
    found[1] = tilt(weight, rate, found[0] - reference)
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
def walk_back(
    x: Floats, MT: Floats, stop: Floats, Y: int, alpha: Floats, c: Doubles, labels: Ints, weights: Doubles,
    rate: float, reference: float, beta: Floats, B: Floats, v: Floats, w: Floats, u: Floats, found: Doubles,
) -> bool:  # fmt: skip
    """β, B, v, w and `found` (see step_back) of one sentence. False as soon as a sum cannot be trusted."""
    T = labels.shape[0]
    divisor = 1.0
    copy_row(stop, beta[T - 1])
    B[T - 1, :] = 0
    for t in range(T - 1, -1, -1):
        divisor, safe = step_back(
            alpha[t], x[t], beta[t], B[t], c[t], divisor, labels[t], weights[t], rate, reference,
            v[t], w[t], u, found[t],
        )  # fmt: skip
        if not safe:
            return False
        if divisor < SMALL:
            divide_row(u[0], divisor)
            divide_row(u[1], divisor)
            divisor = 1.0
        if t > 0:
            multiply_two(u[0], u[1], MT, beta[t - 1], B[t - 1], Y)
    return True


@tight_kernel
def step_again(
    alpha: Floats, x: Floats, beta: Floats, B: Floats, c: float, label: int, found: Doubles, A: Floats, out: Floats
) -> None:
    """A_t from A_{t−1} M, and out = the gradient of emission_t."""
    number = x.dtype.type
    h, node, inverse = number(found[1]), number(found[2]), number(1) / number(c)
    drift = number(0)
    for j in range(x.shape[0]):
        A[j] = A[j] * x[j] * inverse + h * alpha[j]
    A[label] -= h / (beta[label] * node)
    for j in range(x.shape[0]):
        drift += A[j] * beta[j]
    drift *= node
    for j in range(x.shape[0]):
        A[j] -= drift * alpha[j]
        out[j] = (A[j] * beta[j] + alpha[j] * B[j]) * node


@tight_kernel
def walk_again(
    x: Floats, lengths: Longs, M: Floats, Y: int, alpha: Floats, c: Doubles, labels: Ints, found: Doubles, beta: Floats,
    B: Floats, A: Floats, safe: Bools,
) -> None:  # fmt: skip
    """A of two sentences, in lock step while both last; B is overwritten by the gradient of the emission."""
    second = lengths[0]
    for t in range(lengths[0]):
        n = 2 if t < lengths[1] else 1
        if t == 0:
            A[0, :] = 0
            A[second * (n - 1), :] = 0
        else:
            other = second + t if n == 2 else t
            multiply_two(A[t - 1], A[other - 1], M, A[t], A[other], Y)
        for k in range(n):
            r = k * second + t
            if safe[k]:
                step_again(alpha[r], x[r], beta[r], B[r], c[r], labels[r], found[r], A[r], B[r])
            else:
                A[r, :] = 0


@tight_kernel
def marginal_adjoint(
    emission: Floats, offsets: Longs, labels: Ints, weights: Doubles, rate: float, reference: float,
    M: Floats, MT: Floats, start: Floats, stop: Floats, Y: int,
    x: Floats, alpha: Floats, beta: Floats, A: Floats, B: Floats, v: Floats, w: Floats, c: Doubles, found: Doubles,
    gold: Ints, u: Floats, bits: Ints, powers: Floats, lengths: Longs, safe: Bools,
    edges: Floats, terms: Doubles, done: Bools,
) -> None:  # fmt: skip
    """All sentences of a run, two at a time.

    Given: emission [n, P] scores; offsets [N + 1]; labels, weights [n]; tilt; a Chain's arrays.
    Work space: x to w [2 L, P], c and gold [2 L], found [2 L, 3] with L the longest length (a pair's rows lie end to
    end); u [2, P]; bits, powers [P]; lengths, safe [2].
    Returned: emission is overwritten by its gradient; edges [P, P] += that of the transitions, before multiplying by M;
    terms [n] = −log γ_t(y_t); done [N], false where scaled numbers would not do: such a sentence keeps its emission and
    adds nothing to edges.
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
            exponentiate(emission[offsets[s] : offsets[s + 1]], Y, x[k * lengths[0] :], bits, powers)
        walk_forward(x, lengths, M, start, Y, alpha, c, safe)
        for k in range(pair):
            s = first ^ k if pair == 2 else i
            begin, end = k * lengths[0], k * lengths[0] + lengths[k]
            for r in range(begin, end):
                gold[r] = labels[offsets[s] + r - begin]
            safe[k] = safe[k] and walk_back(
                x[begin:end], MT, stop, Y, alpha[begin:end], c[begin:end], gold[begin:end],
                weights[offsets[s] : offsets[s + 1]], rate, reference,
                beta[begin:end], B[begin:end], v[begin:end], w[begin:end], u, found[begin:end],
            )  # fmt: skip
        walk_again(x, lengths, M, Y, alpha, c, gold, found, beta, B, A, safe)
        for k in range(pair):
            s = first ^ k if pair == 2 else i
            begin, end = k * lengths[0], k * lengths[0] + lengths[k]
            done[s] = safe[k]
            for r in range(begin, end if safe[k] else begin):
                copy_row(B[r], emission[offsets[s] + r - begin])
                terms[offsets[s] + r - begin] = found[r, 0]
            for r in range(begin, begin + 1 if safe[k] else end):  # no edge leads to a first position
                v[r, :] = 0
                w[r, :] = 0
        add_outer_products(A, v, lengths[0] + lengths[1], Y, edges)
        add_outer_products(alpha, w, lengths[0] + lengths[1], Y, edges)


@dataclass(frozen=True, slots=True)
class MarginalGradient:
    """Terms −log γ_t(y_t) [n]; the loss's gradient with respect to the transitions [Y, Y]."""

    terms: Doubles
    transitions: Doubles


def differentiate_marginals(
    emission: Floats,
    offsets: Longs,
    labels: Ints,
    chain: Chain,
    *,
    weights: Doubles,
    rate: float = 0.0,
    reference: float = 0.0,
) -> MarginalGradient:
    """The gradient of a loss of marginals; emission [n, P] is overwritten by its part.

    The loss is given by h_t = weights[t] · exp(rate · (−log γ_t(y_t) − reference)). Scaled numbers first; a sentence
    that they cannot hold is repeated in log space. A term is inf where its label is impossible (it then adds nothing
    to the gradient).
    """
    P, L, Y = emission.shape[1], int(np.diff(offsets).max()), chain.n_labels
    work = empty_rows((7, 2 * L, P), emission.dtype)
    bits = np.empty(P if emission.dtype == np.float32 else 0, np.int32)
    edges = zero_rows((P, P), emission.dtype)
    terms, done = np.empty(len(emission)), np.empty(len(offsets) - 1, np.bool_)
    marginal_adjoint(
        emission, offsets, labels, weights, rate, reference, chain.matrix, chain.transposed, chain.start, chain.stop, Y,
        work[0], work[1], work[2], work[3], work[4], work[5], work[6], np.empty(2 * L), np.empty((2 * L, 3)),
        np.empty(2 * L, np.int32), empty_rows((2, P), emission.dtype),
        bits, bits.view(np.float32), np.empty(2, np.int64), np.empty(2, np.bool_), edges, terms, done,
    )  # fmt: skip
    transitions = (edges[:Y, :Y] * chain.matrix[:Y, :Y]).astype(np.float64)
    for i in np.flatnonzero(~done):
        rows = slice(offsets[i], offsets[i + 1])
        log_marginal_adjoint(
            emission[rows], *chain.scores, labels[rows], weights[rows], rate, reference, terms[rows], transitions
        )
    return MarginalGradient(terms, transitions)
