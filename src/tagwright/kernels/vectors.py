"""Contexts: the distinct attribute vectors of tokens, and the inner products between them. What kernels compare.

Tokens with the same attributes (their window included) have one context, so that a Gram matrix has a row for each
context and not for each token. ⟨x, z⟩ for all z at once goes through an inverted index, from attributes to contexts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tagwright._jit import tight_kernel
from tagwright.arrays import Doubles, Floats, Ints, Longs
from tagwright.encode.batch import spread
from tagwright.scores.expanded import TokenAttributes


class InvertedIndex(NamedTuple):
    """Attribute a is in the vectors rows[pointers[a] : pointers[a + 1]], with values there."""

    pointers: Longs  # [A + 1]
    rows: Ints  # [E]
    values: Floats  # [E] float32


@tight_kernel
def add_products(pointers: Longs, attributes: Ints, values: Doubles, index: InvertedIndex, out: Floats) -> None:
    """out [Q, M] += Σ_a x_a z_a, for the vectors x given by rows and the vectors z of the index."""
    for q in range(pointers.shape[0] - 1):
        row = out[q]
        for e in range(pointers[q], pointers[q + 1]):
            a, value = attributes[e], values[e]
            begin, end = index.pointers[a], index.pointers[a + 1]
            columns, others = index.rows[begin:end], index.values[begin:end]
            for k in range(end - begin):
                row[columns[k]] += value * others[k]


@dataclass(frozen=True, slots=True)
class ContextVectors:
    """M sparse vectors: vector m has attributes[pointers[m] : pointers[m + 1]], ascending, with values."""

    n_attributes: int
    pointers: Longs  # [M + 1]
    attributes: Ints  # [E]
    values: Doubles  # [E]

    def __len__(self) -> int:
        return len(self.pointers) - 1

    @property
    def lengths(self) -> Floats:
        """‖x‖² of every vector, float32; infinite where that is too small for it (kernels then refuse the vector)."""
        owner = np.repeat(np.arange(len(self)), np.diff(self.pointers))
        with np.errstate(over="ignore"):
            return np.bincount(owner, self.values**2, len(self)).astype(np.float32)

    def take(self, numbers: Longs) -> ContextVectors:
        """Some of the vectors."""
        sizes = np.diff(self.pointers)[numbers]
        entries = spread(self.pointers[:-1][numbers], sizes)
        pointers = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        return ContextVectors(self.n_attributes, pointers, self.attributes[entries], self.values[entries])

    def index(self) -> InvertedIndex:
        """The same by attributes."""
        order = np.argsort(self.attributes, kind="stable")
        counts = np.bincount(self.attributes, minlength=self.n_attributes)
        rows = np.repeat(np.arange(len(self), dtype=np.int32), np.diff(self.pointers))
        pointers = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        with np.errstate(over="ignore"):  # a value that is too large gives products that are not finite: refused there
            values = self.values[order].astype(np.float32)
        return InvertedIndex(pointers, rows[order], values)

    def multiply(self, index: InvertedIndex, out: Floats) -> Floats:
        """⟨x, z⟩ of these vectors (rows) and those of an index (columns), into out [≥ Q, M]; returns its Q rows."""
        products = out[: len(self)]
        products[:] = 0
        add_products(self.pointers, self.attributes, self.values, index, products)
        return products


def find_contexts(tokens: TokenAttributes, n_attributes: int) -> tuple[ContextVectors, Longs]:
    """The distinct vectors in the order of their first token, and the context of every token."""
    n = len(tokens.pointers) - 1
    values = tokens.values if len(tokens.values) else np.ones(len(tokens.attributes))
    owner = np.repeat(np.arange(n), np.diff(tokens.pointers))
    order = np.lexsort((tokens.attributes, owner))  # by token, and within a token by attribute
    attributes, values = tokens.attributes[order], values[order]
    numbers: dict[bytes, int] = {}
    of_token = np.empty(n, np.int64)
    first: list[int] = []
    for p, (begin, end) in enumerate(zip(tokens.pointers[:-1].tolist(), tokens.pointers[1:].tolist(), strict=True)):
        key = attributes[begin:end].tobytes() + values[begin:end].tobytes()
        of_token[p] = numbers.setdefault(key, len(numbers))
        if of_token[p] == len(first):
            first.append(p)
    everyone = ContextVectors(n_attributes, tokens.pointers, attributes, values)
    return everyone.take(np.array(first, np.int64)), of_token
