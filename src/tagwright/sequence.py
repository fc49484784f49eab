"""The forms of a sentence, where the flow begins: columns/text ─► Sentence ─► attributes ─► ...

    Item      what stands at one position: a word, a tuple of columns, a dict of attributes, a list of attribute names
    Sentence  the items of one sentence, its labels if it has any, and the lines it was read from
    X, y      what the learners take: a list of item lists, a list of label lists; together they are `Labelled`

Readers (io/) make a `Sentence`; writers put labels back into its lines.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Self, TypeAlias

Item: TypeAlias = str | tuple[str, ...] | Mapping[str, object] | list[str]


@dataclass(slots=True)
class Sentence:
    """One sentence as a reader made it.

    `items` holds strings when there is one input column, tuples when there are more, dicts of weights for CRFsuite's
    format. `lines` are the original lines without their ends, from the end of the sentence before to the blank line
    that ends this one; `words[t]` is the index in `lines` of item t, and `words` is empty where a line holds a whole
    sentence. A sentence built by hand needs `items` alone: writers then make the lines from the items.
    """

    items: list[str] | list[tuple[str, ...]] | list[dict[str, float]]
    labels: list[str] | None = None
    location: str = ""  # "file:line" of the first item
    lines: list[str] = field(default_factory=list)
    words: Sequence[int] = ()
    format: str = ""  # the format `lines` are in
    newline: str = "\n"

    def __len__(self) -> int:
        return len(self.items)


@dataclass(frozen=True, slots=True)
class Labelled:
    """Sentences and their labels."""

    X: Sequence[Sequence[Item]]
    y: Sequence[Sequence[str]]

    @property
    def n_tokens(self) -> int:
        return sum(map(len, self.X))

    def take(self, indices: Iterable[int]) -> Self:
        """Some of the sentences."""
        chosen = list(indices)
        return replace(self, X=[self.X[i] for i in chosen], y=[self.y[i] for i in chosen])
