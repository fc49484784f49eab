"""What a Tagger runs: from the letters of a sentence's attributes to its best labels, in one kernel.

    bytes of an lCRF file ─► RunningModel     Letters ─► tag ─► TaggedSequence: labels, scores; probabilities when asked

All numbers are float64, and sums are in the order of attributes, as CRFsuite's are. A RunningModel never changes, so
any number of threads may use it.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np

from tagwright._jit import holding_kernel, tight_kernel
from tagwright._python_lock import let_others_run, take_back
from tagwright.arrays import Bytes, Doubles, Floats, Ints, Longs, Plain, padded
from tagwright.chain.forward_backward import Chain
from tagwright.chain.viterbi import PrunedSteps, Steps, best_path
from tagwright.crfsuite.binary import transition_matrix, unpack_parts
from tagwright.encode.attribute_tables import AttributeTables
from tagwright.encode.forms import Vocabulary
from tagwright.errors import DataError
from tagwright.pycrfsuite.attribute_weights import OTHER_TEXT, WORK, AttributeWeights, add_attributes, add_scores
from tagwright.pycrfsuite.items import DICTS, LISTS, ItemSequence, Letters, add_up, read_exactly, read_lists

HANDOVER_NAMES = 1 << 12
"""Attributes whose tagging takes longer than to hand Python's lock over."""
TOO_LARGE = "the scores are not finite: values of attributes are NaN, infinite or too large; replace or scale them"


