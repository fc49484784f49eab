"""The one entrance to files: sentences from any format, labels back into any format.

    sentences = read_sentences("train.conllu", label="XPOS")        training: the user says what is what
    sentences.layout                                                ... which the model remembers
    for sentence in read_like("-", layout): ...                     tagging, evaluating: as the model was trained
    write_sentence(stream, sentence, labels, sentences.layout)

A source is a path, "-" for standard input, or a stream (binary or text). Gzip, bzip2 and xz are undone. Sentences come
one by one; the file is never held as a whole. See formats.py for the rules of format="auto", lines.py for what is
refused everywhere.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any, Protocol

from tagwright.errors import DataError
from tagwright.io.format import Format
from tagwright.io.formats import HEAD, detect_format, find_format, format_of_ending
from tagwright.io.layout import Column, ColumnChoice, Layout, is_separator
from tagwright.io.lines import UTF_8, Lines, Source
from tagwright.sequence import Item, Sentence


class TextSink(Protocol):
    """Where text can be written."""

    def write(self, text: str, /) -> object: ...


class Sentences(Iterator[Sentence]):
    """The sentences of one source, in order, once. `layout` says how they are read, before the first is asked for."""

    def __init__(self, name: str, layout: Layout, sentences: Iterator[Sentence]) -> None:
        self.name = name
        self.layout = layout
        self._sentences = sentences

    def __iter__(self) -> Iterator[Sentence]:
        return self._sentences

    def __next__(self) -> Sentence:
        return next(self._sentences)

    def collect(self) -> tuple[list[list[Item]], list[list[str]]]:
        """All items and labels as (X, y), for sentences that are read with labels; their lines are let go. What occurs
        again is the same object: most words do, and strings take more room than anything else of the training data."""
        known: dict[Any, Any] = {}
        X: list[list[Item]] = []
        y: list[list[str]] = []
        for sentence in self:
            assert sentence.labels is not None
            items: list[Any] = list(sentence.items)
            if not isinstance(items[0], dict):  # those are not alike
                items = list(map(known.setdefault, items, items))
            X.append(items)
            y.append(list(map(known.setdefault, sentence.labels, sentence.labels)))
        return X, y


def read_sentences(
    source: Source | Lines,
    *,
    format: str = "auto",
    label: Column | None = "auto",
    inputs: Sequence[Column] | None = None,
    n_inputs: int | None = None,
    encoding: str = UTF_8,
    separator: str | None = None,
) -> Sentences:
    """The sentences of a source.

    `label` is the column of the labels ("auto": the last, UPOS in CoNLL-U); None reads no labels. `inputs` are the
    input columns; without them the first `n_inputs` columns, or all left of the label. `separator`: what stands between
    word and tag, if that is no slash. With labels, a source without sentences is an error; without, it gives none.
    """
    lines = source if isinstance(source, Lines) else Lines(source, encoding)
    labelled, given = label is not None, format != "auto"
    if not given:
        head = lines.peek(HEAD)
        format = detect_format(head, lines.name, labelled=labelled, n_inputs=n_inputs, separator=separator)
    choice = ColumnChoice(label, inputs, n_inputs, separator)
    return _open(lines, find_format(format), choice, labelled, given=given)


def read_like(
    source: Source | Lines,
    trained: Layout,
    *,
    format: str = "auto",
    labelled: bool = False,
    label: Column | None = "auto",
    inputs: Sequence[Column] | None = None,
    encoding: str = UTF_8,
    separator: str | None = None,
    labels: Collection[str] = (),
) -> Sentences:
    """The sentences of a source, for a model trained on a file of the layout `trained`.

    In the format of the training file, its columns are taken; in another one, as many input columns from the left. A
    source that does not have them is refused. `label` and `inputs` override that. With `labelled=False` (tagging),
    labels are not read, and the result's layout names the column that a writer fills; `labels`, those of the model,
    tell a labelled file from plain text.
    """
    lines = source if isinstance(source, Lines) else Lines(source, encoding)
    has_attributes = find_format(trained.format).has_attributes
    if format == "auto":
        head, n = lines.peek(HEAD), trained.n_inputs
        options: dict[str, Any] = {
            "labelled": labelled,
            "n_inputs": n,
            "trained": trained,
            "labels": labels,
            "separator": separator,
        }
        format = (
            format_of_attributes(head, lines.name) if has_attributes else detect_format(head, lines.name, **options)
        )
    chosen = find_format(format)
    if chosen.has_attributes != has_attributes and lines.peek(1):
        kinds = "words", "ready-made attributes (crfsuite)"
        raise DataError(
            f"found {kinds[chosen.has_attributes]}, expected {kinds[has_attributes]} as in training; give such a file, "
            "or name its format (--format)",
            location=lines.name,
        )
    if not labelled and not chosen.fills_column:
        label = None
    return _open(lines, chosen, ColumnChoice(label, inputs, trained.n_inputs, separator, trained), labelled)


def format_of_attributes(head: Sequence[str], name: str) -> str:
    """The format of a file that should have attributes. It looks like columns; what is no column is something else."""
    found = detect_format(head, name)
    return found if format_of_ending(name) or found == "conllu" else "crfsuite"


def _open(lines: Lines, format: Format, choice: ColumnChoice, labelled: bool, *, given: bool = False) -> Sentences:
    if choice.separator is not None and (format.has_columns or format.has_attributes):
        raise DataError(
            f"found {format.name}, where nothing stands between word and tag in a token; leave the separator out",
            location=lines.name,
        )
    if choice.separator is not None and not is_separator(choice.separator):
        raise DataError(f"expected a separator without white space, found {choice.separator!r}", location="separator")
    layout = format.find_layout(lines, choice._replace(labelled=labelled))
    if given:
        layout = replace(layout, given=True)
    sentences = format.read(lines, layout, labelled=labelled)
    return Sentences(lines.name, layout, _at_least_one(sentences, lines.name) if labelled else sentences)


def _at_least_one(sentences: Iterator[Sentence], name: str) -> Iterator[Sentence]:
    first = next(sentences, None)
    if first is None:
        raise no_sentences(name)
    yield first
    yield from sentences


def no_sentences(name: str) -> DataError:
    """The error of a labelled file that has none."""
    return DataError("found no sentences, expected labelled words; the file is empty or blank", location=name)


def write_sentence(
    stream: TextSink,
    sentence: Sentence,
    labels: Sequence[str],
    layout: Layout,
    *,
    marginals: Sequence[float] | None = None,
) -> None:
    """Write a sentence with its labels (and their probabilities), in the layout's format.

    Lines of that format are written back with the labels added (columns) or put in (CoNLL-U); a sentence that was read
    from another format, or built by hand, is written from its items. Plain text becomes slashed text.
    """
    stream.write(_to_text(_write_lines(sentence, labels, layout, marginals), sentence))


def write_nbest(
    stream: TextSink,
    sentence: Sentence,
    ranked: Sequence[tuple[Sequence[str], float]],
    layout: Layout,
    *,
    measure: str = "probability",
) -> None:
    """Write the best labellings of a sentence, best first, each after a line `# rank = 1 probability = 0.93` (JSON
    lines: each with its rank)."""
    format = find_format(layout.format)
    for rank, (labels, value) in enumerate(ranked, 1):
        _check_lengths(sentence, labels, None)
        stream.write(_to_text(format.write_ranked(sentence, labels, layout, rank, measure, value), sentence))


def _to_text(lines: list[str], sentence: Sentence) -> str:
    return sentence.newline.join([*lines, ""])


def _write_lines(
    sentence: Sentence, labels: Sequence[str], layout: Layout, marginals: Sequence[float] | None
) -> list[str]:
    _check_lengths(sentence, labels, marginals)
    values = None if marginals is None else [f"{value:.4f}" for value in marginals]
    return find_format(layout.format).write(sentence, labels, layout, values)


def _check_lengths(sentence: Sentence, labels: Sequence[str], marginals: Sequence[float] | None) -> None:
    if len(labels) != len(sentence.items) or (marginals is not None and len(marginals) != len(labels)):
        raise DataError(
            f"{len(sentence.items)} items but {len(labels)} labels"
            + ("" if marginals is None else f" and {len(marginals)} marginals")
            + "; give every item one",
            location=sentence.location or "labels",
        )
