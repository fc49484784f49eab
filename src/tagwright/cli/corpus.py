"""Files as the commands take them: how they are read, labelled sentences read whole (sources.py: where they are)."""

from __future__ import annotations

import os
from argparse import Namespace
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from tagwright.cli.console import note
from tagwright.cli.sources import SAMPLE, find_sources, read_together, shared_files
from tagwright.errors import DataError, ParameterError
from tagwright.io import FORMATS, Layout, Sentences, read_like, read_sentences
from tagwright.io.crfsuite import LAYOUT as CRFSUITE_LAYOUT
from tagwright.io.formats import format_of_ending
from tagwright.io.lines import Lines
from tagwright.io.sentences import no_sentences
from tagwright.learners import SequenceTagger
from tagwright.sequence import Labelled

FEW = 20
"""Tokens from which nothing can be told."""
MANY_LABELS = 300
MOST_TAGS = 1000
"""Distinct values of a column of tags. A column with more (lemmas, say) may well have new ones only."""
NO_VALUE = "_"
"""What stands for an empty field in CoNLL-U, and in many columns."""
LONG = 2000
"""Tokens of a sentence that may be several. The longest of CoNLL-2002 has 1,238."""


@dataclass(frozen=True, slots=True)
class LabelledFile(Labelled):
    """The sentences of a file, its name, and how it was read."""

    name: str
    layout: Layout


def reading_options(arguments: Namespace) -> dict[str, Any]:
    """What the command line says of how a file is read, as `read_like` takes it."""
    label = "auto" if arguments.column is None else arguments.column
    names = "format", "inputs", "encoding", "separator"
    return {"label": label} | {name: getattr(arguments, name) for name in names}


def open_training(arguments: Namespace, names: Sequence[str]) -> Sentences:
    """The sentences of training files; the first lines are read to find their layout, which is that of all."""
    options = reading_options(arguments)
    if names[0] == SAMPLE and options["label"] == "auto":
        from tagwright.datasets import DEFAULT_COLUMN

        options["label"] = DEFAULT_COLUMN
    first: list[Layout] = []

    def open_one(source: str) -> Sentences:
        if first:
            if format_of_ending(source) not in (None, first[0].format) and arguments.format == "auto":
                raise DataError(
                    f"found {format_of_ending(source)} text; expected {describe_layout(first[0])}, as in {sources[0]}: "
                    "train on files that are alike",
                    location=source,
                )
            options["format"] = first[0].format
        sentences = read_sentences(source, **options)
        first.append(sentences.layout)
        if replace(sentences.layout, given=first[0].given) != first[0]:
            next(sentences)  # which refuses an empty file
            if FORMATS[first[0].format].has_columns and not first[0].width:
                raise no_sentences(sources[0])
            raise DataError(
                f"found {describe_layout(sentences.layout)}; expected {describe_layout(first[0])}, as in {sources[0]}: "
                "train on files that are alike",
                location=source,
            )
        return sentences

    sources = find_sources(names)
    return read_together(sources, open_one)


def describe_layout(layout: Layout) -> str:
    """How a file was read, for a message."""
    if not layout.width:
        return f"{layout.format} text, {layout.separator!r} between words and tags"
    label = f"{layout.label} {layout.label_name}".rstrip()
    return f"{layout.width} columns ({layout.format}; inputs {layout.describe_inputs()}; labels {label})"


def open_like(names: str | Lines, trained: Layout, **options: Any) -> Sentences:
    """The sentences of labelled files, a name or pattern, read as the training file was; `options` override that."""
    if isinstance(names, Lines):
        return read_like(names, trained, labelled=True, **options)
    return read_alike(find_sources([names]), trained, **options)


def read_alike(sources: Sequence[str], trained: Layout, **options: Any) -> Sentences:
    """The labelled sentences of several files, which must be in one format."""
    alike = Alike()

    def open_one(source: str) -> Sentences:
        sentences = read_like(source, trained, labelled=True, **options)
        if not alike.has(sentences):
            next(sentences)  # which refuses an empty file
            raise alike.error(sentences)
        return sentences

    return read_together(sources, open_one)


