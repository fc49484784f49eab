"""Viterbi: the best labelling of every sentence of a run.

    δ_t[j] = emission_t[j] + max_i ( δ_{t−1}[i] + transition[i, j] )          δ_0 = start + emission_0
    best   = max_j δ_{T−1}[j] + stop[j]; its labels are found backwards, the predecessor of j at t being the first i
             that attains the maximum: scores alone are kept, not pointers

Exact pruning. Let b be the best label at t − 1. A label i loses to b for every successor j, and is passed over, when
δ[i] + max_j (transition[i, j] − transition[b, j]) < δ[b]. With trained weights a few of fifty labels survive.
Ties: the smallest label wins, as in chain/recursion.py.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tagwright._jit import natural, tight_kernel
from tagwright._simd import BYTES, best_sums, lanes_at_least, largest, largest_sum, lowest_bit, sums_at_least
from tagwright.arrays import Doubles, Floats, Ints, Longs, empty_rows, padded
from tagwright.chain.candidate_viterbi import best_paths_over_candidates
from tagwright.chain.candidates import Candidates, StepTable
from tagwright.chain.kbest import k_best
from tagwright.chain.label_chain import ChainScores, copy_scores

MARGIN = 1e-3
"""Safety of the pruning test against rounding."""
PORTION = 1 << 18
"""Numbers that are compared at a time where bounds are made."""


class PrunedSteps(NamedTuple):
    """What decoding a sentence needs of a chain. Padding is −inf."""

    transition: Floats  # [Y, P]
    incoming: Floats  # [Y, P]: transposed
    start: Floats  # [P]
    stop: Floats  # [P]
    bounds: Floats  # [Y, P], for pruning: bounds[b, i] ≥ max_j transition[i, j] − transition[b, j]

    @classmethod
    def zeros(cls, n_labels: int, dtype: type[np.floating[Any]]) -> PrunedSteps:
        """All weights 0, for learners that change them between two decodings; the bounds are left to them, too."""
        transition, incoming, bounds = empty_rows((3, n_labels, padded(n_labels)), dtype)
        start, stop = empty_rows((2, padded(n_labels)), dtype)
        for rows in (transition, incoming, start, stop):
            rows[:] = -np.inf
            rows[..., :n_labels] = 0
        return cls(transition, incoming, start, stop, bounds)

    def weights(self) -> Floats:
        """[transition | start | stop], without padding."""
        Y = len(self.incoming)
        return np.concatenate([self.transition[:, :Y].ravel(), self.start[:Y], self.stop[:Y]])

    def set_weights(self, vector: Doubles) -> None:
        """The inverse."""
        Y = len(self.incoming)
        self.transition[:, :Y] = vector[: Y * Y].reshape(Y, Y)
        self.incoming[:, :Y] = self.transition[:, :Y].T
        self.start[:Y], self.stop[:Y] = vector[Y * Y :].reshape(2, Y)


class Steps(NamedTuple):
    """The chain's scores, ready for Viterbi. Padding is −inf."""

    n_labels: int
    transition: Floats  # [Y, P]
    incoming: Floats  # [Y, P]: transposed
    start: Floats  # [P]
    stop: Floats  # [P]
    bounds: Floats  # [Y, P], for pruning: bounds[b, i] = max_j transition[i, j] − transition[b, j]
    scores: ChainScores  # as they were given

    @classmethod
    def build(cls, transition: Doubles, start: Doubles, stop: Doubles, dtype: type[np.floating[Any]]) -> Steps:
        """From scores [Y, Y], [Y], [Y]; −inf forbids."""
        Y = len(start)
        rows, incoming, bounds = empty_rows((3, Y, padded(Y)), dtype)
        ends = empty_rows((2, padded(Y)), dtype)
        rows[:], incoming[:], ends[:] = -np.inf, -np.inf, -np.inf
        rows[:, :Y], incoming[:, :Y] = transition, transition.T
        ends[:, :Y] = start, stop
        most = np.full((Y, padded(Y)), -np.inf)
        some = max(1, PORTION // max(1, Y * Y))
        for first in range(0, Y, some):
            with np.errstate(invalid="ignore"):  # −inf − −inf: a step that is closed to both gains nothing
                gains = np.fmax.reduce(transition - transition[first : first + some, None], axis=2)
            most[first : first + some, :Y] = np.where(np.isnan(gains), -np.inf, gains)
        bounds[:] = np.minimum(most + MARGIN, np.finfo(dtype).max)  # finite: δ = −inf must stay pruned
        return cls(Y, rows, incoming, ends[0], ends[1], bounds, copy_scores(transition, start, stop))

    @property
    def pruned(self) -> PrunedSteps:
        """For kernels."""
        return PrunedSteps(self.transition, self.incoming, self.start, self.stop, self.bounds)

    def best_paths(
        self, emission: Floats, offsets: Longs, candidates: Candidates | None = None
    ) -> tuple[Ints, Doubles]:
        """The best labels [n] and their scores [N] for a run of sentences, emission [n, P]."""
        if candidates is not None:
            table = StepTable(1, self.n_labels, self.transition, self.start, self.stop)
            return best_paths_over_candidates(emission, offsets, candidates, table)
        labels, scores = np.empty(len(emission), np.int32), np.empty(len(offsets) - 1)
        delta = empty_rows((int(np.diff(offsets).max(initial=1)), emission.shape[1]), emission.dtype)
        viterbi(emission, offsets, self.pruned, delta, np.empty(self.n_labels, np.int64), labels, scores)
        return labels, scores

    def k_best(self, emission: Doubles, k: int, candidates: Candidates | None = None) -> tuple[Longs, Doubles]:
        """The k best labellings of one sentence: paths [K', T] and scores [K'], from the scores in float64."""
        rows = emission if candidates is None else candidates.mask_rows(emission, self.n_labels)
        return k_best(rows, *self.scores, k)


@tight_kernel
def first_largest(row: Floats, Y: int) -> int:
    """The smallest j < Y with the largest row[j]. No branch depends on the numbers among 64 labels."""
    peak = largest(row, Y)
    for first in range(0, Y, 64):
        bits = 0
        for j in range(first, min(first + 64, Y), BYTES // row.itemsize):
            bits |= lanes_at_least(row, peak, j) << (j - first)
        if bits != 0:
            return int(min(first + lowest_bit(bits), Y - 1))  # NaN may lead beyond the last label
    return 0


@tight_kernel
def find_survivors(previous: Floats, bounds: Floats, Y: int, survivors: Longs) -> int:
    """The labels that may be the predecessor of some label, into `survivors`; returns how many, at least one."""
    best = natural(first_largest(previous, Y))  # from 0 to Y − 1
    peak, bonus = previous[best], bounds[best]
    survivors[0] = best  # where no label can go on
    if peak == -np.inf:
        return 1
    n = 0
    for first in range(0, Y, 64):
        bits = 0
        for j in range(first, min(first + 64, Y), BYTES // previous.itemsize):
            bits |= sums_at_least(previous, bonus, peak, j) << (j - first)
        while bits != 0:
            survivors[natural(n)] = first + lowest_bit(bits)
            bits &= bits - 1
            n += 1
    return max(n, 1)


@tight_kernel
def step(
    previous: Floats, emission: Floats, transition: Floats, bounds: Floats, Y: int, survivors: Longs, out: Floats
) -> int:
    """δ_t from δ_{t−1}. Returns the predecessor that all labels have, −1 if there are several. survivors [Y]: work."""
    n = find_survivors(previous, bounds, Y, survivors)
    best_sums(previous, survivors, n, transition, emission, Y, out)
    return int(survivors[0]) if n == 1 else -1


@tight_kernel
def first_best(scores: Floats, bonus: Floats, Y: int) -> int:
    """The smallest label that maximises scores + bonus."""
    peak = largest_sum(scores, bonus, Y)
    for first in range(0, Y, 64):
        bits = 0
        for j in range(first, min(first + 64, Y), BYTES // scores.itemsize):
            bits |= sums_at_least(scores, bonus, peak, j) << (j - first)
        if bits != 0:
            return int(min(first + lowest_bit(bits), Y - 1))  # NaN may lead beyond the last label
    return 0


@tight_kernel
def trace_back(delta: Floats, T: int, incoming: Floats, stop: Floats, found: Ints) -> float:
    """The best labels of one sentence into found [≥ T], where −1 stands for what `step` left open; their score."""
    Y = incoming.shape[0]
    best = first_best(delta[T - 1], stop, Y)
    found[T - 1] = best
    for t in range(T - 2, -1, -1):
        if found[t] < 0:
            found[t] = first_best(delta[t], incoming[found[t + 1]], Y)
    return float(delta[T - 1, best] + stop[best])


@tight_kernel
def best_path(emission: Floats, T: int, steps: PrunedSteps, delta: Floats, survivors: Longs, labels: Ints) -> float:
    """The best labels of one sentence of T tokens into labels [≥ T]; their score. delta, survivors: as in `viterbi`."""
    Y = steps.incoming.shape[0]
    for j in range(delta.shape[1]):
        delta[0, j] = steps.start[j] + emission[0, j]
    for t in range(1, T):
        labels[t - 1] = step(delta[t - 1], emission[t], steps.transition, steps.bounds, Y, survivors, delta[t])
    return trace_back(delta, T, steps.incoming, steps.stop, labels)


@tight_kernel
def viterbi(
    emission: Floats, offsets: Longs, steps: PrunedSteps, delta: Floats, survivors: Longs, labels: Ints, scores: Doubles
) -> None:
    """Given emission [n, P], offsets [N + 1]; delta [L, P] and survivors [Y] are work.

    Returned: labels [n], scores [N] (−inf where no labelling is possible; the labels then mean nothing).
    """
    for i in range(offsets.shape[0] - 1):
        begin, end = offsets[i], offsets[i + 1]
        scores[i] = best_path(emission[begin:end], end - begin, steps, delta, survivors, labels[begin:end])
