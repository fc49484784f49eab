"""The actions of a finished inference: when each token was labelled, what was known then, and which label came second.

After algorithm 1 has labelled a sentence, its actions are scored once more, between the labels that were chosen in the
end. For `explain` and for confidences.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tagwright._jit import tight_kernel
from tagwright.arrays import Doubles, Floats, Ints, Longs
from tagwright.guided.algorithm1_inference import InferenceModel, ScoredSentence, infer
from tagwright.guided.chart import SpanChart
from tagwright.guided.label_contexts import neighbours, score_labels
from tagwright.guided.well_formed import rule_out_neighbours


class FinalActions(NamedTuple):
    """The actions that labelled n tokens, each between final labels."""

    order: Longs  # [n] the step in its sentence at which a token was labelled, from 0
    known: Longs  # [n, 2] first and last token of the span that its action made: these labels were known
    rivals: Ints  # [n] the best other label
    scores: Doubles  # [n, 2] U of the label and of its rival

    @classmethod
    def build(cls, n: int) -> FinalActions:
        """Room for n tokens."""
        order, rivals = np.zeros(n, np.int64), np.zeros(n, np.int32)
        return cls(order, np.zeros((n, 2), np.int64), rivals, np.zeros((n, 2)))

    def part(self, tokens: slice) -> FinalActions:
        """Those of some tokens; a view."""
        return FinalActions(self.order[tokens], self.known[tokens], self.rivals[tokens], self.scores[tokens])


NO_ACTIONS = FinalActions.build(0)
"""Nobody asks."""


@tight_kernel
def infer_sentences(
    chart: SpanChart, model: InferenceModel, emission: Floats, lexical: Ints, offsets: Longs, labels: Ints,
    totals: Doubles, actions: FinalActions,
) -> None:  # fmt: skip
    """Label sentences one after the other; actions are given where there is room for them.

    totals [N]: V, or −inf where no labelling is possible.

    emission [n, P], lexical [n, parts], labels [n]; sentence s has the tokens offsets[s] to offsets[s + 1] − 1.
    """
    for s in range(offsets.shape[0] - 1):
        begin, end = offsets[s], offsets[s + 1]
        sentence = ScoredSentence(emission[begin:end], lexical[begin:end])
        totals[s] = infer(chart, model, sentence, labels[begin:end])
        if totals[s] > -np.inf and actions.order.shape[0] > 0:
            score_final_actions(chart, model, sentence, labels[begin:end], begin, actions)


@tight_kernel
def score_final_actions(
    chart: SpanChart, model: InferenceModel, sentence: ScoredSentence, labels: Ints, begin: int, actions: FinalActions
) -> None:
    """The actions of one sentence, into those from `begin` on. A label without rivals is its own, at −inf."""
    Y, row = model.contexts.n_labels, chart.row
    for step in range(labels.shape[0]):
        k = chart.order[step]
        first, last = chart.bounds[k, 0], chart.bounds[k, 1]
        around = neighbours(labels, k, first, last, Y)
        score_labels(model.contexts, sentence.emission[k], sentence.lexical[k], around, row)
        rule_out_neighbours(model.gaps, around, Y, row)
        rival, score = labels[k], -np.inf
        for y in range(Y):
            if y != labels[k] and row[y] > score:
                rival, score = y, float(row[y])
        t = begin + k
        actions.order[t], actions.known[t, 0], actions.known[t, 1] = step, first, last
        actions.rivals[t], actions.scores[t, 0], actions.scores[t, 1] = rival, row[labels[k]], score
