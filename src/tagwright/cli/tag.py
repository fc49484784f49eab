"""`tagwright tag`: sentences in, labelled sentences out, as they come, in constant memory.

    file ─► blocks of bytes, or batches of sentences ─► labels (labelling.py) ─► bytes, in the order of the input

A thread reads, others tag, this one writes (pipeline.py). What is read is sent to be tagged when it is large enough,
and whenever reading would have to wait: so a pipe or a person gets every answer that can be given, and a large file
goes through in large pieces.
"""

from __future__ import annotations

import math
import os
import select
import sys
from argparse import Namespace
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from functools import partial
from itertools import chain
from typing import Any

from tagwright.cli.console import note
from tagwright.cli.corpus import find_source, reading_options, training_layout
from tagwright.cli.labelling import Labelled, Labelling, Tag, Write
from tagwright.cli.output import open_output, write_text
from tagwright.cli.pipeline import Pipeline
from tagwright.errors import DataError, ParameterError
from tagwright.io import FORMATS, Format, Layout, read_like, write_nbest, write_sentence
from tagwright.io.blocks import Blocks
from tagwright.io.lines import Lines, read_chunks, source_name
from tagwright.io.sentences import TextSink
from tagwright.learners import SequenceTagger, load
from tagwright.sequence import Sentence

BATCH_TOKENS = 30_000


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


def choose_ways(arguments: Namespace, model: SequenceTagger) -> tuple[Tag, Write]:
    """How sentences are tagged and written: with their best labels, with probabilities, with several labellings."""
    if arguments.nbest is not None:
        return partial(model.predict_nbest, k=arguments.nbest), partial(write_ranked, model.probabilistic)
    if arguments.marginals:
        return lambda X: zip(model.predict(X), model.predict_marginals(X), strict=True), write_marginals
    return model.predict, write_sentence


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
    source: Any = find_source(arguments.file)
    if source == "-" and sys.stdin is None:
        raise DataError("it is closed; name a file", location="standard input")
    if source == "-":
        source = WatchedInput(sys.stdin.buffer if hasattr(sys.stdin, "buffer") else sys.stdin)
        if sys.stdin.isatty():
            options["format"] = _meet_person(options["format"], model, quiet=arguments.quiet)
    name = source_name(source)
    chunks = Replay(read_chunks(source, name, options.pop("encoding")))
    sentences = read_like(Lines.of_chunks(chunks, name), trained, **options)
    labelling = Labelling(model, sentences.layout, *choose_ways(arguments, model), name)
    pipeline: Pipeline[Labelled] = Pipeline(arguments.threads or os.cpu_count() or 1)
    if labelling.rules is not None and arguments.nbest is None and not arguments.marginals:
        blocks = Blocks(labelling.rules, lambda block: pipeline.submit(partial(labelling.label_block, block)))
        read, flush = partial(blocks.send_all, chunks.replay()), blocks.flush
    else:
        chunks.forget()
        batches = Batches(lambda batch: pipeline.submit(partial(labelling.label_sentences, batch)))
        read, flush = partial(batches.send_all, sentences), batches.flush
    if isinstance(source, WatchedInput):
        source.before_waiting = flush
    return pipeline.run(read)


def _meet_person(format: str, model: SequenceTagger, *, quiet: bool) -> str:
    """What a person at a terminal types: one sentence per line, if the model takes plain words."""
    if format == "auto" and model.encoder_.width == 1:
        format = "plain"
    if not quiet:
        shape = Format.sentence_end if format == "auto" else FORMATS[format].sentence_end
        note(f"reading from the terminal, {shape}; Ctrl-D ends")
    return format


class Batches:
    """Sentences that wait to be tagged together, and are then sent on."""

    def __init__(self, send: Callable[[list[Sentence]], None]) -> None:
        self._send = send
        self._sentences: list[Sentence] = []
        self._n_tokens = 0

    def send_all(self, sentences: Iterable[Sentence]) -> None:
        """All, also those before bad input."""
        try:
            for sentence in sentences:
                self._sentences.append(sentence)
                self._n_tokens += len(sentence)
                if self._n_tokens >= BATCH_TOKENS:
                    self.flush()
        finally:
            self.flush()

    def flush(self) -> None:
        """Send what waits."""
        sentences, self._sentences, self._n_tokens = self._sentences, [], 0
        if sentences:
            self._send(sentences)


class Replay:
    """Chunks that are looked at, and then read from the beginning."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._seen: list[bytes] | None = []

    def __iter__(self) -> Iterator[bytes]:
        for chunk in self._chunks:
            if self._seen is not None:
                self._seen.append(chunk)
            yield chunk

    def replay(self) -> Iterator[bytes]:
        """All chunks."""
        seen, self._seen = self._seen, None
        return chain(seen or [], self._chunks)

    def forget(self) -> None:
        """Keep no more."""
        self._seen = None


class WatchedInput:
    """Standard input that has all that is complete sent on before it waits for more.

    The reader asks for more bytes when it has handed out every sentence that is complete, so nothing is held back. A
    real file is read without Python's buffer: a thread that waits in there would hold its lock when the program ends.
    """

    name = "<stdin>"

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self.before_waiting: Callable[[], None] = lambda: None
        try:
            self._descriptor = stream.fileno()
        except (AttributeError, OSError, ValueError):
            self._descriptor = None

    def read1(self, size: int) -> Any:
        if not self._is_ready():
            self.before_waiting()
        if self._descriptor is not None:
            return os.read(self._descriptor, size)
        read = getattr(self._stream, "read1", None) or self._stream.read
        return read(size)

    def _is_ready(self) -> bool:
        """Whether bytes can be had at once, as far as the system can tell."""
        if os.name == "nt" or self._descriptor is None:  # there, `select` knows sockets alone; no real file
            return False
        try:
            return bool(select.select([self._descriptor], [], [], 0)[0])
        except (OSError, ValueError):
            return False
