"""Where the weights of a linear HM-SVM live: one number for every (attribute, label), written out.

The other place is kernel_space.py. A space scores sentences, and takes the changes of the multipliers β(t, y) that an
optimisation over one sequence made: w[a, y] += v_a · change[t, y] for every attribute a of token t.

Between sweeps the weights stand still, and whole sentences are scored through the tables over forms
(scores/linear.py). Within a sweep they change with every sequence; then tokens are scored by their attributes: all of
them where it searches, else only where planes differ, for the labels they have."""

from __future__ import annotations

import numpy as np

from tagwright._jit import kernel, tight_kernel
from tagwright.arrays import Doubles, Floats, Ints, Longs, Workers
from tagwright.encode.dataset import Dataset
from tagwright.optim.planes import DONE, Block, Planes, Problem, drop_idle, list_planes
from tagwright.optim.search import Search, visit
from tagwright.scores.expanded import TokenAttributes, expand
from tagwright.scores.linear import LinearScores


@tight_kernel
def score_token(
    p: int, token_pointers: Longs, attributes: Ints, values: Doubles, pointers: Longs, weights: Doubles, Y: int,
    row: Doubles,
) -> None:  # fmt: skip
    """row [≥ Y] = the scores of token p. An attribute has weights for all labels, or for none."""
    weighted = values.shape[0] > 0
    row[:] = 0.0
    for e in range(token_pointers[p], token_pointers[p + 1]):
        first = pointers[attributes[e]]
        if pointers[attributes[e] + 1] > first:
            value = values[e] if weighted else 1.0
            for y in range(Y):
                row[y] += value * weights[first + y]


@tight_kernel
def score_labels(
    p: int, token_pointers: Longs, attributes: Ints, values: Doubles, pointers: Longs, weights: Doubles,
    wanted: Longs, n_wanted: int, row: Doubles,
) -> None:  # fmt: skip
    """The same for a few labels only."""
    weighted = values.shape[0] > 0
    for m in range(n_wanted):
        row[wanted[m]] = 0.0
    for e in range(token_pointers[p], token_pointers[p + 1]):
        first = pointers[attributes[e]]
        if pointers[attributes[e] + 1] > first:
            value = values[e] if weighted else 1.0
            for m in range(n_wanted):
                row[wanted[m]] += value * weights[first + wanted[m]]


@tight_kernel
def change_token(
    p: int, token_pointers: Longs, attributes: Ints, values: Doubles, pointers: Longs, change: Doubles,
    weights: Doubles,
) -> None:  # fmt: skip
    """w[a, y] += v_a change[y] for the attributes a of token p; `change` is cleared."""
    weighted = values.shape[0] > 0
    for y in range(change.shape[0]):
        if change[y] == 0.0:
            continue
        for e in range(token_pointers[p], token_pointers[p + 1]):
            first = pointers[attributes[e]]
            if pointers[attributes[e] + 1] > first:
                weights[first + y] += change[y] * (values[e] if weighted else 1.0)
        change[y] = 0.0


@kernel
def multiply_tokens(
    offsets: Longs, squares: Longs, token_pointers: Longs, attributes: Ints, values: Doubles, pointers: Longs,
    place: Doubles, products: Doubles,
) -> None:  # fmt: skip
    """products of all pairs of tokens of each sentence: Σ_a v_a v'_a. place [A]: zeros, work."""
    weighted = values.shape[0] > 0
    for i in range(offsets.shape[0] - 1):
        begin, end = offsets[i], offsets[i + 1]
        T = end - begin
        for t in range(T):
            for e in range(token_pointers[begin + t], token_pointers[begin + t + 1]):
                a = attributes[e]
                if pointers[a + 1] > pointers[a]:
                    place[a] += values[e] if weighted else 1.0
            for u in range(T):
                total = 0.0
                for e in range(token_pointers[begin + u], token_pointers[begin + u + 1]):
                    total += place[attributes[e]] * (values[e] if weighted else 1.0)
                products[squares[i] + t * T + u] = total
            for e in range(token_pointers[begin + t], token_pointers[begin + t + 1]):
                place[attributes[e]] = 0.0


@kernel
def sweep_linear(
    order: Longs, searches: int, problem: Problem, planes: Planes, block: Block, search: Search,
    token_pointers: Longs, attributes: Ints, values: Doubles, pointers: Longs, weights: Doubles, chain: Doubles,
    gaps: Doubles,
) -> tuple[int, int]:  # fmt: skip
    """Visit the sequences `order` one after the other; returns how many were done, and how that ended."""
    for m in range(order.shape[0]):
        i = order[m]
        begin, T = problem.offsets[i], problem.offsets[i + 1] - problem.offsets[i]
        if searches > 0:
            drop_idle(problem, planes, i)
        list_planes(problem, planes, i, block)
        for t in range(T):
            p, row = begin + t, search.emission[t]
            if searches > 0:
                score_token(p, token_pointers, attributes, values, pointers, weights, problem.n_labels, row)
            elif block.n_wanted[t] > 0:
                wanted, n = block.wanted[t], block.n_wanted[t]
                score_labels(p, token_pointers, attributes, values, pointers, weights, wanted, n, row)
        end = visit(problem, planes, i, searches, search, chain, block, gaps)
        if end != DONE:
            return m, end
        for t in range(T):
            if block.n_wanted[t] > 0:
                change_token(begin + t, token_pointers, attributes, values, pointers, block.change[t], weights)
    return order.shape[0], DONE


class LinearSpace:
    """Weights [A · Y] with the data they are trained on."""

    def __init__(self, scores: LinearScores, data: Dataset, workers: Workers) -> None:
        self.scores = scores
        self.data = data
        self.workers = workers
        self.tokens: TokenAttributes = expand(scores.encoder, data)
        self.weights = np.zeros(scores.pattern.n_weights)

    def products(self, squares: Longs) -> Doubles:
        """k(x_t, x_u) for the tokens of each sentence."""
        found = np.empty(int(squares[-1]))
        tokens, pointers = self.tokens, self.scores.pattern.pointers
        place = np.zeros(self.scores.encoder.n_attributes)
        multiply_tokens(
            self.data.offsets, squares, tokens.pointers, tokens.attributes, tokens.values, pointers, place, found
        )
        return found

    def refresh(self) -> None:
        """Make ready for `emission`."""
        self.scores.set_weights(self.weights, self.workers)

    def emission(self, first: int, last: int, out: Floats) -> None:
        """The rows of the sentences `first` to `last` − 1 [n, P], as of the last refresh."""
        self.scores.emission(self.data, first, last, out)

    def sweep(
        self, order: Longs, searches: int, problem: Problem, planes: Planes, block: Block, search: Search,
        chain: Doubles, gaps: Doubles,
    ) -> tuple[int, int]:  # fmt: skip
        """Optimise some sequences one after the other."""
        tokens = self.tokens
        return sweep_linear(
            order, searches, problem, planes, block, search, tokens.pointers, tokens.attributes, tokens.values,
            self.scores.pattern.pointers, self.weights, chain, gaps,
        )  # fmt: skip

    def scale(self, factor: float) -> None:
        """w times a factor."""
        self.weights *= factor

    def squared_norm(self) -> float:
        """‖w‖² without the chain."""
        return float(self.weights @ self.weights)

    def vector(self) -> Doubles:
        """The weights, for the model."""
        return self.weights
