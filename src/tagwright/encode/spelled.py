"""Strings as code points, many at once: all strings of a batch lie end to end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tagwright._jit import python_kernel, tight_kernel
from tagwright._objects import NOTHING, copy_points, fetch_object, item, length, size
from tagwright._registers import LANES
from tagwright.arrays import Longs
from tagwright.attributes.characters import CLASSES, FIRST_POINT, LOWERS, Classes

Points = NDArray[np.uint32]

USUAL_LENGTH = 8
"""Letters of a string for which there is room; where some have many more, all are read again."""


def empty_points(n: int) -> Points:
    """Room for n code points and a vector more, so that kernels may read eight at a time anywhere."""
    return np.empty(n + LANES, np.uint32)


@dataclass(frozen=True, slots=True)
class Spelled:
    """Some strings as code points: string k is points[begins[k] : ends[k]]. After the last there is room for a vector
    (empty_points)."""

    points: Points
    begins: Longs
    ends: Longs

    @classmethod
    def build(cls, values: Sequence[str]) -> Spelled:
        found = cls.read([list(values)], np.array([0, len(values)], np.int64))
        if found is None:
            raise TypeError("expected strings")
        return found

    @classmethod
    def read(cls, lists: list[list[str]], offsets: Longs) -> Spelled | None:
        """All strings of some lists, which begin at offsets [N + 1]; None where there is something else."""
        n = int(offsets[-1])
        points, begins, ends = empty_points(USUAL_LENGTH * n), np.empty(n, np.int64), np.empty(n, np.int64)
        n_points = read_strings(id(lists), offsets, points, begins, ends)
        while n_points > len(points) - LANES:  # twice, if nobody puts other strings into the lists meanwhile
            points = empty_points(n_points)
            n_points = read_strings(id(lists), offsets, points, begins, ends)
        return None if n_points == NOTHING else cls(points[:n_points], begins, ends)

    def some(self, which: Longs) -> Spelled:
        """Some of them, each once."""
        return Spelled(self.points, self.begins[which], self.ends[which])

    def strings(self) -> list[str]:
        """The same as Python has them."""
        joined = self.points.tobytes().decode("utf-32-le", "surrogatepass")
        return [joined[begin:end] for begin, end in zip(self.begins.tolist(), self.ends.tolist(), strict=True)]

    def lower(self, which: Longs) -> tuple[Points, Longs, Longs]:
        """The points, begins and ends of some of them, each once, in lower case, as `str.lower` has it."""
        points, begins, ends = empty_points(len(self.points)), np.empty_like(which), np.empty_like(which)
        arrays = (self.points, self.begins, self.ends, which, LOWERS.numbers, points, begins, ends)
        if lower_strings(*arrays):
            return points, begins, ends
        LOWERS.meet(self.points)
        if lower_strings(*arrays):
            return points, begins, ends
        lower = Spelled.build([string.lower() for string in self.some(which).strings()])
        return lower.points, lower.begins, lower.ends

    def character_classes(self) -> tuple[Classes, Classes]:
        """For each string the class of its first character and the union over the rest (attributes/characters.py)."""
        first, rest = np.empty(len(self.begins), np.uint8), np.empty(len(self.begins), np.uint8)
        classify_strings(self.points, self.begins, self.ends, CLASSES.meet(self.points), first, rest)
        return first, rest


@python_kernel
def measure_lists(lists: int, offsets: Longs) -> int:
    """Where lists begin, end to end; returns how many are empty. One that is no longer there counts as such."""
    n_empty = 0
    offsets[0] = 0
    for i in range(offsets.shape[0] - 1):
        own = item(lists, i)
        n = max(0, size(own)) if own != NOTHING else 0
        n_empty += n == 0
        offsets[i + 1] = offsets[i] + n
    return n_empty


@python_kernel
def fetch_items(of: int, n: int) -> None:
    """Ask for the first n items of a list, which are read after those of another."""
    for k in range(n if of != NOTHING else 0):
        fetch_object(item(of, k))


@python_kernel
def read_strings(lists: int, offsets: Longs, points: Points, begins: Longs, ends: Longs) -> int:
    """As Spelled.read, as far as there is room. Returns how many points there are; NOTHING where one is no string."""
    place, N = 0, offsets.shape[0] - 1
    for i in range(N):
        own = item(lists, i)
        if own == NOTHING:
            return NOTHING
        if i + 1 < N:
            fetch_items(item(lists, i + 1), offsets[i + 2] - offsets[i + 1])
        for k in range(offsets[i], offsets[i + 1]):
            string = item(own, k - offsets[i])
            n = length(string) if string != NOTHING else NOTHING
            if n == NOTHING:
                return NOTHING
            if place + n <= points.shape[0] - LANES:
                copy_points(string, points, place)
            begins[k], ends[k] = place, place + n
            place += n
    return place


@tight_kernel
def lower_strings(
    points: Points, begins: Longs, ends: Longs, which: Longs, lowers: Points, out: Points, out_begins: Longs,
    out_ends: Longs,
) -> bool:  # fmt: skip
    """Some strings in lower case; False where a character cannot be lowered alone, or was never met."""
    place = 0
    for k in range(which.shape[0]):
        out_begins[k] = place
        for p in range(begins[which[k]], ends[which[k]]):
            lower = lowers[points[p]]
            if lower < FIRST_POINT:
                return False
            out[place] = lower - np.uint32(FIRST_POINT)
            place += 1
        out_ends[k] = place
    return True


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
