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

from tagwright._jit import tight_kernel
from tagwright.arrays import Doubles, Ints, Longs
from tagwright.chain.viterbi import best_path
from tagwright.encode.batch import Batch
from tagwright.kernels.chain_weights import ChainWeights, change_edge, edge_at
from tagwright.kernels.gram import GramMatrix, GramRows
from tagwright.optim.online import DecodingWork


class DualState(NamedTuple):
    """H, β and δ, and the lazy sums u of β and δ."""

    scores: Doubles  # [Y, M] H of every context
    beta: Doubles  # [M, Y]
    chain: ChainWeights  # δ
    beta_sums: Doubles  # [M, Y]
    chain_sums: Doubles  # [Y² + 2Y]

    @classmethod
    def build(cls, n_contexts: int, n_labels: int) -> DualState:
        Y, M = n_labels, n_contexts
        return cls(np.zeros((Y, M)), np.zeros((M, Y)), ChainWeights.zeros(Y), np.zeros((M, Y)), np.zeros(Y * Y + 2 * Y))


@tight_kernel
def learn_sentences(
    order: Longs, offsets: Longs, labels: Ints, contexts: Longs, gram: GramRows, state: DualState, work: DecodingWork,
    clock: int, boundaries: bool,
) -> int:  # fmt: skip
    """The sentences `order`, one after the other, from step `clock` on; returns the number of wrong tokens."""
    Y, path, wrong = state.scores.shape[0], work.path, 0
    for n in range(order.shape[0]):
        begin, T = offsets[order[n]], offsets[order[n] + 1] - offsets[order[n]]
        gold, now, before = labels[begin : begin + T], float(clock + n), wrong
        for s in range(T):
            for y in range(Y):
                work.emission[s, y] = state.scores[y, contexts[begin + s]]
        best_path(work.emission, T, state.chain.rows, work.delta, work.survivors, path)
        for s in range(T):
            if path[s] != gold[s]:
                wrong += 1
                m, right, given = contexts[begin + s], gold[s], path[s]
                state.beta[m, right] += 1.0
                state.beta[m, given] -= 1.0
                state.beta_sums[m, right] += now
                state.beta_sums[m, given] -= now
                row = gram.rows[gram.row_of[m]]
                for k in range(row.shape[0]):
                    state.scores[right, k] += row[k]
                    state.scores[given, k] -= row[k]
        for s in range(0 if boundaries else 1, T + 1 if boundaries else T):
            if wrong > before:
                right, given = edge_at(gold, s, T, Y), edge_at(path, s, T, Y)
                change_edge(right, 1.0, state.chain)
                change_edge(given, -1.0, state.chain)
                state.chain_sums[right] += now
                state.chain_sums[given] -= now
    return wrong


class DualPerceptron:
    """One training: its state and the number of steps."""

    def __init__(self, gram: GramMatrix, data: Batch, contexts: Longs, n_labels: int, *, boundaries: bool) -> None:
        """contexts [n]: that of every token."""
        self.gram, self.data, self.contexts, self.boundaries = gram, data, contexts, boundaries
        self.state = DualState.build(len(gram.contexts), n_labels)
        self.clock = 1
        self._work = DecodingWork.build(data.offsets, n_labels, np.float64)

    def learn(self, order: Longs) -> int:
        """Go through some sentences; returns the number of wrong tokens."""
        wrong, data = 0, self.data
        for some, gram in self.gram.portions(data.offsets, self.contexts, order):
            wrong += learn_sentences(
                some, data.offsets, data.labels, self.contexts, gram, self.state, self._work, self.clock,
                self.boundaries,
            )  # fmt: skip
            self.clock += len(some)
        return wrong

    def average(self) -> Doubles:
        """[β | transition | start | stop], averaged over all steps so far."""
        state = self.state
        weights = np.concatenate([state.beta.ravel(), state.chain.edges])
        sums = np.concatenate([state.beta_sums.ravel(), state.chain_sums])
        return weights - sums / self.clock
