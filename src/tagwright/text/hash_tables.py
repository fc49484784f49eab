"""Hash tables: numbers to numbers (`KeyTable`) and strings to numbers (`StringTable`), many at once. Known strings are
found, unknown ones can be numbered as they come.

A Python dictionary asks one string at a time, and every question waits for memory several times (the string, the slot,
the key, the number). Here a kernel makes the keys of all strings of a batch, and asks for the slot of a later one while
it looks at this one.

    slot                         a key from 0 to 2⁶³ − 1 and its number, side by side; open addressing
    where to look first          two parts of a product, so that nearly all bits of a key count
    key of up to seven bytes     the bytes themselves and their number: equal keys are equal strings
    key of a longer string       a hash of it, seven bytes at a time: what it leads to is compared, letter by letter

Nearly all words, affixes and shapes of European languages have at most seven bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from tagwright._jit import tight_kernel
from tagwright._simd import load_bytes, lowest_bit, prefetch
from tagwright.arrays import Bytes, Ints, Longs, Plain
from tagwright.text.strings import Strings, join

EMPTY = -1
FOLD, FOLDED, MULTIPLIER, LOWER, UPPER = 29, 0xFFFFFFFF, 0x45D9F3B, 12, 27
PREFETCH_DISTANCE = 32
"""Keys between asking for a slot and reading it."""


class KeyTable:
    """Known keys; the number of a key is its index."""

    def __init__(self, keys: Longs) -> None:
        self.keys = keys

    @cached_property
    def slots(self) -> Longs:
        """Key and number by turns; made when it is first asked for."""
        slots = slots_for(len(self.keys))
        insert_keys(self.keys, slots)
        return slots

    def find(self, keys: Longs) -> Ints:
        """Numbers of `keys`, −1 for those unknown or negative."""
        found = np.empty(len(keys), np.int32)
        find_keys(keys, self.slots, found)
        return found


def slots_for(n: int) -> Longs:
    """Empty slots for n keys."""
    return np.full(n_slots(n), EMPTY, np.int64)


def n_slots(n: int) -> int:
    """Numbers in the slots for n keys, a power of two: a quarter to a half of them will be taken."""
    size = 8
    while size <= 4 * n:
        size *= 2
    return size


count_slots = tight_kernel(n_slots)
"""The same for kernels."""


@tight_kernel
def first_slot(key: int, n: int) -> int:
    """Where to look for a key first, of n numbers: two for each slot."""
    h = ((key ^ (key >> FOLD)) & FOLDED) * MULTIPLIER
    return int(((h >> LOWER) ^ (h >> UPPER)) & (n - 1) & ~1)


@tight_kernel
def insert_keys(keys: Longs, slots: Longs) -> None:
    """All but the negative ones."""
    for n in range(keys.shape[0]):
        if keys[n] >= 0:
            slot = first_slot(keys[n], slots.shape[0])
            while slots[slot] != EMPTY:
                slot = (slot + 2) & (slots.shape[0] - 1)
            slots[slot], slots[slot + 1] = keys[n], n


@tight_kernel
def find_keys(keys: Longs, slots: Longs, found: Ints) -> None:
    n = slots.shape[0]
    for k in range(keys.shape[0]):
        if k + PREFETCH_DISTANCE < keys.shape[0]:
            prefetch(slots, first_slot(keys[k + PREFETCH_DISTANCE], n))
        slot = first_slot(keys[k], n)
        while slots[slot] != keys[k] and slots[slot] != EMPTY:  # nearly never
            slot = (slot + 2) & (n - 1)
        found[k] = slots[slot + 1] if keys[k] >= 0 else -1


UNKNOWN = -1
SHORT = 7
"""Bytes of the longest string that is its own key."""
SIZE_SHIFT = 56
ONES, HIGHEST_BITS = 0x01010101010101, 0x80808080808080
LONG = 1 << 60
"""A bit of the keys of longer strings."""
HASH_BITS, HASH_MULTIPLIER = 0x7FFFFFFF, 0x5BD1E995
SOME = 1 << 10
"""Distinct strings for which there is room at first."""


class StringTable(NamedTuple):
    """Distinct strings; the number of a string is its index."""

    strings: Strings
    slots: Longs

    @classmethod
    def build(cls, strings: Strings) -> StringTable:
        """Of distinct strings."""
        slots = slots_for(strings.n)
        if strings.n:  # an empty one is made on import: no kernel for that
            insert_strings(strings, np.arange(strings.n), strings.n, slots)
        return cls(strings, slots)


class StringTables(NamedTuple):
    """Several tables in the same arrays: table k has the strings from firsts[k] on and the slots from begins[k] to
    begins[k + 1]."""

    strings: Strings
    slots: Longs
    firsts: Longs  # [K + 1]
    begins: Longs  # [K + 1]
    empty: Longs  # [K]: the number of the empty string in every table, UNKNOWN where it is not there

    @classmethod
    def build(cls, tables: Sequence[StringTable]) -> StringTables:
        parts = [table.strings for table in tables]
        sizes = [part.n for part in parts], [len(table.slots) for table in tables]
        firsts, begins = (np.cumsum([0, *own]) for own in sizes)
        strings = join([NO_STRINGS, *parts])
        empty = [np.append(np.flatnonzero(part.begins == part.ends), UNKNOWN)[0] for part in parts]
        slots = np.concatenate([NO_SLOTS, *(table.slots for table in tables)])
        return cls(strings, slots, firsts, begins, np.array(empty, np.int64))

    @property
    def plain(self) -> Plain:
        return tuple(self.strings), *self[1:]

    def find(self, c: int, strings: Strings) -> tuple[Ints, Longs]:
        """The number of every string in table c, UNKNOWN where it is not there; and which are not."""
        found, unknown = np.empty(strings.n, np.int32), np.empty(strings.n, np.int64)
        n_unknown = look_up(tuple(strings), self.plain, c, unknown, found)
        return found, unknown[:n_unknown]


NO_SLOTS: Longs = np.empty(0, np.int64)
NO_STRINGS = Strings.of([], 0)


@tight_kernel
def string_key(letters: Bytes, begin: int, end: int) -> int:
    """The key of a string; EMPTY where it is absent."""
    n = end - begin
    if n < 0:
        return EMPTY
    if n <= SHORT:
        return int(load_bytes(letters, begin, n) | (n << SIZE_SHIFT))
    h = 0
    for p in range(begin, end, SHORT):
        h = mix(h, load_bytes(letters, p, min(SHORT, end - p)))
    return long_key(h, n)


@tight_kernel
def mix(h: int, word: int) -> int:
    """The hash of some bytes and seven more."""
    word ^= h
    return int(((word ^ (word >> 31)) & HASH_BITS) * HASH_MULTIPLIER)


@tight_kernel
def long_key(h: int, n: int) -> int:
    """The key of a longer string, n bytes, of which h is the hash."""
    return int(LONG | ((h ^ (h >> 31) ^ n) & HASH_BITS))


@tight_kernel
def next_string(letters: Bytes, begin: int) -> tuple[int, int]:
    """The key of the string from `begin` to the next separator, and its end. As string_key, with each byte read once:
    which of seven are zero shows in the highest bit of each byte (the lowest such bit is right, others need not be)."""
    word = load_bytes(letters, begin, SHORT)
    zeros = (word - ONES) & ~word & HIGHEST_BITS
    if zeros != 0:
        n = lowest_bit(zeros) >> 3
        return (word & ((1 << (n << 3)) - 1)) | (n << SIZE_SHIFT), begin + n
    first, p, h = word, begin, 0
    while zeros == 0:
        h = mix(h, word)
        p += SHORT
        word = load_bytes(letters, p, SHORT)
        zeros = (word - ONES) & ~word & HIGHEST_BITS
    n = lowest_bit(zeros) >> 3
    if p + n - begin == SHORT:
        return first | (SHORT << SIZE_SHIFT), p + n
    if n > 0:
        h = mix(h, word & ((1 << (n << 3)) - 1))
    return long_key(h, p + n - begin), p + n


@tight_kernel
def same_letters(a: Bytes, i: int, b: Bytes, j: int, n: int) -> bool:
    """Whether n bytes from a[i] and b[j] on are the same."""
    for p in range(0, n, SHORT):
        size = min(SHORT, n - p)
        if load_bytes(a, i + p, size) != load_bytes(b, j + p, size):
            return False
    return True


@tight_kernel
def is_string(known: Strings, k: int, key: int, letters: Bytes, begin: int, end: int) -> bool:
    """Whether string k, which has the same key, is this one."""
    if key < LONG:
        return True
    return bool(known.ends[k] - known.begins[k] == end - begin) and same_letters(
        letters, begin, known.letters, known.begins[k], end - begin
    )


@tight_kernel
def find_number(
    key: int, letters: Bytes, begin: int, end: int, slots: Longs, first: int, last: int, known: Strings, base: int
) -> int:
    """The number of a string in the table with slots[first : last], UNKNOWN where it has none; the string with number
    s of that table is known[base + s]."""
    n = last - first
    slot = first_slot(key, n)
    while slots[first + slot] != EMPTY:
        number = slots[first + slot + 1]
        if slots[first + slot] == key and is_string(known, base + number, key, letters, begin, end):
            return int(number)
        slot = (slot + 2) & (n - 1)
    return UNKNOWN


@tight_kernel
def find_strings(strings: Strings, tables: Plain, c: int, first: int, unknown: Longs, found: Ints) -> int:
    """The number of every string in table c of StringTables, counted from `first`, into found [n]; UNKNOWN where it is
    not there. unknown [n]: keys first, then from the front the strings that are not there; returns how many they
    are."""
    known, slots, base, lo, hi = Strings(*tables[0]), tables[1], tables[2][c], tables[3][c], tables[3][c + 1]
    n, n_unknown = strings.begins.shape[0], 0
    for k in range(n):
        unknown[k] = string_key(strings.letters, strings.begins[k], strings.ends[k])
    for k in range(n):
        if k + PREFETCH_DISTANCE < n:
            prefetch(slots, lo + first_slot(unknown[k + PREFETCH_DISTANCE], hi - lo))
        begin, end = strings.begins[k], strings.ends[k]
        number = find_number(unknown[k], strings.letters, begin, end, slots, lo, hi, known, base)
        found[k] = number + first if number != UNKNOWN else UNKNOWN
        if number == UNKNOWN:
            unknown[n_unknown] = k
            n_unknown += 1
    return n_unknown


@tight_kernel
def look_up(given: Plain, tables: Plain, c: int, unknown: Longs, found: Ints) -> int:
    """find_strings, called from Python."""
    return find_strings(Strings(*given), tables, c, 0, unknown, found)


def number_strings(strings: Strings) -> tuple[Ints, Longs]:
    """Number strings in the order of their first appearance: the number of every string (UNKNOWN for an absent one),
    and where each distinct one appears first. Parts of a text that are numbered one after the other, and their distinct
    strings in that order again, get the same numbers as the whole."""
    found, first = np.empty(strings.n, np.int32), np.empty(strings.n, np.int64)
    slots = slots_for(min(strings.n, SOME))
    k, n = number_next(tuple(strings), 0, 0, slots, found, first)
    while k < strings.n:  # the table is full enough
        slots = slots_for(2 * n)
        insert_strings(strings, first, n, slots)
        k, n = number_next(tuple(strings), k, n, slots, found, first)
    return found, first[:n].copy()


@tight_kernel
def number_some(strings: Strings, which: Longs, first_number: int, slots: Longs, first: Longs, found: Ints) -> int:
    """Number some of the strings, those that no table has, in the order of their first appearance, counted from
    first_number, into `found` [n]; where each distinct one appears first into `first`. Returns how many distinct ones
    there are. slots: work."""
    n = 0
    for k in range(slots.shape[0]):
        slots[k] = EMPTY
    for m in range(which.shape[0]):
        number = number_string(strings, which[m], n, slots, first)
        n = max(n, number + 1)
        found[which[m]] = first_number + number
    return n


@tight_kernel
def number_string(strings: Strings, k: int, n: int, slots: Longs, first: Longs) -> int:
    """The number of string k among the n distinct ones that slots know, or n where it is new and is put there; UNKNOWN
    for an absent one. first [n]: where the distinct ones appear first."""
    begin, end, size = strings.begins[k], strings.ends[k], slots.shape[0]
    key = string_key(strings.letters, begin, end)
    if key == EMPTY:
        return UNKNOWN
    slot = first_slot(key, size)
    while slots[slot] != EMPTY:
        if slots[slot] == key and is_string(strings, first[slots[slot + 1]], key, strings.letters, begin, end):
            return int(slots[slot + 1])
        slot = (slot + 2) & (size - 1)
    slots[slot], slots[slot + 1] = key, n
    first[n] = k
    return n


@tight_kernel
def insert_strings(strings: Strings, which: Longs, n: int, slots: Longs) -> None:
    """Put the distinct strings which[0], which[1] ... which[n − 1] into empty slots, numbered from 0."""
    for number in range(n):
        k = which[number]
        key = string_key(strings.letters, strings.begins[k], strings.ends[k])
        slot = first_slot(key, slots.shape[0])
        while slots[slot] != EMPTY:
            slot = (slot + 2) & (slots.shape[0] - 1)
        slots[slot], slots[slot + 1] = key, number


@tight_kernel
def number_next(given: Plain, start: int, n: int, slots: Longs, found: Ints, first: Longs) -> tuple[int, int]:
    """Number the strings from `start` on, n distinct ones being known, until half of the slots are taken; returns where
    that was and how many distinct ones there are. first [n]: where they appear."""
    strings, size = Strings(*given), slots.shape[0]
    for k in range(start, strings.begins.shape[0]):
        if 4 * n >= size:
            return k, n
        found[k] = number_string(strings, k, n, slots, first)
        n = max(n, found[k] + 1)
    return strings.begins.shape[0], n
