"""A Batch: sentences as integers, concatenated. What the encoder makes and scores/ reads. It never changes.

forms[c, p]          form of the token at p in source c (a column or a conjunction)
attributes of p      attributes[pointers[p] : pointers[p + 1]], with values: those of items that are attribute dicts
labels[p]            gold label; negative where it is not known (−1 − k: it is one of the k-th set of labels)

A word that training did not have is numbered inside its batch: form n_known + u of a column is unknown word u, whose
attribute codes the batch carries (UnknownWords of forms.py). The encoder learns nothing from it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tagwright.arrays import Floats, Ints, Longs
from tagwright.encode.forms import UnknownWords


class Batch(NamedTuple):
    """N sentences, n tokens; sentence i holds the tokens offsets[i] to offsets[i + 1] − 1."""

    offsets: Longs  # [N + 1]
    forms: Ints  # [C, n]
    unknown: UnknownWords
    pointers: Longs  # [n + 1]
    attributes: Ints  # [pointers[-1]]
    values: Floats  # [pointers[-1]], or [0] when all are 1
    labels: Ints  # [n], or [0] without labels

    @property
    def n_sentences(self) -> int:
        return len(self.offsets) - 1

    @property
    def n_tokens(self) -> int:
        return int(self.offsets[-1])

    @property
    def lengths(self) -> Longs:
        return np.diff(self.offsets)

    def take(self, order: Longs) -> Batch:
        """The same sentences in another order, or some of them."""
        lengths = self.lengths[order]
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        tokens = spread(self.offsets[:-1][order], lengths)
        sizes = np.diff(self.pointers)[tokens]
        entries = spread(self.pointers[:-1][tokens], sizes)
        return Batch(
            offsets=offsets,
            forms=np.ascontiguousarray(self.forms[:, tokens]),
            unknown=self.unknown,
            pointers=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            attributes=self.attributes[entries],
            values=self.values[entries] if len(self.values) else self.values,
            labels=self.labels[tokens] if len(self.labels) else self.labels,
        )


def spread(starts: Longs, lengths: Longs) -> Longs:
    """The concatenation of ranges: starts[0], starts[0] + 1 ... (lengths[0] numbers), then starts[1] ..."""
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    ranges: Longs = np.arange(total, dtype=np.int64) + np.repeat(starts - (ends - lengths), lengths)
    return ranges
