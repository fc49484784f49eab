"""Where the weights of an HM-SVM with a kernel live: in multipliers β(m, y) of the training data's contexts.

The other place is linear_space.py. The scores of all contexts are kept, H[y, m] = Σ_l β(l, y) k(z_m, z_l), and a
change of β(l, y) adds a row of the Gram matrix to H[y]: a sentence is then scored by looking up, however many supports
there are."""

from __future__ import annotations

import numpy as np

from tagwright._jit import kernel
from tagwright.arrays import Doubles, Floats, Longs
from tagwright.encode.dataset import Dataset
from tagwright.optim.planes import DONE, Block, Planes, Problem, drop_idle, list_planes
from tagwright.optim.search import Search, visit
from tagwright.scores.gram import Gram


@kernel
def change_context(m: int, row: Floats, change: Doubles, beta: Doubles, scores: Doubles) -> None:
    """β(m, y) += change[y], and H with it; `change` is cleared."""
    for y in range(change.shape[0]):
        if change[y] == 0.0:
            continue
        beta[m, y] += change[y]
        amount = change[y]
        for k in range(row.shape[0]):
            scores[y, k] += amount * row[k]
        change[y] = 0.0


@kernel
def sweep_kernel(
    order: Longs, searches: int, problem: Problem, planes: Planes, block: Block, search: Search, of_token: Longs,
    rows: Floats, places: Longs, beta: Doubles, scores: Doubles, chain: Doubles, gaps: Doubles,
) -> tuple[int, int]:  # fmt: skip
    """As sweep_linear. rows[places[m]]: the Gram matrix, there for all contexts of these sentences."""
    for m in range(order.shape[0]):
        i = order[m]
        begin, T = problem.offsets[i], problem.offsets[i + 1] - problem.offsets[i]
        if searches > 0:
            drop_idle(problem, planes, i)
        list_planes(problem, planes, i, block)
        for t in range(T):
            for y in range(problem.n_labels):
                search.emission[t, y] = scores[y, of_token[begin + t]]
        end = visit(problem, planes, i, searches, search, chain, block, gaps)
        if end != DONE:
            return m, end
        for t in range(T):
            if block.n_wanted[t] > 0:
                context = of_token[begin + t]
                change_context(context, rows[places[context]], block.change[t], beta, scores)
    return order.shape[0], DONE


class KernelSpace:
    """Multipliers [M, Y] with the data they are trained on."""

    def __init__(self, gram: Gram, of_token: Longs, data: Dataset, n_labels: int) -> None:
        self.gram = gram
        self.of_token = of_token
        self.data = data
        self.beta = np.zeros((len(gram.contexts), n_labels))
        self.scores = np.zeros((n_labels, len(gram.contexts)))

    def products(self, squares: Longs) -> Doubles:
        """k(x_t, x_u) for the tokens of each sentence."""
        found = np.empty(int(squares[-1]))
        offsets, gram = self.data.offsets, self.gram
        everyone = np.arange(self.data.n_sentences)
        for first, last in gram.portions(offsets, self.of_token, everyone):
            gram.require_sentences(offsets, self.of_token, everyone[first:last])
            for i in range(first, last):
                own = self.of_token[offsets[i] : offsets[i + 1]]
                found[squares[i] : squares[i + 1]] = gram.rows[np.ix_(gram.places[own], own)].ravel()
        return found

    def refresh(self) -> None:
        """Nothing to do: the scores are up to date."""

    def emission(self, first: int, last: int, out: Floats) -> None:
        """The rows of the sentences `first` to `last` − 1 [n, P]."""
        tokens = self.of_token[self.data.offsets[first] : self.data.offsets[last]]
        out[:] = 0
        out[:, : len(self.scores)] = self.scores[:, tokens].T

    def sweep(
        self, order: Longs, searches: int, problem: Problem, planes: Planes, block: Block, search: Search,
        chain: Doubles, gaps: Doubles,
    ) -> tuple[int, int]:  # fmt: skip
        """Optimise some sequences one after the other."""
        for first, last in self.gram.portions(self.data.offsets, self.of_token, order):
            self.gram.require_sentences(self.data.offsets, self.of_token, order[first:last])
            done, end = sweep_kernel(
                order[first:last], searches, problem, planes, block, search, self.of_token, self.gram.rows,
                self.gram.places, self.beta, self.scores, chain, gaps,
            )  # fmt: skip
            if end != DONE:
                return first + done, end
        return len(order), DONE

    def scale(self, factor: float) -> None:
        """w times a factor."""
        self.beta *= factor
        self.scores *= factor

    def squared_norm(self) -> float:
        """‖w‖² without the chain: Σ β H."""
        return float(np.sum(self.beta * self.scores.T))

    def vector(self) -> Doubles:
        """The multipliers, for the model."""
        return self.beta.ravel()
