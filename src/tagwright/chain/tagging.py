"""Tagging with linear scores: places ─► emission ─► Viterbi, a sentence at a time, so that rows stay in a near cache.

The results are those of scores/linear.py and then chain/viterbi.py (or chain/candidates.py, where a tag dictionary
gives each token some labels): the same formulas, without the rows of all tokens in between. A token with one candidate
needs no scores, one with few needs theirs alone.
"""

from __future__ import annotations

import numpy as np

from tagwright._jit import tight_kernel
from tagwright.arrays import Bools, Doubles, Floats, Ints, Longs, Shorts, empty_rows
from tagwright.chain.candidates import FEW, Candidates, step_to_candidates, trace_candidates
from tagwright.chain.viterbi import Steps, step, trace_back
from tagwright.encode.dataset import Dataset
from tagwright.scores.linear import AHEAD, LinearScores, add_attribute_scores, fetch_places, score_token
from tagwright.scores.places import NOWHERE, SHORT

KEPT_ROWS = 512
"""Rows of work that are kept, enough for most sentences; a longer one has its own."""


@tight_kernel
def tag_sentences(
    places: Ints, table: Floats, labels: Ints, weights: Floats, token_pointers: Longs, attributes: Ints, values: Floats,
    pointers: Longs, offsets: Longs, transition: Floats, incoming: Floats, start: Floats, stop: Floats, lead: Floats,
    row: Floats, delta: Floats, alive: Longs, sums: Floats, found: Ints, scores: Doubles,
) -> None:  # fmt: skip
    """Given the places of all tokens, the arrays of LinearScores, a Dataset's own attributes, Steps; row [1, P],
    delta [L, P], alive [Y + 4], sums [P] are work. Returned: found [n], scores [N]."""
    n, Y = places.shape[0], incoming.shape[0]
    for i in range(offsets.shape[0] - 1):
        begin, T = offsets[i], offsets[i + 1] - offsets[i]
        for t in range(T):
            p = begin + t
            if p + AHEAD < n:
                fetch_places(places, p + AHEAD, table, labels, weights)
            score_token(places, p, table, labels, weights, row[0])
            if attributes.shape[0] > 0:
                add_attribute_scores(token_pointers, attributes, values, pointers, labels, weights, p, p + 1, row)
            if t > 0:
                known = step(delta[t - 1], row[0], transition, lead, Y, alive, delta[t])
                found[p - 1] = known
                continue
            for j in range(delta.shape[1]):
                delta[0, j] = start[j] + row[0, j]
        scores[i] = trace_back(delta, T, incoming, stop, sums, found[begin:])


@tight_kernel
def score_candidates(
    places: Ints, t: int, table: Floats, labels: Ints, weights: Floats, candidates: Shorts, row: Floats
) -> None:
    """row[y] of few labels y of token t; what else is in the row means nothing."""
    for e in range(candidates.shape[0]):
        row[candidates[e]] = 0
    for s in range(places.shape[1]):
        place = places[t, s]
        if place > NOWHERE:
            for e in range(candidates.shape[0]):
                row[candidates[e]] += table[place, candidates[e]]
        elif place < NOWHERE:
            w = (-2 - place) // SHORT
            for k in range(w, w + (-2 - place) % SHORT + 1):
                row[labels[k]] += weights[k]


@tight_kernel
def tag_candidates(
    places: Ints, table: Floats, labels: Ints, weights: Floats, offsets: Longs, sets: Ints, set_pointers: Longs,
    set_labels: Shorts, transition: Floats, incoming: Floats, start: Floats, stop: Floats, lead: Floats, row: Floats,
    delta: Floats, alive: Longs, sums: Floats, found: Ints, scores: Doubles,
) -> None:  # fmt: skip
    """The same with Candidates: (sets, set_pointers, set_labels). Scores tell only whether a labelling is possible."""
    n = places.shape[0]
    for i in range(offsets.shape[0] - 1):
        begin, T = offsets[i], offsets[i + 1] - offsets[i]
        before = set_labels[:0]
        for t in range(T):
            p = begin + t
            if p + AHEAD < n:
                fetch_places(places, p + AHEAD, table, labels, weights)
            now = set_labels[set_pointers[sets[p]] : set_pointers[sets[p] + 1]]
            if now.shape[0] > FEW:
                score_token(places, p, table, labels, weights, row)
            else:
                score_candidates(places, p, table, labels, weights, now, row)
            if t > 0:
                step_to_candidates(delta[t - 1], row, transition, lead, before, now, alive, sums, delta[t])
            else:
                delta[0, :] = -np.inf
                for k in range(now.shape[0]):
                    delta[0, now[k]] = start[now[k]] + row[now[k]]
            before = now
        lists = sets[begin:]
        scores[i] = trace_candidates(delta, T, lists, set_pointers, set_labels, incoming, stop, sums, found[begin:])


@tight_kernel
def longest_sentence(offsets: Longs) -> int:
    longest = 0
    for i in range(offsets.shape[0] - 1):
        longest = max(longest, offsets[i + 1] - offsets[i])
    return longest


class LinearTagging:
    """Linear scores with the chain that goes on from them; one text at a time."""

    def __init__(self, scores: LinearScores, steps: Steps) -> None:
        self.scores = scores
        self._chain = (steps.transition, steps.incoming, steps.start, steps.stop, steps.lead)
        self._alive = np.empty(steps.n_labels + 4, np.int64)
        self._rows: Floats = empty_rows((KEPT_ROWS, scores.width), scores.dtype)

    def best(self, data: Dataset, candidates: Candidates | None) -> tuple[Ints, Doubles]:
        """The best labels of all tokens [n]; of every sentence a number [N], −inf where no labelling is possible."""
        found, totals = np.empty(data.n_tokens, np.int32), np.empty(data.n_sentences)
        scores, rows, n_rows = self.scores, self._rows, longest_sentence(data.offsets) + 2
        if n_rows > len(rows):
            rows = empty_rows((n_rows, scores.width), scores.dtype)
        row, sums, delta = rows[:1], rows[1], rows[2:]
        table, pattern, weights = scores.table, scores.pattern, scores.weights
        if candidates is None:
            tag_sentences(
                scores.places.of_tokens(data, 0, data.n_sentences), table, pattern.labels, weights, data.pointers,
                data.attributes, data.values, pattern.pointers, data.offsets, *self._chain, row, delta, self._alive,
                sums, found, totals,
            )  # fmt: skip
        else:
            wanted: Bools = (np.diff(candidates.pointers) > 1)[candidates.rows]
            tag_candidates(
                scores.places.of_tokens(data, 0, data.n_sentences, wanted), table, pattern.labels, weights,
                data.offsets, *candidates.arrays, *self._chain, row[0], delta, self._alive, sums, found, totals,
            )  # fmt: skip
        return found, totals
