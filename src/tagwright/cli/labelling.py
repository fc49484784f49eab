"""From the parts of a file to bytes with labels: what the threads of `tag` do.

Tokens ─► Text ─► label numbers ─► bytes                  the fast way, without a Python string for a token
Sentences ─► labels (and values) ─► bytes                 where a block has anything unusual; probabilities ...
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from tagwright.cli.parts import PartWork, located
from tagwright.errors import DataError
from tagwright.io import Layout, write_sentence
from tagwright.io.format import FormatRules
from tagwright.io.label_bytes import LabelBytes, can_write
from tagwright.io.sentences import TextSink
from tagwright.io.tokens import Tokens
from tagwright.sequence import Sentence

Tag = Callable[[list[Any]], Iterable[Any]]
"""From the items of some sentences to what was found for each."""
Write = Callable[[TextSink, Sentence, Any, Layout], None]
"""Writes what was found for one sentence."""
Ways = tuple[Tag, Write]


class Labelled(NamedTuple):
    """A part of the output, and the error after it."""

    data: bytes | memoryview
    error: DataError | None = None


@dataclass(frozen=True)
class Labelling(PartWork[Labelled]):
    """Labels for each part, written in its layout."""

    ways: Ways | None = None  # to tag and to write; None: the best labels

    def _find_rules(self) -> FormatRules | None:
        rules = super()._find_rules()
        return rules if rules and self.ways is None and can_write(rules, self.layout, self.model.labels_) else None

    @cached_property
    def _names(self) -> LabelBytes:
        return LabelBytes.build(self.model.labels_)

    def of_tokens(self, tokens: Tokens) -> Labelled:
        return Labelled(self._names.write(tokens, self.model._tag_text(self.text(tokens))))

    def of_sentences(self, sentences: Sequence[Sentence], error: DataError | None = None) -> Labelled:
        """What comes before an error is labelled."""
        tag, write = (self.model.predict, write_sentence) if self.ways is None else self.ways
        text = io.StringIO(newline="")
        with located(sentences):
            for sentence, found in zip(sentences, tag([sentence.items for sentence in sentences]), strict=True):
                write(text, sentence, found, self.layout)
        return Labelled(text.getvalue().encode("utf-8"), error)
