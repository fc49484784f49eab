"""The linear map between weights and emission rows of one training set, both ways: all that training asks of scores/.

weights ─► begin ─► score(run) ─► rows ... gradient rows ─► add_block ─► gradient ─► weights
"""

from __future__ import annotations

from tagwright.arrays import Doubles, Floats, Workers, zero_rows
from tagwright.encode.batch import Batch
from tagwright.scores.adjoint import Adjoint
from tagwright.scores.linear import NO_UNKNOWN, LinearMap, LinearScores, score_tokens


class TrainingMap:
    """`blocks`: runs (first, last) of sentences whose gradient rows come at once."""

    def __init__(self, scores: LinearMap, data: Batch, blocks: list[tuple[int, int]], workers: Workers) -> None:
        self.scores, self.data, self.workers = scores, data, workers
        self._locations = scores.index.of_tokens(data, NO_UNKNOWN)
        self._adjoint = Adjoint(scores, data, self._locations, blocks)
        self._table = zero_rows((scores.index.n_rows, scores.width), scores.dtype)  # memory for all passes

    def at(self, attributes: Doubles) -> LinearScores:
        """The scores with these weights, until the next ones are asked for."""
        return self.scores.at(attributes, self.workers, self._table)

    def score(self, scores: LinearScores, begin: int, end: int, out: Floats) -> None:
        """The emission rows of the tokens `begin` to `end` − 1."""
        score_tokens(self._locations[begin:end], scores.tables, self.data, begin, scores.n_labels, out)

    def begin_gradient(self) -> None:
        """From zero."""
        self._adjoint.reset()

    def add_block(self, block: int, gradient: Floats) -> None:
        """Take in the gradient rows [n, P] of one block."""
        self._adjoint.add_block(block, gradient, self.workers)

    def gradient(self) -> Doubles:
        """The gradient of the attribute weights, valid until the next one begins."""
        return self._adjoint.finish(self.workers)
