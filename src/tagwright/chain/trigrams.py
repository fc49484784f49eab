"""Label trigrams and their weights: what a second-order chain has more than a first-order one.

Stands before second_order, which takes the table of all trigrams and counts those of gold labels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tagwright.arrays import Doubles, Floats, Ints, Longs
from tagwright.errors import ParameterError

MOST_BYTES = 1 << 30
"""Of the table of all label trigrams."""


@dataclass(frozen=True, slots=True)
class Trigrams:
    """The label trigrams (p, q, c) that have a weight: keys (p · Y + q) · Y + c, ascending. All others weigh 0."""

    n_labels: int
    keys: Longs  # [K]
    weights: Doubles  # [K]

    @property
    def labels(self) -> tuple[Longs, Longs, Longs]:
        """p, q and c of every trigram."""
        Y = self.n_labels
        return self.keys // (Y * Y), self.keys // Y % Y, self.keys % Y

    def table(self, transition: Doubles, dtype: type[np.floating[Any]]) -> Floats:
        """transition[q, c] + trigram[p, q, c] at [Y + q Y + p, c]; the first Y rows are left for the caller."""
        _, q, c = self.labels
        return self._fill(transition, transition[q, c] + self.weights, dtype)

    def exponentials(self, transition: Doubles, shift: float, dtype: type[np.floating[Any]]) -> Floats:
        """exp(transition[q, c] + trigram[p, q, c] − shift), likewise; rounded only at the end: every token takes one of
        these factors, so that an error here is a hundred thousand times as large in the objective."""
        _, q, c = self.labels
        return self._fill(np.exp(transition - shift), np.exp(transition[q, c] + self.weights - shift), dtype)

    def _fill(self, pairs: Doubles, trigrams: Doubles, dtype: type[np.floating[Any]]) -> Floats:
        """[Y + q Y + p, c]: the value of the trigram where there is one, else of the pair (q, c)."""
        Y = self.n_labels
        check_size(Y, dtype)
        table = np.empty((Y + Y * Y, Y), dtype)
        cube = table[Y:].reshape(Y, Y, Y)
        cube[:] = pairs[:, None, :]
        p, q, c = self.labels
        cube[q, p, c] = trigrams
        return table


def trigram_keys(offsets: Longs, labels: Ints, n_labels: int) -> Longs:
    """The key of every label trigram of the sentences, in their order: T − 2 for a sentence of T ≥ 2 labels."""
    inner = np.ones(len(labels), np.bool_)
    inner[offsets[:-1]] = False
    inner[np.minimum(offsets[:-1] + 1, len(labels) - 1)] = False
    last = np.flatnonzero(inner)
    y = labels.astype(np.int64)
    keys: Longs = (y[last - 2] * n_labels + y[last - 1]) * n_labels + y[last]
    return keys


def find_trigrams(offsets: Longs, labels: Ints, trigrams: Trigrams) -> tuple[Longs, Longs]:
    """The label trigrams of the sentences that have a weight: their indices among the weights, and their sentences."""
    lengths = np.diff(offsets)
    keys = trigram_keys(offsets, labels, trigrams.n_labels)
    sentences = np.repeat(np.arange(len(lengths)), np.maximum(lengths - 2, 0))
    index = np.searchsorted(trigrams.keys, keys)
    known = np.append(trigrams.keys, -1)[index] == keys
    return index[known], sentences[known]


def check_size(n_labels: int, dtype: type[np.floating[Any]]) -> None:
    """Refuse a table of all trigrams that is too large."""
    size = n_labels**3 * np.dtype(dtype).itemsize
    if size > MOST_BYTES:
        raise ParameterError(
            f"order=2 with {n_labels} labels needs a table of {size / 2**30:.1f} GiB for all label trigrams, more than "
            f"{MOST_BYTES / 2**30:.0f} GiB; use order=1, or fewer labels"
        )
