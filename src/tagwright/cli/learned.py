"""What a model learned, by name: weights of attributes, transitions between labels, attributes by template.

Attribute weights are known where scores are linear (CRF, perceptron); every learner has a chain of labels.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from tagwright.arrays import Doubles
from tagwright.encode.encoder import Encoder
from tagwright.learners import SequenceTagger
from tagwright.scores.linear import LinearScores

START, STOP = "<s>", "</s>"


class TemplateSize(NamedTuple):
    """How many attributes a template made of the training data, and how many weights they have."""

    template: str
    attributes: int
    weights: int


class Transition(NamedTuple):
    """The score of one label after another; START and STOP are the ends of a sentence."""

    previous: str
    current: str
    score: float


def linear_scores(model: SequenceTagger) -> LinearScores | None:
    """The model's scores if they are linear."""
    scores = model.decoder_.scores
    return scores if isinstance(scores, LinearScores) else None


def top_weights(model: SequenceTagger, n: int) -> dict[str, list[tuple[str, float]]]:
    """For each label, its n attributes with the largest positive weights."""
    scores = linear_scores(model)
    if scores is None:
        return {}
    names = model.encoder_.attribute_names()
    pattern, weights = scores.pattern, scores.weights
    attribute = np.repeat(np.arange(len(names)), np.diff(pattern.pointers))
    order = np.argsort(-weights, kind="stable")
    found: dict[str, list[tuple[str, float]]] = {}
    for y, label in enumerate(model.labels_):
        best = [w for w in order[pattern.labels[order] == y][:n].tolist() if weights[w] > 0]
        found[label] = [(names[attribute[w]], float(weights[w])) for w in best]
    return found


def transitions(model: SequenceTagger) -> list[Transition]:
    """All transitions that have a score, strongest first; those that are forbidden are left out."""
    chain: tuple[Doubles, Doubles, Doubles] = model.decoder_.chain_scores
    labels = model.labels_
    inner, start, stop = (part.tolist() for part in chain)
    found = [Transition(labels[i], labels[j], score) for i, row in enumerate(inner) for j, score in enumerate(row)]
    found += [Transition(START, label, score) for label, score in zip(labels, start, strict=True)]
    found += [Transition(label, STOP, score) for label, score in zip(labels, stop, strict=True)]
    return sorted([t for t in found if np.isfinite(t.score) and t.score], key=lambda t: -t.score)


def template_sizes(model: SequenceTagger) -> list[TemplateSize]:
    """The templates in the order of their attributes."""
    scores = linear_scores(model)
    pointers = None if scores is None else scores.pattern.pointers
    sizes = []
    for text, base, size in _runs(model.encoder_):
        weights = 0 if pointers is None else int(pointers[base + size] - pointers[base])
        sizes.append(TemplateSize(text, size, weights))
    return sizes


def _runs(encoder: Encoder) -> Iterator[tuple[str, int, int]]:
    """The runs of the attribute numbering: template, first attribute, how many."""
    for column, slots in zip(encoder.columns, encoder.slots, strict=True):
        for slot in slots:
            for term, base in zip(slot.terms, slot.bases, strict=True):
                text = f"{column.terms[term].text}[{slot.offset}]"
                yield text, base, len(column.vocabularies[term])
    for conjunction in encoder.conjunctions:
        text = " & ".join([cell.text for cell in conjunction.cells])
        yield text, conjunction.base, len(conjunction.table.keys)
