"""What a model learned, by name: weights of attributes, transitions between labels, trigrams, attributes by template.
`explain` has one sentence: why its tokens got their labels, and not others.

Weights are known where scores are linear (CRF, MEMM, perceptron) or tables of words (HMM: log-probabilities, all
negative). With a kernel, training tokens have multipliers instead (support contexts). Every learner has a chain.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from tagwright.arrays import Floats, Longs
from tagwright.attributes.lexicon import OPEN
from tagwright.attributes.templates import EDGES
from tagwright.encode.encoder import Encoder
from tagwright.encode.forms import N_EDGES
from tagwright.errors import DataError
from tagwright.kernels.scores import KernelScores
from tagwright.learners import SequenceTagger
from tagwright.learners._explanation import TRANSITION, Explanation
from tagwright.scores.linear import LinearScores
from tagwright.scores.tables import TableScores

START, STOP = EDGES
WEIGHT, LOG_PROBABILITY, MULTIPLIER = "weight", "log-probability", "multiplier of a support context"


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


class Weights(NamedTuple):
    """Weights, or log-probabilities: values[i] is that of attributes[i] for labels[i]. Attributes ascend."""

    attributes: Longs
    labels: Longs
    values: Floats
    measure: str

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


def list_weights(model: SequenceTagger) -> Weights | None:
    """The model's weights, None where it has none that can be listed."""
    scores = model.decoder_.scores
    if isinstance(scores, LinearScores):
        pointers = scores.pattern.pointers
        attributes = np.repeat(np.arange(len(pointers) - 1), np.diff(pointers))
        return Weights(attributes, scores.pattern.labels.astype(np.int64), scores.weights.values, WEIGHT)
    if isinstance(scores, TableScores):
        rows, labels = scores.counts.rows + N_EDGES, scores.counts.labels.astype(np.int64)
        return Weights(rows, labels, scores.table[rows, labels], LOG_PROBABILITY)
    return None


def find_measure(model: SequenceTagger) -> str | None:
    """What the numbers of `top_weights` are; None where there are none."""
    weights = list_weights(model)
    if weights is not None:
        return weights.measure
    return MULTIPLIER if isinstance(model.decoder_.scores, KernelScores) else None


def top_weights(model: SequenceTagger, n: int) -> dict[str, list[tuple[str, float]]]:
    """For each label, what speaks for it most: attributes with their weights; with a kernel, support contexts."""
    names, weights, scores = model.encoder_.attribute_names(), list_weights(model), model.decoder_.scores
    if weights is not None:
        return {label: weights.top(y, n, names) for y, label in enumerate(model.labels_)}
    if isinstance(scores, KernelScores):
        return {label: _top_multipliers(scores, y, n, names) for y, label in enumerate(model.labels_)}
    return {label: [] for label in model.labels_}


def _top_multipliers(scores: KernelScores, label: int, n: int, names: Sequence[str]) -> list[tuple[str, float]]:
    """Support contexts with their multipliers; a context is named by its words, or by its attributes if it has none."""
    column = scores.coefficients[:, label]
    best = np.argsort(-column, kind="stable")[:n]
    return [(scores.name_context(m, names), float(column[m])) for m in best[column[best] > 0].tolist()]


def transitions(model: SequenceTagger) -> list[Transition]:
    """All transitions that have a score, strongest first; those that are forbidden are left out."""
    labels = model.labels_
    inner, start, stop = (part.tolist() for part in model.decoder_.chain_scores)
    found = [Transition(labels[i], labels[j], score) for i, row in enumerate(inner) for j, score in enumerate(row)]
    found += [Transition(START, label, score) for label, score in zip(labels, start, strict=True)]
    found += [Transition(label, STOP, score) for label, score in zip(labels, stop, strict=True)]
    return sorted([t for t in found if np.isfinite(t.score) and t.score], key=lambda t: -t.score)


def trigrams(model: SequenceTagger) -> list[tuple[str, str, str, float]]:
    """The label trigrams that have a weight (models of second order), and what it is, strongest first."""
    found = model.decoder_.trigrams
    if found is None:
        return []
    names = model.labels_
    order = np.argsort(-found.weights, kind="stable")
    columns = [part[order].tolist() for part in (*found.labels, found.weights)]
    return [(names[p], names[q], names[c], weight) for p, q, c, weight in zip(*columns, strict=True) if weight]


