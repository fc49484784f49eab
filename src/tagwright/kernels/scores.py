"""Dual scores: emission rows as a kernel expansion over support contexts.

    emission[p, y] = Σ_m β[m, y] k(x_p, z_m)

HMSVM equation (8), LM-POS section 4: the training data enter through the contexts that have a multiplier β; only
those are kept. Tokens are taken blockwise: sparse products, the kernel, one dense product.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tagwright.arrays import Doubles, Floats, Longs, padded
from tagwright.encode.batch import Batch
from tagwright.encode.encoder import Encoder
from tagwright.kernels.functions import Kernel
from tagwright.kernels.vectors import ContextVectors, find_contexts
from tagwright.scores.expanded import expand

BLOCK = 1 << 22
"""Kernel values computed at once, at most."""


class KernelScores:
    """Support contexts with coefficients [M, Y], bound to an encoder."""

    dtype: type[np.floating[Any]] = np.float64

    def __init__(self, encoder: Encoder, support: ContextVectors, coefficients: Doubles, kernel: Kernel) -> None:
        self.encoder = encoder
        self.support = support
        self.kernel = kernel
        self.n_labels = coefficients.shape[1]
        self.width = padded(self.n_labels)
        self.coefficients = coefficients
        self._lengths, self._index = support.lengths, support.index()

    @classmethod
    def build(cls, encoder: Encoder, contexts: ContextVectors, coefficients: Doubles, kernel: Kernel) -> KernelScores:
        """Keep the contexts that have a coefficient."""
        used = np.flatnonzero(coefficients.any(axis=1))
        return cls(encoder, contexts.take(used), coefficients[used], kernel)

    @property
    def n_parameters(self) -> int:
        """Coefficients that are not zero."""
        return int(np.count_nonzero(self.coefficients))

    def name_context(self, m: int, names: Sequence[str]) -> str:
        """Support context m by its words, or by its attributes if it has none. names: of all attributes."""
        attributes = [
            names[a] for a in self.support.attributes[self.support.pointers[m] : self.support.pointers[m + 1]]
        ]
        words = [name for name in attributes if name.startswith("word[") and "&" not in name.partition("=")[0]]
        return " ".join(words or attributes)

    def similarity(self, batch: Batch) -> Doubles:
        """k(x_p, z_m) of all tokens and support contexts [n, M]; of a few sentences."""
        contexts, of_token = find_contexts(expand(self.encoder, batch), self.encoder.n_attributes)
        work = np.empty((len(contexts), len(self.support)), np.float32)
        values = self.kernel(contexts.multiply(self._index, work), contexts.lengths, self._lengths)
        found: Doubles = values.astype(np.float64)[of_token]
        return found

    def rows(self, batch: Batch) -> KernelRows:
        """The scores of a batch."""
        contexts, of_token = find_contexts(expand(self.encoder, batch), self.encoder.n_attributes)
        rows = np.zeros((len(contexts), self.n_labels))
        step = max(1, BLOCK // max(1, len(self.support)))
        work = np.empty((min(step, len(contexts)), len(self.support)), np.float32)
        for begin in range(0, len(contexts) if len(self.support) else 0, step):
            some = contexts.take(np.arange(begin, min(begin + step, len(contexts))))
            products = some.multiply(self._index, work)
            values = self.kernel(products, some.lengths, self._lengths)
            rows[begin : begin + step] = values.astype(np.float64) @ self.coefficients
        return KernelRows(batch, rows, of_token)


@dataclass(frozen=True, slots=True)
class KernelRows:
    """The scores of one batch: a row for each distinct context."""

    batch: Batch
    rows: Doubles  # [M, Y]
    of_token: Longs  # [n]

    def emission(self, first: int, last: int, out: Floats) -> None:
        """The scores of all tokens of the sentences `first` to `last` − 1, into out [n, P]; padding is 0."""
        tokens = self.of_token[self.batch.offsets[first] : self.batch.offsets[last]]
        out[: len(tokens)] = 0
        out[: len(tokens), : self.rows.shape[1]] = self.rows[tokens]
