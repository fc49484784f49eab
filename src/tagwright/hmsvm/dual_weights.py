"""The weights of an HM-SVM with a kernel: multipliers β(m, y) of the contexts of the training data.

The scores of all contexts are kept, H[y, m] = Σ_l β(l, y) k(z_m, z_l), and a change of β(l, y) adds a row of the Gram
matrix to H[y]: a sentence is then scored by looking up, however many supports there are (HMSVM equation (8)). With the
linear kernel: primal_weights.py.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tagwright._jit import kernel
from tagwright.arrays import Doubles, Floats, Longs
from tagwright.encode.batch import Batch
from tagwright.hmsvm.algorithm import optimise_sequence
from tagwright.hmsvm.working_sets import DONE, DualSolution, describe_labellings, drop_idle
from tagwright.kernels.gram import GramMatrix, GramRows


class ContextCoefficients(NamedTuple):
    """β and H."""

    of_token: Longs  # [n] the context of every token
    beta: Doubles  # [M, Y]
    scores: Doubles  # [Y, M] H


@kernel
def change_context(m: int, row: Floats, change: Doubles, weights: ContextCoefficients) -> None:
    """β(m, y) += change[y], and H with it; `change` is cleared. row [M]: that of the Gram matrix."""
    for y in range(change.shape[0]):
        if change[y] == 0.0:
            continue
        weights.beta[m, y] += change[y]
        amount = change[y]
        for k in range(row.shape[0]):
            weights.scores[y, k] += amount * row[k]
        change[y] = 0.0


@kernel
def sweep_dual(
    order: Longs, loops: int, solution: DualSolution, gram: GramRows, weights: ContextCoefficients
) -> tuple[int, int]:
    """As sweep_primal. gram: has the rows of all contexts of these sentences."""
    problem, sets, _, work, _ = solution
    for m in range(order.shape[0]):
        i = order[m]
        begin, T = problem.offsets[i], problem.offsets[i + 1] - problem.offsets[i]
        if loops > 0:
            drop_idle(problem, sets, i)
        describe_labellings(problem, sets, i, work)
        for t in range(T):
            for y in range(problem.n_labels):
                work.emission[t, y] = weights.scores[y, weights.of_token[begin + t]]
        end = optimise_sequence(solution, i, loops)
        if end != DONE:
            return m, end
        for t in range(T):
            if work.n_used[t] > 0:
                context = weights.of_token[begin + t]
                change_context(context, gram.rows[gram.row_of[context]], work.change[t], weights)
    return order.shape[0], DONE


class DualWeights:
    """β [M, Y] and H [Y, M], with the data they are trained on."""

    def __init__(self, gram: GramMatrix, of_token: Longs, data: Batch, n_labels: int) -> None:
        M = len(gram.contexts)
        self.gram = gram
        self.data = data
        self.weights = ContextCoefficients(of_token, np.zeros((M, n_labels)), np.zeros((n_labels, M)))

    def products(self, squares: Longs) -> Doubles:
        """k(x_t, x_u) for the tokens of each sentence."""
        found = np.empty(int(squares[-1]))
        offsets, of_token = self.data.offsets, self.weights.of_token
        for some in self.gram.portions(offsets, of_token, np.arange(self.data.n_sentences)):
            gram = self.gram.require_sentences(offsets, of_token, some)
            for i in some.tolist():
                own = of_token[offsets[i] : offsets[i + 1]]
                found[squares[i] : squares[i + 1]] = gram.rows[np.ix_(gram.row_of[own], own)].ravel()
        return found

    def refresh(self) -> None:
        """Nothing to do: the scores are up to date."""

    def emission(self, first: int, last: int, out: Floats) -> None:
        """The rows of the sentences `first` to `last` − 1 [n, P]."""
        tokens = self.weights.of_token[self.data.offsets[first] : self.data.offsets[last]]
        out[:] = 0
        out[:, : len(self.weights.scores)] = self.weights.scores[:, tokens].T

    def sweep(self, order: Longs, loops: int, solution: DualSolution) -> tuple[int, int]:
        """Optimise some sequences one after the other."""
        offsets, of_token, done = self.data.offsets, self.weights.of_token, 0
        for some in self.gram.portions(offsets, of_token, order):
            gram = self.gram.require_sentences(offsets, of_token, some)
            finished, end = sweep_dual(some, loops, solution, gram, self.weights)
            done += finished
            if end != DONE:
                return done, end
        return done, DONE

    def scale(self, factor: float) -> None:
        """w times a factor."""
        self.weights.beta[:] *= factor
        self.weights.scores[:] *= factor

    def squared_norm(self) -> float:
        """‖w‖² without the chain: Σ β H."""
        return float(np.sum(self.weights.beta * self.weights.scores.T))

    def vector(self) -> Doubles:
        """The multipliers, for the model."""
        return self.weights.beta.ravel()
