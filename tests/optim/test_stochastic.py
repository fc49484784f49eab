"""Averaged AdaGrad against the same algorithm written plainly: dense vectors, every weight at every step."""

from __future__ import annotations

import numpy as np
import pytest

from tagwright.arrays import padded
from tagwright.chain.candidates import Candidates
from tagwright.chain.forward_backward import Chain
from tagwright.losses import LOSSES
from tagwright.losses.run import SentenceRun
from tagwright.optim import stochastic
from tagwright.optim.stochastic import BATCH, RATE, AveragedAdaGrad, minimise_stochastic
from tagwright.scores import wide_rows
from tagwright.scores.expanded import TokenAttributes
from tagwright.scores.pattern import Pattern
from tagwright.scores.wide_rows import TokenData, TokenWeights, WidePattern

Y, P, A, N = 3, padded(3), 6, 19


def make(seed: int, weighted: bool) -> tuple[TokenData, np.ndarray, TokenAttributes, Pattern]:
    """Data as the kernels read them, the tokens' weights, and the attributes and the pattern that they were made of."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 6, N)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    n = int(offsets[-1])
    sizes = rng.integers(0, 4, n)
    pointers = np.concatenate([[0], np.cumsum(sizes)])
    attributes = rng.integers(0, A, pointers[-1]).astype(np.int32)
    values = rng.normal(size=len(attributes)) if weighted else np.empty(0)
    known = rng.random((A, Y)) < 0.8
    pattern = Pattern(np.concatenate([[0], np.cumsum(known.sum(1))]), np.nonzero(known)[1].astype(np.int32))
    gold = rng.integers(0, Y, n).astype(np.int32)
    weights = rng.random(n) + 0.5 if weighted else np.ones(n)
    tokens, wide = TokenAttributes(pointers, attributes, values), WidePattern.build(pattern, Y)
    return TokenData(offsets, gold, TokenWeights.build(tokens, wide), wide), weights, tokens, pattern


class Plain:
    """One token after the other, with dictionaries for what is lazy."""

    def __init__(
        self, data: TokenData, token_weights: np.ndarray, tokens: TokenAttributes, pattern: Pattern, loss: str,
        c2: float, free: np.ndarray, allowed: np.ndarray,
    ) -> None:  # fmt: skip
        self.allowed = allowed  # [n, Y]
        n = pattern.n_weights + Y * Y + 2 * Y
        self.token_weights, self.tokens, self.pattern = token_weights, tokens, pattern
        self.loss, self.data, self.decay, self.free = loss, data, 2 * c2 / N, free
        self.w, self.G, self.last = np.zeros(n), np.zeros(n), np.zeros(n)
        self.trace: list[np.ndarray] = []  # the weights after each sentence
        self.now = 0

    def entries(self, p: int) -> list[tuple[int, int, float]]:
        """(weight, label, value) of token p."""
        tokens, pattern = self.tokens, self.pattern
        return [
            (w, int(pattern.labels[w]), float(tokens.values[e]) if len(tokens.values) else 1.0)
            for e in range(tokens.pointers[p], tokens.pointers[p + 1])
            for w in range(pattern.pointers[tokens.attributes[e]], pattern.pointers[tokens.attributes[e] + 1])
        ]

    def move(self, w: int, g: float) -> None:
        self.G[w] += g * g
        step = RATE / np.sqrt(1 + self.G[w])
        self.w[w] = (self.w[w] - step * g) / (1 + step * self.decay * (self.now - self.last[w]))
        self.last[w] = self.now

    def learn(self, order: np.ndarray) -> None:
        data, n = self.data, self.pattern.n_weights
        rows, labels, offsets = [], [], [0]
        for i in order:
            for p in range(data.offsets[i], data.offsets[i + 1]):
                row = np.zeros(P)
                for w, label, value in self.entries(p):
                    row[label] += value * self.w[w]
                row[:Y][~self.allowed[p]] = -np.inf
                rows.append(row)
                labels.append(data.gold[p])
            offsets.append(len(rows))
        emission, gold = np.array(rows), np.array(labels, np.int32)
        ends = self.w[n + Y * Y :]
        chain = Chain.build(self.w[n : n + Y * Y].reshape(Y, Y), ends[:Y], ends[Y:], np.float64)
        counts = np.concatenate([self.token_weights[data.offsets[i] : data.offsets[i + 1]] for i in order])
        found = LOSSES[self.loss].of_run(SentenceRun(emission, np.array(offsets), gold, counts), chain, 0.0)
        edges = [found.transition, found.start, found.stop]
        self.trace += [self.w.copy()] * len(order)
        self.now += len(order)
        r = 0
        for i in order:
            for p in range(data.offsets[i], data.offsets[i + 1]):
                for w, label, value in self.entries(p):
                    if abs(found.emission[r, label]) >= stochastic.NEGLIGIBLE:
                        self.move(w, value * found.emission[r, label])
                r += 1
        for k, g in enumerate(np.concatenate([part.ravel() for part in edges])):
            if self.free[n + k] and g != 0:
                self.move(n + k, g)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("loss", ["sequence_log", "pointwise_log"])
@pytest.mark.parametrize("epochs", [1, 3])
@pytest.mark.parametrize("narrow", [1, 8])
def test_the_lazy_kernel_is_the_plain_algorithm(
    epochs: int, loss: str, weighted: bool, narrow: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With narrow = 1, attributes with two of three labels have rows, too."""
    monkeypatch.setattr(wide_rows, "NARROW", narrow)
    check_kernel(epochs, loss, weighted=weighted, restricted=False)


