"""The working-set algorithm of the HM-SVM: search for violated margins, optimise over those found, until none is left.

Problem     min ½‖w‖² + C Σ H_i (L1),  ½‖w‖² + C/2 Σ H_i² (L2),  or ½‖w‖² with all H_i = 0 (hard)
            H_i: losses/hinge.py
Dual        max D(α) = Σ α_i(y) Δ(y, y_i) − ½‖w‖² [− Σ_i (Σ_y α_i(y))² / 2C for L2],  w = Σ α_i(y) δΦ(i, y),  α ≥ 0,
            Σ_y α_i(y) ≤ C for L1
Given       a space (where w lives), the data, C
Returned    w by way of the space, the chain's weights, and the planes with their α: the support sequences

HMSVM section 6 (algorithm 2), LM-POS section 4: working sets of labellings, one sequence optimised at a time. A pass

1. searches all sequences with w fixed. Threads share that, and the factorised scores make it cheap. It gives primal,
   dual and gap exactly.
2. sweeps over the sequences that violate their margin: search with the w of this moment, add the labelling, optimise
   the sequence over its working set; several times before the next one, because a sequence is cheap once it is scored.
3. sweeps over the sequences that have a working set, without searching, until the gap over the working sets is a
   fraction of the gap found.

Steps 2 and 3 are the block-coordinate method of Lacoste-Julien et al. (ICML 2013) with planes that are kept (Shah,
Kolmogorov and Lampert, CVPR 2015), and with an exact optimum over them instead of a line search.

End: the gap is at most `tol` of the primal. That bounds how far the objective is from its minimum, for all sequences
together. Algorithm 2 ends when no margin is violated by more than some `most_violation` beyond the slack ξ_i that the
working set of its sequence needs already (hard: beyond 0): a bound for each sequence, which the last few of a large
corpus reach long after the objective has settled. It can be asked for, too.

Shrinking: sweeps are most of the work. A sequence that keeps its margin and has no plane is left out of them; one that
adds little to the gap, of two sweeps in three.

Length: sequences one by one are slow to find how long w must be. All α together are stretched to the best length, the s
that maximises D(s α), as far as the cap goes. And w is judged at its best length: since Δ ≥ 1, s w with s ≥ 1 has no
loss above s H_i − (s − 1), which bounds the primal. (Labels do not depend on the length.)

Hard margin: if no labelling violates by v ≥ 1, w / (1 − v) keeps all margins, so ½‖w‖² / (1 − v)² bounds the optimum.
Where the data are inseparable, stretched α grow without end by a factor a pass. Any w that keeps all margins has
‖w‖ ≥ Σ α Δ / ‖Σ α δΦ‖; when that exceeds FARTHEST, the data are called inseparable.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from tagwright.arrays import Doubles, Floats, Longs, Workers, cut_evenly, padded
from tagwright.chain.viterbi import Steps
from tagwright.encode.dataset import Dataset
from tagwright.errors import DataError
from tagwright.losses.hinge import hinges
from tagwright.optim.planes import DONE, INFINITE, Block, Planes, Problem
from tagwright.optim.search import Search, fill_slacks

RUN_TOKENS = 1 << 12
FIRST_ROOM = 8
"""Planes a sequence has room for at first."""
SEARCHES = 5
"""Planes that a sequence may gain in one visit."""
MOST_SWEEPS = 8
SHARE = 0.2
"""Sweeps end when the gap over the working sets is this share of the whole gap."""
FARTHEST = 1e6
LONGEST = 1e6


class Space(Protocol):
    """Where w lives."""

    def products(self, squares: Longs) -> Doubles: ...
    def refresh(self) -> None: ...
    def scale(self, factor: float) -> None: ...
    def emission(self, first: int, last: int, out: Floats) -> None: ...
    def sweep(
        self, order: Longs, searches: int, problem: Problem, planes: Planes, block: Block, search: Search,
        chain: Doubles, gaps: Doubles,
    ) -> tuple[int, int]: ...  # fmt: skip
    def squared_norm(self) -> float: ...
    def vector(self) -> Doubles: ...


@dataclass(frozen=True, slots=True)
class Pass:
    """What one pass found, before it optimised."""

    number: int
    primal: float
    dual: float
    gap: float  # (primal − dual) / primal
    squared_norm: float  # ‖w‖²
    violated: int  # sequences with a loss
    violation: float  # max_i H_i − ξ_i, by how much a margin is violated beyond the slack of its sequence
    planes: int
    seconds: float


def bound_primal(losses: Doubles, squared_norm: float, C: float, slack: str) -> float:
    """The primal objective of s w at its best length s ≥ 1, from above: the losses r_i = max(0, s H_i − (s − 1))."""
    if slack == "none":
        worst = float(losses.max())
        return 0.5 * squared_norm / (1 - worst) ** 2 if worst < 1 else np.inf

    def remains(s: float) -> Doubles:
        return np.maximum(s * losses - (s - 1), 0.0)

    def rises(s: float) -> bool:
        r = remains(s)
        return s * squared_norm + C * float((r if slack == "l2" else r > 0) @ (losses - 1)) >= 0

    low, high = 1.0, 2.0
    while not rises(high) and high < LONGEST:
        high *= 2
    for _ in range(50):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if rises(middle) else (middle, high)
    best = 1.0 if rises(1.0) else high
    r = remains(best)
    return 0.5 * best * best * squared_norm + C * float(r.sum() if slack == "l1" else 0.5 * (r @ r))


@dataclass(slots=True)
class WorkingSet:
    """One training. slack: "l1", "l2" or "none"."""

    space: Space
    data: Dataset
    n_labels: int
    C: float
    slack: str
    hamming: bool
    boundaries: bool
    workers: Workers
    random: np.random.Generator
    chain: Doubles = field(init=False)  # [Y² + 2Y]: transition, start, stop
    planes: Planes = field(init=False)
    passes: list[Pass] = field(default_factory=list)
    _problem: Problem = field(init=False)
    _block: Block = field(init=False)
    _search: Search = field(init=False)
    _losses: Doubles = field(init=False)  # [N] H
    _slacks: Doubles = field(init=False)  # [N] ξ
    _gaps: Doubles = field(init=False)  # [N]

    def __post_init__(self) -> None:
        data, Y = self.data, self.n_labels
        squares = np.concatenate([[0], np.cumsum(data.lengths**2)]).astype(np.int64)
        self._problem = Problem(
            data.offsets, data.labels, squares, self.space.products(squares), Y, self.boundaries, self.hamming,
            self.C if self.slack == "l1" else np.inf, 1.0 / self.C if self.slack == "l2" else 0.0,
        )  # fmt: skip
        self.chain = np.zeros(Y * Y + 2 * Y)
        self.planes = Planes.build(data.n_sentences, data.n_tokens, FIRST_ROOM)
        self._block = Block.build(FIRST_ROOM, int(data.lengths.max()), Y)
        self._search = Search.build(Y, data.n_tokens, int(data.lengths.max()))
        self._losses, self._slacks, self._gaps = np.zeros((3, data.n_sentences))

    def solve(
        self, *, tol: float, most_violation: float = np.inf, most_passes: int, tell: Callable[[Pass], bool]
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

    # ---- searching ----

    def _search_all(self) -> None:
        """The losses and slacks of all sentences, with the weights as they are."""
        Y = self.n_labels
        transition, ends = self.chain[: Y * Y].reshape(Y, Y), self.chain[Y * Y :].reshape(2, Y)
        steps = Steps.build(transition, ends[0], ends[1], np.float64)
        self.space.refresh()
        cuts = cut_evenly(self.data.lengths, max(1, self.data.n_tokens // RUN_TOKENS))
        self.workers.run(self._search_some, [(first, last, steps) for first, last in cuts])

    def _search_some(self, first: int, last: int, steps: Steps) -> None:
        begin, end = self.data.offsets[first], self.data.offsets[last]
        rows = np.empty((end - begin, padded(self.n_labels)))
        self.space.emission(first, last, rows)
        offsets = self.data.offsets[first : last + 1] - begin
        gold, planes = self.data.labels[begin:end], self.planes
        _, values = hinges(rows, offsets, gold, steps, hamming=self.hamming)
        self._losses[first:last] = np.maximum(values, 0.0)
        if self.slack != "none":
            fill_slacks(
                rows, offsets, gold, planes.labels[:, begin:end], planes.sizes[first:last], steps.transition,
                steps.start, steps.stop, 0.0 if self.hamming else 1.0, self._slacks[first:last],
            )  # fmt: skip

    def _measure(self, number: int, seconds: float) -> Pass:
        """Primal, dual and gap."""
        norm = self.space.squared_norm() + float(self.chain @ self.chain)
        dual = self._reward() - 0.5 * norm - 0.5 * self._problem.ridge * float(self._totals() @ self._totals())
        primal = bound_primal(self._losses, norm, self.C, self.slack)
        gap = (primal - dual) / primal if 0 < primal < np.inf else float(primal > 0)
        violated, planes = int(np.count_nonzero(self._losses)), int(self.planes.sizes.sum())
        violation = float((self._losses - self._slacks).max())
        return Pass(number, primal, dual, gap, norm, violated, violation, planes, seconds)

    def _totals(self) -> Doubles:
        """Σ_y α_i(y) of every sequence."""
        return np.asarray(self.planes.alpha.sum(axis=1))

    def _reward(self) -> float:
        """Σ α Δ."""
        if not self.hamming:
            return float(self.planes.alpha.sum())
        total = 0.0
        for k, labels in enumerate(self.planes.labels):
            wrong = np.add.reduceat(labels != self.data.labels, self.data.offsets[:-1], dtype=np.int64)
            total += float(self.planes.alpha[:, k] @ wrong)
        return total

    # ---- optimising ----

    def _optimise(self, found: Pass) -> None:
        """Search and optimise the violated sequences in turn; then sweep until the working sets' own gap is small."""
        target = SHARE * (found.primal - found.dual if found.primal < np.inf else found.dual)
        self._stretch(found)
        self._search.take_chain(self.chain)
        self._sweep(np.flatnonzero(self._losses), SEARCHES)
        everyone = np.flatnonzero(self.planes.sizes)
        order = everyone
        for sweep in range(MOST_SWEEPS):
            self._sweep(order, 0)
            gaps = self._gaps[everyone]
            if gaps.sum() <= target:
                return
            order = everyone[gaps > 0.1 * gaps.mean()] if sweep % 3 < 2 else everyone

    def _stretch(self, found: Pass) -> None:
        """The best length of all α together: max_s s Σ α Δ − ½ s² (‖w‖² + Σ_i (Σ_y α_i(y))² / C for L2)."""
        totals = self._totals()
        bend = found.squared_norm + self._problem.ridge * float(totals @ totals)
        reward = found.dual + 0.5 * bend
        if self.slack == "none" and reward > FARTHEST * np.sqrt(found.squared_norm):
            self._refuse(f"weights that separate it would have a norm above {FARTHEST:g}")
        if bend > 0:
            factor = min(reward / bend, self._problem.cap / float(totals.max()))
            self.space.scale(factor)
            self.chain *= factor
            self.planes.alpha[:] *= factor

    def _sweep(self, sentences: Longs, searches: int) -> None:
        order = self.random.permutation(sentences)
        while True:
            done, end = self.space.sweep(
                order, searches, self._problem, self.planes, self._block, self._search, self.chain, self._gaps
            )
            if end == DONE:
                return
            order = order[done:]
            if end == INFINITE:
                self._refuse("the margins of this sentence contradict each other", location=f"X[{order[0]}]")
            self.planes = self.planes.grown()
            self._block = Block.build(len(self.planes.labels), int(self.data.lengths.max()), self.n_labels)

    def _refuse(self, reason: str, location: str = "y") -> None:
        raise DataError(
            f"a hard margin cannot be had on this training data: {reason}; use slack='l1' or 'l2'", location=location
        )
