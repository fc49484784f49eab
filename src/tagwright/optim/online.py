"""Online learning of label sequences: decode a sentence, compare, correct.

For each sentence, in a random order:

    ŷ = argmax_y F(x, y; w) + margin · (wrong labels in y);   if ŷ ≠ y:   w += τ · (Φ(x, y) − Φ(x, ŷ))

HM-Perceptron (LM-POS algorithm 1; Collins 2002): τ = 1. Passive-aggressive updates and AROW, which has a variance for
each weight besides: aggressive.py. The result is w, or the average of w over all sentences of all epochs. Lazy
averaging: an update δ at step c also adds c·δ to a second vector u, the lazy sums; after C steps the average is
w − u / C. So a sentence costs only what it changes.

Attributes get weights when they are first changed (scores/growing_weights.py). Viterbi prunes as in
chain/viterbi.py; the pruning bounds are computed once a portion of sentences, and raised where a change of transitions
asks for it (chain_updates.py).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tagwright._jit import tight_kernel
from tagwright.arrays import Bools, Doubles, Floats, Ints, Longs, empty_rows, padded
from tagwright.chain.viterbi import best_path
from tagwright.optim.aggressive import Difference, OnlineState, UpdateRule, aggressive_update
from tagwright.optim.chain_updates import change_chain, fill_bounds, list_chain_changes, n_chain_weights
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
def perceptron_update(
    begin: int, end: int, data: LabelledTokens, path: Ints, state: OnlineState, difference: Difference, now: float
) -> None:
    """w += Φ(x, y) − Φ(x, ŷ) at step `now`, for the sentence of the tokens `begin` to `end` − 1; `path` is ŷ."""
    gold, averaged = data.gold, state.chain_sums.shape[0] > 0
    for p in range(begin, end):
        if path[p - begin] != gold[p]:
            for sign in (1, -1):  # not two calls: both would be compiled
                y = gold[p] if sign > 0 else path[p - begin]
                change_token(data.tokens, p, y, float(sign), now, state.weights)
    numbers, deltas = difference.numbers, difference.deltas
    for e in range(list_chain_changes(gold[begin:end], path, state.weights.n_labels, state.free, numbers, deltas)):
        change_chain(state.chain, numbers[e], deltas[e])
        if averaged:
            state.chain_sums[numbers[e]] += now * deltas[e]


@tight_kernel
def online_pass(
    order: Longs, data: LabelledTokens, state: OnlineState, work: DecodingWork, difference: Difference, clock: int,
    margin: float, rule: UpdateRule | None,
) -> tuple[int, int, float]:  # fmt: skip
    """The sentences `order`, one after the other, from step `clock` on, as far as there is room for new weights;
    returns how many were done, the number of wrong tokens, and the sum of losses: for the perceptron wrong tokens."""
    gold, path, pointers = data.gold, work.path, data.tokens.pointers
    wrong, losses = 0, 0.0
    fill_bounds(state.chain)
    for n in range(order.shape[0]):
        begin, end = data.offsets[order[n]], data.offsets[order[n] + 1]
        if not has_room(state.weights, pointers[end] - pointers[begin]):
            return n, wrong, losses
        score_sentence(begin, end, data, state.weights, margin, work)
        best_path(work.emission, end - begin, state.chain, work.delta, work.survivors, path)
        now, mistakes = float(clock + n), 0
        for p in range(begin, end):
            mistakes += path[p - begin] != gold[p]
        wrong += mistakes
        if mistakes > 0:
            if rule is None:  # decided by the compiler
                perceptron_update(begin, end, data, path, state, difference, now)
                losses += mistakes
            else:
                losses += aggressive_update(begin, end, mistakes, data, path, state, difference, now, rule)
    return int(order.shape[0]), wrong, losses


class OnlineTraining:
    """One training: the weights, what is kept beside them, and the number of steps."""

    def __init__(
        self, data: LabelledTokens, weights: GrowingWeights, *, free: Bools, margin: float, rule: UpdateRule | None
    ) -> None:
        """free [Y·Y + 2 Y]: which weights of the chain may change, the others are 0."""
        self.data, self.margin, self.rule = data, float(margin), rule
        self.state = OnlineState.build(weights, free)
        self.clock = 1
        self._work = DecodingWork.build(data.offsets, weights.n_labels, np.float32, most_attributes(data.tokens))
        self._difference = Difference.build(data, weights, rule)

    def begin_from(self, chain: Doubles) -> None:
        """Take over the chain's weights [transition | start | stop]."""
        self.state.chain.set_weights(np.where(self.state.free, chain, 0))

    def learn(self, order: Longs) -> tuple[int, float]:
        """Go through some sentences; returns the number of wrong tokens and the sum of losses (NaN where numbers
        were too large)."""
        wrong, losses, data = 0, 0.0, self.data
        while len(order):
            done, mistakes, loss = online_pass(
                order, data, self.state, self._work, self._difference, self.clock, self.margin, self.rule
            )  # fmt: skip
            self.clock += done
            wrong, losses, order = wrong + mistakes, losses + loss, order[done:]
            if len(order):
                n = np.diff(data.tokens.pointers[data.offsets[order[0] : order[0] + 2]])[0]
                self.state = self.state._replace(weights=self.state.weights.with_room(int(n)))
                self._difference = Difference.build(data, self.state.weights, self.rule)
        return wrong, losses

    def add_average(self, total: OnlineWeights, share: float) -> OnlineWeights:
        """The total and share · the weights, averaged over all steps so far if their sums are kept."""
        chain = self.state.chain.weights()
        if len(self.state.chain_sums):
            chain = chain - self.state.chain_sums / self.clock
        attributes = total.attributes.plus(self.state.weights, share, self.clock)
        return OnlineWeights(attributes, total.chain + share * chain)


class OnlineWeights(NamedTuple):
    """What is learned."""

    attributes: LearnedWeights
    chain: Doubles  # [Y·Y + 2 Y]: transition, start, stop

    @classmethod
    def none(cls, n_attributes: int, n_labels: int) -> OnlineWeights:
        return cls(LearnedWeights.none(n_attributes), np.zeros(n_chain_weights(n_labels)))

    def copy(self) -> OnlineWeights:
        return self  # nobody changes it
