"""w as a sweep sees it: it scores the tokens of a sentence, and what their multipliers β(t, y) gain is added to it.

    linear    w[a, y], written out       score of a token: Σ_a v_a w[a, y]        w[a, y] += v_a · gain
    kernel    β(m, y) of the contexts    score of a context: H[y, m], kept        β(m, y) += gain,  H[y] += gain · row m

H[y, m] = Σ_l β(l, y) k(z_m, z_l). A change of β adds a row of the Gram matrix to it, and a sentence is scored by
looking up, however many supports there are (HMSVM equation (8)). There is one type for both, so that there is one
sweep; the arrays of the other kind are empty.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tagwright._jit import tight_kernel
from tagwright.arrays import Doubles, Ints, Longs
from tagwright.hmsvm.working_sets import SequenceWork
from tagwright.kernels.gram import GramRows


class TokenRows(NamedTuple):
    """Token p has the rows[pointers[p] : pointers[p + 1]] of w, with `values` there ([0] when all are 1)."""

    pointers: Longs  # [n + 1]
    rows: Ints  # [E]
    values: Doubles  # [E] or [0]


class ContextCoefficients(NamedTuple):
    """β and H."""

    of_token: Longs  # [n] the context of every token
    beta: Doubles  # [M, Y]
    scores: Doubles  # [Y, M] H
    gram: GramRows  # has the rows of the contexts that are changed


class TokenWeights(NamedTuple):
    """Of either kind."""

    linear: bool
    tokens: TokenRows
    w: Doubles  # [R, Y], for the R attributes that have weights
    contexts: ContextCoefficients

    @classmethod
    def of_attributes(cls, tokens: TokenRows, w: Doubles) -> TokenWeights:
        none, longs = np.empty((0, 0)), np.empty(0, np.int64)
        gram = GramRows(np.empty((0, 0), np.float32), longs)
        return cls(True, tokens, w, ContextCoefficients(longs, none, none, gram))

    @classmethod
    def of_contexts(cls, contexts: ContextCoefficients) -> TokenWeights:
        tokens = TokenRows(np.empty(0, np.int64), np.empty(0, np.int32), np.empty(0))
        return cls(False, tokens, np.empty((0, 0)), contexts)


@tight_kernel
def score_tokens(begin: int, T: int, all_labels: bool, weights: TokenWeights, work: SequenceWork) -> None:
    """work.emission of the tokens from `begin` on, for all labels or (linear) only for work.used."""
    tokens, w = weights.tokens, weights.w
    weighted = tokens.values.shape[0] > 0
    for t in range(T):
        out, used = work.emission[t], work.used[t]
        if not weights.linear:
            for y in range(weights.contexts.scores.shape[0]):
                out[y] = weights.contexts.scores[y, weights.contexts.of_token[begin + t]]
        elif all_labels:
            out[:] = 0.0
            for e in range(tokens.pointers[begin + t], tokens.pointers[begin + t + 1]):
                row, value = tokens.rows[e], tokens.values[e] if weighted else 1.0
                for y in range(w.shape[1]):
                    out[y] += value * w[row, y]
        elif work.n_used[t] > 0:
            for m in range(work.n_used[t]):
                out[used[m]] = 0.0
            for e in range(tokens.pointers[begin + t], tokens.pointers[begin + t + 1]):
                row, value = tokens.rows[e], tokens.values[e] if weighted else 1.0
                for m in range(work.n_used[t]):
                    out[used[m]] += value * w[row, used[m]]


@tight_kernel
def change_tokens(begin: int, T: int, work: SequenceWork, weights: TokenWeights) -> None:
    """Add work.change, which is cleared, to w."""
    tokens, contexts = weights.tokens, weights.contexts
    weighted = tokens.values.shape[0] > 0
    for t in range(T):
        for y in range(work.change.shape[1] if work.n_used[t] > 0 else 0):
            gain = work.change[t, y]
            if gain == 0.0:
                continue
            work.change[t, y] = 0.0
            if weights.linear:
                for e in range(tokens.pointers[begin + t], tokens.pointers[begin + t + 1]):
                    weights.w[tokens.rows[e], y] += gain * (tokens.values[e] if weighted else 1.0)
            else:
                m = contexts.of_token[begin + t]
                contexts.beta[m, y] += gain
                row, scores = contexts.gram.rows[contexts.gram.row_of[m]], contexts.scores[y]
                for k in range(row.shape[0]):
                    scores[k] += gain * row[k]
