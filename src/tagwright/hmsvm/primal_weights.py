"""The weights of a linear HM-SVM, written out: w[a, y] for every attribute a and label y.

Between sweeps the weights stand still, and whole sentences are scored through the tables over forms
(scores/linear.py). Within a sweep they change with every sequence; then tokens are scored by their attributes
(token_weights.py). With a kernel: dual_weights.py.
"""

from __future__ import annotations

import numpy as np

from tagwright._jit import tight_kernel
from tagwright.arrays import Doubles, Floats, Longs, Workers, inner
from tagwright.encode.batch import Batch
from tagwright.hmsvm.token_weights import TokenRows, TokenWeights
from tagwright.scores.expanded import expand
from tagwright.scores.linear import LinearMap


class PrimalWeights:
    """w [R, Y], for the R attributes that have weights, with the data it is trained on."""

    def __init__(self, scores: LinearMap, data: Batch, workers: Workers) -> None:
        self.scores, self.data, self.workers = scores, data, workers
        self.tokens = find_rows(scores, data)
        self.weights = np.zeros(scores.pattern.n_weights).reshape(-1, scores.n_labels)

    def products(self, squares: Longs) -> Doubles:
        """k(x_t, x_u) for the tokens of each sentence."""
        found = np.empty(int(squares[-1]))
        multiply_sentences(self.data.offsets, squares, self.tokens, np.zeros(len(self.weights)), found)
        return found

    def refresh(self) -> None:
        """Make ready for `emission`."""
        self._rows = self.scores.at(self.vector(), self.workers).rows(self.data)

    def emission(self, first: int, last: int, out: Floats) -> None:
        """The rows of the sentences `first` to `last` − 1 [n, P], as of the last refresh."""
        self._rows.emission(first, last, out)

    def portions(self, order: Longs) -> list[tuple[Longs, TokenWeights]]:
        """All sentences can be swept at once."""
        return [(order, TokenWeights.of_attributes(self.tokens, self.weights))]

    def scale(self, factor: float) -> None:
        """w times a factor."""
        self.weights *= factor

    def squared_norm(self) -> float:
        """‖w‖² without the chain."""
        return float(inner(self.vector(), self.vector()))

    def vector(self) -> Doubles:
        """The weights, for the model."""
        return self.weights.ravel()


def find_rows(scores: LinearMap, data: Batch) -> TokenRows:
    """The rows of w that each token has; an attribute has weights with all labels, or none."""
    tokens, has_weights = expand(scores.encoder, data), np.diff(scores.pattern.pointers) > 0
    kept = has_weights[tokens.attributes]
    row_of = np.cumsum(has_weights, dtype=np.int32) - np.int32(1)
    pointers = np.concatenate([[0], np.cumsum(kept)])[tokens.pointers]
    values = tokens.values[kept] if len(tokens.values) else tokens.values
    return TokenRows(pointers, row_of[tokens.attributes[kept]], values)


@tight_kernel
def multiply_sentences(offsets: Longs, squares: Longs, tokens: TokenRows, dense: Doubles, products: Doubles) -> None:
    """products of all pairs of tokens of each sentence: Σ_a v_a v'_a. dense [R]: zeros, work."""
    weighted = tokens.values.shape[0] > 0
    for i in range(offsets.shape[0] - 1):
        begin, T = offsets[i], offsets[i + 1] - offsets[i]
        for t in range(T):
            for e in range(tokens.pointers[begin + t], tokens.pointers[begin + t + 1]):
                dense[tokens.rows[e]] += tokens.values[e] if weighted else 1.0
            for u in range(T):
                total = 0.0
                for e in range(tokens.pointers[begin + u], tokens.pointers[begin + u + 1]):
                    total += dense[tokens.rows[e]] * (tokens.values[e] if weighted else 1.0)
                products[squares[i] + t * T + u] = total
            for e in range(tokens.pointers[begin + t], tokens.pointers[begin + t + 1]):
                dense[tokens.rows[e]] = 0.0
