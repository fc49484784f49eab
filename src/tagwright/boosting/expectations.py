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
    PairBuffers,
    add_outer_products,
    copy_row,
    log_of_sums,
    walk_backward,
    walk_forward,
)
from tagwright.chain.label_chain import TermWeights
from tagwright.chain.log_space import log_expectations


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


@tight_kernel
def exponentiate_token(t: int, Y: int, scores: TokenScores) -> None:
    """x_t = exp(emission_t − peak_t)."""
    peak = scores.emission[t, 0]
    for y in range(1, Y):
        peak = max(peak, scores.emission[t, y])
    for y in range(Y):
        scores.x[t, y] = np.exp(scores.emission[t, y] - peak)
    scores.peaks[t] = peak


@tight_kernel
def store_sentence(
    i: int, scores: TokenScores, offsets: Longs, labels: Ints, chain: Chain, log_z: float, gamma: Floats,
    edges: Floats, M: Floats, out: SentenceExpectations,
) -> None:  # fmt: skip
    """What was found for sentence i, minus the gold labels. gamma [T, P]; edges [P, P] without the factor M."""
    begin, end, Y = offsets[i], offsets[i + 1], chain.n_labels
    transition, first, last = chain.scores
    gold = first[labels[begin]] + last[labels[end - 1]] + scores.emission[begin, labels[begin]]  # F(x_i, y_i)
    for p in range(begin + 1, end):
        gold += transition[labels[p - 1], labels[p]] + scores.emission[p, labels[p]]
    out.losses[i] = max(log_z - gold, 0.0)
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
def pass_sentences(
    chosen: Longs, scores: TokenScores, offsets: Longs, labels: Ints, chain: Chain, work: PairBuffers, edges: Doubles,
    out: SentenceExpectations, done: Bools,
) -> None:  # fmt: skip
    """Two at a time. done [chosen]: false where scaled numbers would not do; nothing is stored there. edges [P, P]:
    work."""
    Y, M = chain.n_labels, chain.matrix
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
        walk_forward(work.x, work.lengths, M, chain.start, Y, work.alpha, work.c, work.safe)
        walk_backward(
            work.x, work.lengths, chain.transposed, chain.stop, Y, work.alpha, work.c, work.beta, work.gamma,
            work.divisors, work.safe,
        )  # fmt: skip
        for k in range(pair):
            m = n + (1 - k if swap else k)
            i, T, begin = chosen[m], work.lengths[k], k * work.lengths[0]
            end = begin + T
            done[m] = work.safe[k]
            if work.safe[k]:
                log_z = out.losses[i] + log_of_sums(work.alpha[end - 1], chain.stop, work.c[begin:end])
                log_z += chain.shift * (T - 1) + chain.edge_shift
                if out.chain_residuals.shape[0] > 0:
                    edges[:] = 0
                    add_outer_products(work.alpha[begin:end], work.x[begin:end], T, Y, edges)
                store_sentence(i, scores, offsets, labels, chain, log_z, work.gamma[begin:end], edges, M, out)


def expect_sentences(
    chosen: Longs, scores: TokenScores, offsets: Longs, labels: Ints, chain: Chain, work: PairBuffers,
    out: SentenceExpectations,
) -> None:  # fmt: skip
    """Pass the sentences `chosen`. Scaled numbers first; those that they cannot hold are repeated in log space."""
    done, edges = np.empty(len(chosen), np.bool_), np.empty(chain.matrix.shape)
    pass_sentences(chosen, scores, offsets, labels, chain, work, edges, out, done)
    Y, ones = chain.n_labels, np.ones_like(edges)
    for i in chosen[~done].tolist():
        rows = scores.emission[offsets[i] : offsets[i + 1]]
        gamma, everything = np.zeros_like(rows), Candidates.everything(len(rows), Y)
        edges[:] = 0
        log_z, _ = log_expectations(rows, everything, StepTable(1, Y, *chain.scores), TermWeights.ones(1), gamma, edges)
        store_sentence(i, scores, offsets, labels, chain, log_z, gamma, edges, ones, out)
