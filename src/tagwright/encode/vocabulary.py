"""Strings to numbers. Strings stop here: everything after the encoder sees integers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import count, repeat


class Vocabulary:
    """Distinct strings in the order of their first appearance; a string's number is its place."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        self.values = list(values)

    @cached_property
    def index(self) -> dict[str, int]:
        """The number of every string. Made when it is first asked for: tagging needs few of a model's vocabularies."""
        return {value: number for number, value in enumerate(self.values)}

    def __len__(self) -> int:
        return len(self.values)

    def add(self, value: str) -> int:
        """The number of `value`, new if it must be."""
        number = self.index.setdefault(value, len(self.values))
        if number == len(self.values):
            self.values.append(value)
        return number

    def add_all(self, values: Sequence[str | None]) -> list[int]:
        """The numbers of all `values`, new in the order of their first appearance; −1 for None."""
        new = [value for value in dict.fromkeys(values) if value is not None and value not in self.index]
        self.index.update(zip(new, count(len(self.values))))
        self.values += new
        return self.find_all(values)

    def find_all(self, values: Iterable[str | None]) -> list[int]:
        """The numbers of all `values`; −1 for None and for what is not there."""
        return list(map(self.index.get, values, repeat(-1)))  # type: ignore[arg-type]  # None is no key
