"""Strings to numbers, many at once: a hash table over code points.

A Python dictionary asks one string at a time, and every question waits for memory several times (the string, the slot,
the key, the number). Here all strings of a batch lie end to end as code points, and a kernel finds them one after the
other. Affixes are parts of the same code points: no string has to be cut.

    hash(c_1 ... c_n)      h = offset;  h = ((h XOR c) · prime) mod 2³² for each c            FNV-1a, by code points
    table                  open addressing; a key counts as found when all its code points are the same
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tagwright._jit import kernel, tight_kernel
from tagwright.arrays import Ints, Longs
from tagwright.attributes.characters import CLASSES, Classes

Points = NDArray[np.uint32]

FNV_OFFSET, FNV_PRIME, FNV_MASK = 0x811C9DC5, 0x01000193, 0xFFFFFFFF
UNKNOWN = -1
SEPARATOR = "\n"


@dataclass(frozen=True, slots=True)
class Spelled:
    """Some strings as code points: string k is points[begins[k] : ends[k]]; where the end is before the beginning,
    there is no string."""

    points: Points
    begins: Longs
    ends: Longs

    @classmethod
    def build(cls, values: Sequence[str]) -> Spelled:
        """Joined by a separator, which is found again faster than Python tells the length of each string."""
        points = np.frombuffer(SEPARATOR.join(values).encode("utf-32-le", "surrogatepass"), np.uint32)
        ends = np.append(np.flatnonzero(points == ord(SEPARATOR)), len(points))
        if len(ends) != len(values):  # a string has the separator in it, or there is none
            sizes = np.fromiter(map(len, values), np.int64, len(values))
            ends = np.cumsum(sizes + 1) - 1
        begins = np.zeros_like(ends)
        begins[1:] = ends[:-1] + 1
        return cls(points, begins, ends)

    def character_classes(self) -> tuple[Classes, Classes]:
        """For each string the class of its first character and the union over the rest (attributes/characters.py)."""
        first, rest = np.empty(len(self.begins), np.uint8), np.empty(len(self.begins), np.uint8)
        classify_strings(self.points, self.begins, self.ends, CLASSES.of(self.points), first, rest)
        return first, rest

    def prefixes(self, n: int) -> Spelled:
        """The first n characters of each; none of a shorter one."""
        ends = self.begins + n
        return Spelled(self.points, self.begins, np.where(ends <= self.ends, ends, self.begins - 1))

    def suffixes(self, n: int) -> Spelled:
        """The last n characters of each; none of a shorter one."""
        begins = self.ends - n
        return Spelled(self.points, begins, np.where(begins >= self.begins, self.ends, begins - 1))


@dataclass(frozen=True, slots=True)
class StringTable:
    """Distinct strings; a string's number is its place."""

    keys: Spelled
    hashes: Longs  # of the keys
    slots: Ints  # number of a key, or UNKNOWN; a power of two of them

    @classmethod
    def build(cls, values: Sequence[str]) -> StringTable:
        keys = Spelled.build(values)
        hashes = np.empty(len(values), np.int64)
        slots = np.full(2 << max(1, len(values)).bit_length(), UNKNOWN, np.int32)
        insert_strings(keys.points, keys.begins, keys.ends, hashes, slots)
        return cls(keys, hashes, slots)

    def find(self, strings: Spelled) -> Ints:
        """The number of every string, UNKNOWN where the table does not have it."""
        found = np.empty(len(strings.begins), np.int32)
        keys = self.keys
        find_strings(
            strings.points, strings.begins, strings.ends, keys.points, keys.begins, keys.ends, self.hashes, self.slots,
            found,
        )  # fmt: skip
        return found


@tight_kernel
def hash_points(points: Points, begin: int, end: int) -> int:
    h = np.int64(FNV_OFFSET)
    for p in range(begin, end):
        h = ((h ^ np.int64(points[p])) * FNV_PRIME) & FNV_MASK
    return int(h)


@tight_kernel
def classify_strings(
    points: Points, begins: Longs, ends: Longs, classes: Classes, first: Classes, rest: Classes
) -> None:
    for i in range(begins.shape[0]):
        first[i], rest[i] = 0, 0
        if ends[i] > begins[i]:
            first[i] = classes[points[begins[i]]]
        for p in range(begins[i] + 1, ends[i]):
            rest[i] |= classes[points[p]]


@kernel
def insert_strings(points: Points, begins: Longs, ends: Longs, hashes: Longs, slots: Ints) -> None:
    mask = slots.shape[0] - 1
    for k in range(begins.shape[0]):
        hashes[k] = hash_points(points, begins[k], ends[k])
        place = (hashes[k] ^ (hashes[k] >> 15)) & mask
        while slots[place] != UNKNOWN:
            place = (place + 1) & mask
        slots[place] = k


@tight_kernel
def find_strings(
    points: Points, begins: Longs, ends: Longs, key_points: Points, key_begins: Longs, key_ends: Longs, hashes: Longs,
    slots: Ints, found: Ints,
) -> None:  # fmt: skip
    mask = slots.shape[0] - 1
    for i in range(begins.shape[0]):
        found[i] = UNKNOWN
        size = ends[i] - begins[i]
        if size < 0:
            continue
        h = hash_points(points, begins[i], ends[i])
        place = (h ^ (h >> 15)) & mask
        while slots[place] != UNKNOWN:
            k = slots[place]
            if hashes[k] == h and key_ends[k] - key_begins[k] == size:
                same = 0
                while same < size and key_points[key_begins[k] + same] == points[begins[i] + same]:
                    same += 1
                if same == size:
                    found[i] = k
                    break
            place = (place + 1) & mask
