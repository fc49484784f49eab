"""Tagging with linear scores: locations ─► emission ─► Viterbi, a sentence at a time: rows stay in a near cache.

The results are those of scores/linear.py and then chain/viterbi.py (or chain/candidates.py, where a tag dictionary
gives each token some labels): the same formulas, without the rows of all tokens in between. A token with one candidate
needs no scores.
"""

from __future__ import annotations

import threading
from typing import Any, NamedTuple

import numpy as np

from tagwright._jit import tight_kernel
from tagwright._simd import best_sums
from tagwright.arrays import Bools, Doubles, Floats, Ints, Longs, Plain, Shorts, empty_rows, zero_rows
from tagwright.chain.candidates import FEW
from tagwright.chain.viterbi import Steps, first_best, step
from tagwright.encode.batch import Batch
from tagwright.scores.linear import (
    PREFETCH_DISTANCE,
    LinearScores,
    ScoreTables,
    add_attribute_scores,
    add_locations,
    sort_locations,
    sorting_room,
)
from tagwright.scores.row_index import NOWHERE, LabelWeights, list_locations

CHUNK = 2048
"""Tokens whose locations are listed at a time, unless a sentence is longer."""
FOUR = 4
"""Candidates that are looked at together; some stand in a list twice, so that their number need not be guessed."""


class OwnAttributes(NamedTuple):
    """The attributes that tokens carry themselves (encode/batch.py)."""

    pointers: Longs
    attributes: Ints
    values: Floats


class StepArrays(NamedTuple):
    """The chain's scores for the kernels (chain/viterbi.py)."""

    transition: Floats
    incoming: Floats
    start: Floats
    stop: Floats
    bounds: Floats


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
def trace_sets(
    delta: Floats, begin: int, T: int, sets: Ints, lists: Longs, sizes: Longs, incoming: Floats, stop: Floats,
    found: Ints,
) -> float:  # fmt: skip
    """The best labels of the sentence that begins at token `begin` into found [n], where `step` left what it knew of
    tokens with many labels; their score."""
    Y, best, score = incoming.shape[0], 0, 0.0
    for t in range(T - 1, -1, -1):
        p = begin + t
        now = sets[p] if sets.shape[0] > 0 else 0
        bonus = stop if t == T - 1 else incoming[best]
        if sizes[now] > 0:
            best = best_of_few(delta[t], bonus, lists[now], sizes[now])
        elif t == T - 1 or found[p] < 0:
            best = first_best(delta[t], bonus, Y)
        else:
            best = found[p]
        if t == T - 1:
            score = float(delta[t, best] + stop[best])
        found[p] = best
    return score


@tight_kernel
def tag_sentences(
    forms: Ints, index: Plain, of_unknown: Plain, offsets: Longs, wanted: Bools, sets: Ints,
    plain_tables: Plain, plain_own: Plain, plain_sets: Plain, plain_chain: Plain, locations: Ints, ring: Ints,
    row: Floats, delta: Floats, survivors: Longs, found: Ints, scores: Doubles,
) -> None:  # fmt: skip
    """Given a Batch's forms, what leads to the locations of its tokens (scores/row_index.py), the label sets of all
    tokens [n] (none: it is set 0 everywhere) and which of them want scores; then ScoreTables, OwnAttributes, Sets and
    StepArrays as plain tuples. Work: locations [≥ CHUNK, S], ring (scores/linear.py), row [1, P], delta [L, P],
    survivors [Y]. Returned: found [n], scores [N].

    Some sentences at a time, so that their locations stay in a near cache. In the δ of few labels what stands beside
    them means nothing; in that of many it is −inf."""
    few, chain, own = Sets(*plain_sets), StepArrays(*plain_chain), OwnAttributes(*plain_own)
    tables = ScoreTables(plain_tables[0], plain_tables[1], LabelWeights(*plain_tables[2]))
    N, Y, first = offsets.shape[0] - 1, chain.incoming.shape[0], 0
    while first < N:
        last = first + 1
        while last < N and offsets[last + 1] - offsets[first] <= CHUNK:
            last += 1
        list_locations(forms, index, of_unknown, offsets, first, last, locations)
        base, n = offsets[first], offsets[last] - offsets[first]
        for t in range(n if wanted.shape[0] > 0 else 0):
            if not wanted[base + t]:
                locations[t, :] = NOWHERE
        for t in range(min(PREFETCH_DISTANCE, n)):
            sort_locations(locations, t, tables, ring)
        for i in range(first, last):
            begin, T, before = offsets[i], offsets[i + 1] - offsets[i], 0
            for t in range(T):
                p = begin + t
                if p - base + PREFETCH_DISTANCE < n:
                    sort_locations(locations, p - base + PREFETCH_DISTANCE, tables, ring)
                now = sets[p] if sets.shape[0] > 0 else 0
                add_locations(few.masks[few.mask_of[now]], ring, p - base, tables, Y, row[0])
                if own.attributes.shape[0] > 0:
                    add_attribute_scores(own.pointers, own.attributes, own.values, tables.weights, p, p + 1, row)
                if t == 0:
                    for j in range(delta.shape[1]):
                        delta[0, j] = chain.start[j] + row[0, j]
                elif few.sizes[before] > 0:
                    best_sums(delta[t - 1], few.lists[before], few.sizes[before], chain.transition, row[0], Y, delta[t])
                else:
                    found[p - 1] = step(delta[t - 1], row[0], chain.transition, chain.bounds, Y, survivors, delta[t])
                before = now
            scores[i] = trace_sets(delta, begin, T, sets, few.lists, few.sizes, chain.incoming, chain.stop, found)
        first = last


