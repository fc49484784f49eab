"""Strings as code points, many at once: all strings of a batch lie end to end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tagwright._jit import tight_kernel
from tagwright.arrays import Longs
from tagwright.attributes.characters import CLASSES, Classes

Points = NDArray[np.uint32]

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
        return cls.of_joined(SEPARATOR.join(values), values)

    @classmethod
    def of_joined(cls, joined: str, values: Sequence[str]) -> Spelled:
        """Values joined by the separator, which is found again faster than Python tells the length of each string."""
        points = np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), np.uint32)
        bounds = np.empty(len(values) + 1, np.int64)  # where separators stand, before each string and after the last
        if find_separators(points, ord(SEPARATOR), bounds) != len(values) + 1:  # a string has one in it
            bounds[0] = -1
            bounds[1:] = np.cumsum(np.fromiter(map(len, values), np.int64, len(values)) + 1) - 1
        return cls(points, bounds[:-1] + 1, bounds[1:])

    def character_classes(self) -> tuple[Classes, Classes]:
        """For each string the class of its first character and the union over the rest (attributes/characters.py)."""
        first, rest = np.empty(len(self.begins), np.uint8), np.empty(len(self.begins), np.uint8)
        classify_strings(self.points, self.begins, self.ends, CLASSES.of(self.points), first, rest)
        return first, rest


@tight_kernel
def find_separators(points: Points, separator: int, bounds: Longs) -> int:
    """bounds: −1, the places of the separators, the end, as far as there is room. Returns how many there are."""
    n = 0
    for p in range(-1, points.shape[0] + 1):
        if p < 0 or p == points.shape[0] or points[p] == separator:
            if n < bounds.shape[0]:
                bounds[n] = p
            n += 1
    return n


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
