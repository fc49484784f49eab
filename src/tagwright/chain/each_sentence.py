"""Forward-backward of chosen sentences, each with its own node marginals and its own edge counts.

For learners that look at sentences one by one (boosting). A CRF adds the edges of many sentences up as it goes
(chain/forward_backward.py, whose recursions are used here); the rest is the same.

    residuals[p]          node marginals − gold label at token p
    chain_residuals[i]    expected − gold counts of sentence i: Y · Y pairs, then first and last labels where wanted
    losses[i]             −log p(y_i | x_i)

Such learners change few scores at a time and pass their sentences many times. Exponentials cost half of a pass, so
they are kept: TokenScores.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tagwright._jit import tight_kernel
from tagwright.arrays import Bools, Doubles, Floats, Ints, Longs
from tagwright.chain.forward_backward import (
    Chain,
    add_outer_products,
    copy_row,
    log_of_sums,
    walk_backward,
    walk_forward,
)
from tagwright.chain.log_space import log_forward_backward


@dataclass(frozen=True, slots=True)
class TokenScores:
    """Scores of all tokens, and x = exp(scores − peak), peak = the largest. Who changes scores says where."""

    emission: Doubles  # [n, P]
    x: Doubles  # [n, P]
    peaks: Doubles  # [n]
    n_labels: int

    @classmethod
    def build(cls, n: int, n_labels: int, width: int) -> TokenScores:
        return cls(np.zeros((n, width)), np.ones((n, width)), np.zeros(n), n_labels)

    def changed(self, positions: Ints | Longs) -> None:
        """These rows of `emission` are new."""
        exponentiate_at(positions, self.emission, self.n_labels, self.x, self.peaks)


@tight_kernel
def exponentiate_at(positions: Ints | Longs, emission: Doubles, Y: int, x: Doubles, peaks: Doubles) -> None:
    """x_t = exp(emission_t − peak_t) at some positions."""
    for n in range(positions.shape[0]):
        t = positions[n]
        peak = emission[t, 0]
        for y in range(1, Y):
            peak = max(peak, emission[t, y])
        for y in range(Y):
            x[t, y] = np.exp(emission[t, y] - peak)
        peaks[t] = peak


@tight_kernel
def copy_rows(begin: int, end: int, source: Doubles, peaks: Doubles, target: Doubles) -> float:
    """target = rows `begin` to `end` − 1; the sum of their peaks."""
    total = 0.0
    for t in range(begin, end):
        copy_row(source[t], target[t - begin])
        total += peaks[t]
    return total


@dataclass(frozen=True, slots=True)
class Work:
    """Work space for one call: two sentences of up to L tokens."""

    rows: Doubles  # [3, 2 L, P]
    c: Doubles
    beta: Doubles
    edges: Doubles
    lengths: Longs
    divisors: Doubles
    safe: Bools

    @classmethod
    def build(cls, longest: int, width: int) -> Work:
        return cls(
            np.empty((3, 2 * longest, width)), np.empty(2 * longest), np.empty((4, width)), np.empty((width, width)),
            np.empty(2, np.int64), np.empty(2), np.empty(2, np.bool_),
        )  # fmt: skip


@tight_kernel
def store_residuals(
    i: int, offsets: Longs, labels: Ints, gamma: Floats, edges: Floats, M: Floats, Y: int, residuals: Doubles,
    chain_residuals: Doubles,
) -> None:  # fmt: skip
    """What was found for sentence i, less the gold labels. gamma [T, P]; edges [P, P] without the factor M."""
    begin, end = offsets[i], offsets[i + 1]
    if chain_residuals.shape[0] == 0:  # not wanted
        for p in range(begin, end):
            copy_row(gamma[p - begin], residuals[p])
            residuals[p, labels[p]] -= 1
        return
    row = chain_residuals[i]
    for a in range(Y):
        for b in range(Y):
            row[a * Y + b] = edges[a, b] * M[a, b]
    for p in range(begin, end):
        copy_row(gamma[p - begin], residuals[p])
        residuals[p, labels[p]] -= 1
        if p > begin:
            row[labels[p - 1] * Y + labels[p]] -= 1
    if row.shape[0] > Y * Y:
        for y in range(Y):
            row[Y * Y + y] = residuals[begin, y]
            row[Y * Y + Y + y] = residuals[end - 1, y]


@tight_kernel
def gold_score(
    i: int, emission: Doubles, offsets: Longs, labels: Ints, transition: Doubles, start: Doubles, stop: Doubles
) -> float:
    """F(x_i, y_i)."""
    begin, end = offsets[i], offsets[i + 1]
    total = start[labels[begin]] + stop[labels[end - 1]] + emission[begin, labels[begin]]
    for p in range(begin + 1, end):
        total += transition[labels[p - 1], labels[p]] + emission[p, labels[p]]
    return float(total)


@tight_kernel
def pass_sentences(
    chosen: Longs, emission: Doubles, factors: Doubles, peaks: Doubles, offsets: Longs, labels: Ints, M: Floats,
    MT: Floats, start: Floats, stop: Floats, Y: int, shift: float, edge_shift: float,
    transition: Doubles, first: Doubles, final: Doubles,
    x: Doubles, alpha: Doubles, gamma: Doubles, c: Doubles, beta: Doubles, edges: Doubles, lengths: Longs,
    divisors: Doubles, safe: Bools,
    residuals: Doubles, chain_residuals: Doubles, losses: Doubles, done: Bools,
) -> None:  # fmt: skip
    """Two at a time. done [chosen]: false where scaled numbers would not do; nothing is stored there."""
    for n in range(0, chosen.shape[0], 2):
        pair = min(2, chosen.shape[0] - n)
        swap = pair == 2 and offsets[chosen[n] + 1] - offsets[chosen[n]] < (
            offsets[chosen[n + 1] + 1] - offsets[chosen[n + 1]]
        )
        lengths[1] = 0
        safe[:] = True
        for k in range(pair):
            i = chosen[n + (1 - k if swap else k)]
            lengths[k] = offsets[i + 1] - offsets[i]
            losses[i] = copy_rows(offsets[i], offsets[i + 1], factors, peaks, x[k * lengths[0] :])
        walk_forward(x, lengths, M, start, Y, alpha, c, safe)
        walk_backward(x, lengths, MT, stop, Y, alpha, c, beta, gamma, divisors, safe)
        for k in range(pair):
            place = n + (1 - k if swap else k)
            i = chosen[place]
            begin, end = k * lengths[0], k * lengths[0] + lengths[k]
            done[place] = safe[k]
            if safe[k]:
                log_z = losses[i] + log_of_sums(alpha[end - 1], stop, c[begin:end])
                log_z += shift * (lengths[k] - 1) + edge_shift
                losses[i] = max(log_z - gold_score(i, emission, offsets, labels, transition, first, final), 0.0)
                if chain_residuals.shape[0] > 0:
                    edges[:] = 0
                    add_outer_products(alpha[begin:end], x[begin:end], lengths[k], Y, edges)
                store_residuals(i, offsets, labels, gamma[begin:end], edges, M, Y, residuals, chain_residuals)


def expect_each(
    chosen: Longs, scores: TokenScores, offsets: Longs, labels: Ints, chain: Chain, work: Work, residuals: Doubles,
    chain_residuals: Doubles, losses: Doubles,
) -> None:  # fmt: skip
    """Pass the sentences `chosen`. Scaled numbers first; those that they cannot hold are repeated in log space.

    Without the residuals of the chain where that array is empty.
    """
    Y = chain.n_labels
    done = np.empty(len(chosen), np.bool_)
    pass_sentences(
        chosen, scores.emission, scores.x, scores.peaks, offsets, labels,
        chain.matrix, chain.transposed, chain.start, chain.stop, Y, chain.shift, chain.edge_shift, *chain.scores,
        work.rows[0], work.rows[1], work.rows[2], work.c, work.beta, work.edges, work.lengths, work.divisors, work.safe,
        residuals, chain_residuals, losses, done,
    )  # fmt: skip
    ones = np.ones_like(chain.matrix)
    for i in chosen[~done].tolist():
        rows = scores.emission[offsets[i] : offsets[i + 1]]
        gamma, counts = np.zeros_like(rows), np.zeros(chain.matrix.shape)
        log_z = log_forward_backward(rows, *chain.scores, gamma, counts[:Y, :Y])
        losses[i] = max(log_z - gold_score(i, scores.emission, offsets, labels, *chain.scores), 0.0)
        store_residuals(i, offsets, labels, gamma, counts, ones, Y, residuals, chain_residuals)
