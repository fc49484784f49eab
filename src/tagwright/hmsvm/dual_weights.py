"""The weights of an HM-SVM with a kernel: multipliers β(m, y) of the contexts of the training data, and the scores H of
all contexts (token_weights.py). With the linear kernel: primal_weights.py.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tagwright.arrays import Doubles, Floats, Longs
from tagwright.encode.batch import Batch
from tagwright.hmsvm.token_weights import ContextCoefficients, TokenWeights
from tagwright.kernels.gram import GramMatrix
from tagwright.kernels.scores import KernelRows


class DualWeights:
    """β [M, Y] and H [Y, M], with the data they are trained on."""

    def __init__(self, gram: GramMatrix, of_token: Longs, data: Batch, n_labels: int) -> None:
        """of_token [n]: the context of every token."""
        self.gram, self.of_token, self.data = gram, of_token, data
        self.beta, self.scores = np.zeros((len(gram.contexts), n_labels)), np.zeros((n_labels, len(gram.contexts)))

    def products(self, squares: Longs) -> Doubles:
        """k(x_t, x_u) for the tokens of each sentence."""
        found, offsets = np.empty(int(squares[-1])), self.data.offsets
        for some, gram in self.gram.portions(offsets, self.of_token, np.arange(self.data.n_sentences)):
            for i in some.tolist():
                own = self.of_token[offsets[i] : offsets[i + 1]]
                found[squares[i] : squares[i + 1]] = gram.rows[np.ix_(gram.row_of[own], own)].ravel()
        return found

    def emission(self, first: int, last: int, out: Floats) -> None:
        """The rows of the sentences `first` to `last` − 1 [n, P]."""
        KernelRows(self.data, self.scores.T, self.of_token).emission(first, last, out)

    def portions(self, order: Longs) -> Iterator[tuple[Longs, TokenWeights]]:
        """The sentences in runs, as many as rows of the Gram matrix can be had for at once."""
        for some, gram in self.gram.portions(self.data.offsets, self.of_token, order):
            contexts = ContextCoefficients(self.of_token, self.beta, self.scores, gram)
            yield some, TokenWeights.of_contexts(contexts)

    def make_room(self, i: int) -> None:
        """Nothing to do: β and H are as large as they ever are."""

    def scale(self, factor: float) -> None:
        """w times a factor."""
        self.beta *= factor
        self.scores *= factor

    def squared_norm(self) -> float:
        """‖w‖² without the chain: Σ β H."""
        return float(np.sum(self.beta * self.scores.T))

    def learned(self) -> Doubles:
        """The multipliers, for the model."""
        return self.beta.copy()
