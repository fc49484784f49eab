"""What a file format is: an object that detects, reads and writes. One file for each; formats.py lists them.

    first lines ─► detect ─► confidence                 which format is this?
    Lines ─► find_layout ─► Layout                      where do inputs and labels stand?
    Lines, Layout ─► read ─► Sentence, Sentence, ...
    Sentence, labels, Layout ─► write ─► lines

A format knows lines without their ends, never bytes, streams or encodings: those are the business of lines.py. To add
a format, write a subclass of `Format` in a file of its own and add it to the list in formats.py.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Sequence
from typing import ClassVar, NamedTuple

from tagwright.errors import DataError
from tagwright.io.layout import ColumnChoice, Layout
from tagwright.io.lines import HEADER, Lines, is_blank
from tagwright.sequence import Sentence


class Sample(NamedTuple):
    """The start of a file, from which its format is guessed."""

    head: Sequence[str]  # the first sentence: up to 32 lines that are not blank; "" stands last where it ended
    labelled: bool  # whether labels are wanted
    n_inputs: int | None  # how many input columns the model has, where that is known
    trained: Layout | None = None  # how the model's training file was read, where there is a model
    labels: Collection[str] = ()  # of the model
    separator: str | None = None  # between word and tag, where the user says it

    @property
    def mark(self) -> str:
        """What would stand between word and tag."""
        return self.separator or (self.trained.separator if self.trained else "/")

    @property
    def rows(self) -> list[str]:
        return [line for line in self.head if line]


class FormatRules(NamedTuple):
    """How the bytes of a file are split: what blocks.py and tokens.py know of a format."""

    line_is_sentence: bool = (
        False  # of tokens with spaces between; else a line is a token, a blank line ends a sentence
    )
    tagged: bool = False  # what follows the last separator (a slash) of a token is no part of the word
    has_header: bool = False  # line 1 may name the columns
    numbered: bool = False  # CoNLL-U: comments; IDs, of which integers alone are words; labels are put into a column
    not_in_labels: str = ""  # characters


class Format(ABC):
    """A way to write sentences in a text file. Formats have no state: one object serves all files."""

    name: ClassVar[str]  # as the user and the model file call it
    description: ClassVar[str]  # a few words for --help
    endings: ClassVar[tuple[str, ...]] = ()  # of file names that are always of this format
    # A model trained on such items is given them again: no other format has them.
    has_attributes: ClassVar[bool] = False  # items are dicts of attributes
    has_columns: ClassVar[bool] = False  # the user may choose the columns of label and inputs
    fills_column: ClassVar[bool] = False  # labels are written into their column
    # For the fast way from bytes to labels; a class that says nothing of its own is read by `read` alone.
    rules: ClassVar[FormatRules | None] = None
    sentence_end: ClassVar[str] = "blank line after a sentence"  # for a person who types

    @abstractmethod
    def detect(self, sample: Sample) -> float:
        """How sure it is that the file is of this format: 0 (it is not) to 1. See the table in formats.py."""

    def find_layout(self, lines: Lines, choice: ColumnChoice) -> Layout:
        """Where inputs and labels stand, from what the user chose and the first lines.

        Here for formats without columns, which have nothing to choose from.
        """
        if choice.inputs is not None or choice.label not in ("auto", None):
            raise DataError(
                f"found {self.name} text, which has no columns to choose from; leave them out", location=lines.name
            )
        n, trained = choice.n_inputs or 1, choice.trained
        if n > 1 and not self.has_attributes and lines.peek(1):
            which = f" ({trained.describe_inputs()})" if trained else ""
            raise DataError(
                f"found {self.name} text, expected {n} columns for each word, as in training{which}: those after the "
                "word are missing; give each word a line with its columns (and say --format, if the lines have them)",
                location=lines.name,
            )
        return Layout(self.name, 1, separator=choice.separator or (trained.separator if trained else "/"))

    @abstractmethod
    def read(self, lines: Lines, layout: Layout, *, labelled: bool) -> Iterator[Sentence]:
        """The sentences one by one, with labels if `labelled`; anything wrong is a DataError with file and line."""

    @abstractmethod
    def write(
        self, sentence: Sentence, labels: Sequence[str], layout: Layout, values: Sequence[str] | None
    ) -> list[str]:
        """The lines of a sentence with its labels and, where given, their probabilities.

        Where `sentence.format` is this format, `sentence.lines` are kept as they are; else the lines are made from
        `sentence.items`.
        """

    def write_ranked(
        self, sentence: Sentence, labels: Sequence[str], layout: Layout, rank: int, measure: str, value: float
    ) -> list[str]:
        """The lines of one of the best labellings of a sentence, after a line that says which one it is."""
        lines = self.write(sentence, labels, layout, None)
        while lines and is_blank(lines[0]):
            lines = lines[1:]
        return [f"# rank = {rank} {measure} = {value:.6g}", *lines]


def read_header(head: Sequence[str]) -> tuple[str, ...]:
    """The names on a line `# global.columns = ...`, or ()."""
    match = HEADER.match(head[0]) if head else None
    return tuple(match[1].split()) if match else ()


def item_rows(sentence: Sentence, forbidden: str) -> list[tuple[str, ...]]:
    """The input columns of each item, for a writer that makes lines from items. No field may hold a separator."""
    rows = []
    for item in sentence.items:
        if isinstance(item, dict):
            raise DataError(
                "attributes cannot be written as words; write labels alone (crfsuite)", location=sentence.location
            )
        row = (item,) if isinstance(item, str) else item
        for field in row:
            if not field.strip(" ") or any(character in field for character in forbidden):
                raise DataError(
                    f"the format cannot hold the word {field[:60]!r}: it is empty or holds a separator; "
                    "write another format (columns or conllu for words with spaces)",
                    location=sentence.location or None,
                )
        rows.append(row)
    return rows
