"""The online perceptron over label sequences, averaged.

HM-Perceptron (LM-POS algorithm 1; Collins 2002). For each sentence, in a random order:

    ŷ = argmax_y F(x, y; w) + margin · (wrong labels in y);   if ŷ ≠ y:   w += Φ(x, y) − Φ(x, ŷ)

The result is the average of w over all sentences of all epochs. Lazy averaging: an update δ at step c also adds c·δ to
a second vector u; after C steps the average is w − u / C. So a sentence costs only what it changes.
"""

from __future__ import annotations

import numpy as np

from tagwright._jit import tight_kernel
from tagwright.arrays import Doubles, Floats, Ints, Longs
from tagwright.chain.viterbi import first_best, step


@tight_kernel
def score_tokens(
    begin: int, end: int, token_pointers: Longs, attributes: Ints, values: Doubles, pointers: Longs, labels: Ints,
    weights: Floats, gold: Ints, margin: float, emission: Floats,
) -> None:  # fmt: skip
    """Emission rows of one sentence from its tokens' attributes; the gold labels are handicapped by the margin."""
    weighted = values.shape[0] > 0
    for p in range(begin, end):
        row = emission[p - begin]
        row[:] = 0
        row[gold[p]] = -margin
        for e in range(token_pointers[p], token_pointers[p + 1]):
            a = attributes[e]
            for w in range(pointers[a], pointers[a + 1]):
                row[labels[w]] += values[e] * weights[w] if weighted else weights[w]


@tight_kernel
def update_token(
    p: int, gold: int, wrong: int, token_pointers: Longs, attributes: Ints, values: Doubles, pointers: Longs,
    labels: Ints, clock: float, weights: Floats, late: Doubles,
) -> None:  # fmt: skip
    """w += for the gold label, −= for the wrong one, on every attribute of token p; `late` is u."""
    weighted = values.shape[0] > 0
    for e in range(token_pointers[p], token_pointers[p + 1]):
        a = attributes[e]
        size = values[e] if weighted else 1.0
        for w in range(pointers[a], pointers[a + 1]):
            if labels[w] == gold:
                weights[w] += size
                late[w] += clock * size
            elif labels[w] == wrong:
                weights[w] -= size
                late[w] -= clock * size


@tight_kernel
def decode_sentence(
    T: int, emission: Floats, transition: Floats, incoming: Floats, start: Floats, stop: Floats, no_lead: Floats,
    delta: Floats, alive: Longs, path: Longs,
) -> None:  # fmt: skip
    """Viterbi with the current weights."""
    Y = incoming.shape[0]
    for j in range(delta.shape[1]):
        delta[0, j] = start[j] + emission[0, j]
    for t in range(1, T):
        step(delta[t - 1], emission[t], transition, no_lead, Y, alive, delta[t])
    path[T - 1] = first_best(delta[T - 1], stop, Y, emission[T - 1])
    for t in range(T - 2, -1, -1):
        path[t] = first_best(delta[t], incoming[path[t + 1]], Y, emission[t])


@tight_kernel
def update_edges(
    gold: Ints, path: Longs, T: int, clock: float, transition: Floats, incoming: Floats, start: Floats, stop: Floats,
    late_transition: Doubles, late_start: Doubles, late_stop: Doubles,
) -> None:  # fmt: skip
    """The same update for transitions, first and last label."""
    for sign in (1, -1):
        for t in range(1, T):
            i = gold[t - 1] if sign > 0 else path[t - 1]
            j = gold[t] if sign > 0 else path[t]
            transition[i, j] += sign
            incoming[j, i] += sign
            late_transition[i, j] += sign * clock
        first = gold[0] if sign > 0 else path[0]
        last = gold[T - 1] if sign > 0 else path[T - 1]
        start[first] += sign
        late_start[first] += sign * clock
        stop[last] += sign
        late_stop[last] += sign * clock


