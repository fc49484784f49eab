"""Averaged AdaGrad: minimise Σ_i loss(x_i, y_i; w) + c2 ‖w‖² from a few sentences at a time. Solver "sgd".

Duchi, Hazan and Singer 2011 (AdaGrad); Polyak and Juditsky 1992 (averaging). For each batch of sentences, in a random
order, with g the gradient that a token of it has for a weight:

    G += g²,    w ← (w − η g / r) / (1 + η λ k / r),    r = √(1 + G),    λ = 2 c2 / N

k: the sentences since the weight was last touched. It pays the penalty of all of them then, and at the end of an epoch;
so a batch costs only what it touches. Labels whose probability is wrong by less than NEGLIGIBLE are left alone. The
result is the average of w over all batches since the end of the first epoch, kept lazily: a weight adds k · w to its
sum when it is touched.

Scores are read from the tokens' attributes, by rows and lists of weights (scores/wide_rows.py); the gradient of the
lattice comes from a loss of losses/ that is a sum over sentences. Weights are [attribute weights | transition Y·Y |
start Y | stop Y].

The 1 under the root keeps the first, tiny gradients of a weight from moving it by a whole η: AdaGrad without it, and
weights that are not averaged, were slower to the same dev accuracy on UD English EWT (docs/solvers.md).
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tagwright._jit import natural, tight_kernel
from tagwright.arrays import Bools, Doubles, Floats, Ints, Longs, empty_rows, inner, padded, zero_rows
from tagwright.chain.candidates import Candidates
from tagwright.chain.forward_backward import Chain
from tagwright.encode.batch import spread
from tagwright.losses.run import Loss, SentenceRun
from tagwright.optim.descent import Minimum, Reason, flattened
from tagwright.scores.wide_rows import PREFETCH_DISTANCE, TokenData, add_token_scores, prefetch_token

RATE = 0.5
"""η."""
BATCH = 8
"""Sentences in a batch."""
NEGLIGIBLE = 1e-3


class AdaGradState(NamedTuple):
    """All that a training changes: the arrays of a checkpoint. W: attribute weights, laid out by a WidePattern with
    what vectors read beyond them, and the chain's."""

    weights: Floats  # [W]
    history: Doubles  # [W, 3]: G, the sum of k · w, and when the weight was last touched; side by side for the cache
    clock: Longs  # [1]: sentences so far
    loss: Doubles  # [1]: of the batches of this epoch
    seed: NDArray[np.uint64]  # [1]


class BatchRows(NamedTuple):
    """A batch of sentences, end to end: room for the longest."""

    emission: Floats  # [n, P]
    gold: Ints  # [n]
    weights: Doubles  # [n], of tokens


class BatchGradient(NamedTuple):
    """Of the loss of a batch, with respect to its lattice."""

    value: float  # the loss
    emission: Floats  # [n, P]
    chain: Doubles  # [Y·Y + 2 Y]: transition, start, stop


# What is natural below: weights and labels come from a Pattern, by way of TokenWeights; active labels count from 0.


@tight_kernel
def score_batch(
    order: Longs, data: TokenData, token_weights: Doubles, weights: Floats, offsets: Longs, batch: BatchRows
) -> None:
    """The sentences `order` end to end: their offsets, emission rows, gold labels and token weights."""
    row, Y = 0, data.pattern.n_labels
    offsets[0] = 0
    for n in range(order.shape[0]):
        begin, end = data.offsets[order[n]], data.offsets[order[n] + 1]
        for p in range(begin, end):
            if p + PREFETCH_DISTANCE < end:
                prefetch_token(p + PREFETCH_DISTANCE, data, weights)
            batch.emission[row] = 0
            add_token_scores(p, data, weights, batch.emission[row])
            batch.emission[row, Y:] = 0
            batch.gold[row] = data.gold[p]
            batch.weights[row] = token_weights[p]
            row += 1
        offsets[n + 1] = row


@tight_kernel
def move(w: int, gradient: float, now: float, decay: float, state: AdaGradState) -> None:
    """One weight, by one gradient; with gradient 0 it only pays the penalty that it owes."""
    weights, history = state.weights, state.history
    number = weights.dtype.type  # plain numbers would make all of this float64
    i = natural(w)
    wait = now - history[i, 2]
    history[i, 0] += gradient * gradient
    history[i, 1] += wait * weights[i]
    history[i, 2] = now
    root, step = np.sqrt(number(1 + history[i, 0])), number(RATE)
    weights[i] = (weights[i] * root - step * number(gradient)) / (root + step * number(decay * wait))


