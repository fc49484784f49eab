"""Slashed text: `word/TAG word/TAG`, one sentence per line.

A token is split at its LAST slash: `1/2/CD` is the word 1/2. Tokens are separated by spaces or tabs, so neither words
nor tags can hold one, and a tag cannot hold a slash. Blank lines are kept and written back.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tagwright.errors import DataError
from tagwright.io.columns import split_line
from tagwright.io.format import Format, FormatRules, Sample, item_rows
from tagwright.io.layout import Layout
from tagwright.io.lines import Lines, is_blank
from tagwright.sequence import Sentence

NOT_IN_TAGS = "/ \t\n\r"


class SlashedFormat(Format):
    """`word/TAG word/TAG`. Without labels (tagging), tags are dropped and a token may have none."""

    name = "slashed"
    description = "one sentence per line, word/TAG word/TAG"
    rules = FormatRules(line_is_sentence=True, tagged=True, not_in_labels=NOT_IN_TAGS)
    sentence_end = "one sentence per line, tokens separated by spaces"

    def detect(self, sample: Sample) -> float:
        tokens = split_line(sample.head[0]) if sample.head else []
        parts = [token.rpartition("/") for token in tokens]
        return 0.6 if sample.labelled and parts and all(word and tag for word, _, tag in parts) else 0.0

    def read(self, lines: Lines, layout: Layout, *, labelled: bool) -> Iterator[Sentence]:
        for number, held, tokens in read_token_lines(lines):
            parts = [token.rpartition("/") for token in tokens]
            words: list[str] = []
            for token, (word, _, tag) in zip(tokens, parts):
                if word and tag:
                    words.append(word)
                elif labelled:
                    raise DataError(
                        f"found the token {token[:60]!r}, expected word/TAG; give it a tag, with a slash between",
                        location=lines.location(number),
                    )
                else:
                    words.append(token)
            labels = [tag for _, _, tag in parts] if labelled else None
            yield Sentence(words, labels, lines.location(number), held, (), self.name, lines.newline)

    def write(
        self, sentence: Sentence, labels: Sequence[str], layout: Layout, values: Sequence[str] | None
    ) -> list[str]:
        """One line of word/TAG (or word/TAG/value), after the blank lines that stood before the sentence."""
        words = [row[0] for row in item_rows(sentence, " \t\n\r")]
        for label in labels:
            if not label or any(character in label for character in NOT_IN_TAGS):
                raise DataError(
                    f"the label {label!r} cannot be written as word/TAG: it is empty or holds a slash or a space; "
                    "write columns instead",
                    location=sentence.location or None,
                )
        added = labels if values is None else [f"{label}/{value}" for label, value in zip(labels, values)]
        line = " ".join([f"{word}/{label}" for word, label in zip(words, added)])
        before = [] if sentence.words else sentence.lines[:-1]  # a line was a whole sentence
        return [*filter(is_blank, before), line]


def read_token_lines(lines: Lines) -> Iterator[tuple[int, list[str], list[str]]]:
    """For each line that is not blank: its number, the line with the blank lines before it, its tokens."""
    held: list[str] = []
    for first, batch in lines:
        for i, line in enumerate(batch):
            held.append(line)
            tokens = (line.replace("\t", " ") if "\t" in line else line).split(" ")
            if "" in tokens:
                tokens = [token for token in tokens if token]
            if tokens:
                yield first + i, held, tokens
                held = []