class Alike:
    """Whether files are in the format of the first one. Another one may be there by mistake, as with a pattern."""

    def __init__(self) -> None:
        self._first = ""
        self._format = ""

    def has(self, sentences: Sentences) -> bool:
        if not self._format:
            self._first, self._format = sentences.name, sentences.layout.format
        return sentences.layout.format == self._format

    def error(self, sentences: Sentences) -> DataError:
        return DataError(
            f"found {sentences.layout.format} text, unlike {self._first} ({self._format}); leave it out, or name the "
            "format (--format)",
            location=sentences.name,
        )


def training_layout(model: SequenceTagger) -> Layout:
    """How to read files for a model: as its training file was, or by the columns of its items if there was none."""
    stored = model.info_.get("layout")
    if stored is not None:
        return Layout.from_json(stored, FORMATS)
    width = model.encoder_.width
    return Layout("columns", None, tuple(range(width))) if width else CRFSUITE_LAYOUT


def collect(sentences: Sentences) -> LabelledFile:
    """All sentences."""
    return LabelledFile(*sentences.collect(), clean_name(sentences.name), sentences.layout)


def note_odd_choice(arguments: Namespace, corpus: LabelledFile) -> None:
    """Say what looks odd: sentences of one token each; columns that nobody asked for, and that do not look like words
    and labels."""
    layout = corpus.layout
    if arguments.quiet:
        return
    note_odd_lengths(corpus)
    labels, n = Counter(chain.from_iterable(corpus.y)), corpus.n_tokens
    has_columns, chosen = FORMATS[layout.format].has_columns, arguments.column is not None or SAMPLE in corpus.name
    odd = _what_is_missing(labels, n) or ("" if chosen or not has_columns else _what_is_odd(labels, n))
    if odd:
        which = f" are those of column {layout.label} {layout.label_name}".rstrip() if has_columns else ""
        cure = "; --column chooses another" if has_columns else ""
        note(f"{corpus.name}: the labels{which}{',' if which else ':'} {odd}{cure}")
    if not has_columns:
        return
    if arguments.inputs is None and corpus.X and not isinstance(corpus.X[0][0], Mapping):
        words = Counter(item if isinstance(item, str) else str(item[0]) for items in corpus.X for item in items)  # type: ignore[index]
        if n > FEW and 2 * _count_numbers(words) > n:
            which = layout.describe_inputs().partition(",")[0]
            note(f"{corpus.name}: the words are those of column {which}, mostly numbers; --inputs chooses others")


def note_other_labels(arguments: Namespace, corpus: LabelledFile, held_out: LabelledFile) -> None:
    """Say so where most labels of held-out sentences are none of the training sentences: all scores will be low."""
    labels = Counter(chain.from_iterable(held_out.y))
    known = set(chain.from_iterable(corpus.y))
    other = [label for label, _ in labels.most_common() if label not in known]
    if not arguments.quiet and 2 * sum(labels[label] for label in other) > labels.total():
        note(
            f"{held_out.name}: most labels ({', '.join(other[:5])}{', ...' if len(other) > 5 else ''}) are none of "
            f"{corpus.name} and count as errors. Is this the right column?"
        )
    if not arguments.quiet and isinstance(corpus.X[0][0], tuple):
        for c in range(1, len(corpus.X[0][0])):
            _note_other_values(c, corpus, held_out)