class RunningModel:
    """A CRFsuite model, ready to tag. data: the bytes of its file."""

    def __init__(self, data: bytes, name: str) -> None:
        parts = unpack_parts(data, name)
        self.data = data
        self.labels = parts.labels
        self.parts = parts
        self.width = padded(len(self.labels))
        self.name_of = self.labels.__getitem__

    @cached_property
    def kernel_tables(self) -> tuple[Plain, Plain]:
        """AttributeWeights and PrunedSteps, plain; made for the first sentence."""
        no_boundaries = np.zeros(len(self.labels))
        steps = Steps.build(self.transition, no_boundaries, no_boundaries, np.float64)
        return tuple(AttributeWeights.build(self.parts.attributes, self.parts.states, len(self.labels))), tuple(
            steps.pruned
        )

    @cached_property
    def transition(self) -> Doubles:
        """The scores of label pairs [Y, Y]."""
        return transition_matrix(self.parts)

    @cached_property
    def chain(self) -> Chain:
        """For probabilities."""
        no_boundaries = np.zeros(len(self.labels))
        return Chain.build(self.transition, no_boundaries, no_boundaries, np.float64)

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The numbers of labels."""
        return {label: y for y, label in enumerate(self.labels)}

    @cached_property
    def attribute_tables(self) -> AttributeTables:
        """For dicts."""
        return AttributeTables(Vocabulary(self.parts.attributes))

    def tag(self, xseq: Any) -> TaggedSequence:
        """The best labels of a sentence, and all that leads to probabilities."""
        items = xseq if type(xseq) is list or isinstance(xseq, ItemSequence) else list(xseq)
        T = len(items)
        rows, labels = np.empty((2 * T, self.width)), np.empty(T, np.int32)
        if T and not self.labels:
            raise DataError("the model has no labels: it was trained on no data; train it again")
        if T and not math.isfinite(self._tag_items(items, rows, labels)):
            raise DataError(TOO_LARGE)
        return TaggedSequence(self, labels, rows)

    def _tag_items(self, items: Any, rows: Doubles, labels: Ints) -> float:
        """One or more items; their score. The quick ways first."""
        if isinstance(items, ItemSequence):
            return self._tag_letters(items.letters, rows, labels)
        kinds = set(map(type, items))
        if kinds == DICTS:
            encoded = self.attribute_tables.find(items, lambda p: add_up(items[p]))
            if encoded is not None and len(encoded[0]) == len(labels) + 1:
                weights, chain = self.kernel_tables
                work = np.empty(WORK + len(self.labels), np.int64)
                return tag_encoded(*encoded, weights, chain, work, rows, labels)
        elif kinds <= LISTS:
            letters = read_lists(items)
            score = math.nan if letters is None else self._tag_letters(letters, rows, labels)
            if not math.isnan(score):
                return score
        return self._tag_letters(read_exactly(items), rows, labels)

    def _tag_letters(self, letters: Letters, rows: Doubles, labels: Ints) -> float:
        """The same; NaN where they do not hold what they seem to."""
        if len(labels) != letters.T:
            raise DataError("items were added or removed while they were read; give the tagger a list of its own")
        weights, chain = self.kernel_tables
        work = np.empty(WORK + len(self.labels), np.int64)
        return tag_letters(
            letters.letters, letters.separators, letters.n, letters.pointers, letters.values, weights, chain, work,
            rows, labels,
        )  # fmt: skip


class TaggedSequence:
    """A sentence of T items and what a model says of it."""

    __slots__ = ("_expected", "labels", "model", "rows")

    def __init__(self, model: RunningModel, labels: Ints, rows: Doubles) -> None:
        self.model = model
        self.labels = labels  # [T]
        self.rows = rows  # [2 T, P]: the scores of labels, and work
        self._expected: tuple[Floats, float] | None = None

    def names(self) -> list[str]:
        """Its labels."""
        return list(map(self.model.name_of, self.labels.tolist()))

    def probability(self, labels: list[int]) -> float:
        """Of these labels together."""
        T = len(self.labels)
        emission, offsets = self.rows[:T], np.array([0, T])
        score = self.model.chain.score_labels(emission, offsets, np.array(labels, np.int32))[0]
        return math.exp(score - self.expected()[1])

    def expected(self) -> tuple[Floats, float]:
        """The probability of every label at every position [T, P], and log Z; made when first asked for."""
        known = self._expected
        if known is None:
            T = len(self.labels)
            found = self.model.chain.expect(self.rows[:T], np.array([0, T]))
            self._expected = known = found.marginals, float(found.log_z[0])
        return known


@tight_kernel
def best_labels(chain: Plain, work: Longs, rows: Doubles, labels: Ints) -> float:
    """The best labels [T] for scores in the first half of rows [2 T, P], and their score; infinite where a score of a
    label is not finite. work [WORK + Y]."""
    T, nothing = labels.shape[0], 0.0
    for t in range(T):
        for y in range(rows.shape[1]):
            nothing += 0 * rows[t, y]
    if nothing != 0:
        return np.inf
    return best_path(rows[:T], T, PrunedSteps(*chain), rows[T:], work[WORK:], labels)


@holding_kernel
def tag_letters(
    letters: Bytes, separators: int, n: int, pointers: Longs, values: Doubles, weights: Plain, chain: Plain,
    work: Longs, rows: Doubles, labels: Ints,
) -> float:  # fmt: skip
    """The best labels [T] of a sentence of T ≥ 1 items, and their score; NaN where the letters are not n names of T
    items, infinite where a score of a label is not finite. rows [2 T, P]: the scores of labels, and δ behind them. The
    rest is as in add_scores; work [WORK + Y]."""
    state = let_others_run(n > HANDOVER_NAMES)
    T, score = labels.shape[0], np.nan
    for t in range(T):
        rows[t, :] = 0
    found = add_scores(letters, separators, n, pointers, values, AttributeWeights(*weights), work, rows[:T])
    if found != OTHER_TEXT:
        score = best_labels(chain, work, rows, labels)
    take_back(state)
    return score


@holding_kernel
def tag_encoded(
    pointers: Longs, attributes: Ints, values: Doubles, weights: Plain, chain: Plain, work: Longs, rows: Doubles,
    labels: Ints,
) -> float:  # fmt: skip
    """The same, given attributes by number, as in add_attributes."""
    state = let_others_run(attributes.shape[0] > HANDOVER_NAMES)
    T = labels.shape[0]
    for t in range(T):
        rows[t, :] = 0
    add_attributes(pointers, attributes, values, AttributeWeights(*weights), work, rows[:T])
    score = best_labels(chain, work, rows, labels)
    take_back(state)
    return score