@pytest.mark.parametrize("epochs", [1, 3])
def test_labels_that_are_no_candidates_are_as_good_as_forbidden(epochs: int) -> None:
    check_kernel(epochs, "sequence_log", weighted=False, restricted=True)


def check_kernel(epochs: int, loss: str, *, weighted: bool, restricted: bool) -> None:
    """restricted: tokens may have one label, two or three."""
    data, token_weights, tokens, given = make(epochs, weighted)
    rng = np.random.default_rng(8)
    sets = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [0, 1, 1], [1, 1, 1]], np.bool_)
    rows = [rng.choice(np.flatnonzero(sets[:, y])) if restricted else len(sets) - 1 for y in data.gold]
    pointers, labels = np.concatenate([[0], np.cumsum(sets.sum(1))]), np.nonzero(sets)[1].astype(np.uint16)
    candidates = Candidates(np.array(rows, np.int32), pointers, labels) if restricted else None
    n = given.n_weights
    free = np.ones(n + Y * Y + 2 * Y, np.bool_)
    free[[n + 1, n + Y * Y + 2]] = False
    training = AveragedAdaGrad(
        np.zeros(len(free)), data, token_weights, LOSSES[loss], free=free, c2=0.4, seed=5, candidates=candidates
    )
    found = minimise_stochastic(training, max_epochs=epochs, tolerance=0)
    plain = Plain(data, token_weights, tokens, given, loss, 0.4, free, sets[rows])
    for epoch in range(1, epochs + 1):
        order = training.order(epoch)
        for first in range(0, N, BATCH):
            plain.learn(order[first : first + BATCH])
        for w in range(len(free)):
            plain.move(w, 0.0)
    weights = training.state.weights
    reordered = np.concatenate([weights[data.pattern.locate(slice(n))], weights[len(weights) - Y * Y - 2 * Y :]])
    np.testing.assert_allclose(reordered, plain.w, atol=1e-12)
    others = np.delete(
        weights[: data.pattern.vector_size], np.arange(data.pattern.n_weights)[data.pattern.locate(slice(n))]
    )
    assert not others.any()
    # the weights after sentence i count from the next one on; the last state has not been used yet
    average = np.mean([*plain.trace[N if epochs > 1 else 0 :]], axis=0)
    np.testing.assert_allclose(found.weights, average, atol=1e-12)
    assert not found.weights[~free].any()


def test_orders_are_permutations_that_depend_on_seed_and_epoch() -> None:
    data, token_weights, _, pattern = make(0, False)
    free = np.ones(pattern.n_weights + Y * Y + 2 * Y, np.bool_)
    a, b = (
        AveragedAdaGrad(np.zeros(len(free)), data, token_weights, LOSSES["sequence_log"], free=free, c2=0.1, seed=s)
        for s in (1, 2)
    )
    orders = [a.order(1), a.order(2), b.order(1)]
    assert all(sorted(order) == list(range(N)) for order in orders)
    assert len({tuple(order) for order in orders}) == 3
    np.testing.assert_array_equal(a.order(1), orders[0])
