"""The actions of a guided search: when each token was labelled, what was known then, and which label came second.

After chain/guided.py has labelled a sentence, its actions are scored once more, in the context that the final labels
give them. For `explain` and for confidence.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tagwright._jit import tight_kernel
from tagwright.arrays import Doubles, Floats, Ints, Longs
from tagwright.chain.guided import Rules, Search, rule_out_beside, score_action, search_sentence
from tagwright.scores.label_contexts import Contexts


class Actions(NamedTuple):
    """What the search did with n tokens, in the context that the final labels give each action."""

    order: Longs  # [n] the step in its sentence at which a token was labelled, from 0
    known: Longs  # [n, 2] first and last token of the span that it was labelled in: these labels were known
    rivals: Ints  # [n] the best other label
    scores: Doubles  # [n, 2] U of the label and of its rival

    @classmethod
    def build(cls, n: int) -> Actions:
        """For n tokens."""
        order, rivals = np.zeros(n, np.int64), np.zeros(n, np.int32)
        return cls(order, np.zeros((n, 2), np.int64), rivals, np.zeros((n, 2)))

    def part(self, tokens: slice) -> Actions:
        """Those of some tokens; a view."""
        return Actions(self.order[tokens], self.known[tokens], self.rivals[tokens], self.scores[tokens])


@tight_kernel
def judge_sentence(
    search: Search, contexts: Contexts, lexical: Ints, first: int, n: int, Y: int, rules: Rules, emission: Floats,
    path: Ints, begin: int, actions: Actions,
) -> None:  # fmt: skip
    """The actions of a finished search, into those from `begin` on. With one label, its rival is itself at −inf."""
    row = search.row[0]
    for step in range(n):
        k = search.order[step]
        a, b = search.bounds[k, 0], search.bounds[k, 1]
        l2, l1 = path[k - 2] if k - a > 1 else Y, path[k - 1] if k > a else Y
        r1, r2 = path[k + 1] if b > k else Y, path[k + 2] if b - k > 1 else Y
        score_action(contexts, lexical, first + k, emission[k], Y, l2, l1, r1, r2, row)
        rule_out_beside(rules.gaps, l1, r1, Y, row)
        rival, score = path[k], -np.inf
        for y in range(Y):
            if y != path[k] and row[y] > score:
                rival, score = y, float(row[y])
        t = begin + k
        actions.order[t], actions.known[t, 0], actions.known[t, 1] = step, a, b
        actions.rivals[t], actions.scores[t, 0], actions.scores[t, 1] = rival, row[path[k]], score


@tight_kernel
def judge_sentences(
    search: Search, contexts: Contexts, lexical: Ints, first: int, offsets: Longs, Y: int, rules: Rules,
    emission: Floats, direction: int, path: Ints, totals: Doubles, actions: Actions,
) -> None:  # fmt: skip
    """`search_sentences`, and the actions of every token."""
    for s in range(offsets.shape[0] - 1):
        begin, end = offsets[s], offsets[s + 1]
        totals[s] = search_sentence(
            search, contexts, lexical, first + begin, end - begin, Y, rules, emission[begin:end], direction,
            path[begin:end],
        )  # fmt: skip
        if totals[s] > -np.inf:
            judge_sentence(
                search, contexts, lexical, first + begin, end - begin, Y, rules, emission[begin:end],
                path[begin:end], begin, actions,
            )  # fmt: skip
