"""Where a model is wrong: confusions with their sentences, and errors by word, for known and unknown words.

corpus, predicted labels ─► mistakes ─► grouped by labels, or by word
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple


class Mistake(NamedTuple):
    """One wrong label: where, and what it should be. `known` is None where the model does not see words."""

    sentence: int
    position: int
    word: str
    gold: str
    predicted: str
    known: bool | None


class WrongWord(NamedTuple):
    """A word, how often it stands in the corpus, how often its label is wrong, and the commonest mistake."""

    word: str
    tokens: int
    errors: int
    gold: str
    predicted: str


@dataclass(frozen=True, slots=True)
class WordGroup:
    """Known or unknown words: tokens, errors, and the words with the most errors."""

    name: str
    tokens: int
    errors: int
    words: list[WrongWord]


def find_mistakes(
    words: Sequence[Sequence[str]],
    gold: Sequence[Sequence[str]],
    predicted: Sequence[Sequence[str]],
    known: Collection[str] | None,
) -> list[Mistake]:
    """All wrong labels, in order."""
    found = []
    for i, (tokens, right, labels) in enumerate(zip(words, gold, predicted, strict=True)):
        for t, (word, a, b) in enumerate(zip(tokens, right, labels, strict=True)):
            if a != b:
                found.append(Mistake(i, t, word, a, b, None if known is None else word in known))
    return found


def worst_confusions(mistakes: Iterable[Mistake], limit: int) -> list[list[Mistake]]:
    """All mistakes between two labels, for those pairs (gold, predicted) that have the most."""
    groups: dict[tuple[str, str], list[Mistake]] = {}
    for mistake in mistakes:
        groups.setdefault((mistake.gold, mistake.predicted), []).append(mistake)
    order = sorted(groups, key=lambda pair: (-len(groups[pair]), pair))
    return [groups[pair] for pair in order[:limit]]


def choose_examples(mistakes: Sequence[Mistake], limit: int) -> list[Mistake]:
    """Some of them, in order, with as many different words as there are."""
    first = list({mistake.word: mistake for mistake in reversed(mistakes)}.values())[::-1]
    rest = [mistake for mistake in mistakes if mistake not in first]
    return sorted([*first, *rest][:limit])


def group_words(
    words: Sequence[Sequence[str]], mistakes: Sequence[Mistake], known: Collection[str], limit: int
) -> list[WordGroup]:
    """Known and unknown words."""
    tokens = Counter(word for sentence in words for word in sentence)
    wrong: dict[str, Counter[tuple[str, str]]] = {}  # what a word's labels were taken for
    for mistake in mistakes:
        wrong.setdefault(mistake.word, Counter())[mistake.gold, mistake.predicted] += 1
    errors = Counter({word: kinds.total() for word, kinds in wrong.items()})
    groups = []
    for name, inside in (("known", True), ("unknown", False)):
        here = [word for word in tokens if (word in known) == inside]
        worst = sorted((word for word in here if word in wrong), key=lambda word: (-errors[word], word))[:limit]
        rows = [WrongWord(w, tokens[w], errors[w], *wrong[w].most_common(1)[0][0]) for w in worst]
        groups.append(WordGroup(name, sum(tokens[w] for w in here), sum(errors[w] for w in here), rows))
    return groups