@tight_kernel
def move_token(
    p: int, row: Floats, active: Longs, now: float, decay: float, data: TokenData, state: AdaGradState
) -> None:
    """All weights of token p, by its row of gradients, which is not negligible for the labels `active`."""
    tokens, labels, in_pattern = data.tokens, data.pattern.labels, data.pattern.in_pattern
    weighted, partial = tokens.values.shape[0] > 0, in_pattern.shape[0] > 0
    for r in range(tokens.pointers[p], tokens.lists[p]):
        size = tokens.values[r] if weighted else 1.0
        for k in range(active.shape[0]):
            w = tokens.firsts[r] + active[k]
            if not partial or in_pattern[natural(w)]:
                move(w, row[natural(active[k])] * size, now, decay, state)
    for r in range(tokens.lists[p], tokens.pointers[p + 1]):
        size = tokens.values[r] if weighted else 1.0
        for w in range(tokens.firsts[r], tokens.firsts[r] + tokens.sizes[r]):
            slope = row[natural(labels[natural(w)])]
            if abs(slope) >= NEGLIGIBLE:
                move(w, slope * size, now, decay, state)


@tight_kernel
def learn_batch(
    order: Longs, data: TokenData, gradient: BatchGradient, free: Bools, decay: float, state: AdaGradState,
    active: Longs,
) -> None:  # fmt: skip
    """Move the weights by the gradient of a batch. free [Y·Y + 2 Y]: the chain's weights that may move; active [Y]:
    work. All that changes changes here, in one call: between calls the state is whole."""
    n_sentences = data.offsets.shape[0] - 1
    if state.clock[0] == n_sentences:  # the average begins after the first epoch
        state.history[:, 1] = 0
    if state.clock[0] % n_sentences == 0:
        state.loss[0] = 0
    state.clock[0] += order.shape[0]
    state.loss[0] += gradient.value
    now = float(state.clock[0])
    row = 0
    for n in range(order.shape[0]):
        for p in range(data.offsets[order[n]], data.offsets[order[n] + 1]):
            n_active = 0
            for y in range(active.shape[0]):
                if abs(gradient.emission[row, y]) >= NEGLIGIBLE:
                    active[n_active] = y
                    n_active += 1
            if n_active > 0:
                move_token(p, gradient.emission[row], active[:n_active], now, decay, data, state)
            row += 1
    base = state.weights.shape[0] - free.shape[0]
    for k in range(free.shape[0]):
        if free[k] and gradient.chain[k] != 0.0:
            move(base + k, gradient.chain[k], now, decay, state)


@tight_kernel
def settle(decay: float, state: AdaGradState) -> None:
    """Every weight pays the penalty that it owes. Twice is as good as once."""
    now = float(state.clock[0])
    for w in range(state.weights.shape[0]):
        if state.history[w, 2] < now:
            move(w, 0.0, now, decay, state)


