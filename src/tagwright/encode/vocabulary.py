"""Strings to numbers. Strings stop here: everything after the encoder sees integers."""

from __future__ import annotations

from collections.abc import Iterable


class Vocabulary:
    """Distinct strings in the order of their first appearance; a string's number is its place."""

    __slots__ = ("index", "values")

    def __init__(self, values: Iterable[str] = ()) -> None:
        self.values = list(values)
        self.index = {value: number for number, value in enumerate(self.values)}

    def __len__(self) -> int:
        return len(self.values)

    def add(self, value: str) -> int:
        """The number of `value`, new if it must be."""
        number = self.index.setdefault(value, len(self.values))
        if number == len(self.values):
            self.values.append(value)
        return number
