"""What a model learned, by name: weights of attributes, transitions between labels, trigrams, attributes by template.

Weights are known where scores are linear (CRF, MEMM, perceptron) or tables of words (HMM: log-probabilities, all
negative). With a kernel, training tokens have multipliers instead (support contexts). Every learner has a chain.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import singledispatch
from typing import NamedTuple

import numpy as np

from tagwright.arrays import Floats, Longs
from tagwright.attributes.lexicon import OPEN
from tagwright.encode.encoder import Encoder
from tagwright.encode.forms import N_EDGES
from tagwright.kernels.scores import KernelScores
from tagwright.learners import SequenceTagger
from tagwright.scores.linear import LinearScores
from tagwright.scores.tables import TableScores

START, STOP = "<s>", "</s>"
WEIGHT = "weight"


class TemplateSize(NamedTuple):
    """How many attributes a template made of the training data, and how many weights they have (kernels: None)."""

    template: str
    attributes: int
    weights: int | None


class Transition(NamedTuple):
    """The score of one label after another; START and STOP are the ends of a sentence."""

    previous: str
    current: str
    score: float


class Trigram(NamedTuple):
    """What the third label after two others weighs, in a model of second order."""

    before: str
    previous: str
    current: str
    score: float


class DictionarySize(NamedTuple):
    """A tag dictionary: the words it restricts, their mean number of labels, and the labels of all other words."""

    words: int
    labels_a_word: float
    open_labels: int


class KernelSize(NamedTuple):
    """A kernel, and the support contexts it is expanded over: distinct training tokens with a multiplier."""

    name: str
    degree: int
    gamma: float
    coef0: float
    contexts: int


class LearnedScores:
    """What the scores of a model learned. Here for scores of which nothing can be listed."""

    measure: str | None = None  # what the numbers of `top` are
    kernel: KernelSize | None = None

    def top(self, label: int, n: int, names: Sequence[str]) -> list[tuple[str, float]]:
        """What speaks for a label most: n names (of attributes: `names`) with their numbers, largest first."""
        return []


class LearnedWeights(LearnedScores):
    """Weights, or log-probabilities: values[i] is that of attributes[i] for labels[i]. Attributes ascend."""

    def __init__(self, attributes: Longs, labels: Longs, values: Floats, measure: str) -> None:
        self.attributes, self.labels, self.values, self.measure = attributes, labels, values, measure

    def top(self, label: int, n: int, names: Sequence[str]) -> list[tuple[str, float]]:
        """Weights that speak against the label are left out; log-probabilities are all below 0."""
        own = np.flatnonzero(self.labels == label)
        best = own[np.argsort(-self.values[own], kind="stable")][:n]
        if self.measure == WEIGHT:
            best = best[self.values[best] > 0]
        return [(names[self.attributes[i]], float(self.values[i])) for i in best]

    def find(self, attribute: int, label: int) -> float:
        """One weight, 0 where there is none."""
        first, last = np.searchsorted(self.attributes, [attribute, attribute + 1])
        found = self.values[first:last][self.labels[first:last] == label]
        return float(found[0]) if len(found) else 0.0

    def count_between(self, first: int, last: int) -> int:
        """Weights of the attributes `first` to `last` − 1."""
        begin, end = np.searchsorted(self.attributes, [first, last])
        return int(end - begin)


class LearnedMultipliers(LearnedScores):
    """Multipliers of support contexts. A context is named by its words, or by its attributes where it has none."""

    measure = "multiplier of a support context"

    def __init__(self, scores: KernelScores) -> None:
        kernel = scores.kernel
        self.kernel = KernelSize(kernel.name, kernel.degree, kernel.gamma, kernel.coef0, len(scores.support))
        self._scores = scores

    def top(self, label: int, n: int, names: Sequence[str]) -> list[tuple[str, float]]:
        column, support = self._scores.coefficients[:, label], self._scores.support
        best = np.argsort(-column, kind="stable")[:n]
        found = []
        for m in best[column[best] > 0].tolist():
            attributes = [names[a] for a in support.attributes[support.pointers[m] : support.pointers[m + 1]]]
            words = [name for name in attributes if name.startswith("word[") and " & " not in name]
            found.append((" ".join(words or attributes), float(column[m])))
        return found


@singledispatch
def learned_scores(scores: object) -> LearnedScores:
    """What scores learned, by their kind."""
    return LearnedScores()


@learned_scores.register
def _(scores: LinearScores) -> LearnedScores:
    pointers = scores.pattern.pointers
    attributes = np.repeat(np.arange(len(pointers) - 1), np.diff(pointers))
    return LearnedWeights(attributes, scores.pattern.labels.astype(np.int64), scores.weights.values, WEIGHT)


@learned_scores.register
def _(scores: TableScores) -> LearnedScores:
    rows, labels = scores.counts.rows + N_EDGES, scores.counts.labels.astype(np.int64)
    return LearnedWeights(rows, labels, scores.table[rows, labels], "log-probability")


@learned_scores.register
def _(scores: KernelScores) -> LearnedScores:
    return LearnedMultipliers(scores)


def list_weights(model: SequenceTagger) -> LearnedWeights | None:
    """The model's weights, None where it has none that can be listed."""
    found = learned_scores(model.decoder_.scores)
    return found if isinstance(found, LearnedWeights) else None


