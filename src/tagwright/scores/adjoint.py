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

from dataclasses import dataclass
from functools import partial
from operator import call

import numpy as np

from tagwright._jit import natural, tight_kernel
from tagwright._simd import prefetch
from tagwright.arrays import Bools, Doubles, Floats, Ints, Longs, Stage, Workers, cut_evenly, zero_rows
from tagwright.encode.batch import Batch
from tagwright.scores.linear import PIECES, PREFETCH_DISTANCE, LinearMap
from tagwright.scores.row_index import NOWHERE, SHORT

ENTRIES_A_PIECE = 1 << 14
"""Less is not worth a thread's while."""


@dataclass(frozen=True, slots=True)
class Lists:
    """Lists of numbers for some keys: key keys[k] owns entries[pointers[k] : pointers[k + 1]]."""

    keys: Ints
    pointers: Ints
    entries: Ints
    cuts: list[tuple[int, int]]

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
        return cls(keys.astype(np.int32), pointers.astype(np.int32), entries, cut_evenly(sizes + 1, pieces))


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
def sum_tokens(
    keys: Ints, pointers: Ints, tokens: Ints, fresh: Bools, gradient: Floats, out: Floats, first: int, last: int
) -> None:
    """out[r] += Σ gradient rows of the tokens that read row r, for the keys `first` to `last` − 1. `fresh`: which of
    them begin a new sum."""
    for k in range(first, last):
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
def sum_entries(
    keys: Ints, pointers: Ints, rows: Ints, values: Floats, pattern_pointers: Longs, labels: Ints, gradient: Floats,
    out: Doubles, first: int, last: int,
) -> None:  # fmt: skip
    """out[w] += Σ v · gradient[r, label(w)] over the rows r that have the attribute of weight w."""
    weighted = values.shape[0] > 0
    for k in range(first, last):
        a = keys[natural(k)]
        begin, end = pattern_pointers[natural(a)], pattern_pointers[natural(a + 1)]
        for e in range(pointers[natural(k)], pointers[natural(k + 1)]):
            if e + 2 * PREFETCH_DISTANCE < rows.shape[0]:
                prefetch(gradient, rows[natural(e + 2 * PREFETCH_DISTANCE)])
            row = gradient[natural(rows[natural(e)])]
            for w in range(begin, end):
                number = row[natural(labels[natural(w)])]
                out[natural(w)] += values[natural(e)] * number if weighted else number


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
        self.owners = workers.map(self._list_owners, [(c,) for c in range(len(scores.index.slots))])
        self.fresh: list[Bools] = []  # of the rows that each block's readers sum: the first block begins a new sum
        seen = np.zeros(len(self.sums), np.bool_)
        for readers in self.readers:
            self.fresh.append(~seen[readers.keys])
            seen[readers.keys] = True

    def of_block(self, block: int, gradient: Floats, out: Doubles, after: list[Stage]) -> Stage:
        """Takes in dE [n, P] of one block, when all blocks before it have been taken in; out: dW."""
        readers, (carriers, values) = self.readers[block], self.carriers[block]
        of_rows = [partial(self._sum_tokens, readers, self.fresh[block], gradient, *cut) for cut in readers.cuts]
        of_weights = [partial(self._sum_entries, carriers, values, gradient, out, *cut) for cut in carriers.cuts]
        return Stage(call, [(task,) for task in of_rows + of_weights], after)

    def of_rows(self, out: Doubles, after: list[Stage]) -> Stage:
        """Adds what all blocks have left in rows to dW."""
        cuts = [(lists, NO_VALUES, self.sums, out, *cut) for lists in self.owners for cut in lists.cuts]
        return Stage(self._sum_entries, cuts, after)

    def _sum_tokens(self, lists: Lists, fresh: Bools, gradient: Floats, first: int, last: int) -> None:
        sum_tokens(lists.keys, lists.pointers, lists.entries, fresh, gradient, self.sums, first, last)

    def _sum_entries(self, lists: Lists, values: Floats, gradient: Floats, out: Doubles, first: int, last: int) -> None:
        pattern = self.scores.pattern
        sum_entries(
            lists.keys, lists.pointers, lists.entries, values, pattern.pointers, pattern.labels, gradient, out, first,
            last,
        )  # fmt: skip

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
