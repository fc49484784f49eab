"""Spans of one sentence: their states and top hypotheses, the accepted spans P, and the queue Q of candidate spans.

GUIDED section 2.2, in its terms:

    span          tokens [i, j]; known here by the token k whose labelling made it
    hypothesis    labels for all tokens of a span; kept as its last action (a label for k) and its context states
    interface     the labels at one end of a span that templates can look at from outside, two at most
    state         a left and a right interface: of all hypotheses with the same state the top one is kept (largest V)
    P             accepted spans, disjoint
    Q             for every token k outside P, the span that labelling k would make; first is the one with the largest U

The chart is the work space of one thread; the caller allocates it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tagwright._jit import tight_kernel
from tagwright.arrays import Bools, Doubles, Floats, Ints, Longs

NONE = -1
"""No span, no token; never an index."""


class SpanChart(NamedTuple):
    """For sentences of up to L tokens, B states a span, rows of P numbers; [k, b] is the b-th best state of span k."""

    V: Doubles  # [L, B] score of the top hypothesis
    U: Doubles  # [L, B] score of its last action
    label: Ints  # [L, B] that this action gives to token k
    left_state: Ints  # [L, B] index of the context state S_L in its span; 0 where there is none
    right_state: Ints  # [L, B] of S_R
    interfaces: Longs  # [L, B, 4] left interface: outermost label, the next; right interface: the same; Y: no label
    n_states: Longs  # [L]
    bounds: Longs  # [L, 2] first and last token of span k
    context_spans: Longs  # [L, 2] the accepted spans that end before k and begin after k, or NONE
    begins: Longs  # [L + 2] P: the accepted span that begins at token t, at index t + 1, or NONE
    ends: Longs  # [L + 2] P: the one that ends there
    accepted: Bools  # [L] whether token k is in P
    queue: Longs  # [2 · leaves] Q, a tournament: node i holds the better of nodes 2i and 2i + 1; leaf k holds k or NONE
    outdated: Longs  # [L] tokens whose candidates must be made anew
    order: Longs  # [L] tokens in the order in which they were accepted
    side_rows: Floats  # [2, B, P] scores between the labels of one left state, and of one right state
    row: Floats  # [P] of both
    stack: Longs  # [L, 2]

    @classmethod
    def build(cls, longest: int, beam: int, width: int, dtype: type[np.floating[Any]]) -> SpanChart:
        """Room for sentences of up to `longest` tokens."""
        L, B, P, empty = longest, beam, width, np.empty
        whole, short = np.int64, np.int32
        leaves = 1 << max(L - 1, 0).bit_length()
        return cls(
            V=empty((L, B)), U=empty((L, B)), label=empty((L, B), short), left_state=empty((L, B), short),
            right_state=empty((L, B), short), interfaces=empty((L, B, 4), whole), n_states=empty(L, whole),
            bounds=empty((L, 2), whole), context_spans=empty((L, 2), whole), begins=empty(L + 2, whole),
            ends=empty(L + 2, whole), accepted=empty(L, np.bool_), queue=empty(2 * leaves, whole),
            outdated=empty(L, whole), order=empty(L, whole), side_rows=empty((2, B, P), dtype), row=empty(P, dtype),
            stack=empty((L, 2), whole),
        )  # fmt: skip


class Hypothesis(NamedTuple):
    """A hypothesis of span k: its scores, its last action, its context states, its interfaces."""

    V: float
    U: float
    label: int
    left_state: int
    right_state: int
    left: int  # left interface: the outermost label
    left_next: int  # and the next one
    right: int
    right_next: int


@tight_kernel
def clear(chart: SpanChart, n: int) -> None:
    """P and Q are empty, for a sentence of n tokens."""
    chart.begins[: n + 2] = NONE
    chart.ends[: n + 2] = NONE
    chart.accepted[:n] = False
    chart.queue[:] = NONE


@tight_kernel
def set_candidate(chart: SpanChart, k: int) -> None:
    """Span k enters Q, has a new score there, or leaves it: it is in Q if it has states and is not in P.

    Of equal candidates, the one to the left goes first.
    """
    node = chart.queue.shape[0] // 2 + k
    chart.queue[node] = k if chart.n_states[k] > 0 and not chart.accepted[k] else NONE
    while node > 1:
        node //= 2
        a, b = chart.queue[2 * node], chart.queue[2 * node + 1]
        if a >= 0 and b >= 0:
            chart.queue[node] = a if chart.U[a, 0] >= chart.U[b, 0] else b
        else:
            chart.queue[node] = max(a, b)  # NONE is less than any token


@tight_kernel
def accept(chart: SpanChart, k: int) -> None:
    """Move span k from Q to P. The spans inside it are covered: none of them borders on a token outside."""
    chart.accepted[k] = True
    set_candidate(chart, k)
    chart.begins[chart.bounds[k, 0] + 1] = k
    chart.ends[chart.bounds[k, 1] + 1] = k


@tight_kernel
def keep_hypothesis(chart: SpanChart, k: int, h: Hypothesis) -> None:
    """Put h among the B best states of span k, largest V first, unless its state has a better hypothesis."""
    n, B = chart.n_states[k], chart.V.shape[1]
    b = n
    for s in range(n):
        state = chart.interfaces[k, s]
        if state[0] == h.left and state[1] == h.left_next and state[2] == h.right and state[3] == h.right_next:
            if chart.V[k, s] >= h.V:
                return
            b = s
            break
    if b == n:  # a new state
        if n == B:
            b = B - 1
        else:
            chart.n_states[k] = n + 1
    while b > 0 and chart.V[k, b - 1] < h.V:
        chart.V[k, b], chart.U[k, b], chart.label[k, b] = chart.V[k, b - 1], chart.U[k, b - 1], chart.label[k, b - 1]
        chart.left_state[k, b], chart.right_state[k, b] = chart.left_state[k, b - 1], chart.right_state[k, b - 1]
        for c in range(4):
            chart.interfaces[k, b, c] = chart.interfaces[k, b - 1, c]
        b -= 1
    chart.V[k, b], chart.U[k, b], chart.label[k, b] = h.V, h.U, h.label
    chart.left_state[k, b], chart.right_state[k, b] = h.left_state, h.right_state
    state = chart.interfaces[k, b]
    state[0], state[1], state[2], state[3] = h.left, h.left_next, h.right, h.right_next


@tight_kernel
def read_labels(chart: SpanChart, k: int, labels: Ints) -> None:
    """The labels of the top hypothesis of span k, into labels[first token] to labels[last token]."""
    stack = chart.stack
    stack[0, 0], stack[0, 1] = k, 0
    size = 1
    while size > 0:
        size -= 1
        k, b = stack[size, 0], stack[size, 1]
        labels[k] = chart.label[k, b]
        left, right = chart.context_spans[k, 0], chart.context_spans[k, 1]
        i, j = chart.left_state[k, b], chart.right_state[k, b]
        if left >= 0:
            stack[size, 0], stack[size, 1] = left, i
            size += 1
        if right >= 0:
            stack[size, 0], stack[size, 1] = right, j
            size += 1
