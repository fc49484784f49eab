"""Strings: many strings as pieces of one long array of letters, in UTF-8, as files have them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from tagwright._jit import natural, tight_kernel
from tagwright.arrays import Bytes, Longs

PADDING = 8
"""Bytes after the last letter, so that kernels may load eight at a time anywhere."""
ZEROS = bytes(PADDING)
JOIN = "\0".join
"""With a separator that hardly any string has itself."""
ABSENT = -1
"""The length of a piece that is not there."""


class Strings(NamedTuple):
    """String k is letters[begins[k] : ends[k]]; it is absent where its end lies before its beginning."""

    letters: Bytes  # [size + PADDING]
    begins: Longs  # [n]
    ends: Longs  # [n]

    @classmethod
    def of(cls, values: Sequence[str], n: int) -> Strings:
        """Of n Python strings; TypeError where one of the values is none."""
        return cls.of_lists((values,), n)

    @classmethod
    def of_lists(cls, lists: Iterable[Iterable[str]], n: int) -> Strings:
        """Of the strings of some lists, n in all; ValueError where they are not n."""
        lists = list(lists)
        return cls.split(join_lists(lists), lists, n)

    @classmethod
    def split(cls, letters: Bytes, lists: Iterable[Iterable[str]], n: int) -> Strings:
        """The same, given their letters (join_lists)."""
        begins, ends = np.empty(n, np.int64), np.empty(n, np.int64)
        if n and split_letters(letters, begins, ends) != n:  # some strings hold a separator, or they are not n
            values = [value for values in lists for value in values]  # what is here now: the lists may have changed
            if len(values) != n:
                raise ValueError(f"{len(values)} strings, expected {n}")
            letters = join_lists([values])
            sizes = [len(str.encode(value, "utf-8", "surrogatepass")) for value in values]
            ends = np.cumsum(np.array(sizes, np.int64) + 1) - 1
            begins = ends - sizes
        return cls(letters, begins, ends)

    @property
    def n(self) -> int:
        return len(self.begins)

    def take(self, which: Longs) -> Strings:
        """Some of them."""
        return Strings(self.letters, self.begins[which], self.ends[which])

    def compact(self) -> Strings:
        """The same strings, with no letters but theirs and a separator after each. An absent one becomes empty."""
        sizes = np.maximum(self.ends - self.begins, 0) + 1
        ends = np.cumsum(sizes)
        letters = np.zeros(int(ends[-1] if len(ends) else 0) + PADDING, np.uint8)
        begins = ends - sizes
        gather_letters(self, begins, letters)
        return Strings(letters, begins, ends - 1)

    def decode(self) -> list[str]:
        """As Python has them; an absent one is ""."""
        letters = self.letters.tobytes()
        pairs = zip(self.begins.tolist(), np.maximum(self.begins, self.ends).tolist(), strict=True)
        return [letters[begin:end].decode("utf-8", "surrogatepass") for begin, end in pairs]


def join_lists(lists: Iterable[Iterable[str]]) -> Bytes:
    """The letters of the strings of some lists, a separator between two, with PADDING; TypeError where one is no
    string. Each list is joined by itself, and then all: half the time of joining all strings, which would be put into
    one list first."""
    return np.frombuffer(JOIN(map(JOIN, lists)).encode("utf-8", "surrogatepass") + ZEROS, np.uint8)


def join(parts: Iterable[Strings]) -> Strings:
    """Some Strings as one: their letters and their strings end to end."""
    parts = list(parts)
    shifts = np.cumsum([0, *(len(part.letters) for part in parts)])
    begins = [part.begins + shift for part, shift in zip(parts, shifts, strict=False)]
    ends = [part.ends + shift for part, shift in zip(parts, shifts, strict=False)]
    return Strings(np.concatenate([part.letters for part in parts]), np.concatenate(begins), np.concatenate(ends))


@tight_kernel
def split_letters(letters: Bytes, begins: Longs, ends: Longs) -> int:
    """Where strings that were joined begin and end; returns how many pieces there are, and writes those there is room
    for."""
    n, size, k, begin = begins.shape[0], letters.shape[0] - PADDING, 0, 0
    for p in range(size):  # every letter is taken for the last of its string: whether it is cannot be guessed
        at = natural(min(k, n - 1))
        begins[at], ends[at] = begin, p
        is_last = letters[p] == 0
        k += is_last
        begin = p + 1 if is_last else begin
    if k < n:
        begins[k], ends[k] = begin, size
    return k + 1


@tight_kernel
def gather_letters(strings: Strings, begins: Longs, target: Bytes) -> None:
    """The letters of every string to where it begins in the target."""
    for k in range(strings.begins.shape[0]):
        copy_letters(strings.letters, strings.begins[k], strings.ends[k], target, begins[k])


@tight_kernel
def copy_letters(source: Bytes, begin: int, end: int, target: Bytes, at: int) -> int:
    """A piece of letters to `at`; returns its end there."""
    for p in range(begin, end):
        target[at + p - begin] = source[p]
    return int(at + max(end - begin, 0))
