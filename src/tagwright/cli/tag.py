"""`tagwright tag`: sentences in, labelled sentences out, as they come, in constant memory.

    file ─► parts (parts.py) ─► labels (labelling.py) ─► bytes, in the order of the input

What is read is sent to be tagged when it is large enough, and whenever reading would have to wait: so a pipe or a
person gets every answer that can be given, and a large file goes through in large pieces.
"""

from __future__ import annotations

import math
import sys
from argparse import Namespace
from collections.abc import Generator
from contextlib import closing
from functools import partial

from tagwright.cli.console import note
from tagwright.cli.corpus import find_source, reading_options, training_layout
from tagwright.cli.labelling import Labelled, Labelling, Ways
from tagwright.cli.output import open_output, write_text
from tagwright.cli.parts import WatchedInput, open_source, work_on_parts
from tagwright.errors import ParameterError
from tagwright.io import FORMATS, Format, Layout, Sentences, read_like, write_nbest, write_sentence
from tagwright.io.lines import Lines
from tagwright.io.sentences import TextSink
from tagwright.learners import SequenceTagger, load
from tagwright.sequence import Sentence


def run(arguments: Namespace) -> None:
    """Tag as the command line says."""
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
    with open_output(arguments.output) as output, closing(label_input(arguments, model, layout)) as parts:
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
    sentences = read_like(find_source(arguments.file), layout, **reading_options(arguments))
    found = (model.explain(sentence.items) for sentence in sentences)
    if arguments.html is not None:
        write_text(arguments.html, steps_page(list(found)))
        return
    with open_output(arguments.output) as output:
        for steps in found:
            output.write(f"{format_steps(steps)}\n\n")
            output.flush()


def label_input(arguments: Namespace, model: SequenceTagger, trained: Layout) -> Generator[Labelled, None, None]:
    """The labelled input, part by part."""
    options = reading_options(arguments)
    encoding, source = options.pop("encoding"), open_source(arguments.file)
    if isinstance(source, WatchedInput) and sys.stdin.isatty():
        options["format"] = _meet_person(options["format"], model, quiet=arguments.quiet)

    def label(lines: Lines) -> tuple[Sentences, Labelling]:
        sentences = read_like(lines, trained, **options)
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
