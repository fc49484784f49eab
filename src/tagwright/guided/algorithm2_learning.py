"""GUIDED algorithm 2: guided learning. The weights and the order of labelling are learned together, online.

For each sentence, with P, Q and U as in algorithm 1 and the weights w of the moment:

    P = ∅; Q = { [k, k] for every token k }
    until P covers the sentence:
        p = the span of Q whose top hypothesis p.S.T has the largest action score U
        p.S.T is the gold hypothesis p.G     move p to P, update Q
        else                                 w += f(p.G.A) − f(p.S.T.A), and make all of Q anew

The gold action is not adopted: with the new weights, another token may be easier. So accepted spans are always right,
and their first state is the gold one.

Three ways to learn (`mode`):

    AGGRESSIVE   as above, with a bound on the updates of a sentence: contradictory data would go on for ever
    EARLY        inference goes on as long as the gold hypothesis is in the beam (the whole sentence has one state);
                 where it falls out, all actions of the span are corrected and the sentence ends (Collins and Roark
                 2004; "non-aggressive" in GUIDED table 3)
    LOCAL        no inference: every token between gold labels ("easiest first"; local_learning.py)

margin: the gold label of every token is handicapped by it, so that it must win by more than that to be left alone
(perceptron with margin, GUIDED section 2.3). The weights are averaged: perceptron.py.

Scores that are not finite (attribute values too large for a float32) end the training. They are looked for when a
sentence is scored; where an update makes them, a token may be left without a state (nothing is larger than NaN), and Q
without a candidate.
"""

from __future__ import annotations

from typing import NamedTuple

from tagwright._jit import tight_kernel
from tagwright.arrays import Floats, Ints, Longs
from tagwright.guided.algorithm1_inference import ScoredSentence, find_outdated, make_candidate
from tagwright.guided.chart import NONE, SpanChart, accept, clear, read_labels
from tagwright.guided.perceptron import (
    Example,
    Perceptron,
    TrainingText,
    can_learn,
    rescore_labels,
    score_token,
    update,
)

AGGRESSIVE, EARLY, LOCAL = 0, 1, 2


class LearningSettings(NamedTuple):
    """How to learn."""

    mode: int
    margin: float
    bound: int  # on the updates of a sentence, for each of its tokens
    most_entries: int  # of label contexts that the updates of a sentence can add, for each of its tokens


class LearningSpace(NamedTuple):
    """Work space for sentences of up to L tokens."""

    chart: SpanChart
    emission: Floats  # [L, P]
    labels: Ints  # [L] of a top hypothesis
    gold_state: Ints  # [L] which state of accepted span k has the gold hypothesis
    rows: Longs  # [K], for tokens with at most K attributes


@tight_kernel
def learn(
    order: Longs, space: LearningSpace, perceptron: Perceptron, text: TrainingText, settings: LearningSettings,
    clock: int,
) -> tuple[int, int, bool]:  # fmt: skip
    """Algorithm 2 for sentences in this order, the first at step `clock`.

    Ends early where there is no room for what the next one may add, or where its scores are not finite. Returns how
    many were done, the number of updates, and whether scores were finite.
    """
    chart, model, total = space.chart, perceptron.model, 0
    for i in range(order.shape[0]):
        begin, end = text.offsets[order[i]], text.offsets[order[i] + 1]
        n = end - begin
        if not can_learn(perceptron, text, order[i], settings.most_entries):
            return i, total, True
        for t in range(n):
            if not score_token(perceptron, text, begin + t, settings.margin, space.rows, space.emission[t]):
                return i, total, False
        sentence = ScoredSentence(space.emission[:n], text.lexical[begin:end])
        example = Example(sentence, text.gold[begin:end], begin)
        clear(chart, n)
        accepted, updates, k = 0, 0, chart.queue[1]  # NONE
        while accepted < n:
            for j in range(find_outdated(chart, model, n, model.direction, k)):
                make_candidate(chart, model, sentence, chart.outdated[j])
            k = chart.queue[1]
            if k < 0:
                return i, total, False
            space.gold_state[k] = find_gold(space, example.gold, k, settings.mode)
            if space.gold_state[k] >= 0:
                accept(chart, k)
                accepted += 1
                continue
            if updates == settings.bound * n:
                break
            updates += 1
            correct(space, perceptron, text, example, settings, k, float(clock + i))
            k = NONE
            if settings.mode == EARLY:
                break
        total += updates
    return int(order.shape[0]), total, True


@tight_kernel
def find_gold(space: LearningSpace, gold: Ints, k: int, mode: int) -> int:
    """The state of span k that has the gold hypothesis on top: the gold label between gold context states. NONE where
    there is none, or where it is not the first one and should be."""
    chart = space.chart
    left, right = chart.context_spans[k, 0], chart.context_spans[k, 1]
    for b in range(1 if mode == AGGRESSIVE else chart.n_states[k]):
        found = chart.label[k, b] == gold[k]
        found = found and (left < 0 or chart.left_state[k, b] == space.gold_state[left])
        if found and (right < 0 or chart.right_state[k, b] == space.gold_state[right]):
            return b
    return NONE


@tight_kernel
def correct(
    space: LearningSpace, perceptron: Perceptron, text: TrainingText, example: Example, settings: LearningSettings,
    k: int, clock: float,
) -> None:  # fmt: skip
    """Update the weights after the top hypothesis of span k: its last action, or all of them; rescore the sentence."""
    chart, gold, labels = space.chart, example.gold, space.labels
    read_labels(chart, k, labels)
    if settings.mode == EARLY:
        first, last = chart.bounds[k, 0], chart.bounds[k, 1]
    else:
        first, last = k, k
    for t in range(first, last + 1):
        update(perceptron, text, example, labels, chart.bounds, t, clock)
    for t in range(gold.shape[0] if settings.mode == AGGRESSIVE else 0):
        if not chart.accepted[t]:
            row = example.sentence.emission[t]
            rescore_labels(perceptron, text, example.begin + t, settings.margin, gold[k], labels[k], row)
