"""Weights by name: what was learned for each (attribute, label), for warm starts and for people."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tagwright.arrays import Doubles, Longs
from tagwright.chain.trigrams import Trigrams
from tagwright.encode.encoder import Encoder
from tagwright.learners._base import SequenceTagger
from tagwright.objective.problem import WeightParts
from tagwright.scores.linear import LinearScores
from tagwright.scores.pattern import Pattern


def known_pattern(old: SequenceTagger, encoder: Encoder, names: Sequence[str]) -> Pattern:
    """The (attribute, label) pairs that a fitted model has a weight for, as far as there are such here."""
    source, Y = _linear_scores(old), len(names)
    attribute_of, label_of = (
        _numbers(old.encoder_.attribute_names(), encoder.attribute_names()),
        _numbers(old.labels_, names),
    )
    attributes = attribute_of[np.repeat(np.arange(len(attribute_of)), np.diff(source.pattern.pointers))]
    labels = label_of[source.pattern.labels]
    keys = np.sort((attributes * Y + labels)[(attributes >= 0) & (labels >= 0)])
    pointers = np.searchsorted(keys, Y * np.arange(encoder.n_attributes + 1))
    return Pattern(pointers.astype(np.int64), (keys % Y).astype(np.int32))


def _linear_scores(model: SequenceTagger) -> LinearScores:
    assert isinstance(model.decoder_.scores, LinearScores)
    return model.decoder_.scores


def _numbers(names: Sequence[str], known: Sequence[str]) -> Longs:
    """The number of every name among others; −1 where it is not there."""
    numbers = {name: number for number, name in enumerate(known)}
    return np.array([numbers.get(name, -1) for name in names], np.int64)


def transfer_weights(
    old: SequenceTagger, encoder: Encoder, pattern: Pattern, names: Sequence[str], vector: Doubles, keys: Longs
) -> None:
    """Put the weights of a fitted model into a new weight vector, wherever attribute and label are the same.

    `keys`: the label trigrams of the new vector; none of first order.
    """
    source, Y = _linear_scores(old), len(old.labels_)
    label_of = _numbers(names, old.labels_)
    row_of = _numbers(encoder.attribute_names(), old.encoder_.attribute_names())
    known = {
        int(key): weight for key, weight in zip(_keys(source, Y).tolist(), source.weights.values.tolist(), strict=True)
    }
    parts = WeightParts.split(vector, len(names), len(keys))
    attribute = np.repeat(np.arange(encoder.n_attributes), np.diff(pattern.pointers))
    wanted_row, wanted_label = row_of[attribute], label_of[pattern.labels]
    wanted = np.where((wanted_row >= 0) & (wanted_label >= 0), wanted_row * Y + wanted_label, -1)
    parts.attributes[:] = [known.get(key, 0.0) for key in wanted.tolist()]
    both = label_of >= 0
    finite = [np.where(np.isfinite(part), part, 0.0) for part in old.decoder_.chain_scores]
    parts.transition[np.ix_(both, both)] = finite[0][np.ix_(label_of[both], label_of[both])]
    parts.start[both], parts.stop[both] = finite[1][label_of[both]], finite[2][label_of[both]]
    if old.decoder_.trigrams is not None:
        parts.trigrams[:] = find_trigrams(old.decoder_.trigrams, label_of, keys)


def find_trigrams(old: Trigrams, label_of: Longs, keys: Longs) -> Doubles:
    """The old weights of label trigrams that are numbered anew; 0 for those that had none."""
    p, q, c = (label_of[labels] for labels in Trigrams(len(label_of), keys, np.empty(0)).labels)
    Y = old.n_labels
    wanted = np.where((p >= 0) & (q >= 0) & (c >= 0), (p * Y + q) * Y + c, -1)
    known = dict(zip(old.keys.tolist(), old.weights.tolist(), strict=True))
    return np.array([known.get(key, 0.0) for key in wanted.tolist()])


def _keys(scores: LinearScores, n_labels: int) -> Doubles:
    """One number for each (attribute, label) that has a weight."""
    attribute = np.repeat(np.arange(len(scores.pattern.pointers) - 1), np.diff(scores.pattern.pointers))
    return np.asarray(attribute * n_labels + scores.pattern.labels)
