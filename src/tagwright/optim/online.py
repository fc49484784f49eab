"""The online perceptron over label sequences, averaged.

HM-Perceptron (LM-POS algorithm 1; Collins 2002). For each sentence, in a random order:

    ŷ = argmax_y F(x, y; w) + margin · (wrong labels in y);   if ŷ ≠ y:   w += Φ(x, y) − Φ(x, ŷ)

The result is the average of w over all sentences of all epochs. Lazy averaging: an update δ at step c also adds c·δ to
a second vector u, the lazy sums; after C steps the average is w − u / C. So a sentence costs only what it changes.

Attributes get weights when they are first changed (scores/growing_weights.py). Viterbi prunes as in
chain/viterbi.py; the pruning bounds are computed once a portion of sentences, and raised where a change of transitions
asks for it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tagwright._jit import tight_kernel
from tagwright.arrays import Doubles, Floats, Ints, Longs, empty_rows, padded
from tagwright.chain.viterbi import MARGIN, PrunedSteps, best_path
from tagwright.scores.expanded import LabelledTokens, most_attributes
from tagwright.scores.growing_weights import (
    PREFETCH_DISTANCE,
    GrowingWeights,
    LearnedWeights,
    add_token_scores,
    change_token,
    has_room,
    prefetch_token,
)

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
    rows: Longs  # [K], for tokens with at most K attributes

    @classmethod
    def build(cls, offsets: Longs, n_labels: int, dtype: type[np.floating[Any]], n_attributes: int = 0) -> DecodingWork:
        L = int(np.diff(offsets).max())
        emission, delta = empty_rows((2, L, padded(n_labels)), dtype)
        emission[:] = 0
        return cls(
            emission, delta, np.empty(n_labels, np.int64), np.empty(L, np.int32), np.empty(n_attributes, np.int64)
        )  # fmt: skip


class PerceptronState(NamedTuple):
    """w and u: of the attributes and of the chain."""

    weights: GrowingWeights
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


# ---- sentences ----


@tight_kernel
def score_sentence(
    begin: int, end: int, data: LabelledTokens, weights: GrowingWeights, margin: float, work: DecodingWork
) -> None:
    """Emission rows of one sentence from its tokens' attributes; the gold labels are handicapped by the margin."""
    for p in range(begin, end):
        if p + PREFETCH_DISTANCE < end:
            prefetch_token(data.tokens, p + PREFETCH_DISTANCE, weights)
        row = work.emission[p - begin]
        row[:] = 0
        row[data.gold[p]] = -margin
        add_token_scores(data.tokens, p, weights, work.rows, row)


@tight_kernel
def perceptron_pass(
    order: Longs, data: LabelledTokens, state: PerceptronState, work: DecodingWork, clock: int, boundaries: bool,
    margin: float,
) -> tuple[int, int]:  # fmt: skip
    """The sentences `order`, one after the other, from step `clock` on, as far as there is room for new weights;
    returns how many were done and the number of wrong tokens."""
    gold, path, pointers = data.gold, work.path, data.tokens.pointers
    wrong = 0
    fill_bounds(state.chain)
    for n in range(order.shape[0]):
        begin, end = data.offsets[order[n]], data.offsets[order[n] + 1]
        if not has_room(state.weights, pointers[end] - pointers[begin]):
            return n, wrong
        score_sentence(begin, end, data, state.weights, margin, work)
        best_path(work.emission, end - begin, state.chain, work.delta, work.survivors, path)
        now = float(clock + n)
        mistakes = 0
        for p in range(begin, end):
            if path[p - begin] != gold[p]:
                mistakes += 1
                for sign in (1, -1):  # not two calls: both would be compiled
                    y = gold[p] if sign > 0 else path[p - begin]
                    change_token(data.tokens, p, y, float(sign), now, state.weights)
        if mistakes > 0:
            wrong += mistakes
            update_chain(gold[begin:end], path, now, boundaries, state.chain, state.chain_sums)
    return int(order.shape[0]), wrong


class AveragedPerceptron:
    """One training: the weights, the lazy sums and the number of steps."""

    def __init__(self, data: LabelledTokens, weights: GrowingWeights, *, boundaries: bool, margin: float) -> None:
        Y = weights.n_labels
        self.data, self.boundaries, self.margin = data, boundaries, margin
        self.state = PerceptronState(weights, PrunedSteps.zeros(Y, np.float32), ChainSums.build(Y))
        self.clock = 1
        self._work = DecodingWork.build(data.offsets, Y, np.float32, most_attributes(data.tokens))

    def begin_from(self, chain: Doubles) -> None:
        """Take over the chain's weights [transition | start | stop]."""
        steps = self.state.chain
        steps.set_weights(chain)
        if not self.boundaries:
            steps.start[: len(steps.incoming)], steps.stop[: len(steps.incoming)] = 0, 0

    def learn(self, order: Longs) -> int:
        """Go through some sentences; returns the number of wrong tokens."""
        total, data = 0, self.data
        while len(order):
            done, wrong = perceptron_pass(
                order, data, self.state, self._work, self.clock, self.boundaries, self.margin
            )  # fmt: skip
            self.clock += done
            total += wrong
            order = order[done:]
            if len(order):
                n = np.diff(data.tokens.pointers[data.offsets[order[0] : order[0] + 2]])[0]
                self.state = self.state._replace(weights=self.state.weights.with_room(int(n)))
        return total

    def add_average(self, total: PerceptronWeights, share: float) -> PerceptronWeights:
        """The total and share · the weights, averaged over all steps so far."""
        sums = np.concatenate([own.ravel() for own in self.state.chain_sums])
        chain = self.state.chain.weights() - sums / self.clock
        attributes = total.attributes.plus(self.state.weights, share, self.clock)
        return PerceptronWeights(attributes, total.chain + share * chain)


class PerceptronWeights(NamedTuple):
    """What is learned."""

    attributes: LearnedWeights
    chain: Doubles  # [Y·Y + 2 Y]: transition, start, stop

    @classmethod
    def none(cls, n_attributes: int, n_labels: int) -> PerceptronWeights:
        return cls(LearnedWeights.none(n_attributes), np.zeros(n_labels * n_labels + 2 * n_labels))

    def copy(self) -> PerceptronWeights:
        return self  # nobody changes it
