"""The running model: scores and a chain, asked for labels, marginals or the k best labellings.

Every learner ends here. Sentences are taken in runs that fit the cache. `allowed` restricts positions to some labels;
forbidden transitions are −inf in the chain.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import numpy as np

from tagwright.arrays import Bools, Doubles, Floats, Ints, Longs, Workers, cut_evenly
from tagwright.chain.forward_backward import Chain, expect
from tagwright.chain.kbest import k_best
from tagwright.chain.span_probability import span_probabilities
from tagwright.chain.viterbi import Steps, best_paths
from tagwright.encode.dataset import Dataset
from tagwright.errors import DataError
from tagwright.io.spans import Borders

RUN_TOKENS = 1 << 11


class Scores(Protocol):
    """What scores/ offers: emission rows for a Dataset."""

    n_labels: int
    width: int
    dtype: type[np.floating[Any]]

    @property
    def n_parameters(self) -> int: ...

    def fill_tables(self, workers: Workers) -> None:
        """Make ready for words met since the last time."""

    def emission(self, data: Dataset, first: int, last: int, out: Floats) -> None:
        """The scores of the tokens of the sentences `first` to `last` − 1, into out [n, P]; padding is 0."""


class Decoder:
    """Scores with a chain [Y, Y], [Y], [Y]."""

    def __init__(self, scores: Scores, transition: Doubles, start: Doubles, stop: Doubles) -> None:
        self.scores = scores
        self.chain_scores = (transition, start, stop)
        self._steps: Steps | None = None
        self._chain: Chain | None = None

    def best(self, data: Dataset, allowed: Bools | None = None) -> Ints:
        """The best label of every token [n]."""
        if self._steps is None:
            self._steps = Steps.build(*self.chain_scores, self.scores.dtype)
        labels = np.empty(data.n_tokens, np.int32)
        for first, last, rows in self._runs(data, allowed):
            offsets = data.offsets[first : last + 1]
            found, scores = best_paths(rows, offsets - offsets[0], self._steps)
            self._check_possible(scores, first)
            labels[offsets[0] : offsets[-1]] = found
        return labels

    def marginals(self, data: Dataset, allowed: Bools | None = None) -> tuple[Floats, Doubles]:
        """p(y_t | x) of every token [n, Y], and log Z of every sentence [N]."""
        if self._chain is None:
            self._chain = Chain.build(*self.chain_scores, self.scores.dtype)
        found = np.empty((data.n_tokens, self.scores.n_labels), self.scores.dtype)
        log_z = np.empty(data.n_sentences)
        for first, last, rows in self._runs(data, allowed):
            offsets = data.offsets[first : last + 1]
            log_z[first:last] = expect(rows, offsets - offsets[0], self._chain).log_z
            self._check_possible(log_z[first:last], first)
            found[offsets[0] : offsets[-1]] = rows[:, : self.scores.n_labels]
        return found, log_z

    def best_by_position(self, data: Dataset, allowed: Bools | None = None) -> Ints:
        """The labelling of which the most labels can be expected to be right: max_y Σ_t p(y_t | x). [n]

        Without forbidden transitions that is the most probable label of every position; with them, Viterbi over the
        marginals, on the transitions that are not forbidden.
        """
        marginals, _ = self.marginals(data, allowed)
        if all(np.isfinite(part).all() for part in self.chain_scores):
            return np.asarray(marginals.argmax(axis=1), np.int32)
        rows = np.zeros((data.n_tokens, self.scores.width))
        rows[:, : self.scores.n_labels] = marginals if allowed is None else np.where(allowed, marginals, -np.inf)
        transition, start, stop = (np.where(np.isfinite(part), 0.0, -np.inf) for part in self.chain_scores)
        labels, scores = best_paths(rows, data.offsets, Steps.build(transition, start, stop, np.float64))
        self._check_possible(scores, 0)
        return labels

    def span_probabilities(
        self, data: Dataset, spans: Sequence[Longs], borders: Borders, allowed: Bools | None = None
    ) -> list[Doubles]:
        """For every sentence the probabilities [K] of its spans [K, 3] (begin, end, number of the type)."""
        found = []
        for first, last, rows in self._runs(data, allowed):
            for i in range(first, last):
                begin, end = data.offsets[i : i + 2] - data.offsets[first]
                rules = (borders.begins, borders.goes_on, borders.type)
                empty = len(spans[i]) == 0
                found.append(
                    np.empty(0) if empty else span_probabilities(rows[begin:end], self.chain_scores, *rules, spans[i])
                )
        return found

    def k_best(self, data: Dataset, k: int, allowed: Bools | None = None) -> Iterator[tuple[Longs, Doubles]]:
        """For every sentence, its k best labellings [K, T] and their scores [K], best first."""
        for first, last, rows in self._runs(data, allowed):
            for i in range(first, last):
                begin, end = data.offsets[i : i + 2] - data.offsets[first]
                emission = rows[begin:end, : self.scores.n_labels].astype(np.float64)
                paths, scores = k_best(emission, *self.chain_scores, k)
                self._check_possible(scores[:1] if len(scores) else np.array([-np.inf]), i)
                yield paths, scores

    def _runs(self, data: Dataset, allowed: Bools | None) -> Iterator[tuple[int, int, Floats]]:
        """Runs of sentences with their emission rows, constraints put in."""
        cuts = cut_evenly(data.lengths, max(1, data.n_tokens // RUN_TOKENS)) if data.n_sentences else []
        for first, last in cuts:
            begin, end = int(data.offsets[first]), int(data.offsets[last])
            rows = np.empty((end - begin, self.scores.width), self.scores.dtype)
            self._emission(data, first, last, rows)
            if allowed is not None:
                rows[:, : self.scores.n_labels][~allowed[begin:end]] = -np.inf
            yield first, last, rows

    def _emission(self, data: Dataset, first: int, last: int, out: Floats) -> None:
        """The emission rows of the sentences `first` to `last` − 1, into out [n, P]."""
        self.scores.emission(data, first, last, out)

    def _check_possible(self, scores: Doubles, first: int) -> None:
        impossible = np.flatnonzero(~(scores > -np.inf))
        if len(impossible):
            raise DataError(
                "no labelling is possible: the allowed labels and the forbidden transitions contradict each other",
                place=f"X[{first + int(impossible[0])}]",
            )
