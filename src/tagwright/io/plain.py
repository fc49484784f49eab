"""Plain text: tokens separated by spaces or tabs, one sentence per line; labels are written as slashed text.

There is no tokeniser: "Hello, world" is two tokens. Blank lines are kept and written back, so that line n of the output
belongs to line n of the input.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tagwright.errors import DataError
from tagwright.io.format import FormatRules, Sample
from tagwright.io.layout import ColumnChoice, Layout
from tagwright.io.lines import Lines
from tagwright.io.slashed import NOT_IN_TAGS, SlashedFormat, read_token_lines
from tagwright.sequence import Sentence


class PlainFormat(SlashedFormat):
    """`word word`, read without labels and written with them as `word/TAG word/TAG`."""

    name = "plain"
    description = "one sentence per line, tokens separated by spaces"
    rules = FormatRules(line_is_sentence=True, not_in_labels=NOT_IN_TAGS)

    def detect(self, sample: Sample) -> float:
        return 0.0 if sample.labelled else 0.1

    def find_layout(self, lines: Lines, choice: ColumnChoice) -> Layout:
        layout = super().find_layout(lines, choice)
        if choice.label is not None:
            raise DataError("plain text has no labels, expected word/TAG, columns or CoNLL-U", location=lines.name)
        return replace(layout, label=None)

    def read(self, lines: Lines, layout: Layout, *, labelled: bool) -> Iterator[Sentence]:
        for number, held, tokens in read_token_lines(lines):
            yield Sentence(tokens, None, lines.location(number), held, (), self.name, lines.newline)
