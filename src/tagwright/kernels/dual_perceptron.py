"""The dual perceptron over label sequences, averaged: any kernel between observations (HMSVM algorithm 1).

For each sentence x with labels y, in a random order:

    ŷ = argmax_y Σ_s H[s, y_s] + Σ_s δ(y_{s−1}, y_s)            Viterbi decoding, HMSVM equations (8) to (10)
    where ŷ_s ≠ y_s:   β(m, y_s) += 1,  β(m, ŷ_s) −= 1          m: the context of token s
    and for the label pairs of both:   δ(y_{s−1}, y_s) += 1,  δ(ŷ_{s−1}, ŷ_s) −= 1

    H[s, σ] = Σ_m β(m, σ) k(x_s, z_m)

The weights are never written out. A context z_m is a distinct attribute vector: the paper's β(i, t, σ) of all tokens
with one context are added up. H is kept for all contexts of the training data, so that a sentence is scored by looking
up; a mistake adds a row of the Gram matrix to H.

The result is the average over all sentences of all epochs. Lazy averaging, as in optim/online.py: an update d at step c
also adds c·d to a second array u; after C steps the average is w − u / C. With the linear kernel both learners make the
same mistakes, and give the same labels.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tagwright._jit import kernel
from tagwright.arrays import Doubles, Ints, Longs
from tagwright.chain.viterbi import PrunedSteps, best_path
from tagwright.kernels.gram import GramMatrix, GramRows
from tagwright.optim.online import ChainSums, DecodingWork, fill_bounds, update_chain


class TrainingSequences(NamedTuple):
    """The training data as the dual perceptron sees it."""

    offsets: Longs  # [N + 1]
    gold: Ints  # [n]
    contexts: Longs  # [n] the context of every token


class DualState(NamedTuple):
    """H, β and δ, and the lazy sums u of β and δ."""

    scores: Doubles  # [Y, M] H of every context
    beta: Doubles  # [M, Y]
    chain: PrunedSteps  # δ
    beta_sums: Doubles  # [M, Y]
    chain_sums: ChainSums

    @classmethod
    def build(cls, n_contexts: int, n_labels: int) -> DualState:
        Y, M = n_labels, n_contexts
        chain = PrunedSteps.zeros(Y, np.float64)
        return cls(np.zeros((Y, M)), np.zeros((M, Y)), chain, np.zeros((M, Y)), ChainSums.build(Y))


@kernel
def learn_sentences(
    order: Longs, data: TrainingSequences, gram: GramRows, state: DualState, work: DecodingWork, clock: int,
    boundaries: bool,
) -> int:  # fmt: skip
    """The sentences `order`, one after the other, from step `clock` on; returns the number of wrong tokens."""
    gold, path = data.gold, work.path
    wrong = 0
    fill_bounds(state.chain)
    for n in range(order.shape[0]):
        begin, end = data.offsets[order[n]], data.offsets[order[n] + 1]
        for p in range(begin, end):
            for y in range(state.scores.shape[0]):
                work.emission[p - begin, y] = state.scores[y, data.contexts[p]]
        best_path(work.emission, end - begin, state.chain, work.delta, work.survivors, path)
        now = float(clock + n)
        mistakes = 0
        for p in range(begin, end):
            if path[p - begin] != gold[p]:
                mistakes += 1
                correct_context(data.contexts[p], gold[p], path[p - begin], now, gram, state)
        if mistakes > 0:
            wrong += mistakes
            update_chain(gold[begin:end], path, now, boundaries, state.chain, state.chain_sums)
    return wrong


@kernel
def correct_context(m: int, right: int, given: int, now: float, gram: GramRows, state: DualState) -> None:
    """β(m, right) += 1 and β(m, given) −= 1, and H with them."""
    state.beta[m, right] += 1.0
    state.beta[m, given] -= 1.0
    state.beta_sums[m, right] += now
    state.beta_sums[m, given] -= now
    row = gram.rows[gram.row_of[m]]
    for k in range(row.shape[0]):
        state.scores[right, k] += row[k]
        state.scores[given, k] -= row[k]


class DualPerceptron:
    """One training: its state and the number of steps."""

    def __init__(self, gram: GramMatrix, data: TrainingSequences, n_labels: int) -> None:
        self.gram = gram
        self.data = data
        self.state = DualState.build(len(gram.contexts), n_labels)
        self.clock = 1
        self._work = DecodingWork.build(data.offsets, n_labels, np.float64)

    def learn(self, order: Longs, *, boundaries: bool) -> int:
        """Go through some sentences; returns the number of wrong tokens."""
        wrong = 0
        for some in self.gram.portions(self.data.offsets, self.data.contexts, order):
            rows = self.gram.require_sentences(self.data.offsets, self.data.contexts, some)
            wrong += learn_sentences(some, self.data, rows, self.state, self._work, self.clock, boundaries)
            self.clock += len(some)
        return wrong

    def average(self) -> Doubles:
        """[β | transition | start | stop], averaged over all steps so far."""
        state = self.state
        weights = np.concatenate([state.beta.ravel(), state.chain.weights()])
        sums = np.concatenate([u.ravel() for u in (state.beta_sums, *state.chain_sums)])
        return weights - sums / self.clock