@tight_kernel
def perceptron_pass(
    order: Longs, offsets: Longs, gold: Ints, token_pointers: Longs, attributes: Ints, values: Doubles,
    pointers: Longs, labels: Ints, clock: int, weights: Floats, late: Doubles,
    transition: Floats, incoming: Floats, start: Floats, stop: Floats,
    late_transition: Doubles, late_start: Doubles, late_stop: Doubles,
    boundaries: bool, margin: float, no_lead: Floats, emission: Floats, delta: Floats, alive: Longs, path: Longs,
) -> int:  # fmt: skip
    """The sentences `order`, one after the other; returns the number of wrong tokens.

    weights, late: of the pattern (pointers, labels). transition [Y, P] with its transpose `incoming` [Y, P], start and
    stop [P], padded with −inf. Work: emission, delta [L, P], alive [Y + 4], path [L], no_lead [Y, P] (+inf).
    """
    wrong = 0
    for n in range(order.shape[0]):
        begin, end = offsets[order[n]], offsets[order[n] + 1]
        T = end - begin
        score_tokens(begin, end, token_pointers, attributes, values, pointers, labels, weights, gold, margin, emission)
        decode_sentence(T, emission, transition, incoming, start, stop, no_lead, delta, alive, path)
        now = float(clock + n)
        mistakes = 0
        for t in range(T):
            if path[t] != gold[begin + t]:
                mistakes += 1
                update_token(
                    begin + t, gold[begin + t], path[t], token_pointers, attributes, values, pointers, labels,
                    now, weights, late,
                )  # fmt: skip
        if mistakes > 0:
            wrong += mistakes
            truth = gold[begin:end]
            update_edges(truth, path, T, now, transition, incoming, start, stop, late_transition, late_start, late_stop)
            if not boundaries:
                start[: incoming.shape[0]] = 0
                stop[: incoming.shape[0]] = 0
                late_start[:] = 0
                late_stop[:] = 0
    return wrong


PIECE = 1 << 16
"""Weights averaged at once."""


class AveragedPerceptron:
    """The state of one training: current weights, lazy sums, and the clock."""

    def __init__(self, n_weights: int, n_labels: int, width: int, longest: int) -> None:
        Y = n_labels
        self.weights: Floats = np.zeros(n_weights, np.float32)
        self.late = np.zeros(n_weights)
        self.transition = np.full((Y, width), -np.inf, np.float32)
        self.transition[:, :Y] = 0
        self.incoming = np.zeros((Y, width), np.float32)
        self.ends = np.full((2, width), -np.inf, np.float32)
        self.ends[:, :Y] = 0
        self.late_transition = np.zeros((Y, Y))
        self.late_ends = np.zeros((2, Y))
        self.clock = 1
        self._no_lead = np.full((Y, width), np.inf, np.float32)
        self._emission, self._delta = np.empty((2, longest, width), np.float32)
        self._alive, self._path = np.empty(Y + 4, np.int64), np.empty(longest, np.int64)

    def begin_from(self, vector: Doubles) -> None:
        """Take over weights, laid out as `add_average` gives them."""
        Y, n = len(self.incoming), len(self.weights)
        self.weights[:] = vector[:n]
        self.transition[:, :Y] = vector[n : n + Y * Y].reshape(Y, Y)
        self.incoming[:, :Y] = self.transition[:, :Y].T
        self.ends[:, :Y] = vector[n + Y * Y :].reshape(2, Y)

    def learn(
        self,
        order: Longs,
        offsets: Longs,
        gold: Ints,
        tokens: tuple[Longs, Ints, Doubles],
        pattern: tuple[Longs, Ints],
        *,
        boundaries: bool,
        margin: float,
    ) -> int:
        """Go through some sentences; returns the number of wrong tokens."""
        wrong = perceptron_pass(
            order, offsets, gold, *tokens, *pattern, self.clock, self.weights, self.late, self.transition,
            self.incoming, self.ends[0], self.ends[1], self.late_transition, self.late_ends[0], self.late_ends[1],
            boundaries, margin, self._no_lead, self._emission, self._delta, self._alive, self._path,
        )  # fmt: skip
        self.clock += len(order)
        return int(wrong)

    def add_average(self, out: Doubles, share: float) -> None:
        """out += share · [attribute weights | transition | start | stop], averaged over all steps so far."""
        Y, n = len(self.incoming), len(self.weights)
        for first in range(0, n, PIECE):  # no copy of all weights
            part = slice(first, min(first + PIECE, n))
            out[part] += share * (self.weights[part] - self.late[part] / self.clock)
        edges = self.transition[:, :Y] - self.late_transition / self.clock
        ends = self.ends[:, :Y] - self.late_ends / self.clock
        out[n:] += share * np.concatenate([edges.ravel(), ends.ravel()])