@tight_kernel
def longest_sentence(offsets: Longs) -> int:
    longest = 0
    for i in range(offsets.shape[0] - 1):
        longest = max(longest, offsets[i + 1] - offsets[i])
    return longest


class Sets(NamedTuple):
    """Label sets, made for Viterbi: those of at most FEW labels as lists, the others as masks."""

    lists: Longs  # [R, FEW]: the last label again and again
    sizes: Longs  # [R]: how many of a list to look at, in fours; 0: there are many
    mask_of: Longs  # [R]: the set's row of `masks`
    masks: Floats  # [M, P]: 0, and −inf beside the labels of a large set; the first: 0

    @classmethod
    def build(cls, pointers: Longs, labels: Shorts, width: int, dtype: type[np.floating[Any]]) -> Sets:
        """From sets r of labels[pointers[r] : pointers[r + 1]], ascending."""
        sizes = np.diff(pointers)
        entries = np.minimum(pointers[:-1, None] + np.arange(FEW), pointers[1:, None] - 1)
        large = sizes > FEW
        mask_of = np.where(large, np.cumsum(large), 0)
        masks = zero_rows((1 + int(np.count_nonzero(large)), width), dtype)
        masks[1:] = -np.inf
        owners = np.repeat(mask_of, sizes)
        masks[owners, labels] = 0
        return cls(labels[entries].astype(np.int64), np.where(large, 0, -(-sizes // FOUR) * FOUR), mask_of, masks)


class Work(threading.local):
    """Memory for one call at a time, kept by each thread: to allocate it for every sentence would take as long as to
    tag one."""

    locations: Ints  # [≥ CHUNK, S]
    ring: Ints
    row: Floats  # [1, P]
    delta: Floats  # [L, P]
    survivors: Longs  # [Y]

    def of(self, n_rows: int, n_slots: int, scores: LinearScores) -> Work:
        """With n_rows rows of `row` and `delta` together, at least."""
        if not hasattr(self, "delta") or len(self.delta) < n_rows:
            rows = empty_rows((n_rows + 1, scores.width), scores.dtype)
            self.row, self.delta = rows[:1], rows[1:]
            self.locations = np.empty((max(CHUNK, n_rows), n_slots), np.int32)
            self.ring, self.survivors = sorting_room(n_slots), np.empty(scores.n_labels, np.int64)
        return self


class LinearTagging:
    """Linear scores with the chain that goes on from them, and the sets of labels that there are, as pointers and
    labels (None: one set, of all)."""

    def __init__(self, scores: LinearScores, steps: Steps, sets: tuple[Longs, Shorts] | None = None) -> None:
        self.scores = scores
        self._chain = (steps.transition, steps.incoming, steps.start, steps.stop, steps.bounds)
        if sets is None:
            sets = np.array([0, steps.n_labels], np.int64), np.arange(steps.n_labels, dtype=np.uint16)
        self._sets = tuple(Sets.build(*sets, scores.width, scores.dtype))
        self._several: Bools = np.diff(sets[0]) > 1
        self._work = Work()

    def best(self, batch: Batch, sets: Ints | None = None) -> tuple[Ints, Doubles]:
        """The best labels of all tokens [n]; of every sentence a number [N], −inf where no labelling is possible. sets:
        the set of every token [n]; None: it is the first."""
        found, totals = np.empty(batch.n_tokens, np.int32), np.empty(batch.n_sentences)
        wanted = EVERY if sets is None else self._several[sets]  # where there is one label, it needs no scores
        scores, index = self.scores, self.scores.map.index
        unknown, tables = scores.look_at(batch)
        work = self._work.of(longest_sentence(batch.offsets) + 1, len(index.readers), scores)
        tag_sentences(
            batch.forms, index.plain, tuple(unknown), batch.offsets, wanted,
            NO_SETS if sets is None else sets, (tables.table, tables.unknown, tuple(tables.weights)),
            (batch.pointers, batch.attributes, batch.values), self._sets, self._chain, work.locations, work.ring,
            work.row, work.delta, work.survivors, found, totals,
        )  # fmt: skip
        return found, totals


NO_SETS: Ints = np.empty(0, np.int32)
EVERY: Bools = np.empty(0, np.bool_)
