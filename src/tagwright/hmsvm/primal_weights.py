"""The weights of a linear HM-SVM: w[a, y] for every attribute a and label y that a sweep has changed.

Tokens are scored by their attributes: in a sweep, in which the weights change with every sequence (token_weights.py),
and in the search between sweeps. With a kernel: dual_weights.py.
"""

from __future__ import annotations

import numpy as np

from tagwright._jit import tight_kernel
from tagwright.arrays import Doubles, Floats, Longs, inner
from tagwright.encode.batch import Batch
from tagwright.hmsvm.token_weights import TokenWeights
from tagwright.scores.expanded import TokenAttributes, most_attributes
from tagwright.scores.growing_weights import (
    PREFETCH_DISTANCE,
    GrowingWeights,
    LearnedWeights,
    add_token_scores,
    prefetch_token,
)


class PrimalWeights:
    """w, with the data it is trained on."""

    def __init__(self, tokens: TokenAttributes, data: Batch, n_attributes: int, n_labels: int) -> None:
        """tokens: the attributes that get weights."""
        self.tokens, self.data = tokens, data
        self.weights = GrowingWeights.empty(n_attributes, n_labels, dtype=np.float64, averaged=False)

    def products(self, squares: Longs) -> Doubles:
        """k(x_t, x_u) for the tokens of each sentence."""
        found = np.empty(int(squares[-1]))
        multiply_sentences(self.data.offsets, squares, self.tokens, np.zeros(len(self.weights.places)), found)
        return found

    def emission(self, first: int, last: int, out: Floats) -> None:
        """The rows of the sentences `first` to `last` − 1 [n, P]."""
        begin, end = int(self.data.offsets[first]), int(self.data.offsets[last])
        score_run(begin, end, self.tokens, self.weights, np.empty(most_attributes(self.tokens), np.int64), out)

    def portions(self, order: Longs) -> list[tuple[Longs, TokenWeights]]:
        """All sentences can be swept at once."""
        return [(order, TokenWeights.of_attributes(self.tokens, self.weights))]

    def make_room(self, i: int) -> None:
        """For the weights that sentence i may add, and some more."""
        begin, end = self.tokens.pointers[self.data.offsets[i : i + 2]].tolist()
        self.weights = self.weights.with_room(end - begin)

    def scale(self, factor: float) -> None:
        """w times a factor."""
        self._used()[:] *= factor

    def squared_norm(self) -> float:
        """‖w‖² without the chain."""
        used = np.asarray(self._used(), np.float64)
        return float(inner(used, used))

    def learned(self) -> LearnedWeights:
        """The weights, for the model."""
        return LearnedWeights.none(len(self.weights.places)).plus(self.weights, 1.0, 1)

    def _used(self) -> Floats:
        """All numbers of w, and zeros."""
        return self.weights.values[: int(self.weights.end[0])]


@tight_kernel
def score_run(
    begin: int, end: int, tokens: TokenAttributes, weights: GrowingWeights, rows: Longs, out: Floats
) -> None:  # fmt: skip
    """out [n, P]: the scores of the tokens `begin` to `end` − 1."""
    for p in range(begin, end):
        prefetch_token(tokens, min(p + PREFETCH_DISTANCE, end - 1), weights)
        out[p - begin] = 0.0
        add_token_scores(tokens, p, weights, rows, out[p - begin])


@tight_kernel
def multiply_sentences(
    offsets: Longs, squares: Longs, tokens: TokenAttributes, dense: Doubles, products: Doubles
) -> None:
    """products of all pairs of tokens of each sentence: Σ_a v_a v'_a. dense [A]: zeros, work."""
    weighted = tokens.values.shape[0] > 0
    for i in range(offsets.shape[0] - 1):
        begin, T = offsets[i], offsets[i + 1] - offsets[i]
        for t in range(T):
            for e in range(tokens.pointers[begin + t], tokens.pointers[begin + t + 1]):
                dense[tokens.attributes[e]] += tokens.values[e] if weighted else 1.0
            for u in range(T):
                total = 0.0
                for e in range(tokens.pointers[begin + u], tokens.pointers[begin + u + 1]):
                    total += dense[tokens.attributes[e]] * (tokens.values[e] if weighted else 1.0)
                products[squares[i] + t * T + u] = total
            for e in range(tokens.pointers[begin + t], tokens.pointers[begin + t + 1]):
                dense[tokens.attributes[e]] = 0.0
