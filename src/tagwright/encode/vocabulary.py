"""Vocabularies: distinct strings with their numbers, as kernels and as people want them. They never change."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from tagwright.text.strings import Strings


class Vocabulary:
    """Distinct strings in the order of their first appearance; the number of a string is its index."""

    def __init__(self, values: Iterable[str] | Strings = ()) -> None:
        if isinstance(values, Strings):
            self.strings = values
        else:
            self.values = list(values)

    @cached_property
    def values(self) -> list[str]:
        return self.strings.decode()

    @cached_property
    def strings(self) -> Strings:
        return Strings.of(self.values, len(self.values))

    @cached_property
    def index(self) -> dict[str, int]:
        """The number of every string."""
        return {value: number for number, value in enumerate(self.values)}

    def __len__(self) -> int:
        return len(self.values) if "values" in self.__dict__ else self.strings.n
