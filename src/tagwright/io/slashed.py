"""Slashed text: `word/TAG word/TAG`, one sentence a line.

A token is split at its LAST slash: `1/2/CD` is the word 1/2. Tokens are apart by spaces or tabs, so neither words nor
tags can hold one, and a tag cannot hold a slash. Blank lines are kept and written back.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tagwright.errors import DataError
from tagwright.io.columns import rows_of
from tagwright.io.lines import Lines, is_blank
from tagwright.sequence import Sentence


def read_slashed(lines: Lines, *, labelled: bool) -> Iterator[Sentence]:
    """The sentences of slashed text. Without labels (tagging), tags are dropped and a token may have none."""
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
        yield Sentence(words, labels, lines.location(number), held, (), "slashed", lines.newline)


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


def write_slashed(sentence: Sentence, labels: Sequence[str], values: Sequence[str] | None = None) -> list[str]:
    """One line of word/TAG (or word/TAG/value), after the blank lines that stood before the sentence."""
    words = [row[0] for row in rows_of(sentence, " \t\n\r")]
    for label in labels:
        if not label or any(character in label for character in "/ \t\n\r"):
            raise DataError(
                f"the label {label!r} cannot be written as word/TAG: it is empty or holds a slash or a space; write "
                "columns instead",
                location=sentence.location or None,
            )
    added = labels if values is None else [f"{label}/{value}" for label, value in zip(labels, values)]
    line = " ".join([f"{word}/{label}" for word, label in zip(words, added)])
    kept = sentence.lines[:-1] if sentence.format in ("slashed", "plain") else []
    return [*[line for line in kept if is_blank(line)], line]
