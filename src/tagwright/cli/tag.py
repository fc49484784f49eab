"""`tagwright tag`: sentences in, labelled sentences out, as they come, in constant memory.

    file ─► parts (parts.py) ─► labels (labelling.py) ─► bytes, in the order of the input

What is read is sent to be tagged when it is large enough, and whenever reading would have to wait: so a pipe or a
person gets every answer that can be given, and a large file goes through in large pieces.
"""

from __future__ import annotations

import math
import sys
from argparse import Namespace
from collections.abc import Generator, Sequence
from contextlib import closing
from functools import partial

from tagwright.cli.console import note
from tagwright.cli.corpus import reading_options, training_layout
from tagwright.cli.first_lines import check_first_lines
from tagwright.cli.labelling import Labelled, Labelling, Ways
from tagwright.cli.output import open_output, write_text
from tagwright.cli.parts import WatchedInput, open_source, work_on_parts
from tagwright.cli.sources import find_sources, keep_inputs, read_together
from tagwright.errors import DataError, ParameterError
from tagwright.io import FORMATS, Format, Layout, Sentences, read_like, write_nbest, write_sentence
from tagwright.io.lines import HEADER, Lines
from tagwright.io.sentences import TextSink
from tagwright.learners import SequenceTagger, load
from tagwright.sequence import Sentence

MAX_HEADER = 1 << 16
"""Bytes in which a line that names the columns is looked for."""


def run(arguments: Namespace) -> None:
    """Tag as the command line says."""
    for target in filter(None, (arguments.output, arguments.html)):  # the labelled file may replace its input
        keep_inputs(target, arguments.model)
    model = load(arguments.model)
    layout = training_layout(model)
    if arguments.marginals and not model.probabilistic:
        raise ParameterError(
            f"--marginals: {model.learner} has no probabilities; train a crf, memm or hmm, or leave it out"
        )
    if arguments.html is not None and not arguments.explain:
        raise ParameterError("--html: there is a page of explained sentences only; give --explain too")
    if arguments.explain:
        explain_order(arguments, model, layout)
        return
    sources = find_sources(arguments.files)
    if arguments.output is not None and len(sources) > 1:
        keep_inputs(arguments.output, *sources)
    with open_output(arguments.output) as output, closing(label_all(arguments, model, layout, sources)) as parts:
        for labelled in parts:
            output.write_bytes(labelled.data)
            output.flush()
            if labelled.error is not None:
                raise labelled.error


def choose_ways(arguments: Namespace, model: SequenceTagger) -> Ways | None:
    """How sentences are tagged and written, if not with their best labels alone: with probabilities, with several
    labellings."""
    if arguments.nbest is not None:
        return partial(model.predict_nbest, k=arguments.nbest), partial(write_ranked, model.probabilistic)
    if arguments.marginals:
        return lambda X: zip(model.predict(X), model.predict_marginals(X), strict=True), write_marginals
    return None


def write_ranked(
    probabilistic: bool, output: TextSink, sentence: Sentence, ranked: list[tuple[list[str], float]], layout: Layout
) -> None:
    shown = [(labels, math.exp(score) if probabilistic else score) for labels, score in ranked]
    write_nbest(output, sentence, shown, layout, measure="probability" if probabilistic else "score")


def write_marginals(
    output: TextSink, sentence: Sentence, found: tuple[list[str], list[dict[str, float]]], layout: Layout
) -> None:
    labels, rows = found
    values = [row[label] for label, row in zip(labels, rows, strict=True)]
    write_sentence(output, sentence, labels, layout, marginals=values)


