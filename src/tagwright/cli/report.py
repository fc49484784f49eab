"""A corpus tagged by a model, with its scores: what `train` and the page of a report show."""

from __future__ import annotations

import time
from collections.abc import Collection
from dataclasses import dataclass
from itertools import islice

from tagwright.cli.corpus import LabelledFile
from tagwright.encode.forms import ColumnForms
from tagwright.learners import SequenceTagger
from tagwright.metrics import Evaluation, evaluate
from tagwright.sequence import Item

SHOWN_ATTRIBUTES = 4


@dataclass(frozen=True, slots=True)
class Tagged:
    """A corpus, the labels that a model gave it, and how good and how fast that was."""

    model: SequenceTagger
    corpus: LabelledFile
    words: list[list[str]]
    known: Collection[str] | None  # the words of the training file; None where the model does not see words
    predicted: list[list[str]]
    scores: Evaluation
    seconds: float

    @property
    def tokens_per_second(self) -> float:
        return self.scores.tokens / self.seconds


def tag_corpus(model: SequenceTagger, corpus: LabelledFile, n_jobs: int | None = None) -> Tagged:
    """Tag a corpus and score it. The time is that of tagging alone, attributes included, kernels loaded before."""
    model.predict(corpus.X[:1])
    began = time.perf_counter()
    predicted = model.predict(corpus.X, n_jobs=n_jobs)
    seconds = time.perf_counter() - began
    known = known_words(model)
    words = [[item_word(item) for item in sentence] for sentence in corpus.X]
    scores = evaluate(corpus.y, predicted, tokens=words, known=known)
    return Tagged(model, corpus, words, known, predicted, scores, seconds)


def item_word(item: Item) -> str:
    """What a person reads of an item: the word, or the first attributes where there is none."""
    if isinstance(item, str):
        return item
    if isinstance(item, tuple):
        return item[0]
    names = [str(name) for name in islice(item, SHOWN_ATTRIBUTES)]
    return " ".join(names) + (" …" if len(item) > SHOWN_ATTRIBUTES else "")


def known_words(model: SequenceTagger) -> Collection[str] | None:
    """The words of the training file; None where the model does not see words."""
    column = word_column(model)
    return None if column is None else set(column.values)


def word_column(model: SequenceTagger) -> ColumnForms | None:
    """The column of words, as training met them; None where the model does not see words."""
    return next((column for column in model.encoder_.columns if column.column == 0), None)


def count(n: int, noun: str) -> str:
    """A number and its noun."""
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"
