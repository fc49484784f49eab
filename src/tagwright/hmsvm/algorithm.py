"""The working-set algorithm of the HM-SVM (HMSVM section 6, algorithm 2; LM-POS section 4).

Problem     min ½‖w‖² + C Σ ξ_i  such that  F(x_i, y_i) − F(x_i, y) ≥ Δ(y, y_i) − ξ_i  for all y ≠ y_i,  ξ_i ≥ 0
            (L1 slack; L2, hard margin, and the duals: objective.py)
Given       a weight vector w = 0 (primal_weights.py, dual_weights.py), the training data, C
Returned    w, the chain's weights, and the working sets S_i with multipliers α_i(y): the support sequences

Algorithm 2, for one sequence i, all other α fixed (`optimise_sequences`; its comments have the paper's line numbers):

     2  loop
     3      ŷ = argmax_{y ≠ y_i} F(x_i, y) + Δ(y, y_i)                  (two-best Viterbi: worst_labelling.py)
     4      if ŷ keeps its margin: return
     7      S_i = S_i ∪ {ŷ}
     8      α_i = the optimum of W_i over S_i                           (working_sets.py, simplex_qp.py)
    10      drop the y from S_i that have α_i(y) = 0                    (here: that had it for some time)

A pass over the data

1. searches all sequences with w fixed. Threads share that. It gives primal, dual and gap exactly.
2. applies algorithm 2 to the sequences that violate their margin, in random order; a few loops for each.
3. applies line 8 alone to the sequences that have a working set, until the gap over the working sets is a fraction of
   the gap found.

Steps 2 and 3 are the block-coordinate method of Lacoste-Julien et al. (ICML 2013) with constraints that are kept (Shah,
Kolmogorov and Lampert, CVPR 2015), and with an exact optimum over them instead of a line search.

End: the gap is at most `tol` of the primal. That bounds how far the objective is from its minimum, for all sequences
together. The paper ends when no margin is violated by more than some `most_violation` beyond the slack ξ_i that the
working set of its sequence needs already (hard: beyond 0): a bound for each sequence, which the last few of a large
corpus reach long after the objective has settled. It can be asked for, too.

Shrinking: step 3 is most of the work. A sequence that adds little to the gap is left out of two sweeps in three.

Length: sequences one by one are slow to find how long w must be. So all α together are scaled by the s that maximises
the dual, as far as the cap goes.

Hard margin: where the data are inseparable, scaled α grow without end by a factor a pass. Any w that keeps all margins
has ‖w‖ ≥ Σ α Δ / ‖Σ α δΦ‖; when that exceeds LARGEST_NORM, the data are called inseparable.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np

from tagwright._jit import tight_kernel
from tagwright.arrays import Doubles, Floats, Longs, Workers, cut_evenly, inner, padded
from tagwright.chain.viterbi import PrunedSteps, Steps
from tagwright.encode.batch import Batch
from tagwright.errors import DataError
from tagwright.hmsvm.objective import MarginObjective
from tagwright.hmsvm.token_weights import TokenWeights, can_change, change_tokens, score_tokens
from tagwright.hmsvm.working_sets import (
    DONE,
    FULL,
    NO_ROOM,
    NOTHING_NEW,
    UNLIMITED,
    DualSolution,
    MarginProblem,
    SequenceWork,
    WorkingSets,
    add_labelling,
    describe_labelling,
    drop_idle,
    find_shortfalls,
    multiply_labellings,
    optimise_alpha,
)
from tagwright.hmsvm.worst_labelling import search_sentences, worst_labelling
from tagwright.kernels.chain_weights import ChainWeights
from tagwright.optim.online import DecodingWork

RUN_TOKENS = 1 << 12
"""Tokens searched at once."""
FIRST_ROOM = 8
"""Labellings a working set has room for at first."""
LOOPS = 5
"""Loops of algorithm 2 for one sequence in a pass, at most."""
MOST_SWEEPS = 8
GAP_SHARE = 0.2
"""Step 3 ends when the gap over the working sets is this share of the whole gap."""
ENOUGH = 0.1
"""Algorithm 2 ends when the sequence's part of the gap has fallen to this share."""
LARGEST_NORM = 1e6


