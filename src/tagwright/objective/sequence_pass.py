"""The sequence losses of a first-order chain, from locations to gradients in one kernel: no Python between the steps.

    of a run     emission (scores/linear.py) ─► F, log Z, marginals (chain/forward_backward.py)
                 ─► weight · (expected − gold counts) (losses/sequence.py, where the mathematics is)

Step by step, a run takes 0.04 ms of Python, during which no other thread can begin or end a step. One thread does not
mind; 16 threads wait so long for each other that a run takes four times as long. So a thread calls the kernel once a
block, which takes run after run until all are taken. Other losses and chains go step by step (threads.py), and so does
a sentence that scaled probabilities cannot hold. The results are the same.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from tagwright._jit import tight_kernel
from tagwright._simd import fetch_and_add
from tagwright.arrays import Bools, Doubles, Floats, Ints, Longs, Stage, empty_rows
from tagwright.chain.forward_backward import Chain, PairBuffers, forward_backward, score_labels
from tagwright.chain.label_chain import TermWeights
from tagwright.chain.scaling import RunSums
from tagwright.encode.batch import Batch
from tagwright.losses.run import Loss, RunLoss, SentenceRun, add_ends
from tagwright.losses.sequence import subtract_gold
from tagwright.scores.linear import LinearScores, ScoreTables, add_attribute_scores, add_scores, sorting_room


class BlockData(NamedTuple):
    """The sentences of a block; tokens and sentences are counted from its first."""

    offsets: Longs  # [N + 1]
    labels: Ints  # [n]
    weights: Doubles  # [N], of sentences
    runs: Longs  # [R, 2]: first sentence of each, and the one after its last
    locations: Ints  # [n, S]
    pointers: Longs  # [n + 1], into the attributes of the whole data
    attributes: Ints
    values: Floats

    @classmethod
    def build(
        cls, data: Batch, weights: Doubles, locations: Ints, first: int, runs: list[tuple[int, int]]
    ) -> BlockData:
        """`runs` of sentences of `data`, which begin with the sentence `first`; weights [N]."""
        last = runs[-1][1]
        begin, end = int(data.offsets[first]), int(data.offsets[last])
        return cls(
            data.offsets[first : last + 1] - begin, data.labels[begin:end], weights[first:last],
            np.array(runs, np.int64) - first, locations[begin:end], data.pointers[begin : end + 1], data.attributes,
            data.values,
        )  # fmt: skip


class BlockSums(NamedTuple):
    """What a block gives, beside the gradient of its rows."""

    gold: Doubles  # [N]: F of the gold labels
    pivots: Doubles  # [N]: TermWeights
    log_z: Doubles  # [N]
    weights: Doubles  # [N]: how much each sentence counts
    done: Bools  # [N]: false where scaled probabilities would not do; its rows are still the emission
    transitions: Doubles  # [R, Y, Y]
    starts: Doubles  # [R, Y]
    stops: Doubles  # [R, Y]

    @classmethod
    def build(cls, n_sentences: int, n_runs: int, n_labels: int) -> BlockSums:
        N, R, Y = n_sentences, n_runs, n_labels
        return cls(
            np.empty(N), np.empty(N), np.empty(N), np.empty(N), np.empty(N, np.bool_), np.empty((R, Y, Y)),
            np.empty((R, Y)), np.empty((R, Y)),
        )  # fmt: skip


class RunBuffers(NamedTuple):
    """Work space of one thread."""

    ring: Ints  # of add_scores
    counts: Floats  # [P, P]
    pair: PairBuffers

    @classmethod
    def build(cls, longest: int, width: int, n_slots: int, dtype: type[np.floating[Any]]) -> RunBuffers:
        """For sentences of at most `longest` tokens."""
        counts = empty_rows((width, width), dtype)
        return cls(sorting_room(n_slots), counts, PairBuffers.build(longest, width, dtype))


@tight_kernel
def expect_run(
    k: int, data: BlockData, tables: ScoreTables, chain: Chain, rate: float, reference: float, rows: Floats,
    sums: BlockSums, work: RunBuffers,
) -> None:  # fmt: skip
    """The k-th run of a block: rows [n, P] = the gradient of its emission; its part of `sums`."""
    i, j, Y = data.runs[k, 0], data.runs[k, 1], chain.n_labels
    begin, end = data.offsets[i], data.offsets[j]
    add_scores(data.locations[begin:end], tables, Y, work.ring, rows[begin:end])
    if data.attributes.shape[0] > 0:
        add_attribute_scores(data.pointers, data.attributes, data.values, tables.weights, begin, end, rows[begin:end])
    offsets = data.offsets[i : j + 1]
    transition, start, stop = chain.scores
    score_labels(rows, offsets, data.labels, transition, start, stop, sums.gold[i:j])
    for s in range(i, j):
        shift = chain.shift * (data.offsets[s + 1] - data.offsets[s] - 1) + chain.edge_shift
        sums.pivots[s] = sums.gold[s] + reference - shift
    given = TermWeights(data.weights[i:j], sums.pivots[i:j], rate)
    found = RunSums(work.counts, sums.log_z[i:j], sums.weights[i:j], sums.done[i:j])
    work.counts[:] = 0
    forward_backward(rows, offsets, given, found, rows, chain, work.pair)
    sums.starts[k] = 0
    sums.stops[k] = 0
    for a in range(Y):
        for b in range(Y):
            sums.transitions[k, a, b] = work.counts[a, b] * chain.matrix[a, b]
    for s in range(i, j):
        sums.log_z[s] += chain.shift * (data.offsets[s + 1] - data.offsets[s] - 1) + chain.edge_shift
        if sums.done[s]:
            own = data.offsets[s : s + 2]
            subtract_gold(rows, own, data.labels, sums.weights[s : s + 1], sums.transitions[k])
            add_ends(rows, own, sums.starts[k], sums.stops[k])


@tight_kernel
def expect_runs(
    taken: Longs, data: BlockData, tables: ScoreTables, chain: Chain, rate: float, reference: float, rows: Floats,
    sums: BlockSums, work: RunBuffers,
) -> int:  # fmt: skip
    """The runs of a block that no other thread has taken, one after the other. Returns a run in which a sentence is not
    done, to be called again; −1 when nothing is left."""
    while True:
        k = fetch_and_add(taken)
        if k >= data.runs.shape[0]:
            return -1
        expect_run(k, data, tables, chain, rate, reference, rows, sums, work)
        for s in range(data.runs[k, 0], data.runs[k, 1]):
            if not sums.done[s]:
                return int(k)


class SequencePass:
    """A pass over the blocks of a training set with a sequence loss of this rate (chain/label_chain.py), on so many
    threads."""

    def __init__(
        self, data: Batch, token_weights: Doubles, locations: Ints, runs: list[list[tuple[int, int]]], n_threads: int
    ) -> None:
        self._n_threads = n_threads
        lengths = data.lengths
        weights: Doubles = np.add.reduceat(token_weights, data.offsets[:-1]) / lengths
        self._token_weights = token_weights
        self._origins = [int(data.offsets[block[0][0]]) for block in runs]
        self._blocks = [BlockData.build(data, weights, locations, block[0][0], block) for block in runs]
        self._longest, self._n_slots = int(lengths.max()), locations.shape[1]
        self._free: list[RunBuffers] = []  # of threads that have done their run

    def of_block(
        self,
        block: int,
        rows: Floats,
        loss: Loss,
        chain: Chain,
        scores: LinearScores,
        reference: float,
        after: list[Stage],
    ) -> tuple[Stage, Callable[[], list[RunLoss]]]:
        """The runs of a block, and then their results; rows [n, P]: the gradient of the emission."""
        data = self._blocks[block]
        sums = BlockSums.build(len(data.weights), len(data.runs), chain.n_labels)
        piece = block, rows, sums, np.zeros(1, np.int64)
        stage = Stage(partial(self._take, loss, chain, scores, reference), [piece] * self._n_threads, after)
        return stage, partial(self._results, data, sums)

    def _take(
        self, loss: Loss, chain: Chain, scores: LinearScores, reference: float, block: int, rows: Floats,
        sums: BlockSums, taken: Longs,
    ) -> None:  # fmt: skip
        """The runs that this thread takes."""
        data, work = self._blocks[block], self._find_buffers(rows)
        given = data, scores.tables, chain, loss.rate or 0.0, reference, rows, sums, work
        while (k := expect_runs(taken, *given)) >= 0:
            self._repeat(k, block, loss, chain, reference, rows, sums)
        self._free.append(work)

    def _repeat(
        self, k: int, block: int, loss: Loss, chain: Chain, reference: float, rows: Floats, sums: BlockSums
    ) -> None:
        """The sentences of a run that are not done, step by step."""
        data = self._blocks[block]
        i, j = data.runs[k].tolist()
        for s in (i + np.flatnonzero(~sums.done[i:j])).tolist():
            begin, end = data.offsets[s : s + 2].tolist()
            weights = self._token_weights[self._origins[block] + begin : self._origins[block] + end]
            run = SentenceRun(rows[begin:end], np.array([0, end - begin]), data.labels[begin:end], weights)
            found = loss.of_run(run, chain, reference, out=run.emission)
            sums.log_z[s], sums.gold[s] = found.terms[0], 0.0
            sums.transitions[k] += found.transition
            sums.starts[k] += found.start
            sums.stops[k] += found.stop

    def _results(self, data: BlockData, sums: BlockSums) -> list[RunLoss]:
        """Those of all runs; their rows are those of the block."""
        terms, none = sums.log_z - sums.gold, np.empty((0, 0), np.float32)
        return [
            RunLoss(terms[i:j], data.weights[i:j], none, sums.transitions[k], sums.starts[k], sums.stops[k])
            for k, (i, j) in enumerate(data.runs.tolist())
        ]

    def _find_buffers(self, rows: Floats) -> RunBuffers:
        """Those of a thread that has done its run, or new ones."""
        try:
            return self._free.pop()
        except IndexError:
            return RunBuffers.build(self._longest, rows.shape[1], self._n_slots, rows.dtype.type)
