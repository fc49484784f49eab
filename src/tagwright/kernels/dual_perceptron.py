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
from tagwright.arrays import Doubles, Ints, Longs, padded
from tagwright.kernels.gram import GramMatrix, GramRows
from tagwright.optim.online import decode_sentence, fill_lead, update_edges


class TrainingSequences(NamedTuple):
    """The training data as the dual perceptron sees it."""

    offsets: Longs  # [N + 1]
    gold: Ints  # [n]
    contexts: Longs  # [n] the context of every token


class DualState(NamedTuple):
    """β, δ and H. The chain's rows are padded with −inf."""

    scores: Doubles  # [Y, M] H of every context
    beta: Doubles  # [M, Y]
    transition: Doubles  # [Y, P] δ
    incoming: Doubles  # [Y, P] δ, transposed
    start: Doubles  # [P]
    stop: Doubles  # [P]

    @classmethod
    def build(cls, n_contexts: int, n_labels: int) -> DualState:
        Y, P = n_labels, padded(n_labels)
        transition, start, stop = np.full((Y, P), -np.inf), np.full(P, -np.inf), np.full(P, -np.inf)
        transition[:, :Y], start[:Y], stop[:Y] = 0, 0, 0
        return cls(np.zeros((Y, n_contexts)), np.zeros((n_contexts, Y)), transition, np.zeros((Y, P)), start, stop)


class LazySums(NamedTuple):
    """u: every update times the step in which it was made."""

    beta: Doubles  # [M, Y]
    transition: Doubles  # [Y, Y]
    start: Doubles  # [Y]
    stop: Doubles  # [Y]


class DecodingWork(NamedTuple):
    """Work of Viterbi."""

    bounds: Doubles  # [Y, P] pruning bounds
    emission: Doubles  # [L, P]
    delta: Doubles  # [L, P]
    survivors: Longs  # [Y]
    path: Ints  # [L]


@kernel
def learn_sentences(
    order: Longs, data: TrainingSequences, gram: GramRows, state: DualState, sums: LazySums, work: DecodingWork,
    clock: int, boundaries: bool,
) -> int:  # fmt: skip
    """The sentences `order`, one after the other, from step `clock` on; returns the number of wrong tokens."""
    Y, path = state.incoming.shape[0], work.path
    wrong = 0
    fill_lead(state.transition, state.incoming, work.bounds)
    for n in range(order.shape[0]):
        begin, end = data.offsets[order[n]], data.offsets[order[n] + 1]
        T = end - begin
        for t in range(T):
            for y in range(Y):
                work.emission[t, y] = state.scores[y, data.contexts[begin + t]]
        decode_sentence(
            T, work.emission, state.transition, state.incoming, state.start, state.stop, work.bounds, work.delta,
            work.survivors, path,
        )  # fmt: skip
        now = float(clock + n)
        mistakes = 0
        for t in range(T):
            if path[t] != data.gold[begin + t]:
                mistakes += 1
                correct_context(data.contexts[begin + t], data.gold[begin + t], path[t], now, gram, state, sums)
        if mistakes > 0:
            wrong += mistakes
            update_edges(
                data.gold[begin:end], path, T, now, state.transition, state.incoming, state.start, state.stop,
                sums.transition, sums.start, sums.stop, work.bounds,
            )  # fmt: skip
            if not boundaries:
                state.start[:Y], state.stop[:Y] = 0.0, 0.0
                sums.start[:], sums.stop[:] = 0.0, 0.0
    return wrong


@kernel
def correct_context(
    m: int, right: int, given: int, now: float, gram: GramRows, state: DualState, sums: LazySums
) -> None:
    """β(m, right) += 1 and β(m, given) −= 1, and H with them."""
    state.beta[m, right] += 1.0
    state.beta[m, given] -= 1.0
    sums.beta[m, right] += now
    sums.beta[m, given] -= now
    row = gram.rows[gram.row_of[m]]
    for k in range(row.shape[0]):
        state.scores[right, k] += row[k]
        state.scores[given, k] -= row[k]


class DualPerceptron:
    """One training: β, δ, the lazy sums and the number of steps."""

    def __init__(self, gram: GramMatrix, data: TrainingSequences, n_labels: int) -> None:
        Y, P, M = n_labels, padded(n_labels), len(gram.contexts)
        longest = int(np.diff(data.offsets).max())
        self.gram = gram
        self.data = data
        self.state = DualState.build(M, Y)
        self.sums = LazySums(np.zeros((M, Y)), np.zeros((Y, Y)), np.zeros(Y), np.zeros(Y))
        self.clock = 1
        self._work = DecodingWork(
            np.empty((Y, P)), np.zeros((longest, P)), np.zeros((longest, P)), np.empty(Y, np.int64),
            np.empty(longest, np.int32),
        )  # fmt: skip

    def learn(self, order: Longs, *, boundaries: bool) -> int:
        """Go through some sentences; returns the number of wrong tokens."""
        wrong = 0
        for some in self.gram.portions(self.data.offsets, self.data.contexts, order):
            rows = self.gram.require_sentences(self.data.offsets, self.data.contexts, some)
            wrong += learn_sentences(some, self.data, rows, self.state, self.sums, self._work, self.clock, boundaries)
            self.clock += len(some)
        return wrong

    def average(self) -> Doubles:
        """[β | transition | start | stop], averaged over all steps so far."""
        state, sums, Y = self.state, self.sums, self.sums.start.shape[0]
        pairs = [
            (state.beta, sums.beta), (state.transition[:, :Y], sums.transition), (state.start[:Y], sums.start),
            (state.stop[:Y], sums.stop),
        ]  # fmt: skip
        return np.concatenate([(weights - u / self.clock).ravel() for weights, u in pairs])
