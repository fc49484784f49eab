"""Averaged AdaGrad: minimise Σ_i loss(x_i, y_i; w) + c2 ‖w‖² from a few sentences at a time. Solver "sgd".

Duchi, Hazan and Singer 2011 (AdaGrad); Polyak and Juditsky 1992 (averaging). For each batch of sentences, in a random
order, with g the gradient that a token of it has for a weight:

    G += g²,    w ← (w − η g / r) / (1 + η λ k / r),    r = √(1 + G),    λ = 2 c2 / N

k: the sentences since the weight was last touched. It pays the penalty of all of them then, and at the end of an epoch;
so a batch costs only what it touches. Labels whose probability is wrong by less than NEGLIGIBLE are left alone. The
result is the average of w over all batches since the end of the first epoch, kept lazily: a weight adds k · w to its
sum when it is touched.

Scores are read from the tokens' attributes (as optim/online.py does); the gradient of the lattice comes from a loss of
losses/ that is a sum over sentences. Weights are [attribute weights | transition Y·Y | start Y | stop Y].

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
from tagwright.arrays import Bools, Doubles, Floats, Ints, Longs
from tagwright.chain.forward_backward import Chain
from tagwright.losses.run import Loss, Run
from tagwright.optim.descent import Minimum, Reason, flattened
from tagwright.optim.vectors import inner
from tagwright.scores.expanded import TokenAttributes
from tagwright.scores.linear import add_attribute_scores
from tagwright.scores.places import Pattern

RATE = 0.5
"""η."""
BATCH = 8
"""Sentences in a batch."""
NEGLIGIBLE = 1e-3


@tight_kernel
def score_batch(
    order: Longs, offsets: Longs, gold: Ints, counts: Doubles, token_pointers: Longs, attributes: Ints,
    values: Doubles, pointers: Longs, labels: Ints, weights: Floats, batch_offsets: Longs, batch_gold: Ints,
    batch_counts: Doubles, emission: Floats,
) -> None:  # fmt: skip
    """The sentences `order` side by side: offsets, gold labels, how much tokens count, and emission rows."""
    row = 0
    batch_offsets[0] = 0
    for n in range(order.shape[0]):
        begin, end = offsets[order[n]], offsets[order[n] + 1]
        rows = emission[row : row + end - begin]
        rows[:] = 0
        add_attribute_scores(token_pointers, attributes, values, pointers, labels, weights, begin, end, rows)
        for p in range(begin, end):
            batch_gold[row] = gold[p]
            batch_counts[row] = counts[p]
            row += 1
        batch_offsets[n + 1] = row


@tight_kernel
def move(
    w: int, gradient: float, now: int, rate: float, decay: float, weights: Floats, squares: Floats, sums: Doubles,
    touched: Longs,
) -> None:  # fmt: skip
    """One weight, by one gradient; with gradient 0 it only pays its debts."""
    wait = now - touched[w]
    sums[w] += wait * weights[w]
    touched[w] = now
    squares[w] += gradient * gradient
    root = np.sqrt(1.0 + squares[w])
    weights[w] = (weights[w] * root - rate * gradient) / (root + rate * decay * wait)


@tight_kernel
def learn_batch(
    order: Longs, offsets: Longs, token_pointers: Longs, attributes: Ints, values: Doubles, pointers: Longs,
    labels: Ints, rows: Floats, edges: Doubles, free_edges: Bools, value: float, n_sentences: int, rate: float,
    decay: float, weights: Floats, squares: Floats, sums: Doubles, touched: Longs, clock: Longs, loss: Doubles,
) -> None:  # fmt: skip
    """Move the weights by the gradient of a batch: `rows` of its lattice [n, P], `edges` [Y·Y + 2 Y].

    clock [1]: sentences so far. loss [1]: what the batches of this epoch lost. All that changes changes here, in one
    call: between calls the state is whole.
    """
    weighted = values.shape[0] > 0
    if clock[0] == n_sentences:  # the average begins after the first epoch
        sums[:] = 0
    if clock[0] % n_sentences == 0:
        loss[0] = 0
    clock[0] += order.shape[0]
    loss[0] += value
    now = clock[0]
    r = 0
    for n in range(order.shape[0]):
        for p in range(offsets[order[n]], offsets[order[n] + 1]):
            row = rows[r]
            r += 1
            moved = False
            for j in range(row.shape[0]):
                if abs(row[j]) < NEGLIGIBLE:
                    row[j] = 0
                else:
                    moved = True
            if not moved:
                continue
            for e in range(token_pointers[p], token_pointers[p + 1]):
                size = values[e] if weighted else 1.0
                for w in range(pointers[attributes[e]], pointers[attributes[e] + 1]):
                    gradient = row[labels[w]]
                    if gradient != 0:
                        move(w, gradient * size, now, rate, decay, weights, squares, sums, touched)
    base = labels.shape[0]
    for k in range(edges.shape[0]):
        if free_edges[k]:
            move(base + k, edges[k], now, rate, decay, weights, squares, sums, touched)


@tight_kernel
def settle(
    now: int, rate: float, decay: float, weights: Floats, squares: Floats, sums: Doubles, touched: Longs
) -> None:
    """Every weight pays its debts. Twice is as good as once."""
    for w in range(weights.shape[0]):
        if touched[w] < now:
            move(w, 0.0, now, rate, decay, weights, squares, sums, touched)


@dataclass(frozen=True, slots=True)
class TokenData:
    """Training sentences, their attributes written out, and the pattern of the weights."""

    offsets: Longs
    gold: Ints
    weights: Doubles  # how much each token counts
    tokens: TokenAttributes
    pattern: Pattern
    n_labels: int
    width: int

    @property
    def n_sentences(self) -> int:
        return len(self.offsets) - 1


class AveragedAdaGrad:
    """The state of one training, and its steps. `arrays` is all of the state but `curve`."""

    def __init__(self, start: Floats, data: TokenData, loss: Loss, *, free: Bools, c2: float, seed: int | None) -> None:
        n = len(start)
        self.data, self.loss, self.c2 = data, loss, c2
        self.free_edges = free[data.pattern.n_weights :]
        self.decay = 2 * c2 / data.n_sentences
        self.curve: tuple[float, ...] = ()
        self.arrays: dict[str, np.ndarray] = {
            "weights": start.copy(),
            "squares": np.zeros(n, start.dtype),
            "sums": np.zeros(n),
            "touched": np.zeros(n, np.int64),
            "clock": np.zeros(1, np.int64),
            "loss": np.zeros(1),
            "seed": np.array([secrets.randbits(64) if seed is None else seed % 2**64], np.uint64),
        }
        longest = int(np.sort(np.diff(data.offsets))[-BATCH:].sum())
        self._emission = np.empty((longest, data.width), start.dtype)
        self._gold, self._counts = np.empty(longest, np.int32), np.empty(longest)

    @property
    def clock(self) -> int:
        return int(self.arrays["clock"][0])

    @property
    def moving(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """The arrays with an entry for each weight."""
        a = self.arrays
        return a["weights"], a["squares"], a["sums"], a["touched"]

    def order(self, epoch: int) -> Longs:
        """The sentences in the order of an epoch: a function of the seed, so that it can be made again."""
        random = np.random.default_rng([int(self.arrays["seed"][0]), epoch])
        return random.permutation(self.data.n_sentences)

    def learn(self, order: Longs) -> None:
        """One batch."""
        data, Y, n = self.data, self.data.n_labels, self.data.pattern.n_weights
        tokens = (data.tokens.pointers, data.tokens.attributes, data.tokens.values)
        pattern = (data.pattern.pointers, data.pattern.labels)
        offsets = np.empty(len(order) + 1, np.int64)
        weights = self.arrays["weights"]
        score_batch(
            order, data.offsets, data.gold, data.weights, *tokens, *pattern, weights, offsets, self._gold,
            self._counts, self._emission,
        )  # fmt: skip
        n_rows = int(offsets[-1])
        batch = Run(self._emission[:n_rows], offsets, self._gold[:n_rows], self._counts[:n_rows])
        transition, ends = weights[n : n + Y * Y].reshape(Y, Y), weights[n + Y * Y :].reshape(2, Y)
        found = self.loss.of_run(batch, Chain.build(transition, ends[0], ends[1], weights.dtype.type), 0.0)
        edges = np.concatenate([found.transition.ravel(), found.start, found.stop])
        value = self.loss.add_up(found.terms, found.weights, 0.0).value
        learn_batch(
            order, data.offsets, *tokens, *pattern, batch.emission, edges, self.free_edges, value,
            data.n_sentences, RATE, self.decay, *self.moving, self.arrays["clock"], self.arrays["loss"],
        )  # fmt: skip

    def settle(self) -> None:
        """The end of an epoch: every weight pays its debts."""
        settle(self.clock, RATE, self.decay, *self.moving)

    def objective(self) -> float:
        """What the sentences of this epoch lost when their turn came, and the penalty now."""
        weights = self.arrays["weights"].astype(np.float64)
        return float(self.arrays["loss"][0]) + self.c2 * inner(weights, weights)

    def average(self) -> Doubles:
        """The weights, averaged since the end of the first epoch (in the first: since its beginning)."""
        weights = self.arrays["weights"].astype(np.float64)
        since = self.data.n_sentences if self.clock > self.data.n_sentences else 0
        if self.clock > since:
            weights *= self.clock - self.arrays["touched"]
            weights += self.arrays["sums"]
            weights /= self.clock - since
        return weights


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
