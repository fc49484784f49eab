"""Tagging with linear scores: locations ─► emission ─► Viterbi, a sentence at a time: rows stay in a near cache.

The results are those of scores/linear.py and then chain/viterbi.py (or chain/candidates.py, where a tag dictionary
gives each token some labels): the same formulas, without the rows of all tokens in between. A token with one candidate
needs no scores.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from tagwright._jit import holding_kernel, tight_kernel
from tagwright._python_lock import HANDOVER_TOKENS, let_others_run, take_back
from tagwright._simd import best_sums
from tagwright.arrays import Bools, Doubles, Floats, Ints, Longs, Plain, Shorts, empty_rows, zero_rows
from tagwright.attributes.lexicon import OPEN, TagDictionary
from tagwright.chain.candidates import FEW
from tagwright.chain.viterbi import Steps, first_best, step
from tagwright.encode.batch import Batch
from tagwright.encode.encoder import EncodingWork, encode_tokens
from tagwright.encode.forms import FOUND, NEW_CHARACTER, as_unknown_words, room_for_unknown
from tagwright.encode.text import Text
from tagwright.scores.linear import (
    PREFETCH_DISTANCE,
    LinearScores,
    ScoreTables,
    UnknownRows,
    add_attribute_scores,
    add_locations,
    add_unknown,
    sort_locations,
    sorting_room,
)
from tagwright.scores.pattern import LabelWeights
from tagwright.scores.row_index import NOWHERE, list_locations
from tagwright.text.characters import CHARACTERS, meet_characters
from tagwright.text.strings import split_letters

CHUNK, LETTERS = 2048, 1 << 16
"""Tokens that are tagged at a time, unless a sentence is longer; letters of a text, for a start."""
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
def tag_chunk(
    forms: Ints, index: Plain, unknown: Plain, offsets: Longs, first: int, last: int, sets: Ints, tables: ScoreTables,
    plain_own: Plain, model: ChainTables, of_work: Plain, found: Ints, scores: Doubles,
) -> None:  # fmt: skip
    """The best labels of the tokens of the sentences `first` to `last` − 1, found [n], and their scores [N]. Given
    their forms, what leads to the locations of forms (scores/row_index.py), the label sets of all tokens [n] (none: it
    is set 0 everywhere), ScoreTables, and OwnAttributes as a plain tuple. In the δ of few labels what stands beside
    them means nothing; in that of many it is −inf."""
    few, chain, own, work = Sets(*model.sets), StepArrays(*model.chain), OwnAttributes(*plain_own), ChunkWork(*of_work)
    locations, ring, row, delta = work.locations, work.ring, work.row, work.delta
    Y, base, n = chain.incoming.shape[0], offsets[first], offsets[last] - offsets[first]
    list_locations(forms, index, unknown, offsets, first, last, locations)
    for t in range(n if sets.shape[0] > 0 else 0):
        if few.single[sets[base + t]]:  # it needs no scores
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
                found[p - 1] = step(delta[t - 1], row[0], chain.transition, chain.bounds, Y, work.survivors, delta[t])
            before = now
        scores[i] = trace_sets(delta, begin, T, sets, few.lists, few.sizes, chain.incoming, chain.stop, found)


@tight_kernel
def end_of_chunk(offsets: Longs, first: int) -> int:
    """The end of some sentences from `first` on that have CHUNK tokens at most; at least one."""
    last = first + 1
    while last + 1 < offsets.shape[0] and offsets[last + 1] - offsets[first] <= CHUNK:
        last += 1
    return last


@holding_kernel
def tag_batch(
    forms: Ints, index: Plain, unknown: Plain, offsets: Longs, sets: Ints, plain_tables: Plain, own: Plain,
    model: Plain, work: Plain, found: Ints, scores: Doubles,
) -> None:  # fmt: skip
    """All sentences of a Batch, given its forms and so on: as tag_chunk, with plain tuples. Some sentences at a time,
    so that their locations stay in a near cache."""
    tables, first = ScoreTables(plain_tables[0], plain_tables[1], LabelWeights(*plain_tables[2])), 0
    lock = let_others_run(found.shape[0] > HANDOVER_TOKENS)
    while first + 1 < offsets.shape[0]:
        last = end_of_chunk(offsets, first)
        tag_chunk(
            forms, index, unknown, offsets, first, last, sets, tables, own, ChainTables(*model), work, found, scores
        )
        first = last
    take_back(lock)


@holding_kernel
def tag_text(
    text: Plain, joined: bool, offsets: Longs, encoder: Plain, characters: Plain, scoring: Plain, model: Plain,
    own: Plain, of_work: Plain, found: Ints, scores: Doubles,
) -> int:  # fmt: skip
    """From the letters of a text to the best labels of its tokens, found [n], and the scores of its sentences [N]; some
    sentences at a time, so that all that is made of them stays in a near cache. One call, which does without Python's
    lock unless the text is short: threads that tag texts wait for each other only while they make strings and lists.

    text: letters, and where strings begin and end [W, n], which is found here where they are joined. Then
    Encoder.plain, CharacterTables, ScoringTables, ChainTables, OwnAttributes (none), TextWork, all plain. Returns
    FOUND, or what is missing: NEW_CHARACTER, NOT_SPLIT."""
    lock = let_others_run(found.shape[0] > HANDOVER_TOKENS)
    done = tag_sentences(text, joined, offsets, encoder, characters, scoring, model, own, of_work, found, scores)
    take_back(lock)
    return int(done)


@tight_kernel
def tag_sentences(
    text: Plain, joined: bool, offsets: Longs, encoder: Plain, characters: Plain, scoring: Plain, model: Plain,
    own: Plain, of_work: Plain, found: Ints, scores: Doubles,
) -> int:  # fmt: skip
    """The whole of tag_text."""
    if joined and split_letters(text[0], text[1][0], text[2][0]) != text[1].shape[1]:
        return NOT_SPLIT
    work, given, chain, first = TextWork(*of_work), ScoringTables(*scoring), ChainTables(*model), 0
    unknown, rows = as_unknown_words(work.unknown), UnknownRows(*work.rows)
    tables = ScoreTables(given.table, rows.table, LabelWeights(*given.weights))
    while first + 1 < offsets.shape[0]:
        last = end_of_chunk(offsets, first)
        p, N = offsets[first], last - first
        for i in range(N + 1):
            work.offsets[i] = offsets[first + i] - p
        within, n = work.offsets[: N + 1], offsets[last] - p
        done = encode_tokens(text, p, within, encoder, characters, unknown, work.encoding, work.forms)
        if done != FOUND:
            return done
        add_unknown(unknown, given.unknown, given.weights, rows)
        n = n if chain.sets_of.shape[0] > 0 else 0
        for t in range(n):
            form = work.forms[chain.source, t]
            work.sets[t] = chain.sets_of[form] if form < chain.sets_of.shape[0] else OPEN
        tag_chunk(
            work.forms, given.locations, (rows.locations, rows.begins), within, 0, N, work.sets[:n], tables, own, chain,
            work.chunk, found[p:], scores[first:],
        )  # fmt: skip
        first = last
    return FOUND


@holding_kernel
def longest_sentence(offsets: Longs) -> int:
    longest = 0
    for i in range(offsets.shape[0] - 1):
        longest = max(longest, offsets[i + 1] - offsets[i])
    return longest


class Sets(NamedTuple):
    """Label sets, made for Viterbi: those of at most FEW labels as lists, the others as masks."""

    lists: Longs  # [R, FEW]: the last label again and again
    sizes: Longs  # [R]: how many of a list to look at, in fours; 0: there are many
    single: Bools  # [R]: whether there is one
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
        looked_at = np.where(large, 0, -(-sizes // FOUR) * FOUR)
        return cls(labels[entries].astype(np.int64), looked_at, sizes == 1, mask_of, masks)


class ChainTables(NamedTuple):
    """The chain, the label sets that there are, and, where there is a tag dictionary, the set of every known form of
    one source."""

    chain: Plain  # StepArrays
    sets: Plain  # Sets
    source: int
    sets_of: Ints  # [F], or [0]


class ScoringTables(NamedTuple):
    """Linear scores, for kernels."""

    locations: Plain  # RowIndex.plain
    table: Floats
    weights: Plain  # LabelWeights
    unknown: Plain  # UnknownScores


class ChunkWork(NamedTuple):
    """Memory for tag_chunk, of n tokens at most."""

    locations: Ints  # [n, S]
    ring: Ints
    row: Floats  # [1, P]
    delta: Floats  # [L, P]
    survivors: Longs  # [Y]

    @classmethod
    def build(cls, scores: LinearScores, n: int) -> ChunkWork:
        n_slots = len(scores.map.index.readers)
        rows = empty_rows((n + 1, scores.width), scores.dtype)
        locations, survivors = np.empty((n, n_slots), np.int32), np.empty(scores.n_labels, np.int64)
        return cls(locations, sorting_room(n_slots), rows[:1], rows[1:], survivors)


class TextWork(NamedTuple):
    """Memory for tag_text, of n tokens at a time."""

    offsets: Longs  # [n + 1]
    forms: Ints  # [C, n]
    sets: Ints  # [n]
    encoding: Plain  # EncodingWork
    unknown: Plain  # UnknownWords
    rows: Plain  # UnknownRows
    chunk: Plain  # ChunkWork

    @classmethod
    def build(cls, scores: LinearScores, n: int, n_letters: int) -> TextWork:
        encoder = scores.encoder
        unknown = room_for_unknown(encoder.columns, n)
        return cls(
            np.empty(n + 1, np.int64),
            np.empty((len(encoder.slots), n), np.int32), np.empty(n, np.int32),
            tuple(EncodingWork.build(encoder, n, n, n, n_letters)), unknown.plain, tuple(UnknownRows.build(scores, n)),
            tuple(ChunkWork.build(scores, n)),
        )  # fmt: skip


class SizedWork(NamedTuple):
    """The memory of one call, and what it is large enough for."""

    n_tokens: int  # of a sentence, at most
    n_letters: int  # of a text
    memory: TextWork


class WorkPool:
    """The memory of all calls that were under way at a time, to be used again: to allocate it for every sentence would
    take as long as to tag one."""

    def __init__(self, scores: LinearScores) -> None:
        self._scores = scores
        self._free: list[SizedWork] = []

    def take(self, n_tokens: int, n_letters: int) -> SizedWork:
        """For sentences of n_tokens tokens and a text of n_letters letters."""
        try:
            found = self._free.pop()
        except IndexError:
            found = None
        if found is not None and found.n_tokens >= n_tokens and found.n_letters >= n_letters:
            return found
        n, size = power_of_two(max(CHUNK, n_tokens)), power_of_two(max(LETTERS, n_letters))
        return SizedWork(n, size, TextWork.build(self._scores, n, size))

    def give_back(self, work: SizedWork) -> None:
        self._free.append(work)


def power_of_two(n: int) -> int:
    """The next one from n on: what grows by a word at a time needs new memory seldom."""
    return 1 << (n - 1).bit_length()


class LinearTagging:
    """Linear scores with the chain that goes on from them, and a tag dictionary, or none."""

    def __init__(self, scores: LinearScores, steps: Steps, dictionary: TagDictionary | None = None) -> None:
        self.scores = scores
        chain = steps.transition, steps.incoming, steps.start, steps.stop, steps.bounds
        pointers, labels = np.array([0, steps.n_labels], np.int64), np.arange(steps.n_labels, dtype=np.uint16)
        source, sets_of = 0, NO_SETS
        if dictionary is not None:
            pointers, labels = dictionary.pointers, dictionary.labels
            source, sets_of = dictionary.source, dictionary.sets_of
        self._model = chain, tuple(Sets.build(pointers, labels, scores.width, scores.dtype)), source, sets_of
        self._pool = WorkPool(scores)

    @cached_property
    def _scoring(self) -> Plain:
        scores = self.scores
        return scores.map.index.plain, scores.table, tuple(scores.weights), scores.for_unknown

    def best(self, batch: Batch, sets: Ints | None = None) -> tuple[Ints, Doubles]:
        """The best labels of all tokens [n]; of every sentence a number [N], −inf where no labelling is possible. sets:
        the set of every token [n]; None: it is the first."""
        found, totals = np.empty(batch.n_tokens, np.int32), np.empty(batch.n_sentences)
        unknown, tables = self.scores.look_at(batch)
        work = self._pool.take(longest_sentence(batch.offsets), 0)
        tag_batch(
            batch.forms, self.scores.map.index.plain, tuple(unknown), batch.offsets, NO_SETS if sets is None else sets,
            (tables.table, tables.unknown, tuple(tables.weights)), (batch.pointers, batch.attributes, batch.values),
            self._model, work.memory.chunk, found, totals,
        )  # fmt: skip
        self._pool.give_back(work)
        return found, totals

    def best_of_text(self, text: Text) -> tuple[Ints, Doubles]:
        """The same of a text, in one kernel. Not of attribute dicts."""
        found, totals = np.empty(int(text.offsets[-1]), np.int32), np.empty(len(text.offsets) - 1)
        (letters, *bounds), joined = text.pieces()
        work = self._pool.take(longest_sentence(text.offsets), len(letters))
        while True:
            done = tag_text(
                (letters, *bounds), joined, text.offsets, self.scores.encoder.plain, CHARACTERS, self._scoring,
                self._model, NO_OWN, tuple(work.memory), found, totals,
            )  # fmt: skip
            if done == FOUND:
                self._pool.give_back(work)
                return found, totals
            if done == NEW_CHARACTER:
                meet_characters(letters)
            else:
                (letters, *bounds), joined = text.pieces(split=True)


NO_SETS: Ints = np.empty(0, np.int32)
NO_OWN = np.zeros(1, np.int64), np.empty(0, np.int32), np.empty(0)
NOT_SPLIT = 3
