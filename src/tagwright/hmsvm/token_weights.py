"""w as a sweep sees it: it scores the tokens of a sentence, and what their multipliers β(t, y) gain is added to it.

    linear    w[a, y] of attributes      score of a token: Σ_a v_a w[a, y]        w[a, y] += v_a · gain
    kernel    β(m, y) of the contexts    score of a context: H[y, m], kept        β(m, y) += gain,  H[y] += gain · row m

H[y, m] = Σ_l β(l, y) k(z_m, z_l). A change of β adds a row of the Gram matrix to it, and a sentence is scored by
looking up, however many supports there are (HMSVM equation (8)). There is one type for both, so that there is one
sweep; the arrays of the other kind are empty.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tagwright._jit import tight_kernel
from tagwright.arrays import Doubles, Longs
from tagwright.hmsvm.working_sets import SequenceWork
from tagwright.kernels.gram import GramRows
from tagwright.scores.expanded import TokenAttributes, most_attributes
from tagwright.scores.growing_weights import GrowingWeights, add_token_scores, change_token, has_room, label_score


class ContextCoefficients(NamedTuple):
    """β and H."""

    of_token: Longs  # [n] the context of every token
    beta: Doubles  # [M, Y]
    scores: Doubles  # [Y, M] H
    gram: GramRows  # has the rows of the contexts that are changed


class TokenWeights(NamedTuple):
    """Of either kind."""

    linear: bool
    tokens: TokenAttributes
    w: GrowingWeights
    rows: Longs  # [K], for tokens with at most K attributes
    contexts: ContextCoefficients

    @classmethod
    def of_attributes(cls, tokens: TokenAttributes, w: GrowingWeights) -> TokenWeights:
        none, longs = np.empty((0, 0)), np.empty(0, np.int64)
        gram = GramRows(np.empty((0, 0), np.float32), longs)
        rows = np.empty(most_attributes(tokens), np.int64)
        return cls(True, tokens, w, rows, ContextCoefficients(longs, none, none, gram))

    @classmethod
    def of_contexts(cls, contexts: ContextCoefficients) -> TokenWeights:
        tokens = TokenAttributes(np.empty(0, np.int64), np.empty(0, np.int32), np.empty(0))
        w = GrowingWeights.empty(0, len(contexts.scores), dtype=np.float64, averaged=False)
        return cls(False, tokens, w, np.empty(0, np.int64), contexts)


@tight_kernel
def can_change(begin: int, T: int, weights: TokenWeights) -> bool:
    """Whether there is room for the weights that T tokens from `begin` on may add."""
    pointers = weights.tokens.pointers
    return not weights.linear or has_room(weights.w, pointers[begin + T] - pointers[begin])


@tight_kernel
def score_tokens(begin: int, T: int, all_labels: bool, weights: TokenWeights, work: SequenceWork) -> None:
    """work.emission of the tokens from `begin` on, for all labels or (linear) only for work.used."""
    for t in range(T):
        out, used = work.emission[t], work.used[t]
        if not weights.linear:
            for y in range(weights.contexts.scores.shape[0]):
                out[y] = weights.contexts.scores[y, weights.contexts.of_token[begin + t]]
        elif all_labels:
            out[:] = 0.0
            add_token_scores(weights.tokens, begin + t, weights.w, weights.rows, out)
        else:
            for m in range(work.n_used[t]):
                out[used[m]] = label_score(weights.tokens, begin + t, weights.w, used[m])


@tight_kernel
def change_tokens(begin: int, T: int, work: SequenceWork, weights: TokenWeights) -> None:
    """Add work.change, which is cleared, to w."""
    contexts = weights.contexts
    for t in range(T):
        for y in range(work.change.shape[1] if work.n_used[t] > 0 else 0):
            gain = work.change[t, y]
            if gain == 0.0:
                continue
            work.change[t, y] = 0.0
            if weights.linear:
                change_token(weights.tokens, begin + t, y, gain, 0.0, weights.w)
            else:
                m = contexts.of_token[begin + t]
                contexts.beta[m, y] += gain
                row, scores = contexts.gram.rows[contexts.gram.row_of[m]], contexts.scores[y]
                for k in range(row.shape[0]):
                    scores[k] += gain * row[k]
