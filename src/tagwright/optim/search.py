"""One visit of a sweep: search one sequence for a violated margin, with the weights of this moment, and optimise it.

planes.py keeps the chain's weights as one vector of edges, which its inner products want; Viterbi wants rows. `Search`
holds those rows, brought up to date after every visit, and the work of the search.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tagwright._jit import kernel
from tagwright.arrays import Doubles, Floats, Ints, Longs, padded
from tagwright.losses.hinge import fill_hinges, score_labelling
from tagwright.optim.planes import (
    DONE,
    INFINITE,
    NO_ROOM,
    NOTHING_NEW,
    Block,
    Planes,
    Problem,
    add_plane,
    block_gap,
    list_plane,
    measure_planes,
    multiply_plane,
    optimise_block,
)

HUGE = np.finfo(np.float64).max
"""Of a lead: not infinite, so that it cannot help who is out already."""
ENOUGH = 0.1
"""A sequence is left when its part of the gap has fallen to this share."""


class Search(NamedTuple):
    """The chain for Viterbi (padded with −inf; no pruning: `lead` is HUGE), what was found, and work."""

    transition: Doubles  # [Y, P]
    incoming: Doubles  # [Y, P]
    ends: Doubles  # [2, P] start, stop
    lead: Doubles  # [Y, P]
    found: Ints  # [n] the worst labelling of the sentences searched
    emission: Doubles  # [L, P] rows of the sentence visited
    delta: Doubles  # [L, P]
    alive: Longs  # [Y]
    edges: Longs  # [2] where the sentence begins and ends: 0, T
    value: Doubles  # [1]

    @classmethod
    def build(cls, n_labels: int, n_tokens: int, longest: int) -> Search:
        Y, P = n_labels, padded(n_labels)
        return cls(
            np.full((Y, P), -np.inf), np.full((Y, P), -np.inf), np.full((2, P), -np.inf), np.full((Y, P), HUGE),
            np.zeros(n_tokens, np.int32), np.zeros((longest, P)), np.zeros((longest, P)), np.zeros(Y, np.int64),
            np.zeros(2, np.int64), np.zeros(1),
        )  # fmt: skip

    def take_chain(self, chain: Doubles) -> None:
        """All rows anew, from [Y² + 2Y] weights of edges."""
        Y = len(self.lead)
        self.transition[:, :Y] = chain[: Y * Y].reshape(Y, Y)
        self.incoming[:, :Y] = self.transition[:, :Y].T
        self.ends[:, :Y] = chain[Y * Y :].reshape(2, Y)


@kernel
def visit(
    problem: Problem, planes: Planes, i: int, searches: int, search: Search, chain: Doubles, block: Block,
    gaps: Doubles,
) -> int:  # fmt: skip
    """Optimise sequence i over its working set and as many new planes as `searches` find; how that ended.

    Given: planes listed; search.emission has the rows of the sentence (without searches, for the labels wanted).
    Changed: its planes, chain, search; gaps[i], what it added to the gap before; block.change, what its tokens' β
    gained.
    """
    for k in range(planes.sizes[i]):
        multiply_plane(problem, planes, i, k, block)
    for m in range(max(searches, 1)):
        if searches > 0:
            end = add_worst(problem, planes, i, search)
            if end == DONE:
                list_plane(problem, planes, i, planes.sizes[i] - 1, block)
                multiply_plane(problem, planes, i, planes.sizes[i] - 1, block)
            elif m > 0:  # the optimum, or without room as near to it as can be
                return DONE
            elif end == NO_ROOM:
                return NO_ROOM
        worst = measure_planes(problem, planes, i, search.emission, chain, block)
        gap = block_gap(problem, planes, i, worst, block)
        if m == 0:
            gaps[i] = gap
        elif gap < ENOUGH * gaps[i]:
            return DONE
        if not optimise_block(problem, planes, i, search.emission, chain, block):
            return INFINITE
        bring_up_to_date(chain, problem.n_labels, planes.sizes[i], block, search)
    return DONE


@kernel
def add_worst(problem: Problem, planes: Planes, i: int, search: Search) -> int:
    """Put the labelling that violates its margin most into the working set; NOTHING_NEW where none does."""
    begin, end = problem.offsets[i], problem.offsets[i + 1]
    search.edges[1] = end - begin
    rows = search.emission[: end - begin]
    fill_hinges(
        rows, search.edges, problem.gold[begin:end], search.transition, search.incoming, search.ends[0],
        search.ends[1], search.lead, problem.hamming, search.delta, search.alive,
        search.found[begin:end], search.value,
    )  # fmt: skip
    if problem.hamming:  # it was taken off
        for t in range(end - begin):
            rows[t, problem.gold[begin + t]] += 1.0
    return add_plane(problem, planes, i, search.found) if search.value[0] > 0.0 else NOTHING_NEW


@kernel
def bring_up_to_date(chain: Doubles, Y: int, n_planes: int, block: Block, search: Search) -> None:
    """The rows of the edges that the planes of one sequence may have changed."""
    for k in range(n_planes):
        for m in range(block.n_edges[k]):
            edge = block.edges[k, m]
            if edge < Y * Y:
                search.transition[edge // Y, edge % Y] = chain[edge]
                search.incoming[edge % Y, edge // Y] = chain[edge]
            else:
                search.ends[(edge - Y * Y) // Y, (edge - Y * Y) % Y] = chain[edge]


@kernel
def fill_slacks(
    rows: Floats, offsets: Longs, gold: Ints, labels: Ints, sizes: Ints, transition: Floats, start: Floats,
    stop: Floats, margin: float, slacks: Doubles,
) -> None:  # fmt: skip
    """slacks [N] = max(0, max Δ − ⟨w, δΦ⟩) over the working sets: what the planes of each sentence need.

    rows, offsets, gold as `fill_hinges` leaves them (for Hamming, Δ is in the rows and margin 0). labels [K, n].
    """
    for i in range(offsets.shape[0] - 1):
        begin, end = offsets[i], offsets[i + 1]
        right = score_labelling(rows[begin:end], gold[begin:end], end - begin, transition, start, stop)
        slacks[i] = 0.0
        for k in range(sizes[i]):
            wrong = score_labelling(rows[begin:end], labels[k, begin:end], end - begin, transition, start, stop)
            slacks[i] = max(slacks[i], margin + wrong - right)
