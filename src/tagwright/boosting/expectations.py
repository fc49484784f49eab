"""Forward-backward of chosen sentences, each with its own node marginals and its own edge counts.

A CRF adds up the edges of many sentences as it goes; boosting weighs each sentence anew in every round, so it keeps
them apart. The recursions are those of chain/forward_backward.py. Boosting changes few scores at a time and passes its
sentences many times; exponentials would be half of a pass, so they are kept (TokenScores).
"""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np

from tagwright._jit import tight_kernel
from tagwright.arrays import Bools, Doubles, Floats, Ints, Longs
from tagwright.chain.candidates import Candidates, StepTable
from tagwright.chain.forward_backward import (
    Chain,
    add_outer_products,
    copy_row,
    log_of_sums,
    walk_backward,
    walk_forward,
)
from tagwright.chain.log_space import log_expectations
from tagwright.chain.term_weight import TermWeights


class TokenScores(NamedTuple):
    """Scores of all tokens, and x = exp(emission − peak), peak being the largest. Rows are padded to P columns."""

    emission: Doubles  # [n, P]
    x: Doubles  # [n, P]
    peaks: Doubles  # [n]

    @classmethod
    def build(cls, n: int, width: int) -> Self:
        return cls(np.zeros((n, width)), np.ones((n, width)), np.zeros(n))


class SentenceExpectations(NamedTuple):
    """What forward-backward gives for each sentence. The chain's part may be empty [0, 0]: not wanted."""

    residuals: Doubles  # [n, P] node marginals − gold label, by token
    chain_residuals: (
        Doubles  # [N, C] expected − gold counts: Y · Y label pairs, then first and last labels if C > Y · Y
    )
    losses: Doubles  # [N] −log p(y_i | x_i)


class ChainArrays(NamedTuple):
    """The chain for the kernels; M to stop are exponentials of the scores, all but a shift."""

    M: Floats  # [P, P]
    MT: Floats  # [P, P]
    start: Floats  # [P]
    stop: Floats  # [P]
    shift: float
    edge_shift: float
    transition: Doubles  # [Y, Y] scores, as the next two
    first: Doubles  # [Y]
    last: Doubles  # [Y]

    @classmethod
    def build(cls, transition: Doubles, start: Doubles, stop: Doubles) -> Self:
        c = Chain.build(transition, start, stop, np.float64)
        return cls(c.matrix, c.transposed, c.start, c.stop, c.shift, c.edge_shift, *c.scores)


class Workspace(NamedTuple):
    """Arrays for one call: two sentences of up to T tokens each."""

    x: Doubles  # [2 T, P]
    alpha: Doubles  # [2 T, P]
    gamma: Doubles  # [2 T, P]
    c: Doubles  # [2 T]
    beta: Doubles  # [4, P]
    edges: Doubles  # [P, P]
    lengths: Longs  # [2]
    divisors: Doubles  # [2]
    safe: Bools  # [2]

    @classmethod
    def build(cls, longest: int, width: int) -> Self:
        x, alpha, gamma = np.empty((3, 2 * longest, width))
        return cls(
            x, alpha, gamma, np.empty(2 * longest), np.empty((4, width)), np.empty((width, width)),
            np.empty(2, np.int64), np.empty(2), np.empty(2, np.bool_),
        )  # fmt: skip


@tight_kernel
def exponentiate_at(positions: Ints | Longs, Y: int, scores: TokenScores) -> None:
    """x_t = exp(emission_t − peak_t) at some positions."""
    for n in range(positions.shape[0]):
        t = positions[n]
        peak = scores.emission[t, 0]
        for y in range(1, Y):
            peak = max(peak, scores.emission[t, y])
        for y in range(Y):
            scores.x[t, y] = np.exp(scores.emission[t, y] - peak)
        scores.peaks[t] = peak


@tight_kernel
def store_residuals(
    i: int, offsets: Longs, labels: Ints, gamma: Floats, edges: Floats, M: Floats, Y: int, out: SentenceExpectations
) -> None:
    """What was found for sentence i, minus the gold labels. gamma [T, P]; edges [P, P] without the factor M."""
    begin, end = offsets[i], offsets[i + 1]
    for p in range(begin, end):
        copy_row(gamma[p - begin], out.residuals[p])
        out.residuals[p, labels[p]] -= 1
    if out.chain_residuals.shape[0] == 0:
        return
    row = out.chain_residuals[i]
    for a in range(Y):
        for b in range(Y):
            row[a * Y + b] = edges[a, b] * M[a, b]
    for p in range(begin + 1, end):
        row[labels[p - 1] * Y + labels[p]] -= 1
    if row.shape[0] > Y * Y:
        for y in range(Y):
            row[Y * Y + y] = out.residuals[begin, y]
            row[Y * Y + Y + y] = out.residuals[end - 1, y]


