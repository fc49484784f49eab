"""The way back: gradients with respect to emission rows ─► gradients with respect to weights.

The transpose of scores/linear.py, for one training Batch. Every sum is made by one owner in a fixed order, so any
number of threads gives the same bits:

    per block of tokens   G[r] += Σ_{tokens p of the block that use table row r} dE[p]          an owner per row r
                          dW[w] += Σ_{tokens p that carry attribute a} v · dE[p, y]             an owner per attribute a
                          (or have it in a slot where its weights stand for a row)
    at the end            dW[w] += Σ_{table rows r that have attribute a} G[r, y]               an owner per attribute a

Blocks keep dE small enough to stay in the cache between its making and its use.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tagwright._jit import natural, tight_kernel
from tagwright._simd import fetch_and_add, prefetch
from tagwright.arrays import Bools, Doubles, Floats, Ints, Longs, Stage, Workers, cut_evenly, zero_rows
from tagwright.encode.batch import Batch
from tagwright.scores.linear import PIECES, PREFETCH_DISTANCE, LinearMap
from tagwright.scores.pattern import Pattern
from tagwright.scores.row_index import NOWHERE, SHORT

ENTRIES_A_PIECE = 1 << 14
"""Less is not worth a thread's while."""


class Lists(NamedTuple):
    """Lists of numbers for some keys: key keys[k] owns entries[pointers[k] : pointers[k + 1]]."""

    keys: Ints
    pointers: Ints
    entries: Ints
    cuts: Longs  # [C, 2]: first key of each piece of work, and the one after its last

    @classmethod
    def collect(cls, owner: Longs, counts: Longs) -> Lists:
        """For every owner that occurs, ascending, the entries where it does. An owner of −1 is nobody.

        `counts`: a zero for every owner that there may be; they are zeros again afterwards. Few of millions of owners
        occur in a block, and only those are touched.
        """
        keys = np.empty(len(owner), np.int64)
        keys = np.sort(keys[: count_owners(owner, counts, keys)])
        sizes = counts[keys]
        pointers = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        entries = np.empty(int(pointers[-1]), np.int32)
        counts[keys] = pointers[:-1]
        sort_by_owner(owner, counts, entries)
        counts[keys] = 0
        pieces = min(PIECES, 1 + len(entries) // ENTRIES_A_PIECE)
        cuts = np.array(cut_evenly(sizes + 1, pieces), np.int64).reshape(-1, 2)
        return cls(keys.astype(np.int32), pointers.astype(np.int32), entries, cuts)

    @classmethod
    def join(cls, parts: Sequence[Lists]) -> Lists:
        """Those of parts that have no key in common."""
        n_keys = np.cumsum([0, *(len(part.keys) for part in parts)])
        n_entries = np.cumsum([0, *(len(part.entries) for part in parts)]).astype(np.int32)
        return cls(
            np.concatenate([NO_KEYS, *(part.keys for part in parts)]),
            np.concatenate([*(part.pointers[:-1] + n for part, n in zip(parts, n_entries)), n_entries[-1:]]),
            np.concatenate([NO_KEYS, *(part.entries for part in parts)]),
            np.concatenate([np.empty((0, 2), np.int64), *(part.cuts + n for part, n in zip(parts, n_keys))]),
        )


@tight_kernel
def count_owners(owner: Longs, counts: Longs, keys: Longs) -> int:
    """counts[k] += how often owner k occurs; keys [≥ n]: those that do, in order of appearance. Returns how many."""
    n = 0
    for e in range(owner.shape[0]):
        k = owner[e]
        if k >= 0:
            if counts[k] == 0:
                keys[n] = k
                n += 1
            counts[k] += 1
    return n


@tight_kernel
def sort_by_owner(owner: Longs, free: Longs, entries: Ints) -> None:
    """Counting sort: put each entry into its owner's run; free[k] is the next free entry of owner k."""
    for e in range(owner.shape[0]):
        k = owner[e]
        if k >= 0:
            entries[free[k]] = e
            free[k] += 1


@tight_kernel
def list_attributes(codes: Ints, slot_terms: Longs, slot_bases: Longs, attributes: Longs) -> None:
    """attributes[f · K + k]: the attribute that form f has for the k-th (slot, term) pair, −1 if none."""
    K = slot_terms.shape[0]
    for f in range(codes.shape[0]):
        for k in range(K):
            code = codes[f, slot_terms[k]]
            attributes[f * K + k] = slot_bases[k] + code if code >= 0 else -1


# What is natural below: keys and entries are counted by Lists.collect from owners that are not negative, weights and
# labels come from a Pattern.


@tight_kernel
def sum_tokens(lists: Lists, piece: int, fresh: Bools, gradient: Floats, out: Floats) -> None:
    """out[r] += Σ gradient rows of the tokens that read row r, for one piece of the lists. `fresh`: which keys begin a
    new sum."""
    keys, pointers, tokens = lists.keys, lists.pointers, lists.entries
    for k in range(lists.cuts[piece, 0], lists.cuts[piece, 1]):
        target = out[natural(keys[natural(k)])]
        if fresh[natural(k)]:
            target[:] = 0
        begin, end = pointers[natural(k)], pointers[natural(k + 1)]
        even = begin + (end - begin) // 2 * 2
        for e in range(begin, even, 2):
            if e + 2 * PREFETCH_DISTANCE + 1 < tokens.shape[0]:
                prefetch(gradient, tokens[natural(e + 2 * PREFETCH_DISTANCE)])
                prefetch(gradient, tokens[natural(e + 2 * PREFETCH_DISTANCE + 1)])
            a, b = gradient[natural(tokens[natural(e)])], gradient[natural(tokens[natural(e + 1)])]
            for j in range(target.shape[0]):
                target[j] += a[j] + b[j]
        if even < end:
            a = gradient[natural(tokens[natural(even)])]
            for j in range(target.shape[0]):
                target[j] += a[j]


@tight_kernel
def sum_entries(lists: Lists, piece: int, values: Floats, pattern: Pattern, gradient: Floats, out: Doubles) -> None:
    """out[w] += Σ v · gradient[r, label(w)] over the rows r that have the attribute of weight w, for one piece of the
    lists."""
    keys, pointers, rows, labels = lists.keys, lists.pointers, lists.entries, pattern.labels
    weighted = values.shape[0] > 0
    for k in range(lists.cuts[piece, 0], lists.cuts[piece, 1]):
        a = keys[natural(k)]
        begin, end = pattern.pointers[natural(a)], pattern.pointers[natural(a + 1)]
        for e in range(pointers[natural(k)], pointers[natural(k + 1)]):
            if e + 2 * PREFETCH_DISTANCE < rows.shape[0]:
                prefetch(gradient, rows[natural(e + 2 * PREFETCH_DISTANCE)])
            row = gradient[natural(rows[natural(e)])]
            for w in range(begin, end):
                number = row[natural(labels[natural(w)])]
                out[natural(w)] += values[natural(e)] * number if weighted else number


@tight_kernel
def sum_pieces(
    taken: Longs, readers: Lists, fresh: Bools, carriers: Lists, values: Floats, pattern: Pattern, gradient: Floats,
    sums: Floats, out: Doubles,
) -> None:  # fmt: skip
    """The pieces of both lists that no other thread has taken, one after the other."""
    n = readers.cuts.shape[0]
    while True:
        k = fetch_and_add(taken)
        if k < n:
            sum_tokens(readers, k, fresh, gradient, sums)
        elif k < n + carriers.cuts.shape[0]:
            sum_entries(carriers, k - n, values, pattern, gradient, out)
        else:
            return


class Adjoint:
    """Carries dE of one Batch back to its weights. `blocks`: runs (first, last) of sentences, one after the other. The
    workers are for what must be prepared."""

    def __init__(
        self, scores: LinearMap, data: Batch, locations: Ints, blocks: list[tuple[int, int]], workers: Workers
    ) -> None:
        self.scores = scores
        self.data = data
        self.sums = zero_rows((scores.index.n_rows, scores.width), scores.dtype)
        tokens = [(int(data.offsets[first]), int(data.offsets[last])) for first, last in blocks]
        parts = [locations[begin:end] for begin, end in tokens]
        self.readers = workers.map(self._list_readers, [(part,) for part in parts])
        pattern = scores.pattern
        attributes = np.repeat(np.arange(len(pattern.pointers) - 1, dtype=np.int32), np.diff(pattern.pointers))
        pieces = [(part, *cut, attributes) for part, cut in zip(parts, tokens)]
        self.carriers = workers.map(self._list_carriers, pieces)
        del attributes, pieces  # of all weights: much memory
        self.owners = Lists.join(workers.map(self._list_owners, [(c,) for c in range(len(scores.index.slots))]))
        self.n_threads = workers.n_jobs
        self.fresh: list[Bools] = []  # of the rows that each block's readers sum: the first block begins a new sum
        seen = np.zeros(len(self.sums), np.bool_)
        for readers in self.readers:
            self.fresh.append(~seen[readers.keys])
            seen[readers.keys] = True

    def of_block(self, block: int, gradient: Floats, out: Doubles, after: list[Stage]) -> Stage:
        """Takes in dE [n, P] of one block, when all blocks before it have been taken in; out: dW."""
        return self._stage(self.readers[block], self.fresh[block], *self.carriers[block], gradient, out, after)

    def of_rows(self, out: Doubles, after: list[Stage]) -> Stage:
        """Adds what all blocks have left in rows to dW."""
        return self._stage(NO_LISTS, self.fresh[0][:0], self.owners, NO_VALUES, self.sums, out, after)

    def _stage(
        self, readers: Lists, fresh: Bools, carriers: Lists, values: Floats, gradient: Floats, out: Doubles,
        after: list[Stage],
    ) -> Stage:  # fmt: skip
        given = readers, fresh, carriers, values, self.scores.pattern, gradient, self.sums, out
        return Stage(sum_pieces, [(np.zeros(1, np.int64), *given)] * self.n_threads, after)

    def _list_readers(self, locations: Ints) -> Lists:
        """For every row of the table, the tokens that read it."""
        counts = np.zeros(len(self.sums), np.int64)
        lists = Lists.collect(np.maximum(locations, NOWHERE).ravel().astype(np.int64), counts)
        lists.entries[:] //= max(locations.shape[1], 1)
        return lists

    def _list_carriers(self, locations: Ints, begin: int, end: int, attributes: Ints) -> tuple[Lists, Floats]:
        """For every attribute that the tokens `begin` to `end` − 1 carry, or whose weights stand for a row, those
        tokens, and its values there. attributes: of every weight."""
        data = self.data
        tokens, slots = np.nonzero(locations < NOWHERE)
        first_weights = (-2 - locations[tokens, slots].astype(np.int64)) // SHORT
        alone = attributes[first_weights].astype(np.int64)
        carried = slice(int(data.pointers[begin]), int(data.pointers[end]))
        carriers = np.repeat(np.arange(end - begin, dtype=np.int64), np.diff(data.pointers[begin : end + 1]))
        counts = np.zeros(self.scores.encoder.n_attributes, np.int64)
        lists = Lists.collect(np.concatenate([alone, data.attributes[carried]]), counts)
        values = NO_VALUES
        if len(data.values):
            values = np.concatenate([np.ones(len(alone), data.values.dtype), data.values[carried]])[lists.entries]
        lists.entries[:] = np.concatenate([tokens, carriers])[lists.entries]
        return lists, values

    def _list_owners(self, c: int) -> Lists:
        """For every attribute of source c, the rows of the table that have it."""
        slots, source = self.scores.index.slots[c], self.scores.encoder.sources[c]
        K = max(len(slots.terms), 1)
        attributes = np.empty(source.n_known * len(slots.terms), np.int64)
        list_attributes(source.codes, slots.terms, slots.bases, attributes)
        slot_of = np.repeat(np.arange(slots.n_slots, dtype=np.int64), np.diff(slots.pointers))
        pairs = np.arange(len(attributes))
        rows = self.scores.index.of_forms(c)[pairs // K * slots.n_slots + slot_of[pairs % K]]
        attributes[rows < 0] = -1
        lists = Lists.collect(attributes, np.zeros(self.scores.encoder.n_attributes, np.int64))
        lists.entries[:] = rows[lists.entries]
        return lists


NO_VALUES: Doubles = np.empty(0)
NO_KEYS: Ints = np.empty(0, np.int32)
NO_LISTS = Lists(NO_KEYS, np.zeros(1, np.int32), NO_KEYS, np.empty((0, 2), np.int64))
