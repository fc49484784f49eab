"""Visitors: strings that are numbered as they come, many at once. A string table that grows.

A text has its new words several times. The first time a word is numbered and kept, after that it is found: no Python
string is made for either.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from tagwright._jit import tight_kernel
from tagwright._registers import LANES
from tagwright.arrays import Ints, Longs, grown
from tagwright.encode.spelled import USUAL_LENGTH, Points, Spelled, empty_points
from tagwright.encode.string_table import HEAD, UNKNOWN, hash_points, insert_string, look_up, slots_for, write_record

SOME_VISITORS = 1 << 12
"""For so many, of usual length, there is room from the beginning."""


class Visitors:
    """Distinct strings, numbered from `first` on in the order of their coming."""

    def __init__(self, first: int) -> None:
        self.first = first
        self._n = 0
        self._begins: Longs = np.zeros(SOME_VISITORS + 1, np.int64)  # of the records; the last is the end of all
        self._records: Points = empty_points(SOME_VISITORS * (HEAD + USUAL_LENGTH))
        self._slots = slots_for(SOME_VISITORS)

    def __len__(self) -> int:
        return self._n

    def find(self, strings: Spelled, which: Longs, found: Ints) -> Longs:
        """The numbers of some of the strings into found [n], at their places. Returns those of `which` that came for
        the first time."""
        most = self._n + len(which)
        self._begins = grown(self._begins, most + 1, most)
        room = int(self._begins[self._n]) + len(strings.points) + HEAD * len(which) + LANES
        self._records = grown(self._records, room, 0)
        if len(self._slots) < 2 * most:
            self._slots = slots_for(2 * most)
            insert_records(self._records, self._begins[: self._n], self._slots)
        new = np.empty(len(which), np.int64)
        n = number_strings(
            strings.points, strings.begins, strings.ends, which, self.first, self._n, self._begins, self._records,
            self._slots, found, new,
        )  # fmt: skip
        self._n += n
        return new[:n]

    def strings(self, begin: int = 0) -> list[str]:
        """All from the one with place `begin` on."""
        parts = [self._records[b + HEAD : e] for b, e in pairwise(self._begins[begin : self._n + 1].tolist())]
        return [part.tobytes().decode("utf-32-le", "surrogatepass") for part in parts]


@tight_kernel
def insert_records(records: Points, begins: Longs, slots: Longs) -> None:
    """Put what is known into other slots."""
    for k in range(begins.shape[0]):
        begin = begins[k] + HEAD
        insert_string(hash_points(records, begin, begin + records[begins[k] + 1]), begins[k], slots)


@tight_kernel
def number_strings(
    points: Points, begins: Longs, ends: Longs, which: Longs, first: int, n: int, places: Longs, records: Points,
    slots: Longs, found: Ints, new: Longs,
) -> int:  # fmt: skip
    """As Visitors.find; places [n + 1]: where the records begin, all arrays with room. Returns how many are new."""
    known = n
    for k in range(which.shape[0]):
        begin, end = begins[which[k]], ends[which[k]]
        h = hash_points(points, begin, end)
        number = look_up(points, begin, end, h, records, slots, 0, 0, slots.shape[0])
        if number == UNKNOWN:
            number = first + n
            new[n - known] = which[k]
            places[n + 1] = write_record(number, points, begin, end, records, places[n])
            insert_string(h, places[n], slots)
            n += 1
        found[which[k]] = number
    return n - known