@tight_kernel
def optimise_sequences(order: Longs, loops: int, solution: DualSolution, weights: TokenWeights) -> tuple[int, int]:
    """Algorithm 2 for the sequences `order`, one after the other, at most `loops` times each; 0: line 8 alone, once.

    Returns how many were done, and how that ended. Changed: their working sets, the chain, w; and gaps[i], what each
    added to the gap before.
    """
    problem, sets, chain, work, gaps = solution
    for n in range(order.shape[0]):
        i = order[n]
        begin, T = problem.offsets[i], problem.offsets[i + 1] - problem.offsets[i]
        if not can_change(begin, T, weights):
            return n, NO_ROOM
        if loops > 0:
            drop_idle(problem, sets, i)  # 10
        work.n_used[:T] = 0
        for k in range(sets.sizes[i]):
            describe_labelling(problem, sets, i, k, work)
            multiply_labellings(problem, i, k, work)
        score_tokens(begin, T, loops > 0, weights, work)
        for m in range(max(loops, 1)):  # 2
            if loops > 0:
                violation = worst_labelling(  # 3
                    work.emission[:T], problem.gold[begin : begin + T], chain.rows, problem.hamming, work.delta,
                    work.survivors, work.found[:T],
                )  # fmt: skip
                end = add_labelling(problem, sets, i, work.found) if violation > 0.0 else NOTHING_NEW  # 4 to 7
                if end == DONE:
                    describe_labelling(problem, sets, i, sets.sizes[i] - 1, work)
                    multiply_labellings(problem, i, sets.sizes[i] - 1, work)
                elif m > 0:  # the optimum, or without room as near to it as can be
                    break
                elif end == FULL:
                    return n, FULL
            gap = find_shortfalls(problem, sets, i, chain.edges, work)
            if m == 0:
                gaps[i] = gap
            elif gap < ENOUGH * gaps[i]:
                break
            if not optimise_alpha(problem, sets, i, chain, work):  # 8
                return n, UNLIMITED
        change_tokens(begin, T, work, weights)
    return order.shape[0], DONE


class WeightVector(Protocol):
    """w, but for the chain's part."""

    def products(self, squares: Longs) -> Doubles:
        """k(x_t, x_u) for the tokens of each sentence i, at squares[i] + t · T + u."""

    def emission(self, first: int, last: int, out: Floats) -> None:
        """The scores of the sentences `first` to `last` − 1 [n, P]."""

    def portions(self, order: Longs) -> Iterable[tuple[Longs, TokenWeights]]:
        """The sentences `order` in runs, each with what a sweep over it reads and changes."""

    def make_room(self, i: int) -> None:
        """For a change of sentence i, where a sweep found no room for it."""

    def scale(self, factor: float) -> None:
        """w times a factor."""

    def squared_norm(self) -> float: ...

    def learned(self) -> Any:
        """What stands for w in the model."""


class LearnedChain(NamedTuple):
    """What is learned."""

    weights: Any  # of attributes: LearnedWeights; with a kernel: the multipliers of contexts [M, Y]
    edges: Doubles  # [Y·Y + 2 Y]: transition, start, stop

    def copy(self) -> LearnedChain:
        return self  # nobody changes it


@dataclass(frozen=True, slots=True)
class PassReport:
    """What one pass found, before it optimised."""

    number: int
    primal: float
    dual: float
    gap: float  # (primal − dual) / primal
    squared_norm: float  # ‖w‖²
    violated: int  # sequences with a loss
    violation: float  # max_i H_i − ξ_i, by how much a margin is violated beyond the slack of its sequence
    labellings: int  # in all working sets
    seconds: float


