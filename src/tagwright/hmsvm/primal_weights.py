"""The weights of a linear HM-SVM, written out: w[a, y] for every attribute a and label y.

An optimisation of one sequence changes the multipliers β(t, y) of its tokens; here that becomes
w[a, y] += v_a · change[t, y] for every attribute a of token t, v_a its value. With a kernel: dual_weights.py.

Between sweeps the weights stand still, and whole sentences are scored through the tables over forms
(scores/linear.py). Within a sweep they change with every sequence; then tokens are scored by their attributes: all of
them where it searches, else only where labellings differ, for the labels they have.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tagwright._jit import kernel, tight_kernel
from tagwright.arrays import Doubles, Floats, Ints, Longs, Workers
from tagwright.encode.batch import Batch
from tagwright.hmsvm.algorithm import optimise_sequence
from tagwright.hmsvm.working_sets import DONE, DualSolution, describe_labellings, drop_idle
from tagwright.optim.vectors import inner
from tagwright.scores.expanded import TokenAttributes, expand
from tagwright.scores.linear import LinearMap


class TokenRows(NamedTuple):
    """Token p has the rows[pointers[p] : pointers[p + 1]] of w, with `values` there ([0] when all are 1)."""

    pointers: Longs  # [n + 1]
    rows: Ints  # [E]
    values: Doubles  # [E] or [0]

    @classmethod
    def build(cls, tokens: TokenAttributes, weight_pointers: Longs) -> TokenRows:
        """Attribute a has weights (of all labels, or none) from weight_pointers[a] to weight_pointers[a + 1]."""
        has_weights = np.diff(weight_pointers) > 0
        kept = has_weights[tokens.attributes]
        row_of = np.cumsum(has_weights, dtype=np.int32) - np.int32(1)
        pointers = np.concatenate([[0], np.cumsum(kept)])[tokens.pointers]
        return cls(
            pointers, row_of[tokens.attributes[kept]], tokens.values[kept] if len(tokens.values) else tokens.values
        )


@tight_kernel
def score_token(p: int, tokens: TokenRows, weights: Doubles, out: Doubles) -> None:
    """out [≥ Y] = the scores of token p."""
    weighted = tokens.values.shape[0] > 0
    out[:] = 0.0
    for e in range(tokens.pointers[p], tokens.pointers[p + 1]):
        row, value = tokens.rows[e], tokens.values[e] if weighted else 1.0
        for y in range(weights.shape[1]):
            out[y] += value * weights[row, y]


@tight_kernel
def score_labels(p: int, tokens: TokenRows, weights: Doubles, used: Longs, n_used: int, out: Doubles) -> None:
    """The same for the labels used[: n_used] only."""
    weighted = tokens.values.shape[0] > 0
    for m in range(n_used):
        out[used[m]] = 0.0
    for e in range(tokens.pointers[p], tokens.pointers[p + 1]):
        row, value = tokens.rows[e], tokens.values[e] if weighted else 1.0
        for m in range(n_used):
            out[used[m]] += value * weights[row, used[m]]


@tight_kernel
def change_token(p: int, tokens: TokenRows, change: Doubles, weights: Doubles) -> None:
    """w[a, y] += v_a change[y] for the attributes a of token p; `change` is cleared."""
    weighted = tokens.values.shape[0] > 0
    for y in range(change.shape[0]):
        if change[y] == 0.0:
            continue
        for e in range(tokens.pointers[p], tokens.pointers[p + 1]):
            weights[tokens.rows[e], y] += change[y] * (tokens.values[e] if weighted else 1.0)
        change[y] = 0.0


@kernel
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


@kernel
def sweep_primal(
    order: Longs, loops: int, solution: DualSolution, tokens: TokenRows, weights: Doubles
) -> tuple[int, int]:
    """Optimise the sequences `order` one after the other; returns how many were done, and how that ended."""
    problem, sets, _, work, _ = solution
    for m in range(order.shape[0]):
        i = order[m]
        begin, T = problem.offsets[i], problem.offsets[i + 1] - problem.offsets[i]
        if loops > 0:
            drop_idle(problem, sets, i)
        describe_labellings(problem, sets, i, work)
        for t in range(T):
            if loops > 0:
                score_token(begin + t, tokens, weights, work.emission[t])
            elif work.n_used[t] > 0:
                score_labels(begin + t, tokens, weights, work.used[t], work.n_used[t], work.emission[t])
        end = optimise_sequence(solution, i, loops)
        if end != DONE:
            return m, end
        for t in range(T):
            if work.n_used[t] > 0:
                change_token(begin + t, tokens, work.change[t], weights)
    return order.shape[0], DONE


class PrimalWeights:
    """w [R, Y], for the R attributes that have weights, with the data it is trained on."""

    def __init__(self, scores: LinearMap, data: Batch, workers: Workers) -> None:
        self.scores = scores
        self.data = data
        self.workers = workers
        self.tokens = TokenRows.build(expand(scores.encoder, data), scores.pattern.pointers)
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

    def sweep(self, order: Longs, loops: int, solution: DualSolution) -> tuple[int, int]:
        """Optimise some sequences one after the other."""
        return sweep_primal(order, loops, solution, self.tokens, self.weights)

    def scale(self, factor: float) -> None:
        """w times a factor."""
        self.weights *= factor

    def squared_norm(self) -> float:
        """‖w‖² without the chain."""
        return float(inner(self.vector(), self.vector()))

    def vector(self) -> Doubles:
        """The weights, for the model."""
        return self.weights.ravel()
