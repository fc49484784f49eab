"""The training objective on the threads of this machine: weights ─► tables ─► emission ─► loss ─► adjoint ─► gradient.

Sentences are taken in order of length, in blocks (what the adjoint takes in at once) of runs (what one kernel call
does). Blocks and runs depend on the data alone, and their results are added in order, so that any number of threads
gives the same bits. Several threads do the runs of the next block before the adjoint of one, so that they need not wait
for the last run:

    one thread     runs of 0 ─► adjoint of 0 ─► runs of 1 ─► adjoint of 1 ─► ...
    more           runs of 0 ─► runs of 1 ─► adjoint of 0 ─► runs of 2 ─► adjoint of 1 ─► ...

A loss that needs to know how large its terms are before it can add them up (losses/run.py) is given the reference of an
earlier evaluation. Where that is too far off, the pass is repeated.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

import numpy as np

from tagwright.arrays import Doubles, Floats, Longs, Stage, Workers, cut_evenly, empty_rows, zero_rows
from tagwright.chain.forward_backward import Chain
from tagwright.chain.label_chain import LabelChain
from tagwright.chain.second_order import SecondOrderChain
from tagwright.chain.trigrams import Trigrams, trigram_keys
from tagwright.encode.batch import spread
from tagwright.losses.run import RunLoss, SentenceRun, Total
from tagwright.objective.evaluation import ValueAndGradient
from tagwright.objective.problem import TrainingProblem, WeightParts, count_gold
from tagwright.objective.sequence_pass import SequencePass
from tagwright.scores.adjoint import Adjoint
from tagwright.scores.linear import NO_UNKNOWN, LinearScores, score_tokens

BLOCK_BYTES = 1 << 23  # of emission rows, at least: what fits the last cache
MOST_BLOCK_BYTES = 1 << 26  # at most
BLOCKS = 6  # of a large corpus: at the end of each, all threads wait for each other
RUN_BYTES = 1 << 19  # of emission rows, at least: what fits a core's own cache
RUNS_A_BLOCK = 32  # at most: what Python does for a run, under its lock, is little beside the run
RUN_TOKENS_A_LABEL = 8  # at least: a run's transition counts are a table of Y² to be cleared and read
BLOCK_RUNS = 4  # at least: for the threads
SECOND_ORDER_RUNS = 4  # times as many tokens: a run's trigram counts are a table of Y³ to be cleared and read


@dataclass(frozen=True, slots=True)
class Pass:
    """One pass over the data: where it is made, and relative to what."""

    scores: LinearScores
    chain: LabelChain
    reference: float
    gradient: WeightParts  # to which the gradients of all sentences are added


class ThreadedObjective:
    """f(w) and its gradient for one TrainingProblem, without the penalty."""

    def __init__(self, problem: TrainingProblem, workers: Workers) -> None:
        self.problem, self.workers = problem, workers
        data, scores = problem.data, problem.scores
        order = np.argsort(data.lengths, kind="stable")
        self.data = data.take(order)
        tokens = spread(data.offsets[:-1][order], data.lengths[order])
        self.token_weights = np.ones(data.n_tokens) if problem.weights is None else problem.weights[tokens]
        lengths = self.data.lengths
        row = scores.width * np.dtype(scores.dtype).itemsize
        block_bytes = min(max(BLOCK_BYTES, row * data.n_tokens // BLOCKS), MOST_BLOCK_BYTES)
        run_bytes = max(RUN_BYTES, block_bytes // RUNS_A_BLOCK)
        tokens_a_run = max(run_bytes // row, RUN_TOKENS_A_LABEL * scores.n_labels)
        tokens_a_block = max(block_bytes // row, BLOCK_RUNS * tokens_a_run)
        self.blocks = cut_evenly(lengths, max(1, round(data.n_tokens / tokens_a_block)))
        tokens_a_run *= 1 if problem.keys is None else SECOND_ORDER_RUNS
        self.runs = [cut_runs(lengths, *block, tokens_a_run) for block in self.blocks]
        self._locations = scores.index.of_tokens(self.data, NO_UNKNOWN)
        self._adjoint = Adjoint(scores, self.data, self._locations, self.blocks, workers)
        self._table = zero_rows((scores.index.n_rows, scores.width), scores.dtype)  # memory for all passes
        shape = (max(self._size(block) for block in self.blocks), scores.width)
        self._buffers = [empty_rows(shape, scores.dtype) for _ in range(1 if workers.n_jobs == 1 else 2)]
        self._fixed = np.flatnonzero(~problem.free)
        self.candidates = problem.candidates_of(self.data)
        self._sequences = None
        if problem.loss.rate is not None and problem.keys is None and self.candidates is None:
            self._sequences = SequencePass(self.data, self.token_weights, self._locations, self.runs, workers.n_jobs)

    def __call__(self, vector: Doubles, reference: float = 0.0) -> ValueAndGradient:
        """Value and gradient at `vector`."""
        problem = self.problem
        weights, gradient = problem.split(vector), np.zeros(len(vector))
        chain: LabelChain
        chain = first = Chain.build(*weights.chain, problem.scores.dtype)
        if problem.keys is not None:
            trigrams = Trigrams(first.n_labels, problem.keys, weights.trigrams)
            chain = SecondOrderChain.build(first, trigrams, problem.scores.dtype)
        scores = problem.scores.at(weights.attributes, self.workers, self._table)
        total = self._pass(Pass(scores, chain, reference, problem.split(gradient)))
        if not total.fits:
            gradient[:] = 0
            total = self._pass(Pass(scores, chain, total.reference, problem.split(gradient)))
        if total.factor != 1:
            gradient *= total.factor
        gradient[self._fixed] = 0
        return ValueAndGradient(total.value, gradient, total.reference)

    def count_features(self) -> Doubles:
        """How often the data has what each weight stands for, with the gold labels; those not known are left out."""
        counts = np.zeros(len(self.problem.start))
        parts, labels, Y = self.problem.split(counts), self.data.labels, self.problem.scores.n_labels
        for block, (first, last) in enumerate(self.blocks):
            tokens = slice(int(self.data.offsets[first]), int(self.data.offsets[last]))
            known = np.flatnonzero(labels[tokens] >= 0)
            rows = self._buffers[0][: tokens.stop - tokens.start]
            rows[:] = 0
            rows[known, labels[tokens][known]] = 1
            self.workers.run_stages([self._adjoint.of_block(block, rows, parts.attributes, [])])
        self.workers.run_stages([self._adjoint.of_rows(parts.attributes, [])])
        parts.transition[:], parts.start[:], parts.stop[:] = count_gold(self.data, Y)
        if self.problem.keys is not None:
            found = np.searchsorted(self.problem.keys, trigram_keys(self.data.offsets, labels, Y))
            parts.trigrams[:] = np.bincount(found, minlength=len(self.problem.keys))
        return counts

    def _pass(self, now: Pass) -> Total:
        """Emission, loss and adjoint of all sentences."""
        gradient, n_buffers = now.gradient, len(self._buffers)
        terms: list[Doubles] = []
        weights: list[Doubles] = []

        def collect(results: Callable[[], list[RunLoss]]) -> None:
            for result in results():
                gradient.transition[:] += result.transition
                gradient.start[:] += result.start
                gradient.stop[:] += result.stop
                gradient.trigrams[:] += result.trigrams
                terms.append(result.terms)
                weights.append(result.weights)

        losses: list[Stage] = []
        sums: list[Stage] = []
        adjoints: list[Stage] = []
        for block in range(len(self.blocks)):
            rows = self._buffers[block % n_buffers]
            free = [adjoints[block - n_buffers]] if block >= n_buffers else []
            stage, results = self._losses_of_block(block, rows, now, free)
            losses.append(stage)
            sums.append(Stage(collect, [(results,)], [stage, *sums[-1:]]))
            adjoints.append(self._adjoint.of_block(block, rows, gradient.attributes, [stage, *adjoints[-1:]]))
        stages = in_turn(losses, sums, adjoints, ahead=n_buffers - 1)
        self.workers.run_stages([*stages, self._adjoint.of_rows(gradient.attributes, adjoints[-1:])])
        return self.problem.loss.add_up(np.concatenate(terms), np.concatenate(weights), now.reference)

    def _losses_of_block(
        self, block: int, rows: Floats, now: Pass, after: list[Stage]
    ) -> tuple[Stage, Callable[[], list[RunLoss]]]:
        """Emission and loss of all runs of a block, and then their results; rows: the gradient of the emission."""
        runs, loss = self.runs[block], self.problem.loss
        if self._sequences is not None:
            return self._sequences.of_block(block, rows, loss, cast(Chain, now.chain), now.scores, now.reference, after)
        results: list[RunLoss | None] = [None] * len(runs)
        pieces = [(results, k, run, runs[0][0], rows, now) for k, run in enumerate(runs)]
        return Stage(self._run, pieces, after), lambda: list(filter(None, results))

    def _run(
        self, results: list[RunLoss | None], k: int, run: tuple[int, int], origin: int, buffer: Floats, now: Pass
    ) -> None:
        """Emission and loss of one run; the gradient overwrites the emission in the block's buffer."""
        first, last = run
        offsets = self.data.offsets
        begin, end = int(offsets[first]), int(offsets[last])
        rows = buffer[begin - offsets[origin] : end - offsets[origin]]
        score_tokens(self._locations[begin:end], now.scores.tables, self.data, begin, now.scores.n_labels, rows)
        offsets = offsets[first : last + 1] - begin
        candidates = None if self.candidates is None else self.candidates.part(begin, end)
        sentences = SentenceRun(rows, offsets, self.data.labels[begin:end], self.token_weights[begin:end], candidates)
        results[k] = self.problem.loss.of_run(sentences, now.chain, now.reference, out=rows)

    def _size(self, block: tuple[int, int]) -> int:
        return int(self.data.offsets[block[1]] - self.data.offsets[block[0]])


def in_turn(losses: list[Stage], sums: list[Stage], adjoints: list[Stage], ahead: int) -> list[Stage]:
    """The stages of all blocks; the losses of so many blocks come before what belongs to a block before them."""
    stages = losses[:ahead]
    for block in range(len(losses)):
        stages += [*losses[block + ahead : block + ahead + 1], sums[block], adjoints[block]]
    return stages


def cut_runs(lengths: Longs, first: int, last: int, tokens: int) -> list[tuple[int, int]]:
    """The sentences `first` to `last` − 1 in runs of about so many tokens."""
    n = max(1, round(int(lengths[first:last].sum()) / tokens))
    return [(first + a, first + b) for a, b in cut_evenly(lengths[first:last], n)]
