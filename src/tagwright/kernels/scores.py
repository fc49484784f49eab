"""Dual scores: emission rows as a kernel expansion over support contexts.

    emission[p, y] = Σ_m β[m, y] k(x_p, z_m)

HMSVM equation (8), LM-POS section 4: the training data enter through the contexts that have a multiplier β; only
those are kept. Tokens are taken blockwise: sparse products, the kernel, one dense product.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tagwright.arrays import Doubles, Floats, Workers, padded
from tagwright.encode.dataset import Dataset
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

    def fill_tables(self, workers: Workers) -> None:
        """There are none."""

    def emission(self, data: Dataset, first: int, last: int, out: Floats) -> None:
        """The scores of all tokens of the sentences `first` to `last` − 1, into out [n, P]."""
        part = data.take(np.arange(first, last))
        out[: part.n_tokens] = 0
        if len(self.support) == 0:
            return
        contexts, of_token = find_contexts(expand(self.encoder, part), self.encoder.n_attributes)
        rows = np.empty((len(contexts), self.n_labels))
        step = max(1, BLOCK // len(self.support))
        work = np.empty((min(step, len(contexts)), len(self.support)), np.float32)
        for begin in range(0, len(contexts), step):
            some = contexts.take(np.arange(begin, min(begin + step, len(contexts))))
            products = some.multiply(self._index, work)
            values = self.kernel(products, some.lengths, self._lengths)
            rows[begin : begin + step] = values.astype(np.float64) @ self.coefficients
        out[: part.n_tokens, : self.n_labels] = rows[of_token]
