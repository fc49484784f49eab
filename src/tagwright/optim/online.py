"""The online perceptron over label sequences, averaged.

HM-Perceptron (LM-POS algorithm 1; Collins 2002). For each sentence, in a random order:

    ŷ = argmax_y F(x, y; w) + margin · (wrong labels in y);   if ŷ ≠ y:   w += Φ(x, y) − Φ(x, ŷ)

The result is the average of w over all sentences of all epochs. Lazy averaging: an update δ at step c also adds c·δ to
a second vector u; after C steps the average is w − u / C. So a sentence costs only what it changes.

Weights are read by rows where an attribute has many labels (scores/wide_rows.py). Viterbi prunes as in
chain/viterbi.py; `lead` is worked out once a portion of sentences, and raised where a change of transitions asks for
it.
"""

from __future__ import annotations

import numpy as np

from tagwright._jit import tight_kernel
from tagwright.arrays import Bools, Doubles, Floats, Ints, Longs
from tagwright.chain.viterbi import MARGIN, step, trace_back
from tagwright.scores.wide_rows import PREFETCH_DISTANCE, Numbers, TokenWeights, WidePattern, add_token, fetch_token

ROUNDING = np.float32(MARGIN)


@tight_kernel
def score_tokens(
    begin: int, end: int, pointers: Longs, middles: Longs, firsts: Numbers, sizes: Ints, values: Doubles, labels: Ints,
    Y: int, weights: Floats, gold: Ints, margin: float, emission: Floats,
) -> None:  # fmt: skip
    """Emission rows of one sentence from its tokens' weights; the gold labels are handicapped by the margin."""
    for p in range(begin, end):
        if p + PREFETCH_DISTANCE < end:
            fetch_token(p + PREFETCH_DISTANCE, pointers, middles, firsts, Y, weights)
        row = emission[p - begin]
        row[:] = 0
        row[gold[p]] = -margin
        add_token(p, pointers, middles, firsts, sizes, values, labels, Y, weights, row)


@tight_kernel
def update_token(
    p: int, label: int, sign: int, pointers: Longs, middles: Longs, firsts: Numbers, sizes: Ints, values: Doubles,
    labels: Ints, real: Bools, clock: float, weights: Floats, late: Doubles,
) -> None:  # fmt: skip
    """w += sign for the label, on every attribute of token p; `late` is u."""
    weighted, partial = values.shape[0] > 0, real.shape[0] > 0
    for e in range(pointers[p], pointers[p + 1]):
        w, end = firsts[e] + label, firsts[e] + label + 1
        if e >= middles[p]:
            w, end = firsts[e], firsts[e] + sizes[e]
            while w < end and labels[w] != label:
                w += 1
        if w < end and (not partial or real[w]):
            size = sign * (values[e] if weighted else 1.0)
            weights[w] += size
            late[w] += clock * size


@tight_kernel
def decode_sentence(
    T: int, emission: Floats, transition: Floats, incoming: Floats, start: Floats, stop: Floats, lead: Floats,
    delta: Floats, alive: Longs, path: Ints,
) -> None:  # fmt: skip
    """Viterbi with the current weights."""
    Y = incoming.shape[0]
    for j in range(delta.shape[1]):
        delta[0, j] = start[j] + emission[0, j]
    for t in range(1, T):
        path[t - 1] = step(delta[t - 1], emission[t], transition, lead, Y, alive, delta[t])
    trace_back(delta, T, incoming, stop, path)


@tight_kernel
def fill_lead(transition: Floats, incoming: Floats, lead: Floats) -> None:
    """lead[b, i] = max_j transition[i, j] − transition[b, j], and a margin for rounding (chain/viterbi.py)."""
    Y = lead.shape[0]
    for b in range(Y):
        lead[b] = -np.inf
        for j in range(Y):
            for i in range(Y):
                gain = incoming[j, i] - transition[b, j] + ROUNDING
                lead[b, i] = gain if gain > lead[b, i] else lead[b, i]


@tight_kernel
def raise_lead(transition: Floats, incoming: Floats, i: int, j: int, lead: Floats) -> None:
    """After a change of transition[i, j]: what became larger is brought up to date; what became smaller is left, since
    more than the lead does no harm."""
    for k in range(lead.shape[0]):
        gain = transition[i, j] - transition[k, j] + ROUNDING
        lead[k, i] = gain if gain > lead[k, i] else lead[k, i]
        gain = incoming[j, k] - transition[i, j] + ROUNDING
        lead[i, k] = gain if gain > lead[i, k] else lead[i, k]


@tight_kernel
def update_edges(
    gold: Ints, path: Ints, T: int, clock: float, transition: Floats, incoming: Floats, start: Floats, stop: Floats,
    late_transition: Doubles, late_start: Doubles, late_stop: Doubles, lead: Floats,
) -> None:  # fmt: skip
    """The same update for transitions, first and last label."""
    for sign in (1, -1):
        for t in range(1, T):
            if gold[t - 1] == path[t - 1] and gold[t] == path[t]:
                continue
            i = gold[t - 1] if sign > 0 else path[t - 1]
            j = gold[t] if sign > 0 else path[t]
            transition[i, j] += sign
            incoming[j, i] += sign
            raise_lead(transition, incoming, i, j, lead)
            late_transition[i, j] += sign * clock
        first = gold[0] if sign > 0 else path[0]
        last = gold[T - 1] if sign > 0 else path[T - 1]
        start[first] += sign
        late_start[first] += sign * clock
        stop[last] += sign
        late_stop[last] += sign * clock


