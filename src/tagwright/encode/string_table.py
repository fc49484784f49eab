"""Strings to numbers, many at once: a hash table over code points.

A Python dictionary asks one string at a time, and every question waits for memory several times (the string, the slot,
the key, the number). Here a kernel hashes all strings of a batch, and asks for the slot and the key of a later one
while it looks at this one.

    hash(c_1 ... c_n)      h = n;  h = (h · prime XOR Σ_k c_k m_k) mod 2³² for every eight code points, m_k odd
    record                 number, size, code points of a key, one after the other
    slot                   31 bits of the hash and the place of the record, in one number; open addressing
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tagwright._jit import tight_kernel
from tagwright._registers import LANES, differ, fetch_early, mixed
from tagwright.arrays import Ints, Longs
from tagwright.encode.key_table import insert_keys
from tagwright.encode.key_table import slots_for as key_slots
from tagwright.encode.short_strings import NOT_SHORT, short_keys
from tagwright.encode.spelled import Points, Spelled, empty_points

PRIME, MASK = 0x01000193, 0xFFFFFFFF
UNKNOWN = -1
EMPTY = -1
HASH_BITS, PLACE_BITS = 0x7FFFFFFF, 0xFFFFFFFF
HEAD = 2
"""Numbers of a record before its code points."""
AHEAD = 6
"""Strings between asking for a slot and reading it, and again between asking for the record and reading that."""


@dataclass(frozen=True, slots=True)
class StringTable:
    """Distinct strings; a string's number is its place, counted from 0 unless it is told otherwise."""

    records: Points
    slots: Longs  # a power of two of them

    @classmethod
    def build(cls, values: Sequence[str], first: int = 0) -> StringTable:
        strings, numbers = Spelled.build(values), np.arange(first, first + len(values))
        records, slots = empty_records(strings), slots_for(len(values))
        insert_strings(strings.points, strings.begins, strings.ends, numbers, records, slots)
        return cls(records, slots)

    def find(self, strings: Spelled, found: Ints) -> Longs:
        """The number of every string into found [n], UNKNOWN where the table does not have it. Returns which those
        are."""
        work = np.empty(len(found), np.int64)
        n = find_strings(strings.points, strings.begins, strings.ends, self.records, self.slots, work, found)
        return work[:n]


@dataclass(frozen=True, slots=True)
class StringTables:
    """Several tables in the same arrays: those of table k begin at bounds[k] and end at bounds[k + 1]. Strings that are
    short (encode/short_strings.py) have slots of their own."""

    records: Points
    slots: Longs
    shorts: Longs
    bounds: Longs  # [K + 1, 3], of records, slots and shorts

    @classmethod
    def build(cls, tables: Sequence[Sequence[str]]) -> StringTables:
        made: list[tuple[Points, Longs, Longs]] = []
        for values in tables:
            strings, keys = Spelled.build(values), np.empty(len(values), np.int64)
            short_keys(strings.points, strings.begins, strings.ends, keys)
            numbers = np.flatnonzero(keys == NOT_SHORT)
            strings = strings.some(numbers)
            parts = empty_records(strings), slots_for(len(numbers)), key_slots(len(values) - len(numbers))
            insert_strings(strings.points, strings.begins, strings.ends, numbers, *parts[:2])
            insert_keys(keys, parts[2])
            made.append(parts)
        sizes = np.array([[len(part) for part in parts] for parts in made], np.int64).reshape(-1, 3)
        bounds = np.concatenate([np.zeros((1, 3), np.int64), np.cumsum(sizes, axis=0)])
        all_records, all_slots, all_shorts = zip(*made, strict=True)
        return cls(np.concatenate(all_records), np.concatenate(all_slots), np.concatenate(all_shorts), bounds)


def slots_for(n: int) -> Longs:
    """Empty slots for n strings, a power of two of them."""
    return np.full(2 << max(1, n).bit_length(), EMPTY, np.int64)


