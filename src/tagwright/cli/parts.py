"""The parts of a file, each worked on by itself: how `tag` and `evaluate` go through files, in constant memory.

    file ─► blocks of bytes ─► Tokens ─► a result for each          the fast way, without a Python string for a token
            blocks of bytes ─► Sentences ─► a result for each       where a block has anything unusual
            batches of sentences ─► a result for each               other formats, other wishes

A thread reads, others work, the caller gets the results in the order of the file (pipeline.py). What is made of a part
is said by a `PartWork`: labelling.py, scoring.py.
"""

from __future__ import annotations

import os
import re
import select
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np

from tagwright.cli.pipeline import Pipeline
from tagwright.cli.sources import find_source
from tagwright.encode.text import Text
from tagwright.errors import DataError
from tagwright.io import FORMATS, Layout, Sentences
from tagwright.io.blocks import Block, Blocks
from tagwright.io.format import FormatRules
from tagwright.io.lines import Lines, Source, read_chunks, source_name
from tagwright.io.tokens import Tokens, find_rules, read_tokens
from tagwright.learners import SequenceTagger
from tagwright.sequence import Sentence
from tagwright.text.strings import ZEROS, Strings

BATCH_TOKENS = 30_000

Result = TypeVar("Result")


@dataclass(frozen=True)
class PartWork(ABC, Generic[Result]):
    """What is made of each part of a file by a model. Any thread may call it."""

    model: SequenceTagger
    layout: Layout
    name: str  # of the file
    labelled: ClassVar[bool] = False  # whether labels are read

    @abstractmethod
    def of_tokens(self, tokens: Tokens) -> Result:
        """The fast way. After a DataError, the block goes by way of sentences, of which the error is then said."""

    @abstractmethod
    def of_sentences(self, sentences: Sequence[Sentence], error: DataError | None = None) -> Result:
        """The definition. `error`: what is wrong after these sentences."""

    @cached_property
    def rules(self) -> FormatRules | None:
        """How blocks are split; None: there is no fast way."""
        return self._find_rules()

    def _find_rules(self) -> FormatRules | None:
        if self.model.encoder_.width != self.layout.n_inputs:
            return None
        return find_rules(FORMATS[self.layout.format], self.layout, labelled=self.labelled)

    def of_block(self, block: Block) -> Result:
        """The fast way where the block allows it."""
        assert self.rules is not None
        letters = np.frombuffer(block.data + ZEROS, np.uint8)
        tokens = read_tokens(block, letters, self.rules, self.layout, labelled=self.labelled)
        if tokens is not None:
            try:
                return self.of_tokens(tokens)
            except DataError:
                pass
        return self._carefully(block)

    def _carefully(self, block: Block) -> Result:
        """The same, by way of sentences."""
        lines = Lines.of_chunks([block.data], self.name, block.number, block.newline)
        sentences: list[Sentence] = []
        try:
            for sentence in FORMATS[self.layout.format].read(lines, self.layout, labelled=self.labelled):
                sentences.append(sentence)
        except DataError as error:
            return self.of_sentences(sentences, error)
        return self.of_sentences(sentences)

    def text(self, tokens: Tokens) -> Text:
        """The Text that the input columns of tokens are."""
        W = self.layout.n_inputs
        strings = Strings(tokens.letters, tokens.begins[:W].reshape(-1), tokens.ends[:W].reshape(-1))
        return Text.of_strings(strings, tokens.offsets, W)


@contextmanager
def located(sentences: Sequence[Sentence]) -> Iterator[None]:
    """Errors of a model name sentences by their numbers; here they name file and line."""
    try:
        yield
    except DataError as error:
        found = re.fullmatch(r"X\[(\d+)\].*", error.location or "")
        if found is None:
            raise
        message = str(error).removeprefix(f"{error.location}: ")
        raise DataError(message, location=sentences[int(found[1])].location) from None


def work_on_parts(
    source: Source,
    encoding: str,
    threads: int | None,
    begin: Callable[[Lines], tuple[Sentences, PartWork[Result]]],
) -> Generator[Result, None, None]:
    """The results of all parts, in order. `begin` looks at the first lines."""
    name = source_name(source)
    chunks = Replay(read_chunks(source, name, encoding))
    sentences, work = begin(Lines.of_chunks(chunks, name))
    pipeline: Pipeline[Result] = Pipeline(threads or os.cpu_count() or 1)
    if work.rules is not None:
        blocks = Blocks(work.rules, lambda block: pipeline.submit(partial(work.of_block, block)))
        read, flush = partial(blocks.send_all, chunks.replay()), blocks.flush
    else:
        chunks.forget()
        batches = Batches(lambda batch: pipeline.submit(partial(work.of_sentences, batch)))
        read, flush = partial(batches.send_all, sentences), batches.flush
    if isinstance(source, WatchedInput):
        source.before_waiting = flush
    return pipeline.run(read)


def open_source(name: str) -> Source:
    """What a file argument means."""
    source = find_source(name)
    if source != "-":
        return source
    if sys.stdin is None:
        raise DataError("it is closed; name a file", location="standard input")
    return WatchedInput(sys.stdin.buffer if hasattr(sys.stdin, "buffer") else sys.stdin)


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

    def read(self, size: int, /) -> Any:
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
