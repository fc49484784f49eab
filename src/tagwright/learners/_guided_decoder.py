"""The running model of a GuidedTagger: scores of words, scores of label contexts, and the search over spans.

LabelContexts   layout of the templates, lexical parts, and weights: what a model file holds
GuidedDecoder   asked for labels, for the steps of the search, and for how sure every action is
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from tagwright.arrays import Bools, Doubles, Floats, Ints
from tagwright.attributes.lexicon import TagDictionary
from tagwright.chain.gaps import find_gaps, leave_possible
from tagwright.chain.guided import BOTH, LEFT_TO_RIGHT, RIGHT_TO_LEFT, Rules, Search, search_sentences
from tagwright.chain.guided_actions import Actions, judge_sentences
from tagwright.encode.dataset import Dataset
from tagwright.encode.encoder import Encoder
from tagwright.encode.lexical_parts import LexicalParts
from tagwright.errors import ModelFileError
from tagwright.learners._decoder import Decoder
from tagwright.scores.label_contexts import ContextWeights, Layout, lay_out
from tagwright.scores.linear import LinearScores

DIRECTIONS = {"both": BOTH, "left_to_right": LEFT_TO_RIGHT, "right_to_left": RIGHT_TO_LEFT}


class LabelContexts(NamedTuple):
    """Label templates with their weights."""

    layout: Layout
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
        parts = LexicalParts(encoder, [template.cells for template in templates])
        for k, part in enumerate(parts.parts):
            if len(part) > 1:
                parts.restore(part, arrays[f"contexts.part{k}"].astype(np.int64))
        layout = lay_out(templates, n_labels, parts.sizes)
        places, keys = arrays["contexts.places"].astype(np.int64), arrays["contexts.keys"].astype(np.int64)
        labels, values = arrays["contexts.labels"].astype(np.int32), arrays["contexts.values"].astype(np.float64)
        rows = np.zeros((layout.n_rows, n_labels))
        fits = len(places) == len(arrays["contexts.rows"]) and len(keys) == len(labels) == len(values)
        fits = fits and places.min(initial=0) >= 0 and places.max(initial=-1) < rows.size
        fits = fits and labels.min(initial=0) >= 0 and labels.max(initial=0) < n_labels
        if not fits or keys.min(initial=0) < 0 or (np.diff(keys) < 0).any():
            raise ModelFileError("the weights of label contexts do not fit the templates and labels")
        rows.flat[places] = arrays["contexts.rows"]
        return cls(layout, parts, ContextWeights(rows, keys, labels, values))


def make_rules(layout: Layout, allowed: Bools) -> Rules:
    """Rules for these templates; allowed [Y, Y]: which label may follow which. To obey that, every state must know its
    outermost labels."""
    gaps = find_gaps(allowed)
    return Rules(np.maximum(np.array(layout.reach, np.int64), min(len(gaps), 1)), gaps)


class GuidedDecoder(Decoder):
    """Labels by guided search. The chain has no scores: −inf for what is forbidden, else 0."""

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
        self.direction = DIRECTIONS[direction]
        self.contexts = labels.weights.run(labels.layout, scores.dtype)
        self.allowed = tuple(part > -np.inf for part in chain)
        self.rules = make_rules(labels.layout, self.allowed[0])
        self._search = Search.build(1, beam, scores.width, scores.dtype)

    def make_ready(self) -> None:
        """There are no steps of a chain here."""

    def best(self, data: Dataset, allowed: Bools | None = None) -> Ints:
        """The label of every token [n]."""
        found = np.zeros(data.n_tokens, np.int32)
        lexical = self.lexical(data)
        search = self._make_search(data)
        for first, last, rows in self._runs(data, self._possible(data, allowed)):
            offsets = data.offsets[first : last + 1]
            totals = np.empty(last - first)
            search_sentences(
                search, self.contexts, lexical, int(offsets[0]), offsets - offsets[0], self.scores.n_labels, self.rules,
                rows, self.direction, found[offsets[0] : offsets[-1]], totals,
            )  # fmt: skip
            self._check_possible(totals, first)
        return found

    def _runs(self, data: Dataset, allowed: Bools | None) -> Iterator[tuple[int, int, Floats]]:
        for first, last, rows in super()._runs(data, allowed):
            if len(self.rules.gaps):
                leave_possible(rows, data.offsets[first : last + 1] - data.offsets[first], *self.allowed)
            yield first, last, rows

    def lexical(self, data: Dataset) -> Ints:
        """Numbers of the lexical parts of every token."""
        return self.labels.parts.find(data, self.labels.layout.parts)

    def _make_search(self, data: Dataset) -> Search:
        longest = int(data.lengths.max(initial=1))
        if longest > len(self._search.total):
            self._search = Search.build(longest, self.beam, self.scores.width, self.scores.dtype)
        return self._search

    def judge(self, data: Dataset) -> tuple[Ints, Actions]:
        """The label of every token, and the action that gave it."""
        found, actions = np.zeros(data.n_tokens, np.int32), Actions.build(data.n_tokens)
        lexical, search = self.lexical(data), self._make_search(data)
        for first, last, rows in self._runs(data, self._possible(data, None)):
            offsets, totals = data.offsets[first : last + 1], np.empty(last - first)
            part = slice(int(offsets[0]), int(offsets[-1]))
            judge_sentences(
                search, self.contexts, lexical, part.start, offsets - offsets[0], self.scores.n_labels, self.rules,
                rows, self.direction, found[part], totals, actions.part(part),
            )  # fmt: skip
            self._check_possible(totals, first)
        return found, actions
