"""Tagging with linear scores: places ─► emission ─► Viterbi, a sentence at a time, so that rows stay in a near cache.

The results are those of scores/linear.py and then chain/viterbi.py (or chain/candidates.py, where a tag dictionary
gives each token some labels): the same formulas, without the rows of all tokens in between. A token with one candidate
needs no scores, one with few needs theirs alone.
"""

from __future__ import annotations

import numpy as np

from tagwright._jit import tight_kernel
from tagwright._registers import fetch_early
from tagwright.arrays import Bools, Doubles, Floats, Ints, Longs, Shorts, empty_rows
from tagwright.chain.candidates import FEW, Candidates
from tagwright.chain.viterbi import Steps, advance, find_survivors, first_best, step, trace_back
from tagwright.encode.dataset import Dataset
from tagwright.scores.linear import (
    AHEAD,
    LinearScores,
    add_attribute_scores,
    add_single_weights,
    fetch_places,
    score_token,
)
from tagwright.scores.places import NOWHERE, SHORT

FOUR = 4
"""Candidates that are looked at together; some stand in a list twice, so that their number need not be guessed."""
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
def fetch_candidates(places: Ints, t: int, numbers: Floats, P: int, labels: Ints, weights: Floats, now: Longs) -> None:
    """Ask for what stands at the places of token t for a few labels: in the table's rows, those of the first and last.
    numbers: the table as a vector."""
    for s in range(places.shape[1]):
        place = places[t, s]
        if place > NOWHERE:
            fetch_early(numbers, place * P + now[0])
            fetch_early(numbers, place * P + now[FEW - 1])
        elif place < NOWHERE:
            fetch_early(labels, (-2 - place) // SHORT)
            fetch_early(weights, (-2 - place) // SHORT)


@tight_kernel
def score_candidates(
    places: Ints, t: int, table: Floats, labels: Ints, weights: Floats, now: Longs, n: int, row: Floats
) -> None:
    """row[y] of the labels now[: n] of token t; what else is in the row means nothing."""
    S = places.shape[1]
    for k in range(0, n, FOUR):
        y0, y1, y2, y3 = now[k], now[k + 1], now[k + 2], now[k + 3]
        a0, a1, a2, a3 = row.dtype.type(0), row.dtype.type(0), row.dtype.type(0), row.dtype.type(0)
        s = 0
        while s < S and places[t, s] > NOWHERE:
            at = table[places[t, s]]
            a0, a1, a2, a3 = a0 + at[y0], a1 + at[y1], a2 + at[y2], a3 + at[y3]
            s += 1
        row[y0], row[y1], row[y2], row[y3] = a0, a1, a2, a3
    add_single_weights(places, t, labels, weights, row)


@tight_kernel
def step_to_few(
    previous: Floats, row: Floats, transition: Floats, before: Longs, m: int, now: Longs, n: int, out: Floats
) -> None:
    """δ_t at the labels now[: n] from those at before[: m], four at a time."""
    i0, i1, i2, i3 = before[0], before[1], before[2], before[3]
    d0, d1, d2, d3 = previous[i0], previous[i1], previous[i2], previous[i3]
    t0, t1, t2, t3 = transition[i0], transition[i1], transition[i2], transition[i3]
    for k in range(n):
        y = now[k]
        s0, s1, s2, s3 = d0 + t0[y], d1 + t1[y], d2 + t2[y], d3 + t3[y]
        a = s0 if s0 > s1 else s1
        b = s2 if s2 > s3 else s3
        a = a if a > b else b
        for e in range(FOUR, m):
            s0 = previous[before[e]] + transition[before[e], y]
            a = s0 if s0 > a else a
        out[y] = a + row[y]


@tight_kernel
def best_of_few(delta: Floats, bonus: Floats, now: Longs, n: int) -> int:
    """The first of the labels now[: n] that maximises δ + bonus. No branch depends on the numbers."""
    found, peak = now[0], delta[now[0]] + bonus[now[0]]
    for k in range(0, n, FOUR):
        y0, y1, y2, y3 = now[k], now[k + 1], now[k + 2], now[k + 3]
        s0, s1, s2, s3 = delta[y0] + bonus[y0], delta[y1] + bonus[y1], delta[y2] + bonus[y2], delta[y3] + bonus[y3]
        a, y = (s1, y1) if s1 > s0 else (s0, y0)
        c, z = (s3, y3) if s3 > s2 else (s2, y2)
        a, y = (c, z) if c > a else (a, y)
        found, peak = (y, a) if a > peak else (found, peak)
    return int(found)


@tight_kernel
def tag_candidates(
    places: Ints, table: Floats, numbers: Floats, labels: Ints, weights: Floats, offsets: Longs, sets: Ints,
    set_pointers: Longs, set_labels: Shorts, lists: Longs, sizes: Longs, transition: Floats, incoming: Floats,
    start: Floats, stop: Floats, lead: Floats, row: Floats, delta: Floats, alive: Longs, sums: Floats, found: Ints,
    scores: Doubles,
) -> None:  # fmt: skip
    """The same with Candidates: (sets, set_pointers, set_labels), those of few labels as lists [R, FEW] too, of which
    sizes [R] are meant; 0: it has many. Scores tell only whether a labelling is possible.

    The δ of many labels is a row, with −inf beside them; in that of few the rest means nothing."""
    n, P, Y = places.shape[0], table.shape[1], incoming.shape[0]
    for i in range(offsets.shape[0] - 1):
        begin, T = offsets[i], offsets[i + 1] - offsets[i]
        for t in range(T):
            p = begin + t
            if p + AHEAD < n:
                later = sets[p + AHEAD]
                if sizes[later] > 0:
                    fetch_candidates(places, p + AHEAD, numbers, P, labels, weights, lists[later])
                else:
                    fetch_places(places, p + AHEAD, table, labels, weights)
            r = sets[p]
            now, size = lists[r], sizes[r]
            if size > 0:
                score_candidates(places, p, table, labels, weights, now, size, row)
            else:
                score_token(places, p, table, labels, weights, sums)
                row[:] = -np.inf
                for k in range(set_pointers[r], set_pointers[r + 1]):
                    row[set_labels[k]] = sums[set_labels[k]]
            if t == 0:
                for j in range(P if size == 0 else size):
                    y = j if size == 0 else now[j]
                    delta[0, y] = start[y] + row[y]
                continue
            before = lists[sets[p - 1]]
            if sizes[sets[p - 1]] > 0:
                m = sizes[sets[p - 1]]
                if size > 0:
                    step_to_few(delta[t - 1], row, transition, before, m, now, size, delta[t])
                else:
                    advance(delta[t - 1], row, transition, before, m, delta[t])
            else:
                m = find_survivors(delta[t - 1], lead, Y, alive)
                if size == 0:
                    advance(delta[t - 1], row, transition, alive, m, delta[t])
                else:
                    while m % FOUR != 0:
                        alive[m] = alive[m - 1]
                        m += 1
                    step_to_few(delta[t - 1], row, transition, alive, m, now, size, delta[t])
        best = 0
        for t in range(T - 1, -1, -1):
            r = sets[begin + t]
            bonus = stop if t == T - 1 else incoming[best]
            if sizes[r] > 0:
                best = best_of_few(delta[t], bonus, lists[r], sizes[r])
            else:
                best = first_best(delta[t], bonus, Y, sums)
            if t == T - 1:
                scores[i] = delta[t, best] + stop[best]
            found[begin + t] = best


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
        self._sets = Candidates.everything(0, steps.n_labels)  # whose lists are kept
        self._few = lists_of_few(self._sets)

    def best(self, data: Dataset, candidates: Candidates | None) -> tuple[Ints, Doubles]:
        """The best labels of all tokens [n]; of every sentence a number [N], −inf where no labelling is possible."""
        found, totals = np.empty(data.n_tokens, np.int32), np.empty(data.n_sentences)
        scores, rows = self.scores, self._rows
        if data.n_tokens + 2 > len(rows) and (n_rows := longest_sentence(data.offsets) + 2) > len(rows):
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
            if candidates.pointers is not self._sets.pointers:
                self._sets, self._few = candidates, lists_of_few(candidates)
            wanted: Bools = (np.diff(candidates.pointers) > 1)[candidates.rows]
            tag_candidates(
                scores.places.of_tokens(data, 0, data.n_sentences, wanted), table, table.reshape(-1), pattern.labels,
                weights, data.offsets, *candidates.arrays, *self._few, *self._chain, row[0], delta, self._alive, sums,
                found, totals,
            )  # fmt: skip
        return found, totals


def lists_of_few(candidates: Candidates) -> tuple[Longs, Longs]:
    """The sets of at most FEW labels as lists [R, FEW], the last label again and again; how many of them to look at
    [R], in fours, 0 for larger sets."""
    sizes = np.diff(candidates.pointers)
    places = np.minimum(candidates.pointers[:-1, None] + np.arange(FEW), candidates.pointers[1:, None] - 1)
    return candidates.labels[places].astype(np.int64), np.where(sizes > FEW, 0, -(-sizes // FOUR) * FOUR)
