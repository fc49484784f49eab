"""Sentences to predict, cut into batches: each is encoded and decoded by itself, on its thread.

    X, allowed ─► Request ─► Text and mask, run by run ─► decode ─► results

Empty sentences are not in a batch. Errors name the sentence as the user counts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from tagwright.arrays import Bools, Longs, Workers, count_jobs
from tagwright.encode.text import Sentences, Text, list_sentences, sentence_offsets
from tagwright.errors import DataError
from tagwright.learners._labels import allowed_mask, list_allowed

BATCH_TOKENS, LEAST_TOKENS, BATCHES = 1 << 16, 1 << 12, 4
Allowed = Sequence[Sequence[object]]
SentenceRange = tuple[int, int]
"""The first sentence of a batch, and the end of its last."""
Result = TypeVar("Result")
Decode = Callable[[Text, Bools | None], Result]


class Request(NamedTuple):
    """What the user asks to be labelled. The lists are copies: one that is changed meanwhile does no harm."""

    sentences: Sentences  # [N]
    allowed: list[Sequence[object]] | None  # [N]
    offsets: Longs  # [N + 1] where every sentence begins
    n_empty: int  # sentences without items
    runs: list[SentenceRange]  # a batch each

    @classmethod
    def build(cls, X: Sentences, allowed: Allowed | None, n_jobs: int | None = None) -> Request:
        """Four batches for each of so many threads, more of a long text: no thread waits long for the last one."""
        sentences = list_sentences(X)
        offsets, n_empty = sentence_offsets(sentences)
        most = BATCH_TOKENS
        if n_jobs not in (None, 1):
            most = min(most, max(LEAST_TOKENS, -(-int(offsets[-1]) // (BATCHES * count_jobs(n_jobs)))))
        entries = None if allowed is None else list_allowed(allowed, len(sentences))
        return cls(sentences, entries, offsets, n_empty, _runs(offsets, most))

    def decode(self, width: int, labels: list[str], run: SentenceRange, decode: Decode[Result]) -> tuple[Result, Longs]:
        """What `decode` makes of one batch, and where all of its sentences, the empty ones too, begin. width: columns
        of an item, as in training."""
        first, last = run
        offsets = self.offsets[first : last + 1]
        if first:
            offsets = offsets - offsets[0]
        present = np.flatnonzero(np.diff(offsets)) if self.n_empty else None
        try:
            return decode(*self._read(width, labels, run, offsets, present)), offsets
        except DataError as error:
            raise _renumber(error, np.arange(first, last) if present is None else first + present) from None

    def _read(
        self, width: int, labels: list[str], run: SentenceRange, offsets: Longs, present: Longs | None
    ) -> tuple[Text, Bools | None]:
        part = self.sentences[slice(*run)]
        entries = None if self.allowed is None else self.allowed[slice(*run)]
        if present is not None:
            part = [part[i] for i in present.tolist()]
            entries = None if entries is None else [entries[i] for i in present.tolist()]
            offsets = np.append(offsets[present], offsets[-1])
        text = Text.build(part, width=width, offsets=offsets)
        return text, None if entries is None else allowed_mask(entries, text, labels)


def _renumber(error: DataError, numbers: Longs) -> DataError:
    """An error at sentence i of a batch, which is sentence numbers[i] of the user's."""
    found = re.fullmatch(r"(X|allowed)\[(\d+)\](.*)", error.location or "")
    if found is None:
        return error
    name, i, rest = found.groups()
    return DataError(str(error).removeprefix(f"{error.location}: "), location=f"{name}[{numbers[int(i)]}]{rest}")


def map_runs(task: Callable[[SentenceRange], Result], runs: list[SentenceRange], n_jobs: int | None) -> list[Result]:
    """task(run) of every run, on so many threads."""
    if n_jobs is None or n_jobs == 1 or len(runs) == 1:
        return [task(run) for run in runs]
    found: list[Any] = [None] * len(runs)

    def work(number: int, run: SentenceRange) -> None:
        found[number] = task(run)

    workers = Workers(count_jobs(n_jobs))
    try:
        workers.run(work, enumerate(runs))
    finally:
        workers.close()
    return found


def _runs(offsets: Longs, most: int) -> list[SentenceRange]:
    """Runs of sentences of about so many tokens."""
    n, first, runs = len(offsets) - 1, 0, []
    if offsets[-1] <= most:
        return [(0, n)]
    while first < n:
        last = min(int(np.searchsorted(offsets[1:], offsets[first] + most)) + 1, n)
        runs.append((first, last))
        first = last
    return runs
