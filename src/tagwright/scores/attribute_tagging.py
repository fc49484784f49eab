"""Tagging attribute dicts with linear scores: items ─► attributes ─► emission ─► Viterbi, in one kernel for some
sentences at a time.

The attributes of a token are new in every token (scores/tagging.py: those of a word are not), so its scores are the sum
of the weights of each. Where an attribute has weights for many labels, they are a row of a table, which is added in
vectors; the others' are added one by one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tagwright._jit import holding_kernel, natural, tight_kernel
from tagwright._python_lock import HANDOVER_TOKENS, let_others_run, take_back
from tagwright._simd import best_sums, prefetch, sum_rows
from tagwright.arrays import Doubles, Floats, Ints, Longs, Plain, empty_rows, zero_rows
from tagwright.chain.viterbi import Steps, step
from tagwright.encode.attribute_dicts import flatten_in_order
from tagwright.encode.attribute_tables import NOT_SPLIT, WEIGHTED, FindingWork, find_attributes
from tagwright.encode.text import Text
from tagwright.scores.linear import LinearScores
from tagwright.scores.pattern import LabelWeights
from tagwright.scores.row_index import fill_rows
from tagwright.scores.tagging import Sets, StepArrays, power_of_two, trace_sets

AT_ONCE = 1 << 10
"""Tokens that are read and tagged together: what Python has of them stays in a near cache."""
FILLED = 6
"""A row is worth its while where at least one of so many numbers is a weight."""
NO_ROW = -1
PREFETCH_DISTANCE, LINE = 2, 64
"""Tokens between asking for rows and reading them; bytes of a cache line."""


class AttributeRows(NamedTuple):
    """The weights of attributes: row rows[a] of the table, or, where that is NO_ROW, those of LabelWeights."""

    rows: Ints  # [A]
    table: Floats  # [R · P], and a vector's room
    weights: Plain  # LabelWeights

    @classmethod
    def build(cls, weights: LabelWeights, width: int) -> AttributeRows:
        wide = np.diff(weights.pointers) * FILLED >= width
        rows = np.where(wide, np.cumsum(wide) - 1, NO_ROW).astype(np.int32)
        table = zero_rows((int(wide.sum()) + 1, width), weights.values.dtype)
        fill_rows(np.flatnonzero(wide), weights, table)
        return cls(rows, table.reshape(-1), tuple(weights))


class TaggingWork(NamedTuple):
    """Memory for tag_items."""

    finding: Plain  # FindingWork
    delta: Floats  # [L, P]
    rows: Floats  # [2, P]: of zeros, and of the token's scores
    which: Longs  # the attributes of a token that have rows
    rest: Longs  # its other entries
    survivors: Longs  # [Y]

    @classmethod
    def build(cls, n: int, n_strings: int, n_entries: int, scores: LinearScores) -> TaggingWork:
        finding = FindingWork.build(n, n_strings, n_entries)
        delta, rows = empty_rows((n, scores.width), scores.dtype), zero_rows((2, scores.width), scores.dtype)
        which, rest = np.empty((2, n_entries), np.int64)
        return cls(tuple(finding), delta, rows, which, rest, np.empty(scores.n_labels, np.int64))


class AttributeTagging:
    """Linear scores of attribute dicts, with the chain that goes on from them."""

    def __init__(self, scores: LinearScores, steps: Steps) -> None:
        self.scores = scores
        self._tables = scores.encoder.attribute_tables
        self._rows = tuple(AttributeRows.build(scores.weights, scores.width))
        chain = steps.transition, steps.incoming, steps.start, steps.stop, steps.bounds
        pointers, labels = np.array([0, steps.n_labels], np.int64), np.arange(steps.n_labels, dtype=np.uint16)
        self._chain = chain, tuple(Sets.build(pointers, labels, scores.width, scores.dtype))
        self._free: list[tuple[tuple[int, int, int], Plain]] = []

    def best_of_text(self, text: Text) -> tuple[Ints, Doubles] | None:
        """The best labels of all tokens [n], and of every sentence a number [N], −inf where no labelling is possible.
        None where strings cannot be told apart, since one has a NUL in it."""
        offsets, items = text.offsets, text.items
        n, N = len(items), len(offsets) - 1
        found, scores = np.empty(n, np.int32), np.empty(N)
        first = 0
        while first < N:
            begin = int(offsets[first])
            last = N if n - begin <= AT_ONCE else max(first + 1, int(np.searchsorted(offsets, begin + AT_ONCE)))
            end = int(offsets[last])
            whole = first == 0 and last == N
            own, part = (offsets, items) if whole else (offsets[first : last + 1] - begin, items[begin:end])
            given = self._tables.read(part, lambda p, begin=begin: flatten_in_order(begin + p, text))  # type: ignore[misc]
            sizes, work = self._take(end - begin, given.n_strings, given.n_entries)
            done = tag_items(
                given.plain, given.n_strings, own, self._rows, self._chain, work, found[begin:end], scores[first:last]
            )
            self._free.append((sizes, work))
            if done == NOT_SPLIT:
                return None
            first = last
        return found, scores

    def _take(self, *sizes: int) -> tuple[tuple[int, int, int], Plain]:
        """The memory of a call that is over, if it is large enough, or new."""
        try:
            there, work = self._free.pop()
        except IndexError:
            there, work = (AT_ONCE, 1 << 14, 1 << 14), ()
        if work and all(a >= b for a, b in zip(there, sizes, strict=True)):
            return there, work
        n, E, F = (power_of_two(max(a, b)) for a, b in zip(there, sizes, strict=True))
        return (n, E, F), tuple(TaggingWork.build(n, E, F, self.scores))


@holding_kernel
def tag_items(
    given: Plain, n_strings: int, offsets: Longs, rows: Plain, of_chain: Plain, of_work: Plain, found: Ints,
    scores: Doubles,
) -> int:  # fmt: skip
    """From Given.plain to the best labels of all tokens, found [n], and the scores of the sentences [N], which begin at
    offsets [N + 1]. rows: AttributeRows; chain: StepArrays and Sets; work: TaggingWork. Returns as find_attributes."""
    lock = let_others_run(found.shape[0] > HANDOVER_TOKENS)
    work, n = TaggingWork(*of_work), found.shape[0]
    done = find_attributes(given, n_strings, n, work.finding)
    if done != NOT_SPLIT:
        tag_found(done == WEIGHTED, offsets, AttributeRows(*rows), of_chain, work, found, scores)
    take_back(lock)
    return int(done)


@tight_kernel
def tag_found(
    weighted: bool, offsets: Longs, rows: AttributeRows, of_chain: Plain, work: TaggingWork, found: Ints,
    scores: Doubles,
) -> None:  # fmt: skip
    """The same, given the attributes of all tokens."""
    chain, few, delta = StepArrays(*of_chain[0]), Sets(*of_chain[1]), work.delta
    Y, row, n = chain.incoming.shape[0], work.rows[1], found.shape[0]
    for p in range(min(PREFETCH_DISTANCE, n)):
        ask_for_rows(rows, work, p)
    for i in range(offsets.shape[0] - 1):
        begin, T = offsets[i], offsets[i + 1] - offsets[i]
        for t in range(T):
            p = begin + t
            if p + PREFETCH_DISTANCE < n:
                ask_for_rows(rows, work, p + PREFETCH_DISTANCE)
            score_token(weighted, rows, work, p, Y)
            if t == 0:
                for j in range(delta.shape[1]):
                    delta[0, j] = chain.start[j] + row[j]
            elif few.sizes[0] > 0:
                best_sums(delta[t - 1], few.lists[0], few.sizes[0], chain.transition, row, Y, delta[t])
            else:
                found[p - 1] = step(delta[t - 1], row, chain.transition, chain.bounds, Y, work.survivors, delta[t])
        scores[i] = trace_sets(delta, begin, T, found[:0], few.lists, few.sizes, chain.incoming, chain.stop, found)


@tight_kernel
def ask_for_rows(rows: AttributeRows, work: TaggingWork, p: int) -> None:
    """Ask for what the scores of token p are made of."""
    finding, P = FindingWork(*work.finding), work.delta.shape[1]
    lane = LINE // rows.table.itemsize
    for e in range(finding.pointers[p], finding.pointers[p + 1]):
        r = rows.rows[natural(finding.attributes[natural(e)])]
        for j in range(0, P if r >= 0 else 0, lane):
            prefetch(rows.table, r * P + j)


@tight_kernel
def score_token(weighted: bool, rows: AttributeRows, work: TaggingWork, p: int, Y: int) -> None:
    """The scores of token p into work.rows[1]: rows, then single weights. What it has beyond Y means nothing."""
    finding, weights, row, P = (
        FindingWork(*work.finding),
        LabelWeights(*rows.weights),
        work.rows[1],
        work.delta.shape[1],
    )
    n_rows, n_rest = 0, 0
    for e in range(finding.pointers[p], finding.pointers[p + 1]):
        r = rows.rows[natural(finding.attributes[natural(e)])]
        if r >= 0 and (not weighted or finding.values[natural(e)] == 1.0):
            work.which[natural(n_rows)] = r
            n_rows += 1
        else:
            work.rest[natural(n_rest)] = e
            n_rest += 1
    sum_rows(work.rows[0], rows.table, work.which, 0, n_rows, P, Y, row)
    for k in range(n_rest):
        e = work.rest[natural(k)]
        a, value = finding.attributes[natural(e)], row.dtype.type(finding.values[natural(e)] if weighted else 1.0)
        if rows.rows[a] >= 0:
            for j in range(Y):
                row[j] += value * rows.table[rows.rows[a] * P + j]
        else:
            for w in range(weights.pointers[a], weights.pointers[a + 1]):
                row[weights.labels[w]] += value * weights.values[w]
