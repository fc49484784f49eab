"""The attributes of a model with their weights, found by their letters: how the Tagger gets scores from text.

    "w=the\\0cap\\1w=end\\1"  ─► a key for every name ─► its slot in a hash table ─► its record ─► rows of scores [T, P]

    record   letters and labels, 2³² · how many | the letters of a longer name, up to whole words | weights
    weights  label, weight | label, weight ...; or, of many labels, a row with a weight for every one

What belongs to an attribute lies in one place, so that memory is waited for twice a name, and that in advance: names
are taken in blocks, and all slots of a block are asked for before the first is read, then all records. A name of up to
six bytes is its own key, as in text/hash_tables.py; the letters of a longer one are compared.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tagwright._jit import tight_kernel
from tagwright._simd import BYTES, load_bytes, lowest_bit, prefetch, sum_rows
from tagwright.arrays import Bytes, Doubles, Floats, Ints, Longs, Plain, zero_rows
from tagwright.scores.pattern import LabelWeights
from tagwright.text.hash_tables import (
    EMPTY,
    HASH_BITS,
    HASH_MULTIPLIER,
    LONG,
    SHORT,
    SIZE_SHIFT,
    first_slot,
    same_letters,
    slots_for,
)
from tagwright.text.strings import PADDING, Strings

NAME_END, ITEM_END = 0, 1
"""Bytes that end a name; the second one ends the item, too."""
ONE_ONLY, BOTH = 1, 2
"""Which bytes end names: NAME_END, or ITEM_END too."""
BLOCK = 256
"""Names that are looked for together."""
WORK = 5 * BLOCK + 1
"""Numbers of work: of each name its key, then its record, begin, end, item, and which it is; and where a row begins."""
WORD, WORDS_OF_LINE = 8, 8
LANES = BYTES // WORD
COUNT = 32
"""Where the number of labels stands in the head of a record."""
SHARE = 4
"""Attributes with weights for this part of the labels, or more, have a row."""
ONES, HIGHEST = 0x01010101010101, 0x80808080808080
"""Of each of seven bytes."""
UNKNOWN, OTHER_TEXT = -1, -1


class AttributeWeights(NamedTuple):
    """Records as whole numbers, and the same memory as numbers and as letters."""

    n_labels: int
    slots: Longs  # key and record by turns
    records: Longs
    weights: Doubles
    letters: Bytes
    firsts: Longs  # [A]: the record of every attribute

    @classmethod
    def build(cls, names: Strings, weights: LabelWeights, n_labels: int) -> AttributeWeights:
        """Of distinct names without NUL."""
        compact = names.compact()
        counts = np.diff(weights.pointers)
        sizes = compact.ends - compact.begins
        own = np.where(counts * SHARE >= n_labels, row_size(n_labels), 2 * counts)
        lengths = 1 + np.where(sizes >= SHORT, -(-sizes // WORD), 0) + own
        firsts = np.empty(names.n, np.int64)
        n_words = place_records(lengths, firsts) if names.n else 0
        records = zero_rows((n_words + WORDS_OF_LINE,), np.int64)  # read in vectors
        found = cls(n_labels, slots_for(names.n), records, records.view(np.float64), records.view(np.uint8), firsts)
        if names.n:
            fill_records(tuple(compact), tuple(weights), tuple(found))
        return found


def row_size(n_labels: int) -> int:
    """The length of a row: whole vectors."""
    return -(-n_labels // LANES) * LANES


@tight_kernel
def place_records(lengths: Longs, firsts: Longs) -> int:
    """Where records of these lengths begin, none of them in more lines than it needs; and where the last one ends."""
    at = 0
    for a in range(lengths.shape[0]):
        left = -at % WORDS_OF_LINE
        at += left if lengths[a] > left else 0
        firsts[a] = at
        at += lengths[a]
    return at


@tight_kernel
def first_weight(at: int, head: int) -> int:
    """Where the weights of the record at `at` begin."""
    size = head & ((1 << COUNT) - 1)
    return at + 1 + ((size + WORD - 1) // WORD if size >= SHORT else 0)


@tight_kernel
def has_row(head: int, n_labels: int) -> bool:
    """Whether the record with this head has a weight for every label."""
    return (head >> COUNT) * SHARE >= n_labels


@tight_kernel
def fill_records(names: Plain, of_labels: Plain, plain: Plain) -> None:
    strings, given, found = Strings(*names), LabelWeights(*of_labels), AttributeWeights(*plain)
    slots = found.slots
    for a in range(found.firsts.shape[0]):
        at, begin, end = found.firsts[a], strings.begins[a], strings.ends[a]
        first, last = given.pointers[a], given.pointers[a + 1]
        head = (end - begin) | ((last - first) << COUNT)
        found.records[at] = head
        for p in range(begin, end if end - begin >= SHORT else begin):
            found.letters[WORD * (at + 1) + p - begin] = strings.letters[p]
        begin_of_weights = first_weight(at, head)
        for k in range(first, last):
            if has_row(head, found.n_labels):
                found.weights[begin_of_weights + given.labels[k]] = given.values[k]
            else:
                found.records[begin_of_weights + 2 * (k - first)] = given.labels[k]
                found.weights[begin_of_weights + 2 * (k - first) + 1] = given.values[k]
        key, _ = read_name(strings.letters, begin, ONE_ONLY)
        slot = first_slot(key, slots.shape[0])
        while slots[slot] != EMPTY:
            slot = (slot + 2) & (slots.shape[0] - 1)
        slots[slot], slots[slot + 1] = key, at


# ---- names ----


@tight_kernel
def find_end(word: int, separators: int) -> int:
    """Bits that are not 0 where one of seven bytes is smaller than `separators`; the lowest belongs to the first of
    these."""
    return (word - ONES * separators) & ~word & HIGHEST


@tight_kernel
def mix(word: int, h: int) -> int:
    """The hash of one more piece of a name."""
    h ^= word
    return ((h ^ (h >> 31)) & HASH_BITS) * HASH_MULTIPLIER


@tight_kernel
def read_name(letters: Bytes, p: int, separators: int) -> tuple[int, int]:
    """The key of the name that begins at p, and where it ends."""
    word = load_bytes(letters, p, SHORT)
    bits = find_end(word, separators)
    h, is_long = 0, bits == 0
    while bits == 0:
        h = mix(word, h)
        p += SHORT
        word = load_bytes(letters, p, SHORT)
        bits = find_end(word, separators)
    n = lowest_bit(bits) >> 3
    key = (word & ((1 << (8 * n)) - 1)) | (n << SIZE_SHIFT)
    if is_long:
        h = mix(key, h)
        key = LONG | ((h ^ (h >> 31)) & HASH_BITS)
    return key, p + n


@tight_kernel
def is_record(model: AttributeWeights, at: int, letters: Bytes, begin: int, end: int) -> bool:
    """Whether the record, which has the same key, has this name."""
    size = model.records[at] & ((1 << COUNT) - 1)
    if size < SHORT:
        return True
    first = WORD * (at + 1)
    if size != end - begin or load_bytes(letters, end - SHORT, SHORT) != load_bytes(
        model.letters, first + size - SHORT, SHORT
    ):
        return False
    return same_letters(letters, begin, model.letters, first, size - SHORT)


@tight_kernel
def first_with_key(key: int, slots: Longs) -> int:
    """The first record with this key, UNKNOWN where there is none: an empty slot has that."""
    slot = first_slot(key, slots.shape[0])
    while slots[slot] != key and slots[slot] != EMPTY:
        slot = (slot + 2) & (slots.shape[0] - 1)
    return int(slots[slot + 1])


@tight_kernel
def find_record(letters: Bytes, begin: int, end: int, separators: int, model: AttributeWeights) -> int:
    """The record with this name among those with its key, UNKNOWN where there is none."""
    key, _ = read_name(letters, begin, separators)
    slots = model.slots
    slot = first_slot(key, slots.shape[0])
    while slots[slot] != EMPTY:
        if slots[slot] == key and is_record(model, slots[slot + 1], letters, begin, end):
            return int(slots[slot + 1])
        slot = (slot + 2) & (slots.shape[0] - 1)
    return UNKNOWN


# ---- scores ----


@tight_kernel
def add_record(model: AttributeWeights, at: int, value: float, row: Doubles, work: Longs) -> None:
    """row[y] += value · weight, for all labels that the attribute has weights for. work [1]."""
    head = model.records[at]
    first = first_weight(at, head)
    if not has_row(head, model.n_labels):
        for k in range(first, first + 2 * (head >> COUNT), 2):
            row[model.records[k]] += value * model.weights[k + 1]
    elif value == 1:
        work[0] = first
        sum_rows(row, model.weights, work, 0, 1, 1, model.n_labels, row)
    else:
        for y in range(model.n_labels):
            row[y] += value * model.weights[first + y]


@tight_kernel
def add_names(
    first: int, n: int, letters: Bytes, separators: int, values: Doubles, model: AttributeWeights, work: Longs,
    rows: Doubles,
) -> None:  # fmt: skip
    """The scores of the n names from `first` on, whose keys are in `work`, to the rows of their items."""
    m = 0
    for k in range(n):  # keys make way for records, unknown names for known ones
        at = first_with_key(work[k], model.slots)
        prefetch(model.records, max(at, 0))
        work[m], work[4 * BLOCK + m] = at, k
        m += at != UNKNOWN
    for j in range(m):
        at, k = work[j], work[4 * BLOCK + j]
        begin, end = work[BLOCK + k], work[2 * BLOCK + k]
        if not is_record(model, at, letters, begin, end):  # another name with the same key
            at = find_record(letters, begin, end, separators, model)
        if at != UNKNOWN:
            value = values[first + k] if values.shape[0] > 0 else 1.0
            add_record(model, at, value, rows[work[3 * BLOCK + k]], work[5 * BLOCK :])


@tight_kernel
def add_scores(
    letters: Bytes, separators: int, n: int, pointers: Longs, values: Doubles, model: AttributeWeights, work: Longs,
    rows: Doubles,
) -> int:  # fmt: skip
    """Add the scores of n names to the rows [T, P] of their items; OTHER_TEXT where there are not n names, or not T
    items. separators: ONE_ONLY, and item t has the names pointers[t] to pointers[t + 1] − 1, or BOTH, and pointers [0].
    values: what weights are multiplied by [n]; or [0], which are 1. work [WORK]."""
    T, size, p, t, done = rows.shape[0], letters.shape[0] - PADDING, 0, 0, 0
    while p < size:
        m = 0
        while m < BLOCK and p < size:
            while pointers.shape[0] > 0 and t < T and done + m >= pointers[t + 1]:
                t += 1
            if t >= T:
                return OTHER_TEXT
            key, end = read_name(letters, p, separators)
            prefetch(model.slots, first_slot(key, model.slots.shape[0]))
            work[m], work[BLOCK + m], work[2 * BLOCK + m], work[3 * BLOCK + m] = key, p, end, t
            t += separators == BOTH and letters[end] == ITEM_END
            p = end + 1
            m += 1
        if done + m > n:
            return OTHER_TEXT
        add_names(done, m, letters, separators, values, model, work, rows)
        done += m
    return done if done == n and (separators == ONE_ONLY or t == T) else OTHER_TEXT


@tight_kernel
def add_attributes(
    pointers: Longs, attributes: Ints, values: Floats, model: AttributeWeights, work: Longs, rows: Doubles
) -> None:
    """The same for attributes by number: item t has those from pointers[t] on. values [0]: all are 1."""
    n = attributes.shape[0]
    for e in range(min(BLOCK, n)):
        prefetch(model.records, model.firsts[attributes[e]])
    for t in range(rows.shape[0]):
        for e in range(pointers[t], pointers[t + 1]):
            if e + BLOCK < n:
                prefetch(model.records, model.firsts[attributes[e + BLOCK]])
            value = values[e] if values.shape[0] > 0 else 1.0
            add_record(model, model.firsts[attributes[e]], value, rows[t], work)