class AveragedAdaGrad:
    """One training. `state` and `curve` are all that changes."""

    def __init__(
        self, start: Floats, data: TokenData, token_weights: Doubles, loss: Loss, *, free: Bools, c2: float,
        seed: int | None, candidates: Candidates | None = None,
    ) -> None:  # fmt: skip
        """`start` and `free`: of all weights, laid out by the pattern that was given; candidates: the labels that
        tokens may have."""
        self.data, self.token_weights, self.loss, self.c2 = data, token_weights, loss, c2
        self.candidates = candidates
        Y = data.pattern.n_labels
        self.n_chain = Y * Y + 2 * Y
        self.n_attributes = len(start) - self.n_chain
        self.free = free[self.n_attributes :]
        self.decay = 2 * c2 / data.n_sentences
        self.curve: tuple[float, ...] = ()
        W = data.pattern.vector_size + self.n_chain
        weights = zero_rows((W,), start.dtype)
        weights[data.pattern.locate(slice(self.n_attributes))] = start[: self.n_attributes]
        weights[W - self.n_chain :] = start[self.n_attributes :]
        number = np.array([secrets.randbits(64) if seed is None else seed % 2**64], np.uint64)
        self.state = AdaGradState(weights, zero_rows((W, 3), np.float64), np.zeros(1, np.int64), np.zeros(1), number)
        longest = int(np.sort(np.diff(data.offsets))[-BATCH:].sum())
        emission = empty_rows((longest, padded(Y)), start.dtype)
        self._batch = BatchRows(emission, np.empty(longest, np.int32), np.empty(longest))
        self._active = np.empty(Y, np.int64)

    @property
    def clock(self) -> int:
        return int(self.state.clock[0])

    def order(self, epoch: int) -> Longs:
        """The sentences in the order of an epoch: a function of the seed, so that it can be made again."""
        random = np.random.default_rng([int(self.state.seed[0]), epoch])
        return random.permutation(self.data.n_sentences)

    def learn(self, order: Longs) -> None:
        """One batch."""
        data, weights, Y = self.data, self.state.weights, self.data.pattern.n_labels
        offsets = np.empty(len(order) + 1, np.int64)
        score_batch(order, data, self.token_weights, weights, offsets, self._batch)
        n = offsets[-1]
        rows, candidates = self._batch.emission[:n], self._candidates_of(order)
        batch = SentenceRun(rows, offsets, self._batch.gold[:n], self._batch.weights[:n], candidates)
        scores = weights[len(weights) - self.n_chain :]
        transition, ends = scores[: Y * Y].reshape(Y, Y), scores[Y * Y :].reshape(2, Y)
        chain = Chain.build(transition, ends[0], ends[1], weights.dtype.type)
        found = self.loss.of_run(batch, chain, out=batch.emission)
        value = self.loss.add_up(found.terms, found.weights, 0.0).value
        of_chain = np.concatenate([found.transition.ravel(), found.start, found.stop])
        gradient = BatchGradient(value, found.emission, of_chain)
        learn_batch(order, data, gradient, self.free, self.decay, self.state, self._active)

    def _candidates_of(self, order: Longs) -> Candidates | None:
        """Those of a batch."""
        if self.candidates is None:
            return None
        begins = self.data.offsets[order]
        tokens = spread(begins, self.data.offsets[order + 1] - begins)
        return self.candidates._replace(rows=self.candidates.rows[tokens])

    def is_possible(self) -> bool:
        """Whether a training may have come to this state: as many sentences as epochs say, no weight touched after
        them, and no sum of squares below 0."""
        history, N = self.state.history, self.data.n_sentences
        touched = history[:, 2]
        counted = len(self.curve) * N <= self.clock <= (len(self.curve) + 1) * N
        return counted and bool((history[:, 0] >= 0).all() and (touched >= 0).all() and (touched <= self.clock).all())

    def settle(self) -> None:
        """The end of an epoch: every weight pays the penalty that it owes."""
        settle(self.decay, self.state)

    def objective(self) -> float:
        """What the sentences of this epoch lost when their turn came, and the penalty now."""
        weights = self.state.weights.astype(np.float64)
        return float(self.state.loss[0]) + self.c2 * inner(weights, weights)

    def average(self) -> Doubles:
        """The weights, averaged since the end of the first epoch (in the first: since its beginning)."""
        weights = self.state.weights.astype(np.float64)
        since = self.data.n_sentences if self.clock > self.data.n_sentences else 0
        if self.clock > since:
            weights *= self.clock - self.state.history[:, 2]
            weights += self.state.history[:, 1]
            weights /= self.clock - since
        of_attributes = weights[self.data.pattern.locate(slice(self.n_attributes))]
        return np.concatenate([of_attributes, weights[len(weights) - self.n_chain :]])


@dataclass(frozen=True, slots=True)
class Epoch:
    """What the watcher is told after an epoch."""

    number: int
    objective: float
    seconds: float


def minimise_stochastic(
    state: AveragedAdaGrad,
    *,
    max_epochs: int,
    tolerance: float,
    watch: Callable[[Epoch], bool | None] | None = None,
    pause: Callable[[], None] | None = None,
) -> Minimum:
    """Epochs until the objective improves by less than `tolerance` (relatively) in one; `pause` between batches."""
    began = time.perf_counter()
    N = state.data.n_sentences
    reason: Reason = "max_iterations"
    try:
        while True:
            if flattened(state.curve, 1, tolerance):
                reason = "tolerance"
                break
            if len(state.curve) >= max_epochs:
                break
            epoch = len(state.curve) + 1
            order = state.order(epoch)
            for first in range(state.clock - (epoch - 1) * N, N, BATCH):
                state.learn(order[first : first + BATCH])
                if pause is not None:
                    pause()
            state.settle()
            value = state.objective()
            stop = watch is not None and watch(Epoch(epoch, value, time.perf_counter() - began))
            state.curve = (*state.curve, value)
            if stop:
                reason = "callback"
                break
    except KeyboardInterrupt:
        reason = "interrupted"
    value = state.curve[-1] if state.curve else state.objective()
    return Minimum(state.average(), value, len(state.curve), state.clock, reason, list(state.curve))
