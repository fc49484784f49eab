"""Plain text: tokens apart by spaces or tabs, one sentence a line; labels are written as slashed text.

There is no tokeniser: "Hello, world" is two tokens. Blank lines are kept and written back, so that line n of the output
belongs to line n of the input.
"""

from __future__ import annotations

from collections.abc import Iterator

from tagwright.io.lines import Lines
from tagwright.io.slashed import read_token_lines
from tagwright.sequence import Sentence


def read_plain(lines: Lines) -> Iterator[Sentence]:
    """The sentences of plain text."""
    for number, held, tokens in read_token_lines(lines):
        yield Sentence(tokens, None, lines.location(number), held, (), "plain", lines.newline)
