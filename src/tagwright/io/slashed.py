"""Slashed text: `word/TAG word/TAG`, one sentence per line. Another separator may be chosen: `word_TAG`.

A token is split at its LAST slash: `1/2/CD` is the word 1/2. Tokens are separated by spaces or tabs, so neither words
nor tags can hold one. A tag cannot hold a slash, but may be one: `///` is the word / with the tag /. Blank lines are
kept and written back.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tagwright.errors import DataError
from tagwright.io.format import Format, FormatRules, Sample, item_rows
from tagwright.io.layout import Layout
from tagwright.io.lines import Lines, is_blank
from tagwright.sequence import Sentence

ENOUGH = 10
"""Tokens with tags that are no chance, where no model knows the tags."""
NOT_IN_TAGS = " \t\n\r"  # nor the separator, but as the whole tag


class SlashedFormat(Format):
    """`word/TAG word/TAG`. Without labels (tagging), tags are dropped and a token may have none."""

    name = "slashed"
    description = "one sentence per line, word/TAG word/TAG"
    rules = FormatRules(line_is_sentence=True, tagged=True, not_in_labels=NOT_IN_TAGS)
    sentence_end = "one sentence per line, tokens separated by spaces"

    def detect(self, sample: Sample) -> float:
        if sample.labelled and sample.separator is not None:
            return 0.95
        lines = sample.head[:1] if sample.labelled else sample.rows
        parts = split_tokens([token for line in lines for token in list_tokens(line)], sample.mark)
        n = sum(word != "" and tag != "" for word, tag in parts)
        if not parts or 3 * n <= 2 * len(parts):
            return 0.0
        if sample.separator is not None:
            return 0.95
        if sample.labelled:
            return 0.6 if n == len(parts) else 0.55
        if sample.trained is None and n == len(parts) >= ENOUGH:
            return 0.6
        known = sum(word != "" and tag in sample.labels for word, tag in parts)
        return 0.6 if n == len(parts) and 2 * known >= n else 0.0

    def read(self, lines: Lines, layout: Layout, *, labelled: bool) -> Iterator[Sentence]:
        for number, held, tokens in read_token_lines(lines):
            parts = split_tokens(tokens, layout.separator)
            words: list[str] = []
            for token, (word, tag) in zip(tokens, parts):
                if word and tag:
                    words.append(word)
                elif labelled:
                    raise DataError(
                        f"found the token {token[:60]!r}, expected word{layout.separator}TAG; give it a tag, or say "
                        "what stands between words and tags (--separator)",
                        location=lines.location(number),
                    )
                else:
                    words.append(token)
            labels = [tag for _, tag in parts] if labelled else None
            yield Sentence(words, labels, lines.location(number), held, (), self.name, lines.newline)

    def write(
        self, sentence: Sentence, labels: Sequence[str], layout: Layout, values: Sequence[str] | None
    ) -> list[str]:
        """One line of word/TAG (or word/TAG/value), after the blank lines that stood before the sentence."""
        words = [row[0] for row in item_rows(sentence, " \t\n\r")]
        mark = layout.separator
        for label in labels:
            if not is_tag(label, mark):
                raise DataError(
                    f"the label {label!r} cannot be written as word{mark}TAG: it is empty or holds {mark!r} or a "
                    "space; write columns instead, or choose another separator",
                    location=sentence.location or None,
                )
        added = labels if values is None else [f"{label}{mark}{value}" for label, value in zip(labels, values)]
        line = " ".join([f"{word}{mark}{label}" for word, label in zip(words, added)])
        before = [] if sentence.words else sentence.lines[:-1]  # a line was a whole sentence
        return [*filter(is_blank, before), line]


def is_tag(label: str, separator: str) -> bool:
    """Whether a label can stand after a separator, so that the last one is still between word and tag."""
    return bool(label) and (separator not in label or label == separator) and not any(c in label for c in NOT_IN_TAGS)


def split_tokens(tokens: Sequence[str], separator: str) -> list[tuple[str, str]]:
    """Word and tag of each token; one of them is empty where there is no tag."""
    parts = [(word, tag) for word, _, tag in [token.rpartition(separator) for token in tokens]]
    for i, (word, tag) in enumerate(parts):
        if not tag and word.endswith(separator) and word != separator:
            parts[i] = word.removesuffix(separator), separator
    return parts


def list_tokens(line: str) -> list[str]:
    """The tokens of a line, between spaces and tabs."""
    tokens = (line.replace("\t", " ") if "\t" in line else line).split(" ")
    return [token for token in tokens if token] if "" in tokens else tokens


def read_token_lines(lines: Lines) -> Iterator[tuple[int, list[str], list[str]]]:
    """For each line that is not blank: its number, the line with the blank lines before it, its tokens."""
    held: list[str] = []
    for first, batch in lines:
        for i, line in enumerate(batch):
            held.append(line)
            tokens = list_tokens(line)
            if tokens:
                yield first + i, held, tokens
                held = []
