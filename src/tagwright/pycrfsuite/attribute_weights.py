"""The attributes of a model with their weights, found by their letters: how the Tagger gets scores from text.

    "w=the\\0cap\\1w=end\\0"  ─► a key for every name ─► its slot in a hash table ─► its record ─► rows of scores [T, P]

    record   letters and weights, 2³² · how many | the letters of a longer name, up to whole words | label, weight | ...

What belongs to an attribute lies in one place, so that memory is waited for twice a name, and that in advance: names
are taken in blocks, and all slots of a block are asked for before the first is read, then all records. A name of up to
six bytes is its own key, as in text/hash_tables.py; the letters of a longer one are compared.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tagwright._jit import tight_kernel
from tagwright._simd import load_bytes, lowest_bit, prefetch
from tagwright.arrays import Bytes, Doubles, Longs, Plain
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
BLOCK = 256
"""Names whose slots are asked for together."""
WORD = 8
COUNT = 32
"""Where the number of weights stands in the head of a record."""
ONES, HIGHEST = 0x01010101010101, 0x80808080808080
"""Of each of seven bytes."""
UNKNOWN, OTHER_TEXT = -1, -1
ONE_ONLY, BOTH = 1, 2
"""Which bytes end names: NAME_END, or ITEM_END too."""


class AttributeWeights(NamedTuple):
    """Records as whole numbers, and the same memory as numbers and as letters; slots: key and record by turns."""

    slots: Longs
    records: Longs
    weights: Doubles
    letters: Bytes

    @classmethod
    def build(cls, names: Strings, weights: LabelWeights) -> AttributeWeights:
        """Of distinct names without NUL."""
        compact = names.compact()
        counts = np.diff(weights.pointers)
        sizes = compact.ends - compact.begins
        words = np.where(sizes >= SHORT, -(-sizes // WORD), 0)
        ends = np.cumsum(1 + words + 2 * counts)
        records = np.zeros(int(ends[-1]) + 1 if len(ends) else 1, np.int64)
        found = cls(slots_for(names.n), records, records.view(np.float64), records.view(np.uint8))
        if names.n:
            begins = ends - (1 + words + 2 * counts)
            fill_records(tuple(compact), tuple(weights), begins, words, tuple(found))
        return found


@tight_kernel
def fill_records(names: Plain, of_labels: Plain, begins: Longs, words: Longs, plain: Plain) -> None:
    strings, given, found = Strings(*names), LabelWeights(*of_labels), AttributeWeights(*plain)
    slots = found.slots
    for a in range(begins.shape[0]):
        at, begin, end = begins[a], strings.begins[a], strings.ends[a]
        first, last = given.pointers[a], given.pointers[a + 1]
        found.records[at] = (end - begin) | ((last - first) << COUNT)
        for p in range(begin, end if words[a] > 0 else begin):
            found.letters[WORD * (at + 1) + p - begin] = strings.letters[p]
        at += 1 + words[a]
        for k in range(first, last):
            found.records[at] = given.labels[k]
            found.weights[at + 1] = given.values[k]
            at += 2
        key, _ = read_name(strings.letters, begin, ONE_ONLY)
        slot = first_slot(key, slots.shape[0])
        while slots[slot] != EMPTY:
            slot = (slot + 2) & (slots.shape[0] - 1)
        slots[slot], slots[slot + 1] = key, begins[a]


@tight_kernel
def find_end(word: int, separators: int) -> int:
    """Bits that are not 0 where one of seven bytes is smaller than `separators`; the lowest belongs to the first of
    these."""
    return (word - ONES * separators) & ~word & HIGHEST


@tight_kernel
def mix(word: int, h: int) -> int:
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
def find_record(key: int, letters: Bytes, begin: int, end: int, model: AttributeWeights) -> int:
    """Where the record of a name begins, UNKNOWN where there is none."""
    slots = model.slots
    slot = first_slot(key, slots.shape[0])
    while slots[slot] != EMPTY:
        if slots[slot] == key:
            at = slots[slot + 1]
            if key < LONG or (
                (model.records[at] & ((1 << COUNT) - 1)) == end - begin
                and same_letters(letters, begin, model.letters, WORD * (at + 1), end - begin)
            ):
                return int(at)
        slot = (slot + 2) & (slots.shape[0] - 1)
    return UNKNOWN


@tight_kernel
def add_record(model: AttributeWeights, at: int, value: float, row: Doubles) -> None:
    """row[y] += value · weight, for all labels that the attribute has weights for."""
    head = model.records[at]
    size = head & ((1 << COUNT) - 1)
    first = at + 1 + ((size + WORD - 1) // WORD if size >= SHORT else 0)
    for k in range(first, first + 2 * (head >> COUNT), 2):
        row[model.records[k]] += value * model.weights[k + 1]


@tight_kernel
def add_scores(
    letters: Bytes, separators: int, n: int, pointers: Longs, values: Doubles, model: AttributeWeights, work: Longs,
    rows: Doubles,
) -> int:  # fmt: skip
    """Add the scores of n names to the rows [T, P] of their items; OTHER_TEXT where there are not n names, or not T
    items. separators: ONE_ONLY, and item t has the names pointers[t] to pointers[t + 1] − 1, or BOTH, and pointers [0].
    values: what weights are multiplied by [n]; or [0], which are 1. work [4 BLOCK]."""
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
        for k in range(m):
            work[k] = find_record(work[k], letters, work[BLOCK + k], work[2 * BLOCK + k], model)
            if work[k] != UNKNOWN:
                prefetch(model.records, work[k])
        for k in range(m):
            if work[k] != UNKNOWN:
                value = values[done + k] if values.shape[0] > 0 else 1.0
                add_record(model, work[k], value, rows[work[3 * BLOCK + k]])
        done += m
    return done if done == n and (pointers.shape[0] > 0 or t == T - 1) else OTHER_TEXT
