"""How much each training token counts: the weight of its sentence times the weight of its gold label.

a_t = sample_weight[i] · label_weights.get(y_t, 1)          what the losses make of it: losses/run.py

The weight of a label that is not known is 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from tagwright.arrays import Doubles, Floats
from tagwright.encode.batch import Batch
from tagwright.errors import DataError, ParameterError
from tagwright.learners._estimator import NONE, Range

SampleWeight = Sequence[float] | Floats


def token_weights(
    data: Batch,
    names: Sequence[str],
    sample_weight: SampleWeight | None,
    label_weights: Mapping[str, float] | None,
) -> Doubles:
    """The weights of all tokens [n]. `names`: the labels that data.labels number."""
    weights = np.ones(data.n_tokens)
    if sample_weight is not None:
        weights *= np.repeat(_read_sample_weight(sample_weight, data.n_sentences), data.lengths)
    if label_weights:
        by_label = _read_label_weights(label_weights, names)
        weights *= np.where(data.labels >= 0, by_label[data.labels.clip(0)], 1.0)
    if not weights.any():
        raise DataError("every token has a label of weight 0 or stands in a sentence of weight 0", location="fit")
    return weights


def _read_sample_weight(given: SampleWeight, n_sentences: int) -> Doubles:
    try:
        weights = np.array(given, np.float64)
    except (TypeError, ValueError):
        raise DataError(
            f"expected a list of numbers, one a sentence, found {given!r:.60}", location="sample_weight"
        ) from None
    if weights.shape != (n_sentences,):
        found = len(weights) if weights.ndim == 1 else f"an array of shape {weights.shape}"
        raise DataError(f"{n_sentences} sentences but {found} weights; give one a sentence", location="sample_weight")
    bad = np.flatnonzero(~((weights >= 0) & (weights < np.inf)))
    if len(bad):
        raise DataError(
            f"expected a number of at least 0, found {weights[bad[0]]}", location=f"sample_weight[{bad[0]}]"
        )
    if not weights.any():
        raise DataError("all weights are 0: there is nothing to learn from", location="sample_weight")
    return weights


def _read_label_weights(given: Mapping[str, float], names: Sequence[str]) -> Doubles:
    weights = dict.fromkeys(names, 1.0)
    for label, weight in given.items():
        if label not in weights:
            raise ParameterError(
                f"label_weights: there is no label {label!r} in the training data; it has: {', '.join(names)}"
            )
        weights[label] = float(weight)
    return np.array(list(weights.values()))


def _is_weight(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < float("inf")


LABEL_WEIGHTS = NONE | Range(
    lambda value: isinstance(value, Mapping) and all(map(_is_weight, value.values())),
    "a dict of labels with numbers of at least 0",
)
