"""The online perceptron over label sequences, averaged.

HM-Perceptron (LM-POS algorithm 1; Collins 2002). For each sentence, in a random order:

    ŷ = argmax_y F(x, y; w) + margin · (wrong labels in y);   if ŷ ≠ y:   w += Φ(x, y) − Φ(x, ŷ)

The result is the average of w over all sentences of all epochs. Lazy averaging: an update δ at step c also adds c·δ to
a second vector u, the lazy sums; after C steps the average is w − u / C. So a sentence costs only what it changes.

Weights are read by rows where an attribute has many labels (scores/wide_rows.py). Viterbi prunes as in
chain/viterbi.py; the pruning bounds are computed once a portion of sentences, and raised where a change of transitions
asks for it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tagwright._jit import natural, tight_kernel
from tagwright.arrays import Doubles, Floats, Ints, Longs, empty_rows, padded, zero_rows
from tagwright.chain.viterbi import MARGIN, PrunedSteps, best_path
from tagwright.scores.wide_rows import PREFETCH_DISTANCE, TokenData, add_token_scores, prefetch_token

ROUNDING = np.float32(MARGIN)


class ChainSums(NamedTuple):
    """u, the lazy sums, of the chain: every update times the step in which it was made."""

    transition: Doubles  # [Y, Y]
    start: Doubles  # [Y]
    stop: Doubles  # [Y]

    @classmethod
    def build(cls, n_labels: int) -> ChainSums:
        return cls(np.zeros((n_labels, n_labels)), np.zeros(n_labels), np.zeros(n_labels))


class DecodingWork(NamedTuple):
    """Memory for decoding a sentence of at most L tokens."""

    emission: Floats  # [L, P]
    delta: Floats  # [L, P]
    survivors: Longs  # [Y]
    path: Ints  # [L]

    @classmethod
    def build(cls, offsets: Longs, n_labels: int, dtype: type[np.floating[Any]]) -> DecodingWork:
        L = int(np.diff(offsets).max())
        emission, delta = empty_rows((2, L, padded(n_labels)), dtype)
        emission[:] = 0
        return cls(emission, delta, np.empty(n_labels, np.int64), np.empty(L, np.int32))


class PerceptronState(NamedTuple):
    """w and u: of the attributes, laid out by a WidePattern, and of the chain."""

    weights: Floats  # [W, and what vectors read beyond]
    sums: Doubles  # [W]
    chain: PrunedSteps
    chain_sums: ChainSums


# ---- the chain ----


@tight_kernel
def fill_bounds(chain: PrunedSteps) -> None:
    """bounds[b, i] = max_j transition[i, j] − transition[b, j], and a margin for rounding (chain/viterbi.py)."""
    bounds = chain.bounds
    Y = bounds.shape[0]
    for b in range(Y):
        bounds[b] = -np.inf
        for j in range(Y):
            for i in range(Y):
                gain = chain.incoming[j, i] - chain.transition[b, j] + ROUNDING
                bounds[b, i] = gain if gain > bounds[b, i] else bounds[b, i]


@tight_kernel
def raise_bounds(chain: PrunedSteps, i: int, j: int) -> None:
    """After a change of transition[i, j]: bounds that are too low now are raised; those that are too high prune less,
    and do no harm."""
    transition, bounds = chain.transition, chain.bounds
    for k in range(bounds.shape[0]):
        gain = transition[i, j] - transition[k, j] + ROUNDING
        bounds[k, i] = gain if gain > bounds[k, i] else bounds[k, i]
        gain = chain.incoming[j, k] - transition[i, j] + ROUNDING
        bounds[i, k] = gain if gain > bounds[i, k] else bounds[i, k]


@tight_kernel
def update_chain(
    gold: Ints, path: Ints, now: float, boundaries: bool, chain: PrunedSteps, sums: ChainSums
) -> None:  # fmt: skip
    """w += Φ(x, y) − Φ(x, ŷ) at step `now`, for transitions and (with boundaries) first and last label.

    gold [T] is y, path [≥ T] is ŷ.
    """
    T = gold.shape[0]
    for sign in (1, -1):
        for t in range(1, T):
            if gold[t - 1] == path[t - 1] and gold[t] == path[t]:
                continue
            i = gold[t - 1] if sign > 0 else path[t - 1]
            j = gold[t] if sign > 0 else path[t]
            chain.transition[i, j] += sign
            chain.incoming[j, i] += sign
            raise_bounds(chain, i, j)
            sums.transition[i, j] += sign * now
        if boundaries:
            first = gold[0] if sign > 0 else path[0]
            last = gold[T - 1] if sign > 0 else path[T - 1]
            chain.start[first] += sign
            sums.start[first] += sign * now
            chain.stop[last] += sign
            sums.stop[last] += sign * now


# ---- tokens ----
# What is natural below: weights come from a Pattern, by way of TokenWeights; the learner refuses sentences with unknown
# labels, and decoding finds labels from 0 to Y − 1.


@tight_kernel
def score_tokens(begin: int, end: int, data: TokenData, weights: Floats, margin: float, emission: Floats) -> None:
    """Emission rows of one sentence from its tokens' weights; the gold labels are handicapped by the margin."""
    for p in range(begin, end):
        if p + PREFETCH_DISTANCE < end:
            prefetch_token(p + PREFETCH_DISTANCE, data, weights)
        row = emission[p - begin]
        row[:] = 0
        row[data.gold[p]] = -margin
        add_token_scores(p, data, weights, row)