@tight_kernel
def perceptron_pass(
    order: Longs, offsets: Longs, gold: Ints, pointers: Longs, middles: Longs, firsts: Numbers, sizes: Ints,
    values: Doubles, labels: Ints, real: Bools, clock: int, weights: Floats, late: Doubles,
    transition: Floats, incoming: Floats, start: Floats, stop: Floats,
    late_transition: Doubles, late_start: Doubles, late_stop: Doubles,
    boundaries: bool, margin: float, lead: Floats, emission: Floats, delta: Floats, alive: Longs, path: Ints,
) -> int:  # fmt: skip
    """The sentences `order`, one after the other; returns the number of wrong tokens.

    weights, late: of a WidePattern (labels, real). transition [Y, P] with its transpose `incoming` [Y, P], start and
    stop [P], padded with −inf. Work: emission, delta [L, P], alive [Y], path [L], lead [Y, P].
    """
    wrong, Y = 0, incoming.shape[0]
    fill_lead(transition, incoming, lead)
    for n in range(order.shape[0]):
        begin, end = offsets[order[n]], offsets[order[n] + 1]
        T = end - begin
        score_tokens(
            begin, end, pointers, middles, firsts, sizes, values, labels, Y, weights, gold, margin, emission
        )  # fmt: skip
        decode_sentence(T, emission, transition, incoming, start, stop, lead, delta, alive, path)
        now = float(clock + n)
        mistakes = 0
        for t in range(T):
            if path[t] != gold[begin + t]:
                mistakes += 1
                update_token(
                    begin + t, gold[begin + t], 1, pointers, middles, firsts, sizes, values, labels, real,
                    now, weights, late,
                )  # fmt: skip
                update_token(
                    begin + t, path[t], -1, pointers, middles, firsts, sizes, values, labels, real,
                    now, weights, late,
                )  # fmt: skip
        if mistakes > 0:
            wrong += mistakes
            truth = gold[begin:end]
            update_edges(
                truth, path, T, now, transition, incoming, start, stop, late_transition, late_start, late_stop, lead
            )  # fmt: skip
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

    def __init__(self, pattern: WidePattern, width: int, longest: int) -> None:
        Y = pattern.n_labels
        self.pattern = pattern
        self.weights = np.zeros(pattern.n_places, np.float32)
        self.late = np.zeros(pattern.n_weights)
        self.transition = np.full((Y, width), -np.inf, np.float32)
        self.transition[:, :Y] = 0
        self.incoming = np.zeros((Y, width), np.float32)
        self.ends = np.full((2, width), -np.inf, np.float32)
        self.ends[:, :Y] = 0
        self.late_transition = np.zeros((Y, Y))
        self.late_ends = np.zeros((2, Y))
        self.clock = 1
        self._lead = np.empty((Y, width), np.float32)
        self._emission, self._delta = np.empty((2, longest, width), np.float32)
        self._alive, self._path = np.empty(Y, np.int64), np.empty(longest, np.int32)

    def begin_from(self, vector: Doubles) -> None:
        """Take over weights, laid out as `add_average` gives them."""
        Y = len(self.incoming)
        n = len(vector) - Y * Y - 2 * Y
        self.weights[self.pattern.find(slice(n))] = vector[:n]
        self.transition[:, :Y] = vector[n : n + Y * Y].reshape(Y, Y)
        self.incoming[:, :Y] = self.transition[:, :Y].T
        self.ends[:, :Y] = vector[n + Y * Y :].reshape(2, Y)

    def learn(
        self,
        order: Longs,
        offsets: Longs,
        gold: Ints,
        tokens: TokenWeights,
        *,
        boundaries: bool,
        margin: float,
    ) -> int:
        """Go through some sentences; returns the number of wrong tokens."""
        wrong = perceptron_pass(
            order, offsets, gold, tokens.pointers, tokens.middles, tokens.firsts, tokens.sizes, tokens.values,
            self.pattern.labels, self.pattern.real, self.clock, self.weights, self.late, self.transition, self.incoming,
            self.ends[0], self.ends[1], self.late_transition, self.late_ends[0], self.late_ends[1],
            boundaries, margin, self._lead, self._emission, self._delta, self._alive, self._path,
        )  # fmt: skip
        self.clock += len(order)
        return int(wrong)

    def add_average(self, out: Doubles, share: float) -> None:
        """out += share · [attribute weights | transition | start | stop], averaged over all steps so far."""
        Y = len(self.incoming)
        n = len(out) - Y * Y - 2 * Y
        for first in range(0, n, PIECE):  # no copy of all weights
            part = slice(first, min(first + PIECE, n))
            here = self.pattern.find(part)
            out[part] += share * (self.weights[here] - self.late[here] / self.clock)
        edges = self.transition[:, :Y] - self.late_transition / self.clock
        ends = self.ends[:, :Y] - self.late_ends / self.clock
        out[n:] += share * np.concatenate([edges.ravel(), ends.ravel()])
