"""The running model: scores and a chain, asked for labels, marginals or the k best labellings.

Every learner ends here. Sentences are taken in runs that fit the cache. `allowed` restricts positions to some labels;
forbidden transitions are −inf in the chain. A tag dictionary restricts words: then, and where label trigrams have
weights, the kernels for candidate lists are used; but the best labels by linear scores come from scores/tagging.py.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import numpy as np

from tagwright.arrays import Bools, Doubles, Floats, Ints, Longs, cut_evenly, empty_rows
from tagwright.attributes.lexicon import TagDictionary
from tagwright.chain.candidates import Candidates
from tagwright.chain.forward_backward import Chain
from tagwright.chain.label_chain import LabelChain, LabelSteps
from tagwright.chain.second_order import SecondOrderChain, SecondOrderSteps
from tagwright.chain.span_probability import span_probabilities
from tagwright.chain.trigrams import Trigrams
from tagwright.chain.viterbi import Steps
from tagwright.encode.batch import Batch
from tagwright.encode.encoder import Encoder
from tagwright.encode.text import Text
from tagwright.errors import DataError, ParameterError
from tagwright.io.spans import Borders
from tagwright.scores.attribute_tagging import AttributeTagging
from tagwright.scores.linear import LinearScores
from tagwright.scores.tagging import LinearTagging

RUN_TOKENS = 1 << 11
READY_LABELS = 200
TOO_LARGE = "attribute values are too large; scale them down"


class Rows(Protocol):
    """The scores of one batch."""

    def emission(self, first: int, last: int, out: Floats) -> None:
        """The scores of the tokens of the sentences `first` to `last` − 1, into out [n, P]; padding is 0."""


class Scores(Protocol):
    """What scores/ offers: emission rows for a Batch."""

    @property
    def n_labels(self) -> int: ...

    @property
    def width(self) -> int: ...

    @property
    def dtype(self) -> type[np.floating[Any]]: ...

    @property
    def n_parameters(self) -> int: ...

    def rows(self, batch: Batch) -> Rows:
        """Those of one batch."""


class Decoder:
    """Scores with a chain [Y, Y], [Y], [Y]; with label trigrams it is of second order."""

    def __init__(
        self,
        scores: Scores,
        transition: Doubles,
        start: Doubles,
        stop: Doubles,
        *,
        dictionary: TagDictionary | None = None,
        trigrams: Trigrams | None = None,
    ) -> None:
        self.scores = scores
        self.chain_scores = (transition, start, stop)
        self.dictionary = dictionary
        self.trigrams = trigrams
        self._steps: LabelSteps | None = None
        self._tagging: LinearTagging | None = None
        self._attribute_tagging: AttributeTagging | None = None
        self._chain: LabelChain | None = None

    def make_ready(self) -> None:
        """Make what tagging needs now rather than at the first sentence; a thousand labels would take a second."""
        if self.scores.n_labels > READY_LABELS:
            return
        if self._plain:
            self._ready_tagging()
        else:
            self._ready_steps()

    def tag(self, encoder: Encoder, text: Text, allowed: Bools | None = None) -> Ints:
        """The best label of every token of a text [n]."""
        if not self._plain or allowed is not None:
            return self.best(encoder.encode(text), allowed)
        if encoder.features is None:
            found = self._ready_attribute_tagging().best_of_text(text)
            if found is None:
                return self.best(encoder.encode(text))
        else:
            found = self._ready_tagging().best_of_text(text)
        labels, scores = found
        self._check_possible(scores, 0)
        return labels

    def best(self, data: Batch, allowed: Bools | None = None) -> Ints:
        """The best label of every token [n]."""
        if self._plain and allowed is None:
            sets = None if self.dictionary is None else self.dictionary.find(data.forms)
            labels, scores = self._ready_tagging().best(data, sets)
            self._check_possible(scores, 0)
            return labels
        candidates = self._candidates(data)
        labels = np.empty(data.n_tokens, np.int32)
        for first, last, rows in self._runs(data, allowed):
            offsets = data.offsets[first : last + 1]
            found, scores = self._best_paths(rows, offsets - offsets[0], self._part(candidates, offsets))
            self._check_possible(scores, first)
            labels[offsets[0] : offsets[-1]] = found
        return labels

    def marginals(self, data: Batch, allowed: Bools | None = None) -> tuple[Floats, Doubles]:
        """p(y_t | x) of every token [n, Y], and log Z of every sentence [N]."""
        found = np.empty((data.n_tokens, self.scores.n_labels), self.scores.dtype)
        log_z = np.empty(data.n_sentences)
        candidates = self._candidates(data)
        for first, last, rows in self._runs(data, allowed):
            offsets = data.offsets[first : last + 1]
            log_z[first:last] = self._expect(rows, offsets - offsets[0], self._part(candidates, offsets))
            self._check_possible(log_z[first:last], first)
            found[offsets[0] : offsets[-1]] = rows[:, : self.scores.n_labels]
        return found, log_z

    def best_by_position(self, data: Batch, allowed: Bools | None = None) -> Ints:
        """The labelling of which the most labels can be expected to be right: max_y Σ_t p(y_t | x). [n]

        Without forbidden transitions that is the most probable label of every position; with them, Viterbi over the
        marginals, on the transitions that are not forbidden.
        """
        marginals, _ = self.marginals(data, allowed)
        if all(np.isfinite(part).all() for part in self.chain_scores):
            return np.asarray(marginals.argmax(axis=1), np.int32)
        rows = np.zeros((data.n_tokens, self.scores.width))
        possible = self._possible(data, allowed)
        rows[:, : self.scores.n_labels] = marginals if possible is None else np.where(possible, marginals, -np.inf)
        transition, start, stop = (np.where(np.isfinite(part), 0.0, -np.inf) for part in self.chain_scores)
        labels, scores = Steps.build(transition, start, stop, np.float64).best_paths(rows, data.offsets)
        self._check_possible(scores, 0)
        return labels

    def span_probabilities(
        self, data: Batch, spans: Sequence[Longs], borders: Borders, allowed: Bools | None = None
    ) -> list[Doubles]:
        """For every sentence the probabilities [K] of its spans [K, 3] (begin, end, number of the type)."""
        if self.trigrams is not None:
            raise ParameterError("probabilities of spans are known in models of first order only; train with order=1")
        found = []
        for first, last, rows in self._runs(data, self._possible(data, allowed)):
            for i in range(first, last):
                begin, end = data.offsets[i : i + 2] - data.offsets[first]
                rules = (borders.begins, borders.goes_on, borders.type)
                empty = len(spans[i]) == 0
                found.append(
                    np.empty(0) if empty else span_probabilities(rows[begin:end], self.chain_scores, *rules, spans[i])
                )
        return found

    def k_best(self, data: Batch, k: int, allowed: Bools | None = None) -> Iterator[tuple[Longs, Doubles]]:
        """For every sentence, its k best labellings [K, T] and their scores [K], best first."""
        candidates = self._candidates(data)
        for first, last, rows in self._runs(data, allowed):
            for i in range(first, last):
                begin, end = data.offsets[i : i + 2] - data.offsets[first]
                emission = rows[begin:end, : self.scores.n_labels].astype(np.float64)
                paths, scores = self._k_best(emission, k, self._part(candidates, data.offsets[i : i + 2]))
                self._check_possible(scores[:1] if len(scores) else np.array([-np.inf]), i)
                yield paths, scores

    # ---- the chain, of first or second order ----

    def _candidates(self, data: Batch) -> Candidates | None:
        """The candidate labels of every token; None: all."""
        words = self.dictionary
        return None if words is None else Candidates(words.find(data.forms), words.pointers, words.labels)

    def _possible(self, data: Batch, allowed: Bools | None) -> Bools | None:
        """What is allowed and in the dictionary [n, Y]; None: everything."""
        candidates = self._candidates(data)
        if candidates is None:
            return allowed
        mask = candidates.mask(self.scores.n_labels)
        return mask if allowed is None else mask & allowed

    def _part(self, candidates: Candidates | None, offsets: Longs) -> Candidates | None:
        return None if candidates is None else candidates.part(int(offsets[0]), int(offsets[-1]))

    def _best_paths(self, rows: Floats, offsets: Longs, candidates: Candidates | None) -> tuple[Ints, Doubles]:
        return self._ready_steps().best_paths(rows, offsets, candidates)

    def _expect(self, rows: Floats, offsets: Longs, candidates: Candidates | None) -> Doubles:
        """log Z of every sentence; rows become marginals."""
        if self._chain is None:
            dtype, trigrams = self.scores.dtype, self.trigrams
            first = Chain.build(*self.chain_scores, dtype)
            self._chain = first if trigrams is None else SecondOrderChain.build(first, trigrams, dtype)
        return self._chain.expect(rows, offsets, candidates=candidates, out=rows).log_z

    def _k_best(self, emission: Doubles, k: int, candidates: Candidates | None) -> tuple[Longs, Doubles]:
        return self._ready_steps().k_best(emission, k, candidates)

    def _ready_steps(self) -> LabelSteps:
        if self._steps is None:
            chain, dtype = self.chain_scores, self.scores.dtype
            if self.trigrams is None:
                self._steps = Steps.build(*chain, dtype)
            else:
                self._steps = SecondOrderSteps.build(chain, self.trigrams, dtype)
        return self._steps

    def _ready_tagging(self) -> LinearTagging:
        if self._tagging is None:
            self._steps = steps = Steps.build(*self.chain_scores, self.scores.dtype)
            assert isinstance(self.scores, LinearScores)
            self._tagging = LinearTagging(self.scores, steps, self.dictionary)
        return self._tagging

    def _ready_attribute_tagging(self) -> AttributeTagging:
        if self._attribute_tagging is None:
            assert isinstance(self.scores, LinearScores)
            steps = Steps.build(*self.chain_scores, self.scores.dtype)
            self._attribute_tagging = AttributeTagging(self.scores, steps)
        return self._attribute_tagging

    def _runs(self, data: Batch, allowed: Bools | None) -> Iterator[tuple[int, int, Floats]]:
        """Runs of sentences with their emission rows, constraints put in."""
        cuts = cut_evenly(data.lengths, max(1, data.n_tokens // RUN_TOKENS)) if data.n_sentences else []
        scored = self.scores.rows(data)
        for first, last in cuts:
            begin, end = int(data.offsets[first]), int(data.offsets[last])
            rows = empty_rows((end - begin, self.scores.width), self.scores.dtype)
            self._emission(scored, data, first, last, rows)
            if allowed is not None:
                rows[:, : self.scores.n_labels][~allowed[begin:end]] = -np.inf
            yield first, last, rows

    @property
    def _plain(self) -> bool:
        """Whether rows are linear scores, and nothing but, in a chain of first order: then there is a quicker way."""
        return isinstance(self.scores, LinearScores) and self.trigrams is None and type(self) is Decoder

    def _emission(self, scored: Rows, data: Batch, first: int, last: int, out: Floats) -> None:
        """The emission rows of the sentences `first` to `last` − 1, into out [n, P]."""
        scored.emission(first, last, out)

    def _check_possible(self, scores: Doubles, first: int) -> None:
        """Refuse sentences that have no labelling (a score or log Z of −inf), or whose scores are too large."""
        if math.isfinite(scores[0]) if len(scores) == 1 else np.isfinite(scores).all():  # NumPy takes 1 µs for one
            return
        wrong = np.flatnonzero(~np.isfinite(scores))
        location = f"X[{first + int(wrong[0])}]"
        restricted = self.dictionary is not None or not all(np.isfinite(part).all() for part in self.chain_scores)
        if scores[wrong[0]] != -np.inf or not restricted:  # every position has labels that are allowed
            raise DataError(f"scores are not finite: {TOO_LARGE}", location=location)
        dictionary = "" if self.dictionary is None else "the tag dictionary, "
        restrictions = f"{dictionary}the allowed labels and the forbidden transitions"
        raise DataError(f"no labelling is possible: {restrictions} contradict each other", location=location)


def check_weights(decoder: Decoder) -> None:
    """Refuse weights that are no numbers, at the end of a training."""
    weights = decoder.scores.weights.values if isinstance(decoder.scores, LinearScores) else np.zeros(0)
    if not np.isfinite(weights).all() or any(not (part < np.inf).all() for part in decoder.chain_scores):
        raise DataError(f"weights are not finite: {TOO_LARGE}", location="X")
