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
    LOCAL        no inference: every token between gold labels, with and without those on either side ("easiest first",
                 Tsuruoka and Tsujii 2005)

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
from tagwright.guided.algorithm1_inference import ScoredSentence, fill_queue, update_queue
from tagwright.guided.chart import NONE, SpanChart, accept, clear, read_labels
from tagwright.guided.label_contexts import neighbours, score_labels
from tagwright.guided.perceptron import Action, Example, Perceptron, TrainingText, rescore_labels, score_token, update

AGGRESSIVE, EARLY, LOCAL = 0, 1, 2
NOT_FINITE = -1
"""In place of a number of updates."""


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


@tight_kernel
def learn_aggressively(
    space: LearningSpace, perceptron: Perceptron, text: TrainingText, example: Example, settings: LearningSettings,
    clock: float,
) -> int:  # fmt: skip
    """Algorithm 2 for one sentence; returns the number of updates, or NOT_FINITE."""
    chart, model, gold, n = space.chart, perceptron.model, example.gold, example.gold.shape[0]
    clear(chart, n)
    updates, accepted, outdated = 0, 0, True
    while accepted < n:
        if outdated:
            fill_queue(chart, model, example.sentence, model.direction)
        k = chart.queue[1]
        if k < 0:
            return NOT_FINITE
        outdated = not is_gold(space, gold, k, 0)
        if not outdated:
            accept(chart, k)
            space.gold_state[k] = 0
            accepted += 1
            update_queue(chart, model, example.sentence, model.direction, k)
            continue
        if updates == settings.bound * n:
            break
        updates += 1
        read_labels(chart, k, space.labels)
        correct(space, perceptron, text, example, k, clock)
        for t in range(n):
            if not chart.accepted[t]:
                p, row = example.begin + t, example.sentence.emission[t]
                rescore_labels(perceptron, text, p, settings.margin, gold[k], space.labels[k], row)
    return updates


@tight_kernel
def learn_early(
    space: LearningSpace, perceptron: Perceptron, text: TrainingText, example: Example, clock: float
) -> int:  # fmt: skip
    """One sentence, until the gold hypothesis is lost; returns the number of updates, or NOT_FINITE."""
    chart, model, gold, n = space.chart, perceptron.model, example.gold, example.gold.shape[0]
    clear(chart, n)
    fill_queue(chart, model, example.sentence, model.direction)
    for _ in range(n):
        k = chart.queue[1]
        if k < 0:
            return NOT_FINITE
        accept(chart, k)
        space.gold_state[k] = NONE
        for b in range(chart.n_states[k]):
            if is_gold(space, gold, k, b):
                space.gold_state[k] = b
        if space.gold_state[k] == NONE:
            read_labels(chart, k, space.labels)
            for t in range(chart.bounds[k, 0], chart.bounds[k, 1] + 1):
                correct(space, perceptron, text, example, t, clock)
            return 1
        update_queue(chart, model, example.sentence, model.direction, k)
    return 0


@tight_kernel
def learn_locally(
    space: LearningSpace, perceptron: Perceptron, text: TrainingText, example: Example, settings: LearningSettings,
    clock: float,
) -> int:  # fmt: skip
    """Every token of one sentence between gold labels: none, those on the left, those on the right, all."""
    contexts, gold, n = perceptron.model.contexts, example.gold, example.gold.shape[0]
    row, updates = space.chart.row, 0
    for k in range(n):
        p, emission = example.begin + k, example.sentence.emission[k]
        if not score_token(perceptron, text, p, settings.margin, emission):
            return NOT_FINITE
        for sides in range(4):
            if (sides & 1 and k == 0) or (sides & 2 and k == n - 1):
                continue
            around = neighbours(gold, k, 0 if sides & 1 else k, n - 1 if sides & 2 else k, contexts.n_labels)
            score_labels(contexts, emission, example.sentence.lexical[k], around, row)
            best = 0
            for y in range(1, contexts.n_labels):
                best = y if row[y] > row[best] else best
            if best != gold[k]:
                updates += 1
                update(perceptron, text, example, k, Action(gold[k], around), Action(best, around), clock)
                rescore_labels(perceptron, text, p, settings.margin, gold[k], best, emission)
    return updates


@tight_kernel
def is_gold(space: LearningSpace, gold: Ints, k: int, b: int) -> bool:
    """Whether state b of span k has the gold hypothesis on top: the gold label between gold context states."""
    chart = space.chart
    left, right = chart.context_spans[k, 0], chart.context_spans[k, 1]
    found = chart.label[k, b] == gold[k]
    found = found and (left < 0 or chart.left_state[k, b] == space.gold_state[left])
    return bool(found and (right < 0 or chart.right_state[k, b] == space.gold_state[right]))


@tight_kernel
def correct(
    space: LearningSpace, perceptron: Perceptron, text: TrainingText, example: Example, k: int, clock: float
) -> None:
    """w += f(gold action of token k) − f(its action in space.labels), between the labels that were known then."""
    Y = perceptron.model.contexts.n_labels
    begin, end = space.chart.bounds[k, 0], space.chart.bounds[k, 1]
    gold = Action(example.gold[k], neighbours(example.gold, k, begin, end, Y))
    top = Action(space.labels[k], neighbours(space.labels, k, begin, end, Y))
    update(perceptron, text, example, k, gold, top, clock)


@tight_kernel
def learn_sentences(
    order: Longs, space: LearningSpace, perceptron: Perceptron, text: TrainingText, settings: LearningSettings,
    clock: int, tally: Longs,
) -> int:  # fmt: skip
    """Learn from sentences in this order, as long as there is room for what the next one may add; how many were done.

    tally [2]: += updates; the first sentence whose scores are not finite, at which learning ends, or NONE.
    """
    contexts = perceptron.model.contexts
    for i in range(order.shape[0]):
        begin, end = text.offsets[order[i]], text.offsets[order[i] + 1]
        n = end - begin
        most = n * settings.most_entries
        if perceptron.sizes[1] + most > contexts.labels.shape[0]:
            return i
        if 2 * (perceptron.sizes[0] + most) > contexts.slots.shape[0]:
            return i
        finite = True
        for t in range(n if settings.mode != LOCAL else 0):
            finite = score_token(perceptron, text, begin + t, settings.margin, space.emission[t]) and finite
        now, updates = float(clock + i), NOT_FINITE
        sentence = ScoredSentence(space.emission[:n], text.lexical[begin:end])
        example = Example(sentence, text.gold[begin:end], begin)
        if finite and settings.mode == AGGRESSIVE:
            updates = learn_aggressively(space, perceptron, text, example, settings, now)
        elif finite and settings.mode == EARLY:
            updates = learn_early(space, perceptron, text, example, now)
        elif finite:
            updates = learn_locally(space, perceptron, text, example, settings, now)
        if updates == NOT_FINITE:
            tally[1] = order[i]
            return i
        tally[0] += updates
    return int(order.shape[0])
