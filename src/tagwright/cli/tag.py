"""`tagwright tag`: sentences in, labelled sentences out, as they come, in constant memory.

Sentences are gathered to batches, which are tagged and written at once. A batch ends when it is large enough, and
whenever reading would have to wait: so a pipe or a person gets every answer that can be given, and a large file goes
through in large pieces. While a thread tags a batch, the one before it is written and the one after it is read.
"""

from __future__ import annotations

import math
import os
import select
import sys
from argparse import Namespace
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from functools import partial
from threading import Thread
from typing import Any, Self

from tagwright.cli.console import note
from tagwright.cli.corpus import find_source, reading_options, training_layout
from tagwright.cli.output import Output, open_output, write_text
from tagwright.errors import ParameterError
from tagwright.io import FORMATS, Format, Layout, Sentences, read_like, write_nbest, write_sentence
from tagwright.learners import SequenceTagger, load
from tagwright.sequence import Sentence

BATCH_TOKENS = 30_000

Tag = Callable[[list[Any]], Iterable[Any]]
"""From the items of a batch to what was found for each sentence."""
Write = Callable[[Output, Sentence, Any, Layout], None]
"""Writes what was found for one sentence."""


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
    with (
        open_output(arguments.output) as output,
        Batches(output, *choose_ways(arguments, model)) as batches,
    ):
        for sentence in open_input(arguments, model, layout, batches):
            batches.add(sentence)
        batches.flush()


def choose_ways(arguments: Namespace, model: SequenceTagger) -> tuple[Tag, Write]:
    """How sentences are tagged and written: with their best labels, with probabilities, with several labellings."""
    if arguments.nbest is not None:
        return partial(model.predict_nbest, k=arguments.nbest), partial(write_ranked, model.probabilistic)
    if arguments.marginals:
        return lambda X: zip(model.predict(X), model.predict_marginals(X), strict=True), write_marginals
    return model.predict, write_sentence


def write_ranked(
    probabilistic: bool, output: Output, sentence: Sentence, ranked: list[tuple[list[str], float]], layout: Layout
) -> None:
    shown = [(labels, math.exp(score) if probabilistic else score) for labels, score in ranked]
    write_nbest(output, sentence, shown, layout, measure="probability" if probabilistic else "score")


def write_marginals(
    output: Output, sentence: Sentence, found: tuple[list[str], list[dict[str, float]]], layout: Layout
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


def open_input(arguments: Namespace, model: SequenceTagger, layout: Layout, batches: Batches) -> Sentences:
    """The sentences to tag; `batches` learn their layout, and are written out whenever reading has to wait."""
    options = reading_options(arguments)
    source: Any = find_source(arguments.file)
    if source == "-":
        source = WatchedInput(sys.stdin.buffer if hasattr(sys.stdin, "buffer") else sys.stdin, batches)
        if sys.stdin.isatty():
            options["format"] = _meet_person(options["format"], model, quiet=arguments.quiet)
    sentences = read_like(source, layout, **options)
    batches.layout = sentences.layout
    return sentences


def _meet_person(format: str, model: SequenceTagger, *, quiet: bool) -> str:
    """What a person at a terminal types: one sentence per line, if the model takes plain words."""
    if format == "auto" and model.encoder_.width == 1:
        format = "plain"
    if not quiet:
        shape = Format.sentence_end if format == "auto" else FORMATS[format].sentence_end
        note(f"reading from the terminal, {shape}; Ctrl-D ends")
    return format


class Batches:
    """Sentences that wait to be tagged and written together, and those that are being tagged."""

    def __init__(self, output: Output, tag: Tag, write: Write) -> None:
        self.layout: Layout | None = None
        self._output = output
        self._tag = tag
        self._write = write
        self._sentences: list[Sentence] = []
        self._n_tokens = 0
        self._tagged: tuple[list[Sentence], Future[Any]] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Where bad input was found, what came before it is written; after Ctrl-C nobody waits for a batch."""
        if kind is not None and issubclass(kind, Exception):
            self._write_tagged()

    def add(self, sentence: Sentence) -> None:
        self._sentences.append(sentence)
        self._n_tokens += len(sentence)
        if self._n_tokens >= BATCH_TOKENS:
            self._send()

    def flush(self) -> None:
        """Tag and write what waits."""
        if self._sentences and self.layout is not None:
            self._send()
        self._write_tagged()

    def _send(self) -> None:
        """Have what waits tagged; meanwhile write the batch before."""
        sentences, self._sentences, self._n_tokens = self._sentences, [], 0
        tagging = begin_tagging(self._tag, [sentence.items for sentence in sentences])
        self._write_tagged()
        self._tagged = sentences, tagging

    def _write_tagged(self) -> None:
        if self._tagged is None or self.layout is None:
            return
        (sentences, tagging), self._tagged = self._tagged, None
        for sentence, found in zip(sentences, tagging.result(), strict=True):
            self._write(self._output, sentence, found, self.layout)
        self._output.flush()


def begin_tagging(tag: Tag, X: list[Any]) -> Future[Any]:
    """Have a batch tagged by a thread of its own, for which the program does not wait when it ends."""
    found: Future[Any] = Future()

    def work() -> None:
        try:
            found.set_result(tag(X))
        except BaseException as error:  # raised again by `found.result`
            found.set_exception(error)

    Thread(target=work, daemon=True).start()
    return found


class WatchedInput:
    """Standard input that has all batches written before it waits for more.

    The reader asks for more bytes when it has handed out every sentence that is complete, so nothing is held back.
    """

    name = "<stdin>"

    def __init__(self, stream: Any, batches: Batches) -> None:
        self._stream = stream
        self._batches = batches

    def read1(self, size: int) -> Any:
        if not self._is_ready():
            self._batches.flush()
        read = getattr(self._stream, "read1", None) or self._stream.read
        return read(size)

    def _is_ready(self) -> bool:
        """Whether bytes can be had at once, as far as the system can tell."""
        if os.name == "nt":  # there, `select` knows sockets alone
            return False
        try:
            return bool(select.select([self._stream], [], [], 0)[0])
        except (OSError, ValueError):  # no real file
            return False
