"""The training objective of a linear chain: weights ─► tables ─► emission ─► loss ─► adjoint ─► gradient.

The weight vector is [attribute weights | transition Y·Y | start Y | stop Y]. Sentences are taken in order of length, in
blocks (what the adjoint takes in at once) of runs (what one kernel call does). Blocks and runs depend on the data
alone, and their results are added in order, so that any number of threads gives the same bits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tagwright.arrays import Bools, Doubles, Floats, Ints, Longs, Workers, cut_evenly
from tagwright.chain.forward_backward import Chain
from tagwright.encode.dataset import Dataset
from tagwright.losses.sequence_log import RunLoss
from tagwright.scores.adjoint import Adjoint
from tagwright.scores.linear import LinearScores

BLOCK_BYTES = 1 << 23  # of emission rows: what fits the last cache
RUN_BYTES = 1 << 18  # of emission rows: what fits a core's own cache

Loss = Callable[[Floats, Longs, Ints, Chain], RunLoss]


@dataclass(frozen=True, slots=True)
class Weights:
    """Views of a weight vector."""

    attributes: Doubles
    transition: Doubles  # [Y, Y]
    start: Doubles
    stop: Doubles

    @classmethod
    def split(cls, vector: Doubles, n_labels: int) -> Weights:
        Y = n_labels
        n = len(vector) - Y * Y - 2 * Y
        return cls(vector[:n], vector[n : n + Y * Y].reshape(Y, Y), vector[n + Y * Y : n + Y * Y + Y], vector[-Y:])


class ChainObjective:
    """f(w) and its gradient on one labelled Dataset, without the penalty. `free` [weights]: those that may move."""

    def __init__(self, scores: LinearScores, data: Dataset, loss: Loss, free: Bools, workers: Workers) -> None:
        self.scores = scores
        self.loss = loss
        self.free = free
        self.workers = workers
        self.data = data.take(np.argsort(data.lengths, kind="stable"))
        lengths = self.data.lengths
        row = scores.width * np.dtype(scores.dtype).itemsize
        self.blocks = cut_evenly(lengths, max(1, round(data.n_tokens * row / BLOCK_BYTES)))
        self.runs = [cut_runs(lengths, *block, RUN_BYTES // row) for block in self.blocks]
        self.adjoint = Adjoint(scores, self.data, self.blocks)
        self._buffer = np.empty((max(self._size(block) for block in self.blocks), scores.width), scores.dtype)
        self._gold = count_gold(self.data, scores.n_labels)

    @property
    def n_weights(self) -> int:
        Y = self.scores.n_labels
        return self.scores.pattern.n_weights + Y * Y + 2 * Y

    def __call__(self, vector: Doubles) -> tuple[float, Doubles]:
        """Value and gradient at `vector`."""
        Y = self.scores.n_labels
        weights = Weights.split(vector, Y)
        chain = Chain.build(weights.transition, weights.start, weights.stop, self.scores.dtype)
        self.scores.set_weights(weights.attributes, self.workers)
        self.adjoint.reset()
        gradient = np.zeros(len(vector))
        parts = Weights.split(gradient, Y)
        value = 0.0
        for block, runs in enumerate(self.runs):
            results: list[RunLoss | None] = [None] * len(runs)
            self.workers.run(self._run, [(results, k, run, runs[0][0], chain) for k, run in enumerate(runs)])
            self.adjoint.add_block(block, self._buffer, self.workers)
            for result in results:
                assert result is not None
                value += float(result.values.sum())
                parts.transition[:] += result.transition
                parts.start[:] += result.start
                parts.stop[:] += result.stop
        for part, gold in zip((parts.transition, parts.start, parts.stop), self._gold, strict=True):
            part -= gold
        parts.attributes[:] = self.adjoint.finish(self.workers)
        gradient[~self.free] = 0
        return value, gradient

    def _run(self, results: list[RunLoss | None], k: int, run: tuple[int, int], origin: int, chain: Chain) -> None:
        """Emission and loss of one run, into its rows of the block's buffer."""
        first, last = run
        offsets = self.data.offsets
        begin, end = offsets[first], offsets[last]
        rows = self._buffer[begin - offsets[origin] : end - offsets[origin]]
        self.scores.emission(self.data, first, last, rows)
        results[k] = self.loss(rows, offsets[first : last + 1] - begin, self.data.labels[begin:end], chain)

    def _size(self, block: tuple[int, int]) -> int:
        return int(self.data.offsets[block[1]] - self.data.offsets[block[0]])


def cut_runs(lengths: Longs, first: int, last: int, tokens: int) -> list[tuple[int, int]]:
    """The sentences `first` to `last` − 1 in runs of about so many tokens."""
    n = max(1, round(int(lengths[first:last].sum()) / tokens))
    return [(first + a, first + b) for a, b in cut_evenly(lengths[first:last], n)]


def count_gold(data: Dataset, n_labels: int) -> tuple[Doubles, Doubles, Doubles]:
    """Gold transitions [Y, Y], first labels [Y] and last labels [Y]."""
    Y, labels = n_labels, data.labels
    inner = np.ones(len(labels), np.bool_)
    inner[data.offsets[:-1]] = False
    current = np.flatnonzero(inner)
    pairs = np.bincount(labels[current - 1].astype(np.int64) * Y + labels[current], minlength=Y * Y)
    start = np.bincount(labels[data.offsets[:-1]], minlength=Y)
    stop = np.bincount(labels[data.offsets[1:] - 1], minlength=Y)
    return pairs.reshape(Y, Y).astype(np.float64), start.astype(np.float64), stop.astype(np.float64)
