"""GUIDED algorithm 1: bidirectional inference. The easiest token first, between the labels known on either side.

P: accepted spans. Q: for every token k outside them, the span that labelling k would make of k, the accepted span that
ends before it and the one that begins after it, whose states S_L and S_R are its context. For a hypothesis h of it:

    U(h.A) = w · f(h.A)                          (2)   score of the last action: a label for k between S_L and S_R
    V(h)   = V(S_L.T) + V(S_R.T) + U(h.A)        (1)   score of the hypothesis; a missing side counts 0

    P = ∅; Q = { [k, k] for every token k }
    until P covers the sentence:
        p = the span of Q whose top hypothesis p.S.T has the largest action score U
        move p to P, without the spans inside it
        make the candidates beside p anew, with p as their context

A span keeps the top hypotheses of its B best states, so that all takes O(B² n): at most 3 n candidates are made.

Interfaces have as many labels as templates look at, and none at the ends of the sentence, where no token is left to
look at them. (The paper keeps them there too; a beam is better spent on what matters to the rest of the inference.)
Ties: the smaller label, the state met first (left states outside, right ones inside), the token to the left.

Fixed directions are the paper's baselines: Q then has nothing but the token next in line.

Well-formed output (`InferenceModel.gaps`, see well_formed.py): a label is ruled out where it may not stand beside a
labelled neighbour, or where no labels would fit into the gap between it and some state of the next accepted span. So
every gap can be filled whatever states are chosen. Labels of span schemes never come to a dead end that way. Where
tokens may have few labels alone (a dictionary) it can happen; the sentence is then labelled from left to right, where a
label is possible if and only if the rest is (`rule_out_impossible`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tagwright._jit import tight_kernel
from tagwright._simd import largest
from tagwright.arrays import Doubles, Floats, Ints, Longs
from tagwright.guided.chart import (
    NONE,
    Hypothesis,
    SpanChart,
    accept,
    clear,
    keep_hypothesis,
    read_labels,
    set_candidate,
)
from tagwright.guided.label_contexts import ContextTable, Neighbours, add_contexts
from tagwright.guided.well_formed import rule_out

BOTH, LEFT_TO_RIGHT, RIGHT_TO_LEFT = 0, 1, 2
LEFT, RIGHT, EITHER = 0, 1, 2


class InferenceModel(NamedTuple):
    """What is the same for all sentences."""

    contexts: ContextTable  # weights of label contexts
    reach: Longs  # [2] labels that templates look at to the left and to the right
    gaps: Floats  # [2, M, Y + 1, P] −inf for labels too near to another, up to M − 1 tokens between them; else 0
    direction: int


class ScoredSentence(NamedTuple):
    """One sentence, scored token by token."""

    emission: Floats  # [n, P] scores of the tokens alone: that part of U which depends on no label but the token's own
    lexical: Ints  # [n, parts] numbers of the lexical parts of label templates


class Labelling(NamedTuple):
    """What inference found for the n tokens of some sentences."""

    labels: Ints  # [n]
    order: Longs  # [n] the step in its sentence at which a token was labelled, from 0
    known: Longs  # [n, 2] first and last token of the span that its action made: these labels were known

    @classmethod
    def build(cls, n: int) -> Labelling:
        """Room for n tokens."""
        return cls(np.empty(n, np.int32), np.empty(n, np.int64), np.empty((n, 2), np.int64))

    def part(self, tokens: slice) -> Labelling:
        """That of some tokens; a view."""
        return Labelling(self.labels[tokens], self.order[tokens], self.known[tokens])


@tight_kernel
def infer(chart: SpanChart, model: InferenceModel, sentence: ScoredSentence, labels: Ints) -> float:
    """Algorithm 1. Label a sentence, into labels [n]: V of the labelling, or −inf where none is possible."""
    n, direction, step = sentence.emission.shape[0], model.direction, 0
    clear(chart, n)
    k = chart.queue[1]  # NONE
    while step < n:
        for i in range(find_outdated(chart, model, n, direction, k)):
            make_candidate(chart, model, sentence, chart.outdated[i])
        k = chart.queue[1]
        if k >= 0:
            accept(chart, k)
            chart.order[step] = k
            step += 1
        elif direction == BOTH and model.gaps.shape[1] > 0:  # a dead end
            direction, step = LEFT_TO_RIGHT, 0
            clear(chart, n)
        else:
            return -np.inf
    read_labels(chart, k, labels)
    return float(chart.V[k, 0])


@tight_kernel
def find_outdated(chart: SpanChart, model: InferenceModel, n: int, direction: int, k: int) -> int:
    """The tokens whose candidates must be made anew, into chart.outdated; how many they are.

    Once span k is accepted: those beside it, and those that a small gap divides from it, where gaps count. k = NONE:
    all tokens outside P. In a fixed direction: the next one.
    """
    size = 0
    for t in range(n if k < 0 else 0):
        is_next = direction == BOTH
        if direction == LEFT_TO_RIGHT:
            is_next = t == 0 or chart.ends[t] >= 0
        elif direction == RIGHT_TO_LEFT:
            is_next = t == n - 1 or chart.begins[t + 2] >= 0
        if is_next and not chart.accepted[t]:
            chart.outdated[size] = t
            size += 1
    for side in range(2 if k >= 0 else 0):
        if direction == (LEFT_TO_RIGHT if side == LEFT else RIGHT_TO_LEFT):
            continue
        for m in range(max(model.gaps.shape[1], 1) if direction == BOTH else 1):
            t = chart.bounds[k, 0] - 1 - m if side == LEFT else chart.bounds[k, 1] + 1 + m
            if t < 0 or t >= n or chart.accepted[t]:
                break
            chart.outdated[size] = t
            size += 1
    return size


@tight_kernel
def make_candidate(chart: SpanChart, model: InferenceModel, sentence: ScoredSentence, k: int) -> None:
    """The states of the span that labelling token k would make: all labels between all pairs of context states.

    U = (emission + left contexts) + right contexts + contexts on both sides; each of the first two is added up once
    for each state on its side.
    """
    contexts, n = model.contexts, sentence.emission.shape[0]
    sides, lexical, row = contexts.sides, sentence.lexical[k], chart.row
    left, right = chart.ends[k], chart.begins[k + 2]
    n_left, n_right = chart.n_states[left] if left >= 0 else 1, chart.n_states[right] if right >= 0 else 0
    chart.bounds[k, 0] = chart.bounds[left, 0] if left >= 0 else k
    chart.bounds[k, 1] = chart.bounds[right, 1] if right >= 0 else k
    chart.context_spans[k, 0], chart.context_spans[k, 1] = left, right
    chart.n_states[k] = 0
    for side in range(2):
        a, b = left if side == LEFT else NONE, right if side == RIGHT else NONE
        for i in range(n_left if side == LEFT else n_right):
            part = chart.side_rows[side, i]
            if side == LEFT:
                for c in range(part.shape[0]):
                    part[c] = sentence.emission[k, c]
            else:
                for c in range(part.shape[0]):
                    part[c] = 0
            if a >= 0 or b >= 0:
                around = between(chart, contexts.n_labels, a, i, b, i)
                add_contexts(contexts, sides[side], sides[side + 1], lexical, around, part)
            for ruled in range(side, RIGHT + 1 if right < 0 else side + 1):
                rule_out(chart, model.gaps, ruled, k, i, n, part)
    for i in range(n_left):
        for j in range(max(n_right, 1)):
            row = chart.side_rows[LEFT, i]
            if right >= 0:
                row = chart.row
                for c in range(row.shape[0]):
                    row[c] = chart.side_rows[LEFT, i, c] + chart.side_rows[RIGHT, j, c]
            if left >= 0 and right >= 0:
                around = between(chart, contexts.n_labels, left, i, right, j)
                add_contexts(contexts, sides[EITHER], sides[EITHER + 1], lexical, around, row)
            keep_labels(chart, model, n, k, row, i, j)
    set_candidate(chart, k)


@tight_kernel
def between(chart: SpanChart, Y: int, left: int, i: int, right: int, j: int) -> Neighbours:
    """The labels around a token between state i of span `left` and state j of span `right`, either of which may be
    NONE."""
    l2, l1 = (chart.interfaces[left, i, 3], chart.interfaces[left, i, 2]) if left >= 0 else (Y, Y)
    r1, r2 = (chart.interfaces[right, j, 0], chart.interfaces[right, j, 1]) if right >= 0 else (Y, Y)
    return Neighbours(l2, l1, r1, r2)


@tight_kernel
def keep_labels(chart: SpanChart, model: InferenceModel, n: int, k: int, row: Floats, i: int, j: int) -> None:
    """The hypotheses of all labels of token k between the context states i and j; row [P]: U of each label."""
    Y, B = model.contexts.n_labels, chart.V.shape[1]
    begin, end = chart.bounds[k, 0], chart.bounds[k, 1]
    left, right = chart.context_spans[k, 0], chart.context_spans[k, 1]
    before = 0.0
    if left >= 0:
        before += chart.V[left, i]
    if right >= 0:
        before += chart.V[right, j]
    limit = chart.V[k, B - 1] if chart.n_states[k] == B else -np.inf
    if limit > -np.inf and not before + largest(row, Y) > limit:
        return
    seen_from_left, seen_from_right = begin > 0 and model.reach[1] > 0, end < n - 1 and model.reach[0] > 0
    for y in range(Y):
        V = before + row[y]
        if not limit < V:
            continue
        a1, a2, b1, b2 = Y, Y, Y, Y
        if seen_from_left:
            a1 = chart.interfaces[left, i, 0] if left >= 0 else y
            if model.reach[1] > 1:
                if left >= 0:
                    a2 = chart.interfaces[left, i, 1] if k - begin > 1 else y
                elif right >= 0:
                    a2 = chart.interfaces[right, j, 0]
        if seen_from_right:
            b1 = chart.interfaces[right, j, 2] if right >= 0 else y
            if model.reach[0] > 1:
                if right >= 0:
                    b2 = chart.interfaces[right, j, 3] if end - k > 1 else y
                elif left >= 0:
                    b2 = chart.interfaces[left, i, 2]
        keep_hypothesis(chart, k, Hypothesis(V, float(row[y]), y, i, j, a1, a2, b1, b2))
        limit = chart.V[k, B - 1] if chart.n_states[k] == B else -np.inf


@tight_kernel
def infer_sentences(
    chart: SpanChart, model: InferenceModel, text: ScoredSentence, offsets: Longs, found: Labelling, totals: Doubles
) -> None:
    """Label sentences one after the other. totals [N]: V, or −inf where no labelling is possible.

    text: all sentences end to end; sentence s has the tokens offsets[s] to offsets[s + 1] − 1.
    """
    for s in range(offsets.shape[0] - 1):
        begin, end = offsets[s], offsets[s + 1]
        sentence = ScoredSentence(text.emission[begin:end], text.lexical[begin:end])
        totals[s] = infer(chart, model, sentence, found.labels[begin:end])
        for step in range(end - begin if totals[s] > -np.inf else 0):
            k = chart.order[step]
            found.order[begin + k] = step
            found.known[begin + k, 0], found.known[begin + k, 1] = chart.bounds[k, 0], chart.bounds[k, 1]
