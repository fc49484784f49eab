"""From what was read to bytes with labels: of sentences, and of blocks of a file. What the threads of `tag` do.

block ─► Tokens ─► Text ─► label numbers ─► bytes         the fast way, without a Python string
block ─► Sentences ─► labels ─► bytes                     where a block has anything unusual
Sentences ─► labels (and values) ─► bytes                 probabilities, several labellings, other formats
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from tagwright.encode.text import Text
from tagwright.errors import DataError
from tagwright.io import FORMATS, Layout
from tagwright.io.blocks import Block
from tagwright.io.format import FormatRules
from tagwright.io.label_bytes import LabelBytes
from tagwright.io.lines import Lines
from tagwright.io.sentences import TextSink
from tagwright.io.tokens import Tokens, find_rules, read_tokens
from tagwright.learners import SequenceTagger
from tagwright.sequence import Sentence
from tagwright.text.strings import ZEROS, Strings

Tag = Callable[[list[Any]], Iterable[Any]]
"""From the items of some sentences to what was found for each."""
Write = Callable[[TextSink, Sentence, Any, Layout], None]
"""Writes what was found for one sentence."""


class Labelled(NamedTuple):
    """A part of the output, and the error after it."""

    data: bytes | memoryview
    error: DataError | None = None


@dataclass(frozen=True)
class Labelling:
    """How what is read in a layout is tagged and written."""

    model: SequenceTagger
    layout: Layout
    tag: Tag
    write: Write
    name: str  # of the file

    def label_sentences(self, sentences: Sequence[Sentence]) -> Labelled:
        text = io.StringIO(newline="")
        for sentence, found in zip(sentences, self.tag([sentence.items for sentence in sentences]), strict=True):
            self.write(text, sentence, found, self.layout)
        return Labelled(text.getvalue().encode("utf-8"))

    @cached_property
    def rules(self) -> FormatRules | None:
        """How blocks are split; None: there is no fast way for this model and layout."""
        if self.model.encoder_.width != self.layout.n_inputs:
            return None
        return find_rules(FORMATS[self.layout.format], self.layout, self.model.labels_)

    @cached_property
    def _names(self) -> LabelBytes:
        return LabelBytes.build(self.model.labels_)

    def label_block(self, block: Block) -> Labelled:
        """With the best labels, whatever `tag` and `write` are."""
        assert self.rules is not None
        letters = np.frombuffer(block.data + ZEROS, np.uint8)
        tokens = read_tokens(block, letters, self.rules, self.layout)
        if tokens is not None:
            try:
                return Labelled(self._names.write(tokens, self.model._tag_text(make_text(tokens))))
            except DataError:
                pass  # which is said below, as of sentences
        return self._label_carefully(block)

    def _label_carefully(self, block: Block) -> Labelled:
        """The same, by way of sentences. What comes before an error is labelled."""
        lines = Lines.of_chunks([block.data], self.name, block.number, block.newline)
        sentences: list[Sentence] = []
        error = None
        try:
            for sentence in FORMATS[self.layout.format].read(lines, self.layout, labelled=False):
                sentences.append(sentence)
        except DataError as found:
            error = found
        return Labelled(self.label_sentences(sentences).data, error)


def make_text(tokens: Tokens) -> Text:
    """The Text that tokens are."""
    strings = Strings(tokens.letters, tokens.begins.reshape(-1), tokens.ends.reshape(-1))
    return Text.of_strings(strings, tokens.offsets, len(tokens.begins))
