"""`tagwright tag`: sentences in, labelled sentences out, as they come, in constant memory.

Sentences are gathered to batches, which are tagged and written at once. A batch ends when it is large enough, and
whenever reading would have to wait: so a pipe or a person gets every answer that can be given, and a large file goes
through in large pieces.
"""

from __future__ import annotations

import math
import os
import select
import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

from tagwright.cli.console import note, notes
from tagwright.cli.corpus import find_source
from tagwright.cli.models import LoadedModel, open_model
from tagwright.cli.output import Output, open_output
from tagwright.errors import ParameterError
from tagwright.io import Layout, Sentences, read_like, write_nbest, write_sentence
from tagwright.learners import SequenceTagger
from tagwright.sequence import Sentence

BATCH_TOKENS = 30_000


def run(arguments: Namespace) -> None:
    """Tag as the command line says."""
    with notes(quiet=arguments.quiet):
        loaded = open_model(arguments.model)
        if arguments.marginals and not loaded.model.probabilistic:
            raise ParameterError(
                f"--marginals: {loaded.model.learner} has no probabilities; train a crf, memm or hmm, or leave it out"
            )
        if arguments.html is not None and not arguments.explain:
            raise ParameterError("--html: there is a page of explained sentences only; give --explain too")
        if arguments.explain:
            explain_order(arguments, loaded)
            return
        with open_output(arguments.output) as output:
            batch = Batch(loaded.model, output, nbest=arguments.nbest, marginals=arguments.marginals)
            for sentence in open_input(arguments, loaded, batch):
                batch.add(sentence)
            batch.flush()


def explain_order(arguments: Namespace, loaded: LoadedModel) -> None:
    """The steps of every sentence, as tables or as a page of pictures."""
    from tagwright.learners import GuidedTagger
    from tagwright.learners._steps import format_steps, steps_page

    model = loaded.model
    if not isinstance(model, GuidedTagger):
        raise ParameterError(f"--explain: {model.learner} labels all tokens at once; train a guided model")
    label = "auto" if arguments.column is None else arguments.column
    source: Any = find_source(arguments.file)
    if source == "-":
        source = sys.stdin.buffer if hasattr(sys.stdin, "buffer") else sys.stdin
    sentences = read_like(source, loaded.layout, format=arguments.format, label=label, inputs=arguments.inputs)
    found = (model.explain(sentence.items) for sentence in sentences)
    if arguments.html is not None:
        Path(arguments.html).write_text(steps_page(list(found)), encoding="utf-8")
        return
    with open_output(arguments.output) as output:
        for steps in found:
            output.write(f"{format_steps(steps)}\n\n")
            output.flush()


def open_input(arguments: Namespace, loaded: LoadedModel, batch: Batch) -> Sentences:
    """The sentences to tag; `batch` learns their layout, and is written out whenever reading has to wait."""
    format = arguments.format
    source: Any = find_source(arguments.file)
    if source == "-":
        source = WatchedInput(sys.stdin.buffer if hasattr(sys.stdin, "buffer") else sys.stdin, batch)
        if sys.stdin.isatty():
            format = _meet_person(format, loaded, quiet=arguments.quiet)
    label = "auto" if arguments.column is None else arguments.column
    sentences = read_like(source, loaded.layout, format=format, label=label, inputs=arguments.inputs)
    batch.layout = sentences.layout
    return sentences


def _meet_person(format: str, loaded: LoadedModel, *, quiet: bool) -> str:
    """What a person at a terminal types: a sentence a line, if the model takes plain words."""
    if format == "auto" and loaded.model.encoder_.width == 1:
        format = "plain"
    if not quiet:
        shape = "one sentence a line, tokens apart by spaces" if format == "plain" else "blank line after a sentence"
        note(f"reading from the terminal, {shape}; Ctrl-D ends")
    return format


class Batch:
    """Sentences that wait to be tagged and written together."""

    def __init__(self, model: SequenceTagger, output: Output, *, nbest: int | None, marginals: bool) -> None:
        self.layout: Layout | None = None
        self._model = model
        self._output = output
        self._nbest = nbest
        self._marginals = marginals
        self._sentences: list[Sentence] = []
        self._n_tokens = 0

    def add(self, sentence: Sentence) -> None:
        self._sentences.append(sentence)
        self._n_tokens += len(sentence)
        if self._n_tokens >= BATCH_TOKENS:
            self.flush()

    def flush(self) -> None:
        """Tag and write what waits."""
        if not self._sentences or self.layout is None:
            return
        sentences, self._sentences, self._n_tokens = self._sentences, [], 0
        X: list[Any] = [sentence.items for sentence in sentences]
        if self._nbest is not None:
            self._write_nbest(sentences, X, self._nbest, self.layout)
        elif self._marginals:
            self._write_marginals(sentences, X, self.layout)
        else:
            for sentence, labels in zip(sentences, self._model.predict(X), strict=True):
                write_sentence(self._output, sentence, labels, self.layout)
        self._output.flush()

    def _write_nbest(self, sentences: list[Sentence], X: list[Any], k: int, layout: Layout) -> None:
        probabilistic = self._model.probabilistic
        measure = "probability" if probabilistic else "score"
        for sentence, ranked in zip(sentences, self._model.predict_nbest(X, k), strict=True):
            shown = [(labels, math.exp(score) if probabilistic else score) for labels, score in ranked]
            write_nbest(self._output, sentence, shown, layout, measure=measure)

    def _write_marginals(self, sentences: list[Sentence], X: list[Any], layout: Layout) -> None:
        found = zip(sentences, self._model.predict(X), self._model.predict_marginals(X), strict=True)
        for sentence, labels, rows in found:
            values = [row[label] for label, row in zip(labels, rows, strict=True)]
            write_sentence(self._output, sentence, labels, layout, marginals=values)


class WatchedInput:
    """Standard input that has the batch written before it waits for more.

    The reader asks for more bytes when it has handed out every sentence that is complete, so nothing is held back.
    """

    name = "<stdin>"

    def __init__(self, stream: Any, batch: Batch) -> None:
        self._stream = stream
        self._batch = batch

    def read1(self, size: int) -> Any:
        if not self._is_ready():
            self._batch.flush()
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
