"""The dual perceptron over label sequences, averaged: any kernel between observations.

HMSVM algorithm 1. The weights are never written out. Kept are β(m, σ), how often label σ was right minus how often
it was wrongly given at context m, and δ(σ, τ) for label pairs; a sentence's lattice is

    H[s, σ] = Σ_m β(m, σ) k(x_s, z_m)        (here kept for all contexts of the training data: a mistake adds a row of
                                              the Gram matrix to it)

Contexts are distinct observations, so β(i, t, σ) of tokens with one context are added up. Averages are lazy, as in
online.py: with the linear kernel both learners go through the same mistakes, and give the same labels.
"""

from __future__ import annotations

import numpy as np

from tagwright._jit import kernel
from tagwright.arrays import Doubles, Floats, Ints, Longs, padded
from tagwright.optim.online import decode_sentence, fill_lead, update_edges
from tagwright.scores.gram import Gram


@kernel
def dual_pass(
    order: Longs, offsets: Longs, gold: Ints, of_token: Longs, rows: Floats, places: Longs, clock: int,
    scores: Doubles, beta: Doubles, late: Doubles, transition: Doubles, incoming: Doubles, ends: Doubles,
    late_transition: Doubles, late_ends: Doubles, boundaries: bool, lead: Doubles, emission: Doubles,
    delta: Doubles, alive: Longs, path: Ints,
) -> int:  # fmt: skip
    """The sentences `order`, one after the other; returns the number of wrong tokens.

    scores [Y, M]: H of all contexts. beta, late [M, Y]. rows[places[m]]: the Gram matrix.
    """
    Y = incoming.shape[0]
    wrong = 0
    fill_lead(transition, incoming, lead)
    for n in range(order.shape[0]):
        begin, end = offsets[order[n]], offsets[order[n] + 1]
        T = end - begin
        for t in range(T):
            for y in range(Y):
                emission[t, y] = scores[y, of_token[begin + t]]
        decode_sentence(T, emission, transition, incoming, ends[0], ends[1], lead, delta, alive, path)
        now = float(clock + n)
        mistakes = 0
        for t in range(T):
            right, given = gold[begin + t], path[t]
            if right == given:
                continue
            mistakes += 1
            m = of_token[begin + t]
            beta[m, right] += 1.0
            beta[m, given] -= 1.0
            late[m, right] += now
            late[m, given] -= now
            row = rows[places[m]]
            for k in range(row.shape[0]):
                scores[right, k] += row[k]
                scores[given, k] -= row[k]
        if mistakes > 0:
            wrong += mistakes
            update_edges(
                gold[begin:end], path, T, now, transition, incoming, ends[0], ends[1], late_transition, late_ends[0],
                late_ends[1], lead,
            )  # fmt: skip
            if not boundaries:
                ends[:, :Y] = 0.0
                late_ends[:] = 0.0
    return wrong


class DualPerceptron:
    """The state of one training: β, δ, lazy sums and the clock."""

    def __init__(self, gram: Gram, of_token: Longs, n_labels: int, longest: int) -> None:
        Y, P, M = n_labels, padded(n_labels), len(gram.contexts)
        self.gram = gram
        self.of_token = of_token
        self.scores = np.zeros((Y, M))
        self.beta, self.late = np.zeros((2, M, Y))
        self.transition = np.full((Y, P), -np.inf)
        self.transition[:, :Y] = 0
        self.incoming = np.zeros((Y, P))
        self.ends = np.full((2, P), -np.inf)
        self.ends[:, :Y] = 0
        self.late_transition, self.late_ends = np.zeros((Y, Y)), np.zeros((2, Y))
        self.clock = 1
        self._lead = np.empty((Y, P))
        self._emission, self._delta = np.zeros((2, longest, P))
        self._alive, self._path = np.empty(Y, np.int64), np.empty(longest, np.int32)

    def learn(self, order: Longs, offsets: Longs, gold: Ints, *, boundaries: bool) -> int:
        """Go through some sentences; returns the number of wrong tokens."""
        wrong = 0
        for first, last in self.gram.portions(offsets, self.of_token, order):
            self.gram.require_sentences(offsets, self.of_token, order[first:last])
            wrong += dual_pass(
                order[first:last], offsets, gold, self.of_token, self.gram.rows, self.gram.places, self.clock,
                self.scores, self.beta, self.late, self.transition, self.incoming, self.ends, self.late_transition,
                self.late_ends, boundaries, self._lead, self._emission, self._delta, self._alive, self._path,
            )  # fmt: skip
            self.clock += last - first
        return wrong

    def average(self) -> Doubles:
        """[β | transition | start | stop], averaged over all steps so far."""
        Y = len(self.incoming)
        return np.concatenate(
            [
                (self.beta - self.late / self.clock).ravel(),
                (self.transition[:, :Y] - self.late_transition / self.clock).ravel(),
                (self.ends[:, :Y] - self.late_ends / self.clock).ravel(),
            ]
        )
