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

import numpy as np

from tagwright._jit import tight_kernel
from tagwright.arrays import Bools, Doubles, Floats, Ints, Longs, empty_rows
from tagwright.chain.forward_backward import Chain
from tagwright.losses.run import Loss, Run
from tagwright.optim.descent import Minimum, Reason, flattened
from tagwright.optim.vectors import inner
from tagwright.scores.wide_rows import PREFETCH_DISTANCE, Numbers, TokenWeights, WidePattern, add_token, fetch_token

RATE = 0.5
"""η."""
BATCH = 8
"""Sentences in a batch."""
NEGLIGIBLE = 1e-3


@tight_kernel
def score_batch(
    order: Longs, offsets: Longs, gold: Ints, counts: Doubles, pointers: Longs, middles: Longs, firsts: Numbers,
    sizes: Ints, values: Doubles, labels: Ints, Y: int, weights: Floats, batch_offsets: Longs, batch_gold: Ints,
    batch_counts: Doubles, emission: Floats,
) -> None:  # fmt: skip
    """The sentences `order` side by side: offsets, gold labels, how much tokens count, and emission rows."""
    row = 0
    batch_offsets[0] = 0
    for n in range(order.shape[0]):
        begin, end = offsets[order[n]], offsets[order[n] + 1]
        for p in range(begin, end):
            if p + PREFETCH_DISTANCE < end:
                fetch_token(p + PREFETCH_DISTANCE, pointers, middles, firsts, Y, weights)
            emission[row] = 0
            add_token(p, pointers, middles, firsts, sizes, values, labels, Y, weights, emission[row])
            emission[row, Y:] = 0
            batch_gold[row] = gold[p]
            batch_counts[row] = counts[p]
            row += 1
        batch_offsets[n + 1] = row


@tight_kernel
def move(w: int, gradient: float, now: float, rate: float, decay: float, weights: Floats, history: Doubles) -> None:
    """One weight, by one gradient; with gradient 0 it only pays its debts.

    history[w]: G, the sum of k · w, and when the weight was last touched; side by side, for memory takes the time.
    """
    number = weights.dtype.type  # plain numbers would make all of this float64
    wait = now - history[w, 2]
    history[w, 0] += gradient * gradient
    history[w, 1] += wait * weights[w]
    history[w, 2] = now
    root, step = np.sqrt(number(1 + history[w, 0])), number(rate)
    weights[w] = (weights[w] * root - step * number(gradient)) / (root + step * number(decay * wait))


@tight_kernel
def move_token(
    p: int, row: Floats, active: Longs, n_active: int, pointers: Longs, middles: Longs, firsts: Numbers, sizes: Ints,
    values: Doubles, labels: Ints, real: Bools, now: float, rate: float, decay: float, weights: Floats,
    history: Doubles,
) -> None:  # fmt: skip
    """All weights of token p, by its row of gradients, which is not negligible for n_active labels."""
    weighted, partial = values.shape[0] > 0, real.shape[0] > 0
    for e in range(pointers[p], middles[p]):
        size = values[e] if weighted else 1.0
        for k in range(n_active):
            w = firsts[e] + active[k]
            if not partial or real[w]:
                move(w, row[active[k]] * size, now, rate, decay, weights, history)
    for e in range(middles[p], pointers[p + 1]):
        size = values[e] if weighted else 1.0
        for w in range(firsts[e], firsts[e] + sizes[e]):
            if abs(row[labels[w]]) >= NEGLIGIBLE:
                move(w, row[labels[w]] * size, now, rate, decay, weights, history)


@tight_kernel
def learn_batch(
    order: Longs, offsets: Longs, pointers: Longs, middles: Longs, firsts: Numbers, sizes: Ints, values: Doubles,
    labels: Ints, real: Bools, rows: Floats, edges: Doubles, free_edges: Bools, value: float, n_sentences: int,
    rate: float, decay: float, weights: Floats, history: Doubles, clock: Longs,
    loss: Doubles, active: Longs,
) -> None:  # fmt: skip
    """Move the weights by the gradient of a batch: `rows` of its lattice [n, P], `edges` [Y·Y + 2 Y].

    clock [1]: sentences so far. loss [1]: what the batches of this epoch lost. active [Y]: work. All that changes
    changes here, in one call: between calls the state is whole.
    """
    if clock[0] == n_sentences:  # the average begins after the first epoch
        history[:, 1] = 0
    if clock[0] % n_sentences == 0:
        loss[0] = 0
    clock[0] += order.shape[0]
    loss[0] += value
    now = float(clock[0])
    r = 0
    for n in range(order.shape[0]):
        for p in range(offsets[order[n]], offsets[order[n] + 1]):
            n_active = 0
            for y in range(active.shape[0]):
                if abs(rows[r, y]) >= NEGLIGIBLE:
                    active[n_active] = y
                    n_active += 1
            if n_active > 0:
                move_token(
                    p, rows[r], active, n_active, pointers, middles, firsts, sizes, values, labels, real, now, rate,
                    decay, weights, history,
                )  # fmt: skip
            r += 1
    base = weights.shape[0] - edges.shape[0]
    for k in range(edges.shape[0]):
        if free_edges[k]:
            move(base + k, edges[k], now, rate, decay, weights, history)