def empty_records(strings: Spelled) -> Points:
    """For all of them."""
    return empty_points(int((strings.ends - strings.begins).sum()) + HEAD * len(strings.begins))


@tight_kernel
def hash_points(points: Points, begin: int, end: int) -> int:
    h = end - begin
    for p in range(begin, end, LANES):
        h = ((h * PRIME) ^ mixed(points, p, end - p)) & MASK
    return h


@tight_kernel
def first_slot(h: int, n: int) -> int:
    """Where to look for a hash first, of n slots."""
    return int((h ^ (h >> 15)) & (n - 1))


@tight_kernel
def insert_strings(points: Points, begins: Longs, ends: Longs, numbers: Longs, records: Points, slots: Longs) -> None:
    """Have the strings lead to their numbers."""
    r = 0
    for k in range(begins.shape[0]):
        insert_string(hash_points(points, begins[k], ends[k]), r, slots)
        r = write_record(numbers[k], points, begins[k], ends[k], records, r)


@tight_kernel
def insert_string(h: int, r: int, slots: Longs) -> None:
    """Have a hash lead to the record that begins at r."""
    place = first_slot(h, slots.shape[0])
    while slots[place] != EMPTY:
        place = (place + 1) & (slots.shape[0] - 1)
    slots[place] = ((h & HASH_BITS) << 32) | r


@tight_kernel
def write_record(number: int, points: Points, begin: int, end: int, records: Points, r: int) -> int:
    """A record that begins at r; returns its end."""
    records[r], records[r + 1] = number, end - begin
    for j in range(end - begin):  # a slice would have Numba load its arrays with this kernel: 50 ms of a start
        records[r + HEAD + j] = points[begin + j]
    return int(r + HEAD + end - begin)


@tight_kernel
def is_record(records: Points, r: int, points: Points, begin: int, size: int) -> bool:
    """Whether record r is this string."""
    same = 0 if records[r + 1] == size else size + 1
    while same < size and not differ(records, r + HEAD + same, points, begin + same, size - same):
        same += LANES
    return bool(records[r + 1] == size and same >= size)


@tight_kernel
def look_up(
    points: Points, begin: int, end: int, h: int, records: Points, slots: Longs, first: int, first_place: int, n: int
) -> int:
    """The number of the string with hash h; UNKNOWN where there is none. Its table has the records from `first` on and
    n slots from first_place on: a slice would cost as much as the search."""
    size = end - begin
    place = first_slot(h, n)
    while slots[first_place + place] != EMPTY:
        entry = slots[first_place + place]
        r = first + (entry & PLACE_BITS)
        if entry >> 32 == h & HASH_BITS and is_record(records, r, points, begin, size):
            return int(records[r])
        place = (place + 1) & (n - 1)
    return UNKNOWN


@tight_kernel
def fetch_record(h: int, records: Points, slots: Longs, first: int, first_place: int, n: int) -> None:
    """Ask for the record that a hash leads to first."""
    entry = slots[first_place + first_slot(h, n)]
    if entry != EMPTY:
        fetch_early(records, first + (entry & PLACE_BITS))


@tight_kernel
def find_strings(
    points: Points, begins: Longs, ends: Longs, records: Points, slots: Longs, hashes: Longs, found: Ints
) -> int:
    """As StringTable.find. hashes [n]: work, at whose front the strings are named that are not there."""
    n, S, unknown = begins.shape[0], slots.shape[0], 0
    for i in range(n):
        hashes[i] = hash_points(points, begins[i], ends[i])
    for i in range(n):
        if i + 2 * AHEAD < n:
            fetch_early(slots, first_slot(hashes[i + 2 * AHEAD], S))
        if i + AHEAD < n:
            fetch_record(hashes[i + AHEAD], records, slots, 0, 0, S)
        found[i] = look_up(points, begins[i], ends[i], hashes[i], records, slots, 0, 0, S)
        if found[i] == UNKNOWN:
            hashes[unknown] = i
            unknown += 1
    return unknown