def _note_other_values(c: int, corpus: LabelledFile, held_out: LabelledFile) -> None:
    """Say so where an input column of few values, as of tags, has others in held-out sentences."""
    known = {item[c] for items in corpus.X for item in items}  # type: ignore[index]
    values = Counter(str(item[c]) for items in held_out.X for item in items)  # type: ignore[index]
    other = [value for value, _ in values.most_common() if value not in known]
    if len(known) <= MOST_TAGS and 2 * sum(values[value] for value in other) > values.total():
        shown = ", ".join(other[:5]) + (", ..." if len(other) > 5 else "")
        note(f"{held_out.name}: most values of input {c} ({shown}) are none of {corpus.name}. Right columns?")


def note_shared_files(arguments: Namespace, training: Sequence[str], held_out: str) -> None:
    """Say so where files are trained on and held out as well: their scores are too high."""
    shared = shared_files(training, [held_out])
    if shared and not arguments.quiet:
        more = f" and {len(shared) - 1:,} more" if len(shared) > 1 else ""
        note(f"{shared[0]}{more}: trained on and held out as well, so the scores on it say little; leave it out of one")


def note_odd_lengths(corpus: LabelledFile) -> None:
    """Say so where every sentence has one token, or one has very many: the lines may mean something else."""
    format = FORMATS[corpus.layout.format]
    longest = max(map(len, corpus.X))
    if len(corpus.X) == corpus.n_tokens > FEW:
        cure = "if lines are words, write columns, with a blank line after each sentence"
        note(
            f"{corpus.name}: each of the {corpus.n_tokens:,} sentences has one token, so nothing can be learned from "
            f"neighbours; {format.name}: {format.sentence_end}"
            + (f"; {cure}" if format.rules and format.rules.line_is_sentence else "")
        )
    elif longest > LONG:
        note(f"{corpus.name}: a sentence has {longest:,} tokens; {format.name}: {format.sentence_end}")


def _what_is_missing(labels: Counter[str], n: int) -> str:
    """Why little can be learned from the labels of n tokens, where that is so."""
    if n > FEW and len(labels) == 1:
        return f"{next(iter(labels))[:40]!r} on every token, so there is nothing to learn"
    if 2 * labels[NO_VALUE] > n:
        return f"{NO_VALUE!r} on {labels[NO_VALUE]:,} of {n:,} tokens, which often means that there is none"
    return ""


def _what_is_odd(labels: Counter[str], n: int) -> str:
    """What is odd about the labels of n tokens; nothing, usually."""
    first = ", ".join([label for label, _ in labels.most_common(3)])
    if 2 * _count_numbers(labels) > n:
        return f"mostly numbers ({len(labels):,} labels: {first:.40} ...)"
    if n > FEW and 2 * len(labels) > n:
        return f"nearly all distinct ({len(labels):,} labels of {n:,} tokens: {first:.40} ...)"
    return f"{len(labels):,} labels ({first:.40} ...)" if len(labels) >= MANY_LABELS else ""


def _count_numbers(counts: Counter[str]) -> int:
    return sum(n for text, n in counts.items() if text.isdecimal())


def clean_name(path: str) -> str:
    """The name of a file without its folder, as a model file can hold it: UTF-8."""
    return os.path.basename(path).encode("utf-8", "replace").decode("utf-8")


def is_share(dev: str) -> bool:
    """Whether --dev gives a share of the training sentences, such as 20%."""
    return dev.endswith("%")


def hold_out(corpus: LabelledFile, share: str) -> tuple[LabelledFile, LabelledFile]:
    """Split off a share of the sentences, spread evenly: the rest, and the share."""
    try:
        part = float(share.removesuffix("%")) / 100
    except ValueError:
        part = 0.0
    if not 0 < part < 1:
        raise ParameterError(f"--dev: found {share!r}, expected a file or a share between 0% and 100%")
    n = len(corpus.X)
    held = [i for i in range(n) if int((i + 1) * part + 1e-9) > int(i * part + 1e-9)]
    if not 0 < len(held) < n:
        raise DataError(f"{share} of {n} sentences leaves one side empty; give a file for --dev", location=corpus.name)
    return corpus.take(sorted({*range(n)} - {*held})), corpus.take(held)