def explain_order(arguments: Namespace, model: SequenceTagger, layout: Layout) -> None:
    """The steps of every sentence, as tables or as a page of pictures."""
    from tagwright.guided.steps import format_steps, steps_page

    if not model.has_order:
        raise ParameterError(f"--explain: {model.learner} labels all tokens at once; train a guided model")
    options = reading_options(arguments) | {"labels": model.labels_}
    sentences = read_together(find_sources(arguments.files), lambda name: read_like(name, layout, **options))
    found = (model.explain(sentence.items) for sentence in sentences)
    if arguments.html is not None:
        write_text(arguments.html, steps_page(list(found)))
        return
    with open_output(arguments.output) as output:
        for steps in found:
            output.write(f"{format_steps(steps)}\n\n")
            output.flush()


def label_all(
    arguments: Namespace, model: SequenceTagger, trained: Layout, sources: Sequence[str]
) -> Generator[Labelled, None, None]:
    """The labelled input, file by file and part by part: one output, which can be read like each of the files."""
    joint = JointOutput(sources[0])
    for name in sources:
        joint.begin(name)
        with closing(label_input(arguments, model, trained, name, joint)) as parts:
            for labelled in parts:
                yield labelled._replace(data=joint.without_header(labelled.data))


class JointOutput:
    """What several files have to agree on, so that their labelled sentences can follow each other."""

    def __init__(self, first: str) -> None:
        self._first = first
        self._name = first
        self._shape: tuple[object, ...] | None = None
        self._header: bytes | None = None
        self._begins = True

    def begin(self, name: str) -> None:
        """The next file."""
        self._name = name
        self._begins = True

    def check(self, layout: Layout) -> None:
        """Refuse a file that is not written as the first one is."""
        if FORMATS[layout.format].has_columns:
            shape: tuple[object, ...] = layout.format, layout.width, layout.label
            found = f"{layout.format} text with {layout.width} columns"
        else:  # plain text becomes slashed text
            shape = "crfsuite" if FORMATS[layout.format].has_attributes else "slashed", layout.separator
            found = f"{layout.format} text"
        if self._shape not in (None, shape):
            raise DataError(
                f"found {found}, unlike {self._first}; tag such files one by one, or say how they are written "
                "(--format)",
                location=self._name,
            )
        self._shape = shape

    def without_header(self, data: bytes | memoryview) -> bytes | memoryview:
        """A part of the output, but no second line that names the columns."""
        if not self._begins:
            return data
        self._begins = False
        start = bytes(data[:MAX_HEADER])
        line = start.lstrip().partition(b"\n")[0]
        header = line.rstrip() if HEADER.match(line.decode("utf-8", "replace")) else b""
        if self._header is None:
            self._header = header
            return data
        if header != self._header:
            raise DataError(
                f"line 1 names other columns than that of {self._first}; tag such files one by one", location=self._name
            )
        return data[start.index(line) + len(line) + 1 :] if header else data


def label_input(
    arguments: Namespace, model: SequenceTagger, trained: Layout, name: str, joint: JointOutput
) -> Generator[Labelled, None, None]:
    """One file, labelled part by part."""
    options = reading_options(arguments) | {"labels": frozenset(model.labels_)}
    encoding, source = options.pop("encoding"), open_source(name)
    if isinstance(source, WatchedInput) and sys.stdin.isatty():
        options["format"] = _meet_person(options["format"], model, quiet=arguments.quiet)

    def label(lines: Lines) -> tuple[Sentences, Labelling]:
        sentences = read_like(lines, trained, **options)
        if lines.peek(1):
            joint.check(sentences.layout)
        if options["format"] == "auto":
            check_first_lines(model, trained, sentences.layout, lines)
        return sentences, Labelling(model, sentences.layout, lines.name, choose_ways(arguments, model))

    return work_on_parts(source, encoding, arguments.threads, label)


def _meet_person(format: str, model: SequenceTagger, *, quiet: bool) -> str:
    """What a person at a terminal types: one sentence per line, if the model takes plain words."""
    if format == "auto" and model.encoder_.width == 1:
        format = "plain"
    if not quiet:
        shape = Format.sentence_end if format == "auto" else FORMATS[format].sentence_end
        note(f"reading from the terminal, {shape}; Ctrl-D ends")
    return format
