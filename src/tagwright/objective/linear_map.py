"""The linear map between weights and emission rows of one training set, both ways: all that training asks of scores/.

weights ─► set_weights ─► score(run) ─► rows ... gradient rows ─► add_block ─► gradient ─► weights
"""

from __future__ import annotations

from tagwright.arrays import Doubles, Floats, Workers
from tagwright.encode.dataset import Dataset
from tagwright.scores.adjoint import Adjoint
from tagwright.scores.linear import LinearScores


class LinearMap:
    """`blocks`: runs (first, last) of sentences whose gradient rows come at once."""

    def __init__(self, scores: LinearScores, data: Dataset, blocks: list[tuple[int, int]], workers: Workers) -> None:
        self.scores, self.data, self.workers = scores, data, workers
        self._rows = scores.places.of_tokens(data, 0, data.n_sentences)
        self._adjoint = Adjoint(scores, data, self._rows, blocks)

    def set_weights(self, attributes: Doubles) -> None:
        """Begin an evaluation at these weights."""
        self.scores.set_weights(attributes, self.workers)

    def score(self, begin: int, end: int, out: Floats) -> None:
        """The emission rows of the tokens `begin` to `end` − 1."""
        self.scores.score(self._rows[begin:end], self.data, begin, out)

    def begin_gradient(self) -> None:
        """From zero."""
        self._adjoint.reset()

    def add_block(self, block: int, gradient: Floats) -> None:
        """Take in the gradient rows [n, P] of one block."""
        self._adjoint.add_block(block, gradient, self.workers)

    def gradient(self) -> Doubles:
        """The gradient of the attribute weights, valid until the next one begins."""
        return self._adjoint.finish(self.workers)
