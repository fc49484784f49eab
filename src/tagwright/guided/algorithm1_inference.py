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
from tagwright.arrays import Bools, Floats, Ints, Longs
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
from tagwright.guided.well_formed import rule_out_gaps, rule_out_neighbours

BOTH, LEFT_TO_RIGHT, RIGHT_TO_LEFT = 0, 1, 2
LEFT, RIGHT, EITHER = 0, 1, 2


class InferenceModel(NamedTuple):
    """What is the same for all sentences."""

    contexts: ContextTable  # weights of label contexts
    reach: Longs  # [2] labels that templates look at to the left and to the right
    gaps: Bools  # [M, Y, Y] whether labels l and r may have m tokens between them; M = 0: all may
    direction: int


class ScoredSentence(NamedTuple):
    """One sentence, scored token by token."""

    emission: Floats  # [n, P] scores of the tokens alone: that part of U which depends on no label but the token's own
    lexical: Ints  # [n, parts] numbers of the lexical parts of label templates


@tight_kernel
def infer(chart: SpanChart, model: InferenceModel, sentence: ScoredSentence, labels: Ints) -> float:
    """Label a sentence, into labels [n]: V of the labelling, or −inf where none is possible."""
    direction, k = model.direction, NONE
    for _ in range(2):
        k = grow_spans(chart, model, sentence, direction)
        if k >= 0 or direction != BOTH or model.gaps.shape[0] == 0:
            break
        direction = LEFT_TO_RIGHT
    if k < 0:
        return -np.inf
    read_labels(chart, k, labels)
    return float(chart.V[k, 0])


@tight_kernel
def grow_spans(chart: SpanChart, model: InferenceModel, sentence: ScoredSentence, direction: int) -> int:
    """The loop of algorithm 1; the span that covers the sentence, or NONE at a dead end."""
    n, k = sentence.emission.shape[0], NONE
    clear(chart, n)
    fill_queue(chart, model, sentence, direction)
    for step in range(n):
        k = chart.queue[1]
        if k < 0:
            break
        accept(chart, k)
        chart.order[step] = k
        update_queue(chart, model, sentence, direction, k)
    return int(k)


@tight_kernel
def fill_queue(chart: SpanChart, model: InferenceModel, sentence: ScoredSentence, direction: int) -> None:
    """Q anew from P: a candidate for every token outside P, or for the next one in a fixed direction."""
    n = sentence.emission.shape[0]
    for k in range(n):
        if not chart.accepted[k] and is_next(chart, k, n, direction):
            make_candidate(chart, model, sentence, k)


@tight_kernel
def is_next(chart: SpanChart, k: int, n: int, direction: int) -> bool:
    """Whether token k, which is outside P, may be labelled next."""
    if direction == LEFT_TO_RIGHT:
        return k == 0 or chart.ends[k] >= 0
    if direction == RIGHT_TO_LEFT:
        return k == n - 1 or chart.begins[k + 2] >= 0
    return True


@tight_kernel
def update_queue(chart: SpanChart, model: InferenceModel, sentence: ScoredSentence, direction: int, k: int) -> None:
    """Make anew the candidates that the acceptance of span k changes: those beside it, and those that a small gap
    divides from it, where gaps count."""
    n = sentence.emission.shape[0]
    for side in range(2):
        if direction == (LEFT_TO_RIGHT if side == LEFT else RIGHT_TO_LEFT):
            continue
        for m in range(max(model.gaps.shape[0], 1) if direction == BOTH else 1):
            t = chart.bounds[k, 0] - 1 - m if side == LEFT else chart.bounds[k, 1] + 1 + m
            if t < 0 or t >= n or chart.accepted[t]:
                break
            make_candidate(chart, model, sentence, t)


@tight_kernel
def make_candidate(chart: SpanChart, model: InferenceModel, sentence: ScoredSentence, k: int) -> None:
    """The states of the span that labelling token k would make: all labels between all pairs of context states.

    U = emission + left contexts (part) + right contexts + contexts on both sides (row); the first two are added up
    once for each left state, the third once for each right state.
    """
    contexts, Y, n = model.contexts, model.contexts.n_labels, sentence.emission.shape[0]
    left, right = chart.ends[k], chart.begins[k + 2]
    chart.bounds[k, 0] = chart.bounds[left, 0] if left >= 0 else k
    chart.bounds[k, 1] = chart.bounds[right, 1] if right >= 0 else k
    chart.context_spans[k, 0], chart.context_spans[k, 1] = left, right
    chart.n_states[k] = 0
    for j in range(chart.n_states[right] if right >= 0 else 0):
        around = Neighbours(Y, Y, chart.interfaces[right, j, 0], chart.interfaces[right, j, 1])
        chart.right_rows[j] = 0
        add_contexts(contexts, RIGHT, sentence.lexical[k], around, chart.right_rows[j])
        rule_out_neighbours(model.gaps, around, Y, chart.right_rows[j])
    for i in range(chart.n_states[left] if left >= 0 else 1):
        l2, l1 = Y, Y
        if left >= 0:
            l1, l2 = chart.interfaces[left, i, 2], chart.interfaces[left, i, 3]
        part = chart.left_rows[i]
        for c in range(part.shape[0]):
            part[c] = sentence.emission[k, c]
        around = Neighbours(l2, l1, Y, Y)
        add_contexts(contexts, LEFT, sentence.lexical[k], around, part)
        rule_out_neighbours(model.gaps, around, Y, part)
        rule_out_gaps(chart, model.gaps, k, n, Y, part)
        if right < 0:
            keep_labels(chart, model, n, k, part, i, 0)
            continue
        for j in range(chart.n_states[right]):
            row = chart.row
            for c in range(row.shape[0]):
                row[c] = part[c] + chart.right_rows[j, c]
            around = Neighbours(l2, l1, chart.interfaces[right, j, 0], chart.interfaces[right, j, 1])
            add_contexts(contexts, EITHER, sentence.lexical[k], around, row)
            keep_labels(chart, model, n, k, row, i, j)
    set_candidate(chart, k, chart.n_states[k] > 0)


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
    if chart.n_states[k] == B and not before + largest(row, Y) > chart.V[k, B - 1]:
        return
    seen_from_left, seen_from_right = begin > 0 and model.reach[1] > 0, end < n - 1 and model.reach[0] > 0
    for y in range(Y):
        V = before + row[y]
        if not (chart.V[k, B - 1] < V if chart.n_states[k] == B else -np.inf < V):
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