def describe_dictionary(model: SequenceTagger) -> dict[str, Any] | None:
    """The tag dictionary: the words it restricts, their mean number of labels, the labels of all other words."""
    found = model.decoder_.dictionary
    if found is None:
        return None
    sizes = found.sizes[found.restricted]
    mean = float(sizes.mean()) if len(sizes) else 0.0
    return {"words": found.n_words, "labels_a_word": mean, "open_labels": int(found.sizes[OPEN])}


def describe_kernel(model: SequenceTagger) -> dict[str, Any] | None:
    """The kernel, and the number of support contexts it is expanded over."""
    scores = model.decoder_.scores
    if not isinstance(scores, KernelScores):
        return None
    parts = {name: getattr(scores.kernel, name) for name in ("name", "degree", "gamma", "coef0")}
    return {**parts, "contexts": len(scores.support)}


def template_sizes(model: SequenceTagger) -> list[TemplateSize]:
    """The templates in the order of their attributes."""
    weights = list_weights(model)
    found, first = [], 0
    for template, size in _count_attributes(model.encoder_):
        last = first + size
        within = None if weights is None else np.searchsorted(weights.attributes, [first, last])
        found.append(TemplateSize(template, size, None if within is None else int(within[1] - within[0])))
        first = last
    return found


def _count_attributes(encoder: Encoder) -> Iterator[tuple[str, int]]:
    """Templates and how many attributes they have: single terms first, then conjunctions."""
    for column, slots in zip(encoder.columns, encoder.slots, strict=False):  # the slots of conjunctions come after
        for slot in slots:
            for term in slot.terms:
                yield f"{column.terms[term].text}[{slot.offset}]", len(column.vocabularies[term])
    for conjunction in encoder.conjunctions.members:
        yield " & ".join([cell.text for cell in conjunction.cells]), len(conjunction.table.keys)


def explain(model: SequenceTagger, text: str, against: str | None = None) -> list[Explanation]:
    """Every token of a sentence: why it got its label, and not the label `against` (None: the best other one). With
    more than one column, a token is written word/column/column.
    """
    if model.encoder_.features is None:
        raise DataError("the model takes ready-made attributes: there are no templates", location="--attributes")
    tokens = text.split()
    if not tokens:
        raise DataError("found no tokens, expected a sentence with spaces between its tokens", location="--attributes")
    items: list[Any] = [_read_item(token, model.encoder_.width) for token in tokens]
    found = sorted(model.explain(items, against), key=lambda one: one.position)
    return [one._replace(token=token) for one, token in zip(found, tokens, strict=True)]


def explained_json(one: Explanation, *, against: bool) -> dict[str, Any]:
    """A token for machines: its attributes with their weights for its label, None for those that the model does not
    know; with `against`, everything for both labels. What is forbidden has no weight (None)."""
    weights = {reason.name: _finite(reason.weight) for reason in one.reasons if reason.kind != TRANSITION}
    found = {
        "token": one.token,
        "label": one.label,
        "attributes": weights | {n: None for n in one.new if n not in weights},
    }
    if not against:
        return found
    reasons = [
        {"name": r.name, "kind": r.kind, "weight": _finite(r.weight), "against": _finite(r.runner_up_weight)}
        for r in one.reasons
    ]
    totals = {"score": _finite(one.score), "against_score": _finite(one.runner_up_score)}
    return found | {"against": one.runner_up, **totals, "reasons": reasons}


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None


def _read_item(token: str, width: int) -> str | tuple[str, ...]:
    if width == 1:
        return token
    fields = token.rsplit("/", width - 1)
    if len(fields) != width or "" in fields:
        raise DataError(
            f"found the token {token!r}, expected {width} columns joined by slashes, as the model was trained "
            f"on; write {'/'.join([token.partition('/')[0], *['COLUMN'] * (width - 1)])}",
            location="--attributes",
        )
    return tuple(fields)
