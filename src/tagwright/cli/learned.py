"""What a model learned, by name: weights of attributes, transitions between labels, trigrams, attributes by template.

Weights are known where scores are linear (CRF, MEMM, perceptron) or tables of words (HMM: log-probabilities, all
negative). With a kernel, training tokens have multipliers instead (support contexts). Every learner has a chain.
"""

from __future__ import annotations

from collections.abc import Iterator
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


class WeightList(NamedTuple):
    """The weights that a model has: entry i is that of attributes[i] for labels[i]. Attributes ascend."""

    attributes: Longs
    labels: Longs
    values: Floats
    measure: str  # "weight" or "log-probability"

    def find(self, attribute: int, label: int) -> float:
        """One weight, 0 where there is none."""
        first, last = np.searchsorted(self.attributes, [attribute, attribute + 1])
        found = self.values[first:last][self.labels[first:last] == label]
        return float(found[0]) if len(found) else 0.0

    def count_between(self, first: int, last: int) -> int:
        """Weights of the attributes `first` to `last` − 1."""
        begin, end = np.searchsorted(self.attributes, [first, last])
        return int(end - begin)


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


def list_weights(model: SequenceTagger) -> WeightList | None:
    """The model's weights, None where it has none that can be listed."""
    scores = model.decoder_.scores
    if isinstance(scores, LinearScores):
        pointers = scores.pattern.pointers
        attributes = np.repeat(np.arange(len(pointers) - 1), np.diff(pointers))
        return WeightList(attributes, scores.pattern.labels.astype(np.int64), scores.weights, "weight")
    if isinstance(scores, TableScores):
        rows, labels = scores.counts.rows + N_EDGES, scores.counts.labels.astype(np.int64)
        return WeightList(rows, labels, scores.table[rows, labels], "log-probability")
    return None


def top_weights(model: SequenceTagger, n: int) -> dict[str, list[tuple[str, float]]]:
    """For each label, its n attributes with the largest weights; weights that speak against a label are left out.

    With a kernel: its n support contexts with the largest multipliers.
    """
    if isinstance(model.decoder_.scores, KernelScores):
        return _top_contexts(model, model.decoder_.scores, n)
    weights = list_weights(model)
    if weights is None:
        return {}
    names = model.encoder_.attribute_names()
    order = np.argsort(-weights.values, kind="stable")
    if weights.measure == "weight":
        order = order[weights.values[order] > 0]
    found: dict[str, list[tuple[str, float]]] = {}
    for y, label in enumerate(model.labels_):
        best = order[weights.labels[order] == y][:n].tolist()
        found[label] = [(names[weights.attributes[i]], float(weights.values[i])) for i in best]
    return found


def _top_contexts(model: SequenceTagger, scores: KernelScores, n: int) -> dict[str, list[tuple[str, float]]]:
    """A context is named by its words; where it has none, by all of its attributes."""
    names, pointers = model.encoder_.attribute_names(), scores.support.pointers
    found: dict[str, list[tuple[str, float]]] = {}
    for y, label in enumerate(model.labels_):
        best = np.argsort(-scores.coefficients[:, y], kind="stable")[:n]
        found[label] = []
        for m in best[scores.coefficients[best, y] > 0].tolist():
            attributes = [names[a] for a in scores.support.attributes[pointers[m] : pointers[m + 1]]]
            words = [name for name in attributes if name.startswith("word[") and " & " not in name]
            found[label].append((" ".join(words or attributes), float(scores.coefficients[m, y])))
    return found


def measure_of(model: SequenceTagger) -> str | None:
    """What the numbers of `top_weights` are."""
    if isinstance(model.decoder_.scores, KernelScores):
        return "multiplier of a support context"
    weights = list_weights(model)
    return None if weights is None else weights.measure


def kernel_size(model: SequenceTagger) -> KernelSize | None:
    """The kernel of a model; None where there is none."""
    scores = model.decoder_.scores
    if not isinstance(scores, KernelScores):
        return None
    kernel = scores.kernel
    return KernelSize(kernel.name, kernel.degree, kernel.gamma, kernel.coef0, len(scores.support))


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
    for conjunction in encoder.conjunctions:
        yield " & ".join([cell.text for cell in conjunction.cells]), len(conjunction.table.keys)
