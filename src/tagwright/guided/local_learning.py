"""Learning without inference: every token between gold labels, with and without those on either side.

"Easiest first" (Tsuruoka and Tsujii 2005), the mode LOCAL of algorithm2_learning.py.
"""

from __future__ import annotations

from tagwright._jit import tight_kernel
from tagwright.arrays import Longs
from tagwright.guided.algorithm1_inference import ScoredSentence
from tagwright.guided.algorithm2_learning import LearningSettings, LearningSpace
from tagwright.guided.label_contexts import add_contexts, neighbours
from tagwright.guided.perceptron import (
    Example,
    Perceptron,
    TrainingText,
    can_learn,
    rescore_labels,
    score_token,
    update,
)

NOT_FINITE = -1
"""In place of a number of updates."""


@tight_kernel
def learn_token(
    space: LearningSpace, perceptron: Perceptron, text: TrainingText, example: Example, k: int, margin: float,
    clock: float,
) -> int:  # fmt: skip
    """Token k between no labels, those on the left, those on the right, all; space.labels has the gold labels."""
    contexts, gold, n = perceptron.model.contexts, example.gold, example.gold.shape[0]
    bounds, row, emission = space.chart.bounds, space.chart.row, example.sentence.emission[k]
    if not score_token(perceptron, text, example.begin + k, margin, space.rows, emission):
        return NOT_FINITE
    updates = 0
    for sides in range(4):
        if (sides & 1 and k == 0) or (sides & 2 and k == n - 1):
            continue
        bounds[k, 0], bounds[k, 1] = 0 if sides & 1 else k, n - 1 if sides & 2 else k
        around = neighbours(gold, k, bounds[k, 0], bounds[k, 1], contexts.n_labels)
        for c in range(row.shape[0]):
            row[c] = emission[c]
        add_contexts(contexts, contexts.sides[0], contexts.sides[3], example.sentence.lexical[k], around, row)
        best = 0
        for y in range(1, contexts.n_labels):
            best = y if row[y] > row[best] else best
        if best != gold[k]:
            updates += 1
            space.labels[k] = best
            update(perceptron, text, example, space.labels, bounds, k, clock)
            rescore_labels(perceptron, text, example.begin + k, margin, gold[k], space.labels[k], emission)
            space.labels[k] = gold[k]
    return updates


@tight_kernel
def learn_locally(
    order: Longs, space: LearningSpace, perceptron: Perceptron, text: TrainingText, settings: LearningSettings,
    clock: int,
) -> tuple[int, int, bool]:  # fmt: skip
    """As algorithm2_learning.learn."""
    total = 0
    for i in range(order.shape[0]):
        begin, end = text.offsets[order[i]], text.offsets[order[i] + 1]
        sentence = ScoredSentence(space.emission[: end - begin], text.lexical[begin:end])
        if not can_learn(perceptron, text, order[i], settings.most_entries):
            return i, total, True
        example = Example(sentence, text.gold[begin:end], begin)
        for k in range(end - begin):
            space.labels[k] = example.gold[k]
        for k in range(end - begin):
            updates = learn_token(space, perceptron, text, example, k, settings.margin, float(clock + i))
            if updates == NOT_FINITE:
                return i, total, False
            total += updates
    return int(order.shape[0]), total, True