def top_weights(model: SequenceTagger, n: int) -> dict[str, list[tuple[str, float]]]:
    """For each label, what speaks for it most: attributes with their weights; with a kernel, support contexts."""
    found, names = learned_scores(model.decoder_.scores), model.encoder_.attribute_names()
    return {label: found.top(y, n, names) for y, label in enumerate(model.labels_)}


def transitions(model: SequenceTagger) -> list[Transition]:
    """All transitions that have a score, strongest first; those that are forbidden are left out."""
    labels = model.labels_
    inner, start, stop = (part.tolist() for part in model.decoder_.chain_scores)
    found = [Transition(labels[i], labels[j], score) for i, row in enumerate(inner) for j, score in enumerate(row)]
    found += [Transition(START, label, score) for label, score in zip(labels, start, strict=True)]
    found += [Transition(label, STOP, score) for label, score in zip(labels, stop, strict=True)]
    return sorted([t for t in found if np.isfinite(t.score) and t.score], key=lambda t: -t.score)


def trigrams(model: SequenceTagger) -> list[Trigram]:
    """The label trigrams that have a weight, strongest first; none of first order."""
    found = model.decoder_.trigrams
    if found is None:
        return []
    names = model.labels_
    order = np.argsort(-found.weights, kind="stable")
    columns = [part[order].tolist() for part in (*found.labels, found.weights)]
    return [Trigram(names[p], names[q], names[c], weight) for p, q, c, weight in zip(*columns, strict=True) if weight]


def dictionary_size(model: SequenceTagger) -> DictionarySize | None:
    """How many words the tag dictionary restricts; None where there is none."""
    found = model.decoder_.dictionary
    if found is None:
        return None
    sizes = found.sizes[found.restricted]
    return DictionarySize(found.n_words, float(sizes.mean()) if len(sizes) else 0.0, int(found.sizes[OPEN]))


def template_sizes(model: SequenceTagger) -> list[TemplateSize]:
    """The templates in the order of their attributes."""
    weights = list_weights(model)
    return [
        TemplateSize(text, size, None if weights is None else weights.count_between(base, base + size))
        for text, base, size in _runs(model.encoder_)
    ]


def _runs(encoder: Encoder) -> Iterator[tuple[str, int, int]]:
    """The runs of the attribute numbering, in its order: template, first attribute, how many."""
    base = 0
    for text, size in _sizes(encoder):
        yield text, base, size
        base += size


def _sizes(encoder: Encoder) -> Iterator[tuple[str, int]]:
    """Templates and how many attributes they have: single terms first, then conjunctions."""
    for column, slots in zip(encoder.columns, encoder.slots, strict=False):  # the slots of conjunctions come after
        for slot in slots:
            for term in slot.terms:
                yield f"{column.terms[term].text}[{slot.offset}]", len(column.vocabularies[term])
    for conjunction in encoder.conjunctions.members:
        yield " & ".join([cell.text for cell in conjunction.cells]), len(conjunction.table.keys)
