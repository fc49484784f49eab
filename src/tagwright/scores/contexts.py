"""Observation contexts: the distinct attribute vectors of tokens, and products between them. What kernels compare.

Two tokens with the same windowed attributes are one context, so that a Gram matrix has a row for each context and not
for each token. ⟨x, z⟩ for all z at once goes through an inverted index, from attributes to contexts: sparse products.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from tagwright._jit import kernel
from tagwright.arrays import Doubles, Floats, Ints, Longs
from tagwright.encode.batch import spread
from tagwright.scores.expanded import TokenAttributes


@kernel
def add_products(
    pointers: Longs, attributes: Ints, values: Doubles, index_pointers: Longs, index_rows: Ints, index_values: Floats,
    out: Floats,
) -> None:  # fmt: skip
    """out [Q, M] += Σ_a x_a z_a, the vectors x by rows and the vectors z by attributes."""
    for q in range(pointers.shape[0] - 1):
        for e in range(pointers[q], pointers[q + 1]):
            a, value = attributes[e], values[e]
            for k in range(index_pointers[a], index_pointers[a + 1]):
                out[q, index_rows[k]] += value * index_values[k]


@dataclass(slots=True)
class Contexts:
    """M sparse vectors: vector m has attributes[pointers[m] : pointers[m + 1]], ascending, with values."""

    n_attributes: int
    pointers: Longs  # [M + 1]
    attributes: Ints
    values: Doubles
    _index: tuple[Longs, Ints, Floats] = field(init=False)

    def __post_init__(self) -> None:
        order = np.argsort(self.attributes, kind="stable")
        counts = np.bincount(self.attributes, minlength=self.n_attributes)
        rows = np.repeat(np.arange(len(self), dtype=np.int32), np.diff(self.pointers))
        pointers = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        self._index = pointers, rows[order], self.values[order].astype(np.float32)

    def __len__(self) -> int:
        return len(self.pointers) - 1

    @property
    def lengths(self) -> Floats:
        """‖x‖² of every vector, float32."""
        sums = np.concatenate([[0.0], np.cumsum(self.values**2)])
        return np.asarray(sums[self.pointers[1:]] - sums[self.pointers[:-1]], np.float32)

    def take(self, numbers: Longs) -> Contexts:
        """Some of the vectors."""
        sizes = np.diff(self.pointers)[numbers]
        entries = spread(self.pointers[:-1][numbers], sizes)
        pointers = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        return Contexts(self.n_attributes, pointers, self.attributes[entries], self.values[entries])

    def multiply(self, others: Contexts) -> Floats:
        """⟨x, z⟩ of the vectors of `others` (rows) and these (columns), float32."""
        out = np.zeros((len(others), len(self)), np.float32)
        add_products(others.pointers, others.attributes, others.values, *self._index, out)
        return out


def find_contexts(tokens: TokenAttributes, n_attributes: int) -> tuple[Contexts, Longs]:
    """The distinct vectors in the order of their first token, and the context of every token."""
    n = len(tokens.pointers) - 1
    values = tokens.values if len(tokens.values) else np.ones(len(tokens.attributes))
    owner = np.repeat(np.arange(n), np.diff(tokens.pointers))
    order = np.lexsort((tokens.attributes, owner))  # tokens stay in place; their attributes ascend
    attributes, values = tokens.attributes[order], values[order]
    numbers: dict[bytes, int] = {}
    of_token = np.empty(n, np.int64)
    first: list[int] = []
    for p, (begin, end) in enumerate(zip(tokens.pointers[:-1].tolist(), tokens.pointers[1:].tolist(), strict=True)):
        key = attributes[begin:end].tobytes() + values[begin:end].tobytes()
        of_token[p] = numbers.setdefault(key, len(numbers))
        if of_token[p] == len(first):
            first.append(p)
    sizes = np.diff(tokens.pointers)[first]
    entries = spread(tokens.pointers[:-1][first], sizes)
    pointers = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return Contexts(n_attributes, pointers, attributes[entries], values[entries]), of_token
