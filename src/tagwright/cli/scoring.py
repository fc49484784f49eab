"""From the parts of a labelled file to what scores are made of: what the threads of `evaluate` do.

Tokens ─► Text ─► label numbers, beside those of the file ─► Tally          the fast way, without a Python string
Sentences ─► labels, beside those of the file ─► Tally                      where a block has anything unusual
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from tagwright.arrays import Bools
from tagwright.chunks import Aligned, Longs
from tagwright.cli.parts import PartWork, located
from tagwright.cli.report import item_word, known_words, word_column
from tagwright.encode.forms import ColumnForms
from tagwright.errors import DataError
from tagwright.io.blocks import Block
from tagwright.io.tokens import Tokens
from tagwright.learners import SequenceTagger
from tagwright.metrics import Tally, tally, tally_lists
from tagwright.sequence import Sentence
from tagwright.text.hash_tables import StringTable, StringTables, number_strings
from tagwright.text.strings import Strings

LABELS, WORDS = 0, 1
"""The tables of strings in which a file's labels and words are looked up."""


class Scored(NamedTuple):
    """Of a part of a file: what its scores are made of, and its labels that the model does not know, with how often
    they occur, in the order of their first appearance."""

    tally: Tally
    unknown: Counter[str]


@dataclass(frozen=True)
class Scoring(PartWork[Scored]):
    """The labels of each part beside those that the model gives."""

    labelled = True

    def rehearse(self) -> None:
        """Both ways once, for a token that stands for nothing: then all kernels are loaded."""
        width = self.model.encoder_.width
        items: list[Any] = [{"1": 1.0} if width == 0 else "1" if width == 1 else ("1",) * width]
        with suppress(DataError):
            self.of_sentences([Sentence(items, ["1"])])
        if self.rules is not None:
            data = (
                f"1{self.layout.separator}1\n"
                if self.rules.line_is_sentence
                else "\t".join("1" * self.layout.width) + "\n\n"
            )
            with suppress(DataError):
                self.of_block(Block(data.encode(), 2, "\n"))

    def of_tokens(self, tokens: Tokens) -> Scored:
        if not tokens.n:
            return Scored(Tally(), Counter())
        gold, names, unknown = self._number_labels(tokens)
        predicted = self.model._tag_text(self.text(tokens)).astype(np.int64)
        lengths = np.diff(tokens.offsets)
        sentence = np.repeat(np.arange(len(lengths)), lengths)
        aligned = Aligned([*self.model.labels_, *names], gold, predicted, sentence, len(lengths))
        return Scored(tally(aligned, self._known_words(tokens)), unknown)

    def of_sentences(self, sentences: Sequence[Sentence], error: DataError | None = None) -> Scored:
        """An error is raised: there are no scores of half a file."""
        found = self._score_sentences(sentences) if sentences else Scored(Tally(), Counter())
        if error is not None:
            raise error
        return found

    def _number_labels(self, tokens: Tokens) -> tuple[Longs, list[str], Counter[str]]:
        """The numbers of the file's labels: those of the model, then new ones; the names of these, and how often they
        occur."""
        strings = Strings(tokens.letters, tokens.begins[-1], tokens.ends[-1])
        found, which = self._tables.find(LABELS, strings)
        gold = found.astype(np.int64)
        if not len(which):
            return gold, [], Counter()
        numbers, first = number_strings(strings.take(which))
        gold[which] = len(self.model.labels_) + numbers
        names = strings.take(which[first]).decode()
        return gold, names, Counter(dict(zip(names, np.bincount(numbers).tolist(), strict=True)))

    def _known_words(self, tokens: Tokens) -> Bools | None:
        """Whether the training file had each word; None where the model does not see words."""
        if self._words is None:
            return None
        found, _ = self._tables.find(WORDS, Strings(tokens.letters, tokens.begins[0], tokens.ends[0]))
        return found >= 0

    def _score_sentences(self, sentences: Sequence[Sentence]) -> Scored:
        gold = [sentence.labels or [] for sentence in sentences]
        with located(sentences):
            predicted = self.model.predict([sentence.items for sentence in sentences])
        words = [[item_word(item) for item in sentence.items] for sentence in sentences]
        found = tally_lists(gold, predicted, tokens=words, known=self._known)
        return Scored(found, count_unknown(self.model, gold))

    @cached_property
    def _words(self) -> ColumnForms | None:
        return word_column(self.model)

    @cached_property
    def _known(self) -> Collection[str] | None:
        return known_words(self.model)

    @cached_property
    def _tables(self) -> StringTables:
        labels = self.model.labels_
        tables = [StringTable.build(Strings.of(labels, len(labels)))]
        return StringTables.build(tables if self._words is None else [*tables, self._words.table])


def count_unknown(model: SequenceTagger, gold: Sequence[Sequence[str]]) -> Counter[str]:
    """Labels that the model cannot give, with how often they occur."""
    found = Counter(chain.from_iterable(gold))
    for label in model.labels_:
        del found[label]
    return found
