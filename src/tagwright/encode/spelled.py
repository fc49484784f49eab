"""Strings as code points, many at once: all strings of a batch lie end to end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tagwright._jit import tight_kernel
from tagwright.arrays import Longs
from tagwright.attributes.characters import CLASSES, FIRST_POINT, LOWERS, Classes

Points = NDArray[np.uint32]

SEPARATOR = "\n"


@dataclass(frozen=True, slots=True)
class Spelled:
    """Some strings as code points: string k is points[begins[k] : ends[k]]."""

    joined: str
    points: Points
    begins: Longs
    ends: Longs

    @classmethod
    def build(cls, values: Sequence[str]) -> Spelled:
        joined = SEPARATOR.join(values)
        found = cls.cut(joined, len(values))
        if found is not None:
            return found
        lengths = np.fromiter(map(len, values), np.int64, len(values))
        ends = np.cumsum(lengths + 1) - 1
        return cls(joined, _points(joined), ends - lengths, ends)

    @classmethod
    def cut(cls, joined: str, n: int) -> Spelled | None:
        """The n strings between separators, which are found faster than Python tells the length of each string; None
        where there are more, since one has a separator in it."""
        points = _points(joined)
        begins, ends = np.empty(n, np.int64), np.empty(n, np.int64)
        fits = cut_at_separators(points, ord(SEPARATOR), begins, ends) == n
        return cls(joined, points, begins, ends) if fits else None

    def some(self, which: Longs) -> Spelled:
        """Some of them, each once."""
        return Spelled(self.joined, self.points, self.begins[which], self.ends[which])

    def strings(self) -> list[str]:
        """The same as Python has them."""
        bounds = zip(self.begins.tolist(), self.ends.tolist(), strict=True)
        return [self.joined[begin:end] for begin, end in bounds]

    def lower(self) -> tuple[Points, Longs, Longs]:
        """The points, begins and ends of the same in lower case, as `str.lower` has it."""
        points, begins, ends = np.empty_like(self.points), np.empty_like(self.begins), np.empty_like(self.ends)
        arrays = (self.points, self.begins, self.ends, LOWERS.numbers, points, begins, ends)
        if lower_strings(*arrays):
            return points, begins, ends
        LOWERS.meet(self.points)
        if lower_strings(*arrays):
            return points, begins, ends
        lower = Spelled.build([string.lower() for string in self.strings()])
        return lower.points.copy(), lower.begins, lower.ends  # a copy may be written: kernels have one version of this

    def character_classes(self) -> tuple[Classes, Classes]:
        """For each string the class of its first character and the union over the rest (attributes/characters.py)."""
        first, rest = np.empty(len(self.begins), np.uint8), np.empty(len(self.begins), np.uint8)
        classify_strings(self.points, self.begins, self.ends, CLASSES.meet(self.points), first, rest)
        return first, rest


def _points(text: str) -> Points:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)


@tight_kernel
def cut_at_separators(points: Points, separator: int, begins: Longs, ends: Longs) -> int:
    """Where the strings between separators begin and end, as far as there is room. Returns how many there are."""
    n, begin = 0, 0
    for p in range(points.shape[0] + 1):
        if p == points.shape[0] or points[p] == separator:
            if n < ends.shape[0]:
                begins[n], ends[n] = begin, p
            n += 1
            begin = p + 1
    return n


@tight_kernel
def lower_strings(
    points: Points, begins: Longs, ends: Longs, lowers: Points, out: Points, out_begins: Longs, out_ends: Longs
) -> bool:
    """The strings in lower case; False where a character cannot be lowered alone, or was never met."""
    place = 0
    for k in range(begins.shape[0]):
        out_begins[k] = place
        for p in range(begins[k], ends[k]):
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