@tight_kernel
def gold_score(i: int, emission: Doubles, offsets: Longs, labels: Ints, chain: ChainArrays) -> float:
    """F(x_i, y_i)."""
    begin, end = offsets[i], offsets[i + 1]
    total = chain.first[labels[begin]] + chain.last[labels[end - 1]] + emission[begin, labels[begin]]
    for p in range(begin + 1, end):
        total += chain.transition[labels[p - 1], labels[p]] + emission[p, labels[p]]
    return float(total)


@tight_kernel
def pass_sentences(
    chosen: Longs, scores: TokenScores, offsets: Longs, labels: Ints, chain: ChainArrays, work: Workspace,
    out: SentenceExpectations, done: Bools,
) -> None:  # fmt: skip
    """Two at a time. done [chosen]: false where scaled numbers would not do; nothing is stored there."""
    Y = chain.first.shape[0]
    for n in range(0, chosen.shape[0], 2):
        pair = min(2, chosen.shape[0] - n)
        swap = pair == 2 and offsets[chosen[n] + 1] - offsets[chosen[n]] < (
            offsets[chosen[n + 1] + 1] - offsets[chosen[n + 1]]
        )
        work.lengths[1] = 0
        work.safe[:] = True
        for k in range(pair):
            i = chosen[n + (1 - k if swap else k)]
            work.lengths[k] = offsets[i + 1] - offsets[i]
            peaks = 0.0
            for t in range(work.lengths[k]):
                copy_row(scores.x[offsets[i] + t], work.x[k * work.lengths[0] + t])
                peaks += scores.peaks[offsets[i] + t]
            out.losses[i] = peaks
        walk_forward(work.x, work.lengths, chain.M, chain.start, Y, work.alpha, work.c, work.safe)
        walk_backward(
            work.x, work.lengths, chain.MT, chain.stop, Y, work.alpha, work.c, work.beta, work.gamma, work.divisors,
            work.safe,
        )  # fmt: skip
        for k in range(pair):
            m = n + (1 - k if swap else k)
            i = chosen[m]
            T, begin = work.lengths[k], k * work.lengths[0]
            end = begin + T
            done[m] = work.safe[k]
            if work.safe[k]:
                log_z = out.losses[i] + log_of_sums(work.alpha[end - 1], chain.stop, work.c[begin:end])
                log_z += chain.shift * (T - 1) + chain.edge_shift
                out.losses[i] = max(log_z - gold_score(i, scores.emission, offsets, labels, chain), 0.0)
                if out.chain_residuals.shape[0] > 0:
                    work.edges[:] = 0
                    add_outer_products(work.alpha[begin:end], work.x[begin:end], T, Y, work.edges)
                store_residuals(i, offsets, labels, work.gamma[begin:end], work.edges, chain.M, Y, out)


def expect_sentences(
    chosen: Longs, scores: TokenScores, offsets: Longs, labels: Ints, chain: ChainArrays, work: Workspace,
    out: SentenceExpectations,
) -> None:  # fmt: skip
    """Pass the sentences `chosen`. Scaled numbers first; those that they cannot hold are repeated in log space."""
    done = np.empty(len(chosen), np.bool_)
    pass_sentences(chosen, scores, offsets, labels, chain, work, out, done)
    Y, ones = len(chain.first), np.ones_like(chain.M)
    for i in chosen[~done].tolist():
        rows = scores.emission[offsets[i] : offsets[i + 1]]
        gamma, counts = np.zeros_like(rows), np.zeros(chain.M.shape)
        everything, steps = (
            Candidates.everything(len(rows), Y),
            StepTable(1, Y, chain.transition, chain.first, chain.last),
        )
        log_z, _ = log_expectations(rows, everything, steps, TermWeights.ones(1), gamma, counts)
        out.losses[i] = max(log_z - gold_score(i, scores.emission, offsets, labels, chain), 0.0)
        store_residuals(i, offsets, labels, gamma, counts, ones, Y, out)
