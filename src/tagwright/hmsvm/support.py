"""Support sequences: the wrong labellings that carry an HM-SVM, for people and in the model file.

w = Σ α_i(y) (Φ(x_i, y_i) − Φ(x_i, y)): only labellings with α > 0 have a part in it (HMSVM section 8, figure 2).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from tagwright.encode.batch import Batch
from tagwright.encode.text import Text
from tagwright.errors import ModelFileError
from tagwright.hmsvm.working_sets import WorkingSets


@dataclass(frozen=True, slots=True)
class SupportSequence:
    """One wrong labelling and its multiplier."""

    labels: list[str]
    alpha: float


@dataclass(frozen=True, slots=True)
class SupportSentence:
    """A training sentence, its right labels, and its support sequences, the largest α first."""

    sentence: int  # its number in the training data
    tokens: list[str]
    labels: list[str]
    sequences: list[SupportSequence]


def collect_support(sets: WorkingSets, data: Batch, text: Text, names: Sequence[str]) -> list[SupportSentence]:
    """All sentences that have support sequences."""
    found = []
    for i in np.flatnonzero(sets.alpha.any(axis=1)).tolist():
        begin, end = int(data.offsets[i]), int(data.offsets[i + 1])
        used = [k for k in np.argsort(-sets.alpha[i], kind="stable").tolist() if sets.alpha[i, k] > 0]
        sequences = [
            SupportSequence([names[y] for y in sets.labels[k, begin:end].tolist()], float(sets.alpha[i, k]))
            for k in used
        ]
        tokens = [_name(item, t) for t, item in enumerate(text.items[begin:end])]
        found.append(SupportSentence(i, tokens, [names[y] for y in data.labels[begin:end].tolist()], sequences))
    return found


def _name(item: object, t: int) -> str:
    """A token for people: its word; its number where it is ready-made attributes."""
    if isinstance(item, tuple):
        return str(item[0])
    return item if isinstance(item, str) else f"#{t}"


def store_support(
    support: Sequence[SupportSentence], names: Sequence[str], arrays: dict[str, Any], strings: dict[str, list[str]]
) -> None:
    """Tokens as strings; labels, sizes and α as arrays."""
    number = {name: y for y, name in enumerate(names)}
    strings["support.tokens"] = [token for one in support for token in one.tokens]
    rows = [labels for one in support for labels in (one.labels, *(s.labels for s in one.sequences))]
    arrays["support.sentences"] = np.array([one.sentence for one in support], np.int64)
    arrays["support.lengths"] = np.array([len(one.tokens) for one in support], np.int64)
    arrays["support.sequences"] = np.array([len(one.sequences) for one in support], np.int64)
    arrays["support.labellings"] = np.array([number[label] for labels in rows for label in labels], np.uint16)
    arrays["support.alpha"] = np.array([s.alpha for one in support for s in one.sequences])


def restore_support(
    names: Sequence[str], arrays: dict[str, Any], strings: dict[str, list[str]]
) -> list[SupportSentence]:
    """The support sequences of a stored model."""
    tokens, alpha = strings["support.tokens"], arrays["support.alpha"].tolist()
    labels = [names[y] for y in arrays["support.labellings"].tolist()]
    heads = [arrays[f"support.{name}"].tolist() for name in ("sentences", "lengths", "sequences")]
    if min(min(column, default=0) for column in heads) < 0 or arrays["support.labellings"].min(initial=0) < 0:
        raise ModelFileError("the support sequences have negative sizes or labels")
    pairs = list(zip(heads[1], heads[2], strict=True))
    sizes = sum(heads[1]), sum((count + 1) * length for length, count in pairs), sum(heads[2])
    if sizes != (len(tokens), len(labels), len(alpha)):
        raise ModelFileError("the support sequences do not fit together")
    next_tokens, next_labels, next_alpha = iter(tokens), iter(labels), iter(alpha)
    found = []
    for sentence, length, count in zip(*heads, strict=True):
        right, *wrong = (list(islice(next_labels, length)) for _ in range(count + 1))
        sequences = [SupportSequence(row, next(next_alpha)) for row in wrong]
        found.append(SupportSentence(sentence, list(islice(next_tokens, length)), right, sequences))
    return found
