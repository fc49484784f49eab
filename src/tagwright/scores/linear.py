"""Linear scores, factorised: weights ─► tables over forms ─► emission rows, and gradients back the same way.

    table[(f, s), y]  = Σ_{attributes a of form f in slot s} W[a, y]                          once per pass, per form
    emission[p, y]    = Σ_s table[(form(p + offset_s), s), y] + Σ_{attributes a of p} v_a W[a, y]
    adjoint           G[(f, s)] = Σ_{p : form(p + offset_s) = f} dE[p],     dW[a, y] = Σ_{(f, s) ∋ a} G[(f, s), y] + ...

W is sparse: attribute a has weights for the labels pattern.labels[pattern.pointers[a] : pattern.pointers[a + 1]] only
(those seen with it in training, or all). Where a form has but a few weights in a slot, they stand for their row of the
table (scores/row_index.py).

    LinearMap      encoder and pattern: what weights mean; LinearMap.at(weights) ─► LinearScores
    LinearScores   weights and tables: a value; LinearScores.rows(batch) ─► LinearRows
    LinearRows     those of one batch: its unknown words have got rows, its tokens locations
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from tagwright._jit import natural, tight_kernel
from tagwright._simd import fetch_and_add, prefetch, prefetch_two, sum_rows, sum_two_tables
from tagwright.arrays import ALONE, Floats, Ints, Longs, Plain, Stage, Workers, empty_rows, padded, zero_rows
from tagwright.encode.batch import Batch
from tagwright.encode.encoder import Encoder, SlotArrays
from tagwright.encode.forms import UnknownWords, as_unknown_words
from tagwright.scores.pattern import LabelWeights, Pattern
from tagwright.scores.row_index import (
    NO_ROW,
    NOWHERE,
    SHORT,
    ColumnSlots,
    Locations,
    RowIndex,
    SharedRows,
    locate_forms,
)

PREFETCH_DISTANCE = 3
"""Tokens between asking for a row and reading it: about what memory takes to answer."""
RING = PREFETCH_DISTANCE + 1
"""Tokens whose locations are sorted at a time."""
FORMS_A_PIECE = 256
"""At least, of the forms whose rows a thread fills at a time."""
PIECES = 32
"""Work is cut into about this many pieces for threads; more than cores, so that no thread waits long."""


class ScoreTables(NamedTuple):
    """What locations lead to: rows of the table, rows of a batch's unknown words, or single weights."""

    table: Floats  # [R, P]
    unknown: Floats  # [U, P]: row R + u is unknown[u]
    weights: LabelWeights