@tight_kernel
def settle(now: float, rate: float, decay: float, weights: Floats, history: Doubles) -> None:
    """Every weight pays its debts. Twice is as good as once."""
    for w in range(weights.shape[0]):
        if history[w, 2] < now:
            move(w, 0.0, now, rate, decay, weights, history)


@dataclass(frozen=True, slots=True)
class TokenData:
    """Training sentences, the weights that each token has, and their pattern."""

    offsets: Longs
    gold: Ints
    weights: Doubles  # how much each token counts
    tokens: TokenWeights
    pattern: WidePattern
    width: int

    @property
    def n_sentences(self) -> int:
        return len(self.offsets) - 1


class AveragedAdaGrad:
    """The state of one training, and its steps. `arrays` is all of the state but `curve`."""

    def __init__(self, start: Floats, data: TokenData, loss: Loss, *, free: Bools, c2: float, seed: int | None) -> None:
        """`start` and `free`: of all weights, laid out by the pattern that was given."""
        self.data, self.loss, self.c2 = data, loss, c2
        Y = data.pattern.n_labels
        self.n_edges = Y * Y + 2 * Y
        self.n_given = len(start) - self.n_edges
        self.free_edges = free[self.n_given :]
        self.decay = 2 * c2 / data.n_sentences
        self.curve: tuple[float, ...] = ()
        n = data.pattern.n_places + self.n_edges
        weights = np.zeros(n, start.dtype)
        weights[data.pattern.find(slice(self.n_given))] = start[: self.n_given]
        weights[n - self.n_edges :] = start[self.n_given :]
        self.arrays: dict[str, np.ndarray] = {
            "weights": weights,
            "history": np.zeros((n, 3)),
            "clock": np.zeros(1, np.int64),
            "loss": np.zeros(1),
            "seed": np.array([secrets.randbits(64) if seed is None else seed % 2**64], np.uint64),
        }
        longest = int(np.sort(np.diff(data.offsets))[-BATCH:].sum())
        self._emission = empty_rows((longest, data.width), start.dtype)
        self._gold, self._counts = np.empty(longest, np.int32), np.empty(longest)
        self._active = np.empty(Y, np.int64)

    @property
    def clock(self) -> int:
        return int(self.arrays["clock"][0])

    @property
    def moving(self) -> tuple[np.ndarray, np.ndarray]:
        """The arrays with an entry for each weight."""
        return self.arrays["weights"], self.arrays["history"]

    def order(self, epoch: int) -> Longs:
        """The sentences in the order of an epoch: a function of the seed, so that it can be made again."""
        random = np.random.default_rng([int(self.arrays["seed"][0]), epoch])
        return random.permutation(self.data.n_sentences)

    def learn(self, order: Longs) -> None:
        """One batch."""
        data, Y = self.data, self.data.pattern.n_labels
        tokens = data.tokens
        lists = (tokens.pointers, tokens.middles, tokens.firsts, tokens.sizes, tokens.values, data.pattern.labels)
        offsets = np.empty(len(order) + 1, np.int64)
        weights = self.arrays["weights"]
        score_batch(
            order, data.offsets, data.gold, data.weights, *lists, Y, weights, offsets, self._gold, self._counts,
            self._emission,
        )  # fmt: skip
        n_rows = int(offsets[-1])
        batch = Run(self._emission[:n_rows], offsets, self._gold[:n_rows], self._counts[:n_rows])
        scores = weights[len(weights) - self.n_edges :]
        transition, ends = scores[: Y * Y].reshape(Y, Y), scores[Y * Y :].reshape(2, Y)
        chain = Chain.build(transition, ends[0], ends[1], weights.dtype.type)
        found = self.loss.of_run(batch, chain, out=batch.emission)
        edges = np.concatenate([found.transition.ravel(), found.start, found.stop])
        value = self.loss.add_up(found.terms, found.weights, 0.0).value
        learn_batch(
            order, data.offsets, *lists, data.pattern.real, found.emission, edges, self.free_edges, value,
            data.n_sentences, RATE, self.decay, *self.moving, self.arrays["clock"], self.arrays["loss"], self._active,
        )  # fmt: skip

    def settle(self) -> None:
        """The end of an epoch: every weight pays its debts."""
        settle(float(self.clock), RATE, self.decay, *self.moving)

    def objective(self) -> float:
        """What the sentences of this epoch lost when their turn came, and the penalty now."""
        weights = self.arrays["weights"].astype(np.float64)
        return float(self.arrays["loss"][0]) + self.c2 * inner(weights, weights)

    def average(self) -> Doubles:
        """The weights, averaged since the end of the first epoch (in the first: since its beginning)."""
        weights = self.arrays["weights"].astype(np.float64)
        since = self.data.n_sentences if self.clock > self.data.n_sentences else 0
        if self.clock > since:
            weights *= self.clock - self.arrays["history"][:, 2]
            weights += self.arrays["history"][:, 1]
            weights /= self.clock - since
        given = weights[self.data.pattern.find(slice(self.n_given))]
        return np.concatenate([given, weights[len(weights) - self.n_edges :]])


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
