"""The forms of a sentence, where the flow begins: columns/text ─► Sentence ─► attributes ─► ...

    Item      what stands at one position: a word, a tuple of columns, a dict of attributes, a list of attribute names
    Sentence  the items of one sentence, its labels if it has any, and the lines it was read from
    X, y      what the learners take: a list of item lists, a list of label lists; together they are `Labelled`
    tagged    what NLTK takes: a list of [(token, tag), ...] lists

Readers (io/) make a `Sentence`; writers put labels back into its lines.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Self, TypeAlias, TypeVar

from tagwright.errors import DataError

Item: TypeAlias = str | tuple[str, ...] | Mapping[str, object] | list[str]
AnyItem = TypeVar("AnyItem", bound=Item)


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


def pairs(X: Sequence[Sequence[AnyItem]], y: Sequence[Sequence[str]]) -> list[list[tuple[AnyItem, str]]]:
    """Items and labels as NLTK has them: [[(token, tag), ...], ...]."""
    if len(X) != len(y):
        raise DataError(
            f"{len(X)} sentences but {len(y)} label lists; give one label list for every sentence", location="y"
        )
    tagged = []
    for i, (items, labels) in enumerate(zip(X, y)):
        if isinstance(items, str):
            raise DataError(
                f"a sentence is a list of items, found the string {items[:40]!r}; split it", location=f"X[{i}]"
            )
        if isinstance(labels, str):
            raise DataError(
                f"labels are a list of strings, found the string {labels[:40]!r}; split it", location=f"y[{i}]"
            )
        if len(items) != len(labels):
            raise DataError(
                f"{len(items)} items but {len(labels)} labels; give every item one label", location=f"y[{i}]"
            )
        tagged.append(list(zip(items, labels)))
    return tagged


def from_pairs(tagged: Sequence[Sequence[tuple[AnyItem, str]]]) -> tuple[list[list[AnyItem]], list[list[str]]]:
    """NLTK's [[(token, tag), ...], ...] as (X, y)."""
    X, y = [], []
    for i, sentence in enumerate(tagged):
        for t, pair in enumerate(sentence):
            _check_pair(pair, location=f"tagged[{i}][{t}]")
        X.append([token for token, _ in sentence])
        y.append([tag for _, tag in sentence])
    return X, y


def _check_pair(pair: object, *, location: str) -> None:
    """Refuse what is not a (token, tag) pair with a string for its tag."""
    if not isinstance(pair, tuple | list) or len(pair) != 2:
        raise DataError(
            f"expected a pair (token, tag), found {str(pair)[:60]!r}; give a list of sentences, each a list of pairs",
            location=location,
        )
    if not isinstance(pair[1], str):
        raise DataError(
            f"expected a string for the tag, found {pair[1]!r}; tags that are numbers or None must be made strings",
            location=location,
        )