@dataclass(slots=True)
class WorkingSetAlgorithm:
    """One training."""

    weights: WeightVector
    data: Batch
    n_labels: int
    objective: MarginObjective
    boundaries: bool
    workers: Workers
    random: np.random.Generator
    passes: list[PassReport] = field(default_factory=list)
    solution: DualSolution = field(init=False)
    _losses: Doubles = field(init=False)  # [N] H
    _slacks: Doubles = field(init=False)  # [N] ξ

    def __post_init__(self) -> None:
        data, Y, objective = self.data, self.n_labels, self.objective
        squares = np.concatenate([[0], np.cumsum(data.lengths**2)]).astype(np.int64)
        problem = MarginProblem(
            data.offsets, data.labels, squares, self.weights.products(squares), Y, self.boundaries, objective.hamming,
            objective.cap, objective.ridge,
        )  # fmt: skip
        sets = WorkingSets.build(data.n_sentences, data.n_tokens, FIRST_ROOM)
        work = SequenceWork.build(FIRST_ROOM, int(data.lengths.max()), Y)
        self.solution = DualSolution(problem, sets, ChainWeights.zeros(Y), work, np.zeros(data.n_sentences))
        self._losses, self._slacks = np.zeros((2, data.n_sentences))
        if not np.isfinite(problem.products).all():
            raise DataError(
                "attribute values are too large: their products are not finite; use smaller ones", location="X"
            )

    def solve(
        self, *, tol: float, most_violation: float = np.inf, most_passes: int, tell: Callable[[PassReport], bool]
    ) -> str:
        """Passes until gap and violation are small enough; returns "converged", "stopped" or "max_iterations"."""
        began = time.perf_counter()
        for number in range(1, most_passes + 1):
            self._search_all()
            found = self._measure(number, time.perf_counter() - began)
            self.passes.append(found)
            if tell(found):
                return "stopped"
            if found.gap <= tol and found.violation <= most_violation:
                return "converged"
            self._optimise(found)
        if self.passes[-1].primal == np.inf:
            self._refuse(f"no weights that separate it were found in max_iterations={most_passes} passes")
        return "max_iterations"

    def learned(self) -> LearnedChain:
        """What the model is made of."""
        return LearnedChain(self.weights.learned(), self.solution.chain.edges.copy())

    # ---- step 1 ----

    def _search_all(self) -> None:
        """The losses and slacks of all sentences, with the weights as they are."""
        chain = Steps.build(*self.solution.chain.split(), np.float64).pruned
        cuts = cut_evenly(self.data.lengths, max(1, self.data.n_tokens // RUN_TOKENS))
        self.workers.run(self._search_run, [(first, last, chain) for first, last in cuts])

    def _search_run(self, first: int, last: int, chain: PrunedSteps) -> None:
        begin, end = self.data.offsets[first], self.data.offsets[last]
        rows = np.empty((end - begin, padded(self.n_labels)))
        self.weights.emission(first, last, rows)
        offsets, gold = self.data.offsets[first : last + 1] - begin, self.data.labels[begin:end]
        sets, work = self.solution.sets, DecodingWork.build(offsets, self.n_labels, np.float64)
        search_sentences(
            rows, offsets, gold, chain, self.objective.hamming, sets.labels[:, begin:end], sets.sizes[first:last], work,
            self._losses[first:last], self._slacks[first:last],
        )  # fmt: skip

    def _measure(self, number: int, seconds: float) -> PassReport:
        """Primal, dual and gap."""
        sets, edges = self.solution.sets, self.solution.chain.edges
        norm = self.weights.squared_norm() + float(inner(edges, edges))
        if not np.isfinite(norm):
            reason = "the weights are no longer finite; use a smaller C, or smaller attribute values"
            raise DataError(f"training diverged: {reason}", location="X")
        dual = self.objective.dual(self._reward(), norm, sets.alpha.sum(axis=1))
        primal = self.objective.primal(self._losses, norm)
        gap = (primal - dual) / primal if 0 < primal < np.inf else float(primal > 0)
        slacks = 0.0 if self.objective.slack == "none" else self._slacks
        violated, violation = int(np.count_nonzero(self._losses)), float((self._losses - slacks).max())
        return PassReport(number, primal, dual, gap, norm, violated, violation, int(sets.sizes.sum()), seconds)

    def _reward(self) -> float:
        """Σ α Δ."""
        sets = self.solution.sets
        if not self.objective.hamming:
            return float(sets.alpha.sum())
        total = 0.0
        for k, labels in enumerate(sets.labels):
            wrong = np.add.reduceat(labels != self.data.labels, self.data.offsets[:-1], dtype=np.int64)
            total += float(np.sum(sets.alpha[:, k] * wrong))
        return total

    # ---- steps 2 and 3 ----

    def _optimise(self, found: PassReport) -> None:
        """Algorithm 2 for the violated sequences; then line 8 alone until the working sets' own gap is small."""
        target = GAP_SHARE * (found.primal - found.dual if found.primal < np.inf else found.dual)
        self._scale(found)
        self._sweep(np.flatnonzero(self._losses), LOOPS)
        everyone = np.flatnonzero(self.solution.sets.sizes)
        order = everyone
        for sweep in range(MOST_SWEEPS):
            self._sweep(order, 0)
            gaps = self.solution.gaps[everyone]
            if gaps.sum() <= target:
                return
            order = everyone[gaps > 0.1 * gaps.mean()] if sweep % 3 < 2 else everyone

    def _scale(self, found: PassReport) -> None:
        """The best length of all α together: max_s s Σ α Δ − ½ s² (‖w‖² + Σ_i (Σ_y α_i(y))² / C for L2)."""
        alpha = self.solution.sets.alpha
        totals = np.asarray(alpha.sum(axis=1))
        curvature = found.squared_norm + self.objective.ridge * float(inner(totals, totals))
        reward = found.dual + 0.5 * curvature
        if self.objective.slack == "none" and reward > LARGEST_NORM * np.sqrt(found.squared_norm):
            self._refuse(f"weights that separate it would have a norm above {LARGEST_NORM:g}")
        if curvature > 0:
            factor = min(reward / curvature, self.objective.cap / float(totals.max()))
            self.weights.scale(factor)
            self.solution.chain.scale(factor)
            alpha[:] *= factor

    def _sweep(self, sentences: Longs, loops: int) -> None:
        """`optimise_sequences` for these sentences in random order; working sets grow where they are full."""
        order = self.random.permutation(sentences)
        while len(order):
            for some, weights in self.weights.portions(order):
                done, end = optimise_sequences(some, loops, self.solution, weights)
                order = order[done:]
                if end != DONE:
                    break
            else:
                return
            if end == UNLIMITED:
                self._refuse("the margins of this sentence contradict each other", argument=f"X[{order[0]}]")
            if end == NO_ROOM:
                self.weights.make_room(int(order[0]))
                continue
            sets = self.solution.sets.grown()
            work = SequenceWork.build(len(sets.labels), int(self.data.lengths.max()), self.n_labels)
            self.solution = self.solution._replace(sets=sets, work=work)

    def _refuse(self, reason: str, argument: str = "y") -> None:
        raise DataError(
            f"a hard margin cannot be had on this training data: {reason}; use slack='l1' or 'l2'", location=argument
        )
