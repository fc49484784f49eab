"""The running model of a GuidedTagger: scores of words, weights of label contexts, and inference over spans.

LabelContexts   layout of the templates, lexical parts, and weights: what a model file holds
GuidedDecoder   asked for labels, and for the actions that gave them
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from tagwright.arrays import Bools, Doubles, Floats, Ints, Longs
from tagwright.attributes.lexicon import TagDictionary
from tagwright.encode.batch import Batch
from tagwright.encode.encoder import Encoder
from tagwright.errors import ModelFileError
from tagwright.guided.algorithm1_inference import (
    BOTH,
    LEFT_TO_RIGHT,
    RIGHT_TO_LEFT,
    InferenceModel,
    Labelling,
    ScoredSentence,
    infer_sentences,
)
from tagwright.guided.chart import SpanChart
from tagwright.guided.final_actions import FinalActions, score_final_actions
from tagwright.guided.label_contexts import ContextLayout, ContextWeights, lay_out
from tagwright.guided.lexical_parts import LexicalParts
from tagwright.guided.well_formed import find_gaps, rule_out_impossible, score_gaps
from tagwright.learners._decoder import Decoder
from tagwright.scores.linear import LinearScores

DIRECTIONS = {"both": BOTH, "left_to_right": LEFT_TO_RIGHT, "right_to_left": RIGHT_TO_LEFT}


class LabelContexts(NamedTuple):
    """Label templates with their weights."""

    layout: ContextLayout
    parts: LexicalParts
    weights: ContextWeights

    @property
    def n_parameters(self) -> int:
        """Weights that are not zero."""
        return int(np.count_nonzero(self.weights.rows)) + len(self.weights.values)

    def store(self, arrays: dict[str, Any]) -> None:
        """Put everything into a model file; zeros are left out."""
        rows = self.weights.rows
        arrays["contexts.places"] = np.flatnonzero(rows).astype(np.uint32)
        arrays["contexts.rows"] = rows[rows != 0].astype(np.float32)
        arrays["contexts.keys"] = self.weights.keys
        arrays["contexts.labels"] = self.weights.labels.astype(np.uint16)
        arrays["contexts.values"] = self.weights.values.astype(np.float32)
        for k, part in enumerate(self.parts.parts):
            if len(part) > 1:
                arrays[f"contexts.part{k}"] = self.parts.tables[part].keys

    @classmethod
    def restore(cls, encoder: Encoder, templates: Any, n_labels: int, arrays: dict[str, Any]) -> LabelContexts:
        """Take it out again."""
        cells = [template.cells for template in templates]
        parts = LexicalParts(encoder, cells, lambda k, _: restore_keys(arrays[f"contexts.part{k}"]))
        layout = lay_out(templates, n_labels, parts.sizes)
        indices, keys = arrays["contexts.places"].astype(np.int64), arrays["contexts.keys"].astype(np.int64)
        labels, values = arrays["contexts.labels"].astype(np.int32), arrays["contexts.values"].astype(np.float64)
        rows = np.zeros((layout.n_rows, n_labels))
        fits = len(indices) == len(arrays["contexts.rows"]) and len(keys) == len(labels) == len(values)
        fits = fits and indices.min(initial=0) >= 0 and indices.max(initial=-1) < rows.size
        fits = fits and labels.min(initial=0) >= 0 and labels.max(initial=0) < n_labels
        if not fits or keys.min(initial=0) < 0 or (np.diff(keys) < 0).any():
            raise ModelFileError("the weights of label contexts do not fit the templates and labels")
        rows.flat[indices] = arrays["contexts.rows"]
        if not np.isfinite(rows).all() or not np.isfinite(values).all():
            raise ModelFileError("the weights of label contexts are not finite")
        return cls(layout, parts, ContextWeights(rows, keys, labels, values))


def restore_keys(stored: Longs) -> Longs:
    """The combinations of a part with several cells, out of a model file."""
    keys = stored.astype(np.int64)
    if keys.ndim != 1 or (np.diff(keys) <= 0).any() or keys.min(initial=0) < 0:
        raise ModelFileError("the combinations of label contexts are not in order")
    return keys


class GuidedDecoder(Decoder):
    """Labels by guided inference. The chain has no scores: −inf for what is forbidden, else 0.

    A value: threads share it, and every call has a chart of its own.
    """

    def __init__(
        self,
        scores: LinearScores,
        labels: LabelContexts,
        chain: tuple[Doubles, Doubles, Doubles],
        *,
        beam: int,
        direction: str,
        dictionary: TagDictionary | None = None,
    ) -> None:
        super().__init__(scores, *chain, dictionary=dictionary)
        self.labels = labels
        self.beam = beam
        self.allowed = tuple(part > -np.inf for part in chain)
        gaps = find_gaps(self.allowed[0])
        reach = np.maximum(np.array(labels.layout.reach, np.int64), min(len(gaps), 1))  # gaps need outermost labels
        contexts = labels.weights.run(labels.layout, scores.dtype)
        scores_of_gaps = score_gaps(gaps, scores.width, scores.dtype)
        self.model = InferenceModel(contexts, reach, scores_of_gaps, DIRECTIONS[direction])

    def make_ready(self) -> None:
        """There are no steps of a chain here."""

    def best(self, data: Batch, allowed: Bools | None = None) -> Ints:
        """The label of every token [n]."""
        return self.infer(data, allowed).labels

    def infer(self, data: Batch, allowed: Bools | None = None) -> Labelling:
        """The label of every token, and when it was given."""
        found = Labelling.build(data.n_tokens)
        for _ in self._infer_runs(data, allowed, found):
            pass
        return found

    def final_actions(self, data: Batch, allowed: Bools | None = None) -> FinalActions:
        """The same with scores."""
        found = Labelling.build(data.n_tokens)
        rivals, scores = np.zeros(data.n_tokens, np.int32), np.zeros((data.n_tokens, 2))
        for tokens, text, offsets in self._infer_runs(data, allowed, found):
            rivals[tokens], scores[tokens] = score_final_actions(self.model, text, offsets, found.part(tokens))
        return FinalActions(found, rivals, scores)

    def lexical(self, data: Batch) -> Ints:
        """Numbers of the lexical parts of every token [n, parts]."""
        return self.labels.parts.find(data, self.labels.layout.parts)

    def _infer_runs(
        self, data: Batch, allowed: Bools | None, found: Labelling
    ) -> Iterator[tuple[slice, ScoredSentence, Longs]]:
        """Infer run after run; gives the tokens of each, their scores, and where its sentences begin."""
        lexical = self.lexical(data)
        chart = SpanChart.build(int(data.lengths.max(initial=1)), self.beam, self.scores.width, self.scores.dtype)
        for first, last, rows in self._runs(data, self._possible(data, allowed)):
            offsets, totals = data.offsets[first : last + 1], np.empty(last - first)
            tokens = slice(int(offsets[0]), int(offsets[-1]))
            text, offsets = ScoredSentence(rows, lexical[tokens]), offsets - tokens.start
            infer_sentences(chart, self.model, text, offsets, found.part(tokens), totals)
            self._check_possible(totals, first)
            yield tokens, text, offsets

    def _runs(self, data: Batch, allowed: Bools | None) -> Iterator[tuple[int, int, Floats]]:
        for first, last, rows in super()._runs(data, allowed):
            if self.model.gaps.size:
                rule_out_impossible(rows, data.offsets[first : last + 1] - data.offsets[first], *self.allowed)
            yield first, last, rows
