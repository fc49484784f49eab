"""The training objective of a linear chain: weights ─► tables ─► emission ─► loss ─► adjoint ─► gradient.

The weight vector is [attribute weights | trigrams | transition Y·Y | start Y | stop Y]; trigrams only of second order.
Sentences are taken in order of length, in blocks (what the adjoint takes in at once) of runs (what one kernel call
does). Blocks and runs depend on the data alone, and their results are added in order, so that any number of threads
gives the same bits.

A loss that needs to know how large its terms are before it can add them up (losses/run.py) gets the largest of the
pass before as a reference. Where that was too far off, the pass is repeated.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tagwright.arrays import Bools, Doubles, Longs, Workers, cut_evenly, empty_rows, zero_rows
from tagwright.attributes.lexicon import TagDictionary
from tagwright.chain.forward_backward import Chain
from tagwright.chain.second_order import AnyChain, SecondOrderChain
from tagwright.chain.trigrams import Trigrams, trigram_keys
from tagwright.encode.batch import Batch, spread
from tagwright.learners._decoder import find_candidates
from tagwright.losses.run import Loss, Run, RunLoss, Total
from tagwright.scores.adjoint import Adjoint
from tagwright.scores.linear import NO_UNKNOWN, LinearMap, Tables, score_tokens

BLOCK_BYTES = 1 << 23  # of emission rows: what fits the last cache
RUN_BYTES = 1 << 19  # of emission rows: what fits a core's own cache
RUN_TOKENS_A_LABEL = 8  # at least: a run's transition counts are a table of Y² to be cleared and read
BLOCK_RUNS = 4  # at least: for the threads
SECOND_ORDER_RUNS = 4  # times as many tokens: a run's trigram counts are a table of Y³ to be cleared and read


@dataclass(frozen=True, slots=True)
class Weights:
    """Views of a weight vector."""

    attributes: Doubles
    transition: Doubles  # [Y, Y]
    start: Doubles
    stop: Doubles
    trigrams: Doubles  # [K]

    @classmethod
    def split(cls, vector: Doubles, n_labels: int, n_trigrams: int = 0) -> Weights:
        Y, K = n_labels, n_trigrams
        n = len(vector) - K - Y * Y - 2 * Y
        transition, start, stop = np.split(vector[n + K :], [Y * Y, Y * Y + Y])
        return cls(vector[:n], transition.reshape(Y, Y), start, stop, vector[n : n + K])


class ChainObjective:
    """f(w) and its gradient on one labelled Batch, without the penalty.

    `free` [weights]: those that may move. `weights` [n]: how much each token counts (losses/run.py); 1 unless given.
    `dictionary`: which labels words may have. `keys`: the label trigrams that have a weight, of second order.
    """

    def __init__(
        self,
        scores: LinearMap,
        data: Batch,
        loss: Loss,
        free: Bools,
        workers: Workers,
        weights: Doubles | None = None,
        *,
        dictionary: TagDictionary | None = None,
        keys: Longs | None = None,
    ) -> None:
        self.scores = scores
        self.loss = loss
        self.free = free
        self.workers = workers
        order = np.argsort(data.lengths, kind="stable")
        self.data = data.take(order)
        tokens = spread(data.offsets[:-1][order], data.lengths[order])
        self.token_weights = np.ones(data.n_tokens) if weights is None else weights[tokens]
        lengths = self.data.lengths
        row = scores.width * np.dtype(scores.dtype).itemsize
        tokens_a_run = max(RUN_BYTES // row, RUN_TOKENS_A_LABEL * scores.n_labels)
        tokens_a_block = max(BLOCK_BYTES // row, BLOCK_RUNS * tokens_a_run)
        self.blocks = cut_evenly(lengths, max(1, round(data.n_tokens / tokens_a_block)))
        tokens_a_run *= 1 if keys is None else SECOND_ORDER_RUNS
        self.runs = [cut_runs(lengths, *block, tokens_a_run) for block in self.blocks]
        self.locations = scores.index.of_tokens(self.data, NO_UNKNOWN)
        self.adjoint = Adjoint(scores, self.data, self.locations, self.blocks)
        self._table = zero_rows((scores.index.n_rows, scores.width), scores.dtype)
        self._buffer = empty_rows((max(self._size(block) for block in self.blocks), scores.width), scores.dtype)
        self.reference = 0.0
        self.keys = keys
        self.candidates = None if dictionary is None else find_candidates(self.data, scores.n_labels, dictionary)

    @property
    def n_trigrams(self) -> int:
        return 0 if self.keys is None else len(self.keys)

    @property
    def n_weights(self) -> int:
        Y = self.scores.n_labels
        return self.scores.pattern.n_weights + self.n_trigrams + Y * Y + 2 * Y

    def __call__(self, vector: Doubles) -> tuple[float, Doubles]:
        """Value and gradient at `vector`."""
        weights = self.split(vector)
        chain = self._build_chain(weights)
        linear = self.scores.at(weights.attributes, self.workers, self._table)
        self.tables = Tables(
            linear.table, linear.table.reshape(-1), linear.table[:0], linear.table[:0].reshape(-1), linear.weights
        )
        gradient = np.zeros(len(vector))
        total = self._pass(chain, self.split(gradient))
        if not total.fits:
            gradient[:] = 0
            total = self._pass(chain, self.split(gradient))
        if total.factor != 1:
            gradient *= total.factor
        gradient[~self.free] = 0
        return total.value, gradient

    def count_features(self) -> Doubles:
        """How often the data has what each weight stands for, with the gold labels; those not known are left out."""
        counts = np.zeros(self.n_weights)
        parts, labels = self.split(counts), self.data.labels
        self.adjoint.reset()
        for block, (first, last) in enumerate(self.blocks):
            tokens = slice(int(self.data.offsets[first]), int(self.data.offsets[last]))
            known = np.flatnonzero(labels[tokens] >= 0)
            rows = self._buffer[: tokens.stop - tokens.start]
            rows[:] = 0
            rows[known, labels[tokens][known]] = 1
            self.adjoint.add_block(block, rows, self.workers)
        parts.attributes[:] = self.adjoint.finish(self.workers)
        parts.transition[:], parts.start[:], parts.stop[:] = count_gold(self.data, self.scores.n_labels)
        if self.keys is not None:
            found = np.searchsorted(self.keys, trigram_keys(self.data.offsets, labels, self.scores.n_labels))
            parts.trigrams[:] = np.bincount(found, minlength=len(self.keys))
        return counts

    def split(self, vector: Doubles) -> Weights:
        """Views of a weight vector, or of a gradient."""
        return Weights.split(vector, self.scores.n_labels, self.n_trigrams)

    def _build_chain(self, weights: Weights) -> AnyChain:
        dtype = self.scores.dtype
        first = Chain.build(weights.transition, weights.start, weights.stop, dtype)
        trigrams = None if self.keys is None else Trigrams(self.scores.n_labels, self.keys, weights.trigrams)
        return first if trigrams is None else SecondOrderChain.build(first, trigrams, dtype)

    def _pass(self, chain: AnyChain, gradient: Weights) -> Total:
        """Emission, loss and adjoint of all sentences; their gradients are added to `gradient`."""
        self.adjoint.reset()
        terms: list[Doubles] = []
        weights: list[Doubles] = []
        for block, runs in enumerate(self.runs):
            results: list[RunLoss | None] = [None] * len(runs)
            self.workers.run(self._run, [(results, k, run, runs[0][0], chain) for k, run in enumerate(runs)])
            self.adjoint.add_block(block, self._buffer, self.workers)
            for result in filter(None, results):  # let go of block by block: a thousand labels make Y² numbers 8 MB
                gradient.transition[:] += result.transition
                gradient.start[:] += result.start
                gradient.stop[:] += result.stop
                gradient.trigrams[:] += result.trigrams
                terms.append(result.terms)
                weights.append(result.weights)
        gradient.attributes[:] = self.adjoint.finish(self.workers)
        total = self.loss.add_up(np.concatenate(terms), np.concatenate(weights), self.reference)
        self.reference = total.reference
        return total

    def _run(self, results: list[RunLoss | None], k: int, run: tuple[int, int], origin: int, chain: AnyChain) -> None:
        """Emission and loss of one run, into its rows of the block's buffer."""
        first, last = run
        offsets = self.data.offsets
        begin, end = offsets[first], offsets[last]
        rows = self._buffer[begin - offsets[origin] : end - offsets[origin]]
        score_tokens(self.locations[begin:end], self.tables, self.data, begin, self.scores.n_labels, rows)
        offsets = offsets[first : last + 1] - begin
        candidates = None if self.candidates is None else self.candidates.part(begin, end)
        sentences = Run(rows, offsets, self.data.labels[begin:end], self.token_weights[begin:end], candidates)
        results[k] = self.loss.of_run(sentences, chain, self.reference)

    def _size(self, block: tuple[int, int]) -> int:
        return int(self.data.offsets[block[1]] - self.data.offsets[block[0]])


def cut_runs(lengths: Longs, first: int, last: int, tokens: int) -> list[tuple[int, int]]:
    """The sentences `first` to `last` − 1 in runs of about so many tokens."""
    n = max(1, round(int(lengths[first:last].sum()) / tokens))
    return [(first + a, first + b) for a, b in cut_evenly(lengths[first:last], n)]


def count_gold(data: Batch, n_labels: int) -> tuple[Doubles, Doubles, Doubles]:
    """Gold transitions [Y, Y], first labels [Y] and last labels [Y]; those not known are left out."""
    Y, labels = n_labels, data.labels
    inner = labels >= 0
    inner[1:] &= labels[:-1] >= 0
    inner[data.offsets[:-1]] = False
    current = np.flatnonzero(inner)
    pairs = np.bincount(labels[current - 1].astype(np.int64) * Y + labels[current], minlength=Y * Y)
    first, last = labels[data.offsets[:-1]], labels[data.offsets[1:] - 1]
    start = np.bincount(first[first >= 0], minlength=Y)
    stop = np.bincount(last[last >= 0], minlength=Y)
    return pairs.reshape(Y, Y).astype(np.float64), start.astype(np.float64), stop.astype(np.float64)
