"""The weights of neighbouring labels while they are trained: as one vector, for updates, and as rows, for Viterbi.

Of the dual perceptron and of the HM-SVM. An edge is a number in the vector [transition | start | stop]: two labels i, j
in a row are i · Y + j, the first label j is Y² + j, the last one Y² + Y + j.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tagwright._jit import tight_kernel
from tagwright.arrays import Doubles, Ints
from tagwright.chain.label_chain import ChainScores
from tagwright.chain.viterbi import PrunedSteps


class ChainWeights(NamedTuple):
    """The same weights twice."""

    edges: Doubles  # [Y² + 2Y]
    rows: PrunedSteps  # without pruning, whose bounds would have to follow every change

    @classmethod
    def zeros(cls, n_labels: int) -> ChainWeights:
        Y = n_labels
        rows = PrunedSteps.zeros(Y, np.float64)
        rows.bounds[:] = np.finfo(np.float64).max  # every label reaches it, and −inf + this is −inf
        return cls(np.zeros(Y * Y + 2 * Y), rows)

    def split(self) -> ChainScores:
        """Transition [Y, Y], start [Y] and stop [Y]."""
        Y = len(self.rows.incoming)
        return self.edges[: Y * Y].reshape(Y, Y), self.edges[Y * Y : -Y], self.edges[-Y:]

    def scale(self, factor: float) -> None:
        """All weights times a factor."""
        Y, rows = len(self.rows.incoming), self.rows
        self.edges[:] *= factor
        rows.transition[:, :Y], rows.start[:Y], rows.stop[:Y] = self.split()
        rows.incoming[:, :Y] = rows.transition[:, :Y].T


@tight_kernel
def edge_at(labels: Ints, t: int, T: int, Y: int) -> int:
    """The edge into position t of a labelling [≥ T]; for t = T, out of its last position."""
    if t == 0:
        return int(Y * Y + labels[0])
    if t == T:
        return int(Y * Y + Y + labels[T - 1])
    return int(labels[t - 1] * Y + labels[t])


@tight_kernel
def change_edge(edge: int, change: float, chain: ChainWeights) -> None:
    """The weight of an edge += change."""
    Y = chain.rows.incoming.shape[0]
    chain.edges[edge] += change
    if edge < Y * Y:
        chain.rows.transition[edge // Y, edge % Y] = chain.edges[edge]
        chain.rows.incoming[edge % Y, edge // Y] = chain.edges[edge]
    elif edge < Y * Y + Y:
        chain.rows.start[edge - Y * Y] = chain.edges[edge]
    else:
        chain.rows.stop[edge - Y * Y - Y] = chain.edges[edge]