@dataclass(frozen=True, eq=False)
class LinearMap:
    """The map from weights to emission rows, bound to an encoder. scores/adjoint.py has its transpose."""

    encoder: Encoder
    pattern: Pattern
    n_labels: int
    dtype: type[np.floating[Any]]
    index: RowIndex
    shared: SharedRows

    @classmethod
    def build(cls, encoder: Encoder, pattern: Pattern, n_labels: int, dtype: type[np.floating[Any]]) -> LinearMap:
        index = RowIndex(encoder, pattern)
        shared = SharedRows(encoder, index.slots, padded(n_labels))
        return cls(encoder, pattern, n_labels, dtype, index, shared)

    @property
    def width(self) -> int:
        return padded(self.n_labels)

    def at(self, weights: Floats, workers: Workers | None = None, table: Floats | None = None) -> LinearScores:
        """The scores with these weights. `table`: memory for the table, of an earlier one that is no longer wanted."""
        values = weights.astype(self.dtype)
        own = LabelWeights(self.pattern.pointers, self.pattern.labels, values)
        shared = self.shared.fill(own, self.width)
        if table is None:
            table = zero_rows((self.index.n_rows, self.width), self.dtype)

        def fill(c: int, step: int, taken: Longs) -> None:
            codes, bases, rows = self.encoder.sources[c].codes, self.shared.bases[c], shared.reshape(-1)
            fill_pieces(
                taken, step, codes.reshape(-1), codes.shape[1], tuple(self.index.slots[c]), bases, self.n_labels,
                self.index.of_forms(c), tuple(own), rows, table, self.work_for_sums(),
            )  # fmt: skip

        workers, stages = workers or ALONE, []
        for c, source in enumerate(self.encoder.sources):
            step = max(FORMS_A_PIECE, -(-source.n_known // PIECES))
            n_threads = min(workers.n_jobs, -(-source.n_known // step))
            stages.append(Stage(fill, [(c, step, np.zeros(1, np.int64))] * n_threads))
        workers.run_stages(stages)
        return LinearScores(self, own, shared, table)

    def work_for_sums(self) -> Longs:
        """Memory for fill_table."""
        return np.empty((3, self.shared.most), np.int64)


@dataclass(frozen=True, eq=False)
class LinearScores:
    """Weights bound to an encoder, with their tables: gives emission rows of any Batch that it made."""

    map: LinearMap
    weights: LabelWeights
    shared: Floats
    table: Floats

    @property
    def encoder(self) -> Encoder:
        return self.map.encoder

    @property
    def pattern(self) -> Pattern:
        return self.map.pattern

    @property
    def n_labels(self) -> int:
        return self.map.n_labels

    @property
    def width(self) -> int:
        return self.map.width

    @property
    def dtype(self) -> type[np.floating[Any]]:
        return self.map.dtype

    @property
    def n_parameters(self) -> int:
        """Weights that are not zero."""
        return int(np.count_nonzero(self.weights.values))

    @cached_property
    def tables(self) -> ScoreTables:
        """What locations of known words lead to."""
        return ScoreTables(self.table, self.table[:0], self.weights)

    @cached_property
    def for_unknown(self) -> Plain:
        """UnknownScores, for kernels."""
        bases = np.concatenate([np.empty(0, np.int64), *self.map.shared.bases[: len(self.encoder.columns)]])
        return tuple(self.map.index.of_columns), bases, self.shared.reshape(-1), self.n_labels, len(self.table)

    def look_at(self, batch: Batch) -> tuple[Locations, ScoreTables]:
        """The locations of a batch's unknown words, and what all its locations lead to."""
        if batch.unknown.words.n == 0:
            return NO_UNKNOWN, self.tables
        rows = UnknownRows.build(self, batch.unknown.words.n)
        score_unknown(batch.unknown.plain, self.for_unknown, tuple(self.weights), tuple(rows))
        return Locations(rows.locations, rows.begins), ScoreTables(self.table, rows.table, self.weights)

    def rows(self, batch: Batch) -> LinearRows:
        """The scores of a batch."""
        unknown, tables = self.look_at(batch)
        return LinearRows(self, batch, self.map.index.of_tokens(batch, unknown), tables)


NO_UNKNOWN = Locations(np.empty(0, np.int32), np.empty(0, np.int64))


class LinearRows(NamedTuple):
    """The scores of one batch."""

    scores: LinearScores
    batch: Batch
    locations: Ints  # [n, S]
    tables: ScoreTables

    def emission(self, first: int, last: int, out: Floats) -> None:
        """The scores of all tokens of the sentences `first` to `last` − 1, into out [n, P]; padding is 0."""
        begin, end = int(self.batch.offsets[first]), int(self.batch.offsets[last])
        score_tokens(self.locations[begin:end], self.tables, self.batch, begin, self.scores.n_labels, out)


def score_tokens(locations: Ints, tables: ScoreTables, batch: Batch, begin: int, n_labels: int, out: Floats) -> None:
    """The emission rows of the tokens from `begin` on whose locations [n, S] are given."""
    n = len(locations)
    add_scores(locations, tables, n_labels, sorting_room(locations.shape[1]), out[:n])
    if len(batch.attributes):
        add_attribute_scores(batch.pointers, batch.attributes, batch.values, tables.weights, begin, begin + n, out)


def sorting_room(n_slots: int) -> Ints:
    """For the sorted locations of the tokens that come next."""
    return np.empty((RING, n_slots + 2), np.int32)


@tight_kernel
def fill_table(
    codes: Ints, K: int, of_slots: Plain, shared_bases: Longs, Y: int, locations: Ints, of_weights: Plain,
    shared: Floats, table: Floats, first_row: int, work: Longs,
) -> None:  # fmt: skip
    """The rows of all forms with these codes, K each, and locations; table[r] is row first_row + r. SlotArrays and
    LabelWeights come as plain tuples; work [3, K]. Shared rows come first: a vector waits for a number just stored in
    it."""
    slots, weights = SlotArrays(*of_slots), LabelWeights(*of_weights)
    firsts, begins, ends = work[0], work[1], work[2]
    S = slots.offsets.shape[0]
    for f in range(codes.shape[0] // max(K, 1)):
        for s in range(S):
            if locations[f * S + s] < 0:
                continue
            n_rows, n_lists = 0, 0
            for k in range(slots.pointers[s], slots.pointers[s + 1]):
                code = codes[natural(f * K + slots.terms[k])]
                if code < 0:
                    continue
                if shared_bases[k] != NO_ROW:
                    firsts[natural(n_rows)] = shared_bases[k] + code
                    n_rows += 1
                else:
                    a = slots.bases[k] + code
                    begin, end = weights.pointers[natural(a)], weights.pointers[natural(a + 1)]
                    prefetch(weights.labels, begin)
                    prefetch(weights.values, begin)
                    begins[natural(n_lists)], ends[natural(n_lists)] = begin, end
                    n_lists += 1
            row = table[locations[f * S + s] - first_row]
            row[:] = 0
            sum_rows(row, shared, firsts, 0, n_rows, table.shape[1], Y, row)
            for n in range(n_lists):
                for w in range(begins[n], ends[n]):
                    row[natural(weights.labels[natural(w)])] += weights.values[natural(w)]


@tight_kernel
def fill_pieces(
    taken: Longs, step: int, codes: Ints, K: int, of_slots: Plain, shared_bases: Longs, Y: int, locations: Ints,
    of_weights: Plain, shared: Floats, table: Floats, work: Longs,
) -> None:  # fmt: skip
    """As fill_table, for the forms of one source: `step` at a time, those that no other thread has taken."""
    n, S = codes.shape[0] // max(K, 1), of_slots[0].shape[0]
    while True:
        f = fetch_and_add(taken) * step
        if f >= n:
            return
        end = min(f + step, n)
        fill_table(
            codes[f * K : end * K], K, of_slots, shared_bases, Y, locations[f * S : end * S], of_weights, shared,
            table, 0, work,
        )  # fmt: skip


class UnknownScores(NamedTuple):
    """What the rows of unknown words are made of, beside the weights."""

    slots: Plain  # ColumnSlots
    shared_bases: Longs  # of all (slot, term) pairs
    shared: Floats
    n_labels: int
    n_rows: int  # of the table


class UnknownRows(NamedTuple):
    """The locations of unknown words, and their rows, which are numbered after those of the table: row R + u is
    table[u]."""

    locations: Ints
    begins: Longs  # [C + 1]: where the locations of every column begin
    table: Floats  # [U, P]
    work: Longs

    @classmethod
    def build(cls, scores: LinearScores, n: int) -> UnknownRows:
        """For n unknown words of every column."""
        columns = scores.map.index.of_columns.columns
        size = n * int(columns[-1, 0])
        table = empty_rows((size, scores.width), scores.dtype)
        return cls(np.empty(size, np.int32), np.zeros(len(columns), np.int64), table, scores.map.work_for_sums())


@tight_kernel
def add_unknown(unknown: UnknownWords, of_scores: Plain, of_weights: Plain, rows: UnknownRows) -> None:
    """The locations of unknown words, and their rows. of_scores: UnknownScores; of_weights: LabelWeights."""
    scores = UnknownScores(*of_scores)
    slots, n_rows, at = ColumnSlots(*scores.slots), scores.n_rows, 0
    for c in range(slots.columns.shape[0] - 1):
        s0, s1, k0, k1 = slots.columns[c, 0], slots.columns[c + 1, 0], slots.columns[c, 1], slots.columns[c + 1, 1]
        own = slots.offsets[s0:s1], slots.pointers[s0 + c : s1 + c + 1], slots.terms[k0:k1], slots.bases[k0:k1]
        codes, K = unknown.codes[unknown.firsts[c, 1] : unknown.firsts[c + 1, 1]], slots.columns[c, 2]
        end = at + (s1 - s0) * (unknown.firsts[c + 1, 0] - unknown.firsts[c, 0])
        locations = rows.locations[at:end]
        rows.begins[c] = at
        n_rows = locate_forms(codes, K, own, of_weights[0], n_rows, locations)
        fill_table(
            codes, K, own, scores.shared_bases[k0:k1], scores.n_labels, locations, of_weights, scores.shared,
            rows.table, scores.n_rows, rows.work,
        )  # fmt: skip
        at = end


@tight_kernel
def score_unknown(of_unknown: Plain, scores: Plain, weights: Plain, rows: Plain) -> None:
    """As add_unknown, with plain tuples."""
    add_unknown(as_unknown_words(of_unknown), scores, weights, UnknownRows(*rows))


# What is natural below: locations come from locate_forms, weights and their labels from a Pattern (labels below Y,
# checked when a model is read), tokens and ring positions count from 0.


@tight_kernel
def sort_locations(locations: Ints, t: int, tables: ScoreTables, ring: Ints) -> None:
    """Ask for what stands at the locations of token t, and sort them: rows from the front, weights from the back; then
    where the rows end and the weights begin. In `ring` [RING, S + 2], at the token's turn."""
    S, k = locations.shape[1], natural(t % RING)
    n_rows, free = 0, S
    for s in range(S):
        location = locations[natural(t), s]
        if location > NOWHERE:
            prefetch_two(tables.table, tables.unknown, location)
            ring[k, natural(n_rows)] = location
            n_rows += 1
        elif location < NOWHERE:
            prefetch(tables.weights.labels, (-2 - location) // SHORT)
            prefetch(tables.weights.values, (-2 - location) // SHORT)
            free -= 1
            ring[k, natural(free)] = location
    ring[k, S], ring[k, S + 1] = n_rows, free


@tight_kernel
def add_locations(base: Floats, ring: Ints, t: int, tables: ScoreTables, Y: int, row: Floats) -> None:
    """row = base + Σ of what stands at the locations of token t, which are sorted: rows, then single weights. What the
    row has beyond Y means nothing afterwards."""
    S, k = ring.shape[1] - 2, natural(t % RING)
    sum_two_tables(base, tables.table, tables.unknown, ring[k], 0, ring[k, S], Y, row)
    for s in range(ring[k, S + 1], S):
        w = (-2 - ring[k, natural(s)]) // SHORT
        for e in range(w, w + (-2 - ring[k, natural(s)]) % SHORT + 1):
            row[natural(tables.weights.labels[natural(e)])] += tables.weights.values[natural(e)]


@tight_kernel
def add_scores(locations: Ints, tables: ScoreTables, Y: int, ring: Ints, out: Floats) -> None:
    """out[t] = Σ of what stands at the locations of token t; padding is 0. ring [RING, S + 2]: work."""
    n = locations.shape[0]
    for t in range(min(PREFETCH_DISTANCE, n)):
        sort_locations(locations, t, tables, ring)
    for t in range(n):
        if t + PREFETCH_DISTANCE < n:
            sort_locations(locations, t + PREFETCH_DISTANCE, tables, ring)
        out[t, :] = 0
        add_locations(out[t], ring, t, tables, Y, out[t])


@tight_kernel
def add_attribute_scores(
    token_pointers: Longs, attributes: Ints, values: Floats, weights: LabelWeights, begin: int, end: int, out: Floats
) -> None:
    """out[p − begin] += Σ_a v_a W[a], for the attributes that the tokens `begin` to `end` − 1 carry themselves."""
    weighted = values.shape[0] > 0
    for p in range(begin, end):
        row = out[p - begin]
        for e in range(token_pointers[p], token_pointers[p + 1]):
            a = attributes[e]
            for w in range(weights.pointers[a], weights.pointers[a + 1]):
                row[weights.labels[w]] += values[e] * weights.values[w] if weighted else weights.values[w]