@tight_kernel
def update_token(p: int, label: int, sign: int, now: float, data: TokenData, state: PerceptronState) -> None:
    """w += sign for the label, on every attribute of token p, at step `now`."""
    tokens, labels, in_pattern = data.tokens, data.pattern.labels, data.pattern.in_pattern
    weighted, partial = tokens.values.shape[0] > 0, in_pattern.shape[0] > 0
    for r in range(tokens.pointers[p], tokens.pointers[p + 1]):
        w, end = tokens.firsts[r] + label, tokens.firsts[r] + label + 1
        if r >= tokens.lists[p]:
            w, end = tokens.firsts[r], tokens.firsts[r] + tokens.sizes[r]
            while w < end and labels[natural(w)] != label:
                w += 1
        if w < end and (not partial or in_pattern[natural(w)]):
            size = sign * (tokens.values[r] if weighted else 1.0)
            state.weights[natural(w)] += size
            state.sums[natural(w)] += now * size


@tight_kernel
def perceptron_pass(
    order: Longs, data: TokenData, state: PerceptronState, work: DecodingWork, clock: int, boundaries: bool,
    margin: float,
) -> int:  # fmt: skip
    """The sentences `order`, one after the other, from step `clock` on; returns the number of wrong tokens."""
    gold, path = data.gold, work.path
    wrong = 0
    fill_bounds(state.chain)
    for n in range(order.shape[0]):
        begin, end = data.offsets[order[n]], data.offsets[order[n] + 1]
        score_tokens(begin, end, data, state.weights, margin, work.emission)
        best_path(work.emission, end - begin, state.chain, work.delta, work.survivors, path)
        now = float(clock + n)
        mistakes = 0
        for p in range(begin, end):
            if path[p - begin] != gold[p]:
                mistakes += 1
                for sign in (1, -1):  # not two calls: both would be compiled
                    update_token(p, gold[p] if sign > 0 else path[p - begin], sign, now, data, state)
        if mistakes > 0:
            wrong += mistakes
            update_chain(gold[begin:end], path, now, boundaries, state.chain, state.chain_sums)
    return wrong


PIECE = 1 << 16
"""Weights averaged at once."""


class AveragedPerceptron:
    """One training: the weights, the lazy sums and the number of steps."""

    def __init__(self, data: TokenData, *, boundaries: bool, margin: float) -> None:
        Y = data.pattern.n_labels
        self.data, self.boundaries, self.margin = data, boundaries, margin
        weights = zero_rows((data.pattern.vector_size,), np.float32)
        sums = zero_rows((data.pattern.n_weights,), np.float64)
        self.state = PerceptronState(weights, sums, PrunedSteps.zeros(Y, np.float32), ChainSums.build(Y))
        self.clock = 1
        self._work = DecodingWork.build(data.offsets, Y, np.float32)

    def begin_from(self, vector: Doubles) -> None:
        """Take over weights, laid out as `add_average` gives them."""
        chain = self.state.chain
        n = len(vector) - len(chain.weights())
        self.state.weights[self.data.pattern.locate(slice(n))] = vector[:n]
        chain.set_weights(vector[n:])
        if not self.boundaries:
            chain.start[: len(chain.incoming)], chain.stop[: len(chain.incoming)] = 0, 0

    def learn(self, order: Longs) -> int:
        """Go through some sentences; returns the number of wrong tokens."""
        wrong = perceptron_pass(
            order, self.data, self.state, self._work, self.clock, self.boundaries, self.margin
        )  # fmt: skip
        self.clock += len(order)
        return int(wrong)

    def add_average(self, out: Doubles, share: float) -> None:
        """out += share · [attribute weights | transition | start | stop], averaged over all steps so far."""
        state, chain = self.state, self.state.chain.weights()
        n = len(out) - len(chain)
        for first in range(0, n, PIECE):  # no copy of all weights
            part = slice(first, min(first + PIECE, n))
            here = self.data.pattern.locate(part)
            out[part] += share * (state.weights[here] - state.sums[here] / self.clock)
        chain_sums = np.concatenate([sums.ravel() for sums in state.chain_sums])
        out[n:] += share * (chain - chain_sums / self.clock)
