"""Weights of attributes as an online learner reads them: whole rows where an attribute has many labels, else lists.

    TokenAttributes (scores/expanded.py), Pattern ─► widen ─► TokenWeights ─► optim/online.py, optim/stochastic.py

Frequent attributes were seen with dozens of labels. Their weights, one after the other with their labels beside them,
are read number by number; a row with a weight for every label is read in vectors, and the weight of a label is found
at once. So an attribute with more than NARROW labels gets a row; those of its weights that the pattern does not have
are no parameters, and stay 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagwright._jit import tight_kernel
from tagwright._simd import BYTES, prefetch, sum_rows
from tagwright.arrays import LANES, Bools, Doubles, Floats, Ints, Longs
from tagwright.encode.batch import spread
from tagwright.scores.expanded import TokenAttributes
from tagwright.scores.row_index import Pattern

Numbers = NDArray[np.signedinteger[Any]]
"""Of weights: 32 bits where that is enough, else 64."""
NARROW = 8
"""Labels that are read one by one."""
PREFETCH_DISTANCE = 2
"""Tokens between asking for weights and reading them."""


@dataclass(frozen=True, slots=True)
class WidePattern:
    """A pattern with rows. Weight w of the given pattern is weight places[w] of this one."""

    pointers: Longs  # [A + 1]
    labels: Ints  # [n]
    n_labels: int
    places: Longs  # [0] where the given pattern is the same
    real: Bools  # [n]: those that the given pattern has; [0] where it has all

    @property
    def n_weights(self) -> int:
        return len(self.labels)

    @classmethod
    def build(cls, pattern: Pattern, n_labels: int) -> WidePattern:
        sizes = np.diff(pattern.pointers)
        wide = (sizes > NARROW) & (sizes < n_labels)
        if not wide.any():
            return cls(pattern.pointers, pattern.labels, n_labels, np.empty(0, np.int64), np.empty(0, np.bool_))
        pointers = np.concatenate([[0], np.cumsum(np.where(wide, n_labels, sizes))]).astype(np.int64)
        places = spread(pointers[:-1], sizes)
        owners = np.repeat(wide, sizes)
        places[owners] = np.repeat(pointers[:-1], sizes)[owners] + pattern.labels[owners]
        labels = np.empty(int(pointers[-1]), np.int32)
        labels[spread(pointers[:-1][wide], np.full(int(wide.sum()), n_labels))] = np.tile(
            np.arange(n_labels, dtype=np.int32), int(wide.sum())
        )
        labels[places] = pattern.labels
        real = np.zeros(len(labels), np.bool_)
        real[places] = True
        return cls(pointers, labels, n_labels, places, real)

    @property
    def n_places(self) -> int:
        """The length of a weight vector: rows are read in vectors, so there is something after the last one."""
        return self.n_weights + BYTES // 4

    def find(self, part: slice) -> slice | Longs:
        """Where the weights `part` of the given pattern stand."""
        return self.places[part] if len(self.places) else part


@dataclass(frozen=True, slots=True)
class TokenWeights:
    """Token p has the rows that begin at firsts[pointers[p] : middles[p]] of the weights, and the lists of sizes[e]
    weights from firsts[e] on for middles[p] ≤ e < pointers[p + 1]; `values` beside them ([0] when all are 1)."""

    pointers: Longs  # [n + 1]
    middles: Longs  # [n]
    firsts: Numbers
    sizes: Ints
    values: Doubles

    @classmethod
    def build(cls, tokens: TokenAttributes, pattern: WidePattern) -> TokenWeights:
        n = len(tokens.attributes)
        firsts: Numbers = np.empty(n, np.int64 if pattern.n_weights >= 2**31 else np.int32)
        found = cls(
            np.empty_like(tokens.pointers), np.empty(len(tokens.pointers) - 1, np.int64), firsts,
            np.empty(n, np.int32), np.empty(len(tokens.values)),
        )  # fmt: skip
        sort_attributes(
            tokens.pointers, tokens.attributes, tokens.values, pattern.pointers, pattern.n_labels,
            found.pointers, found.middles, found.firsts, found.sizes, found.values,
        )  # fmt: skip
        return found


@tight_kernel
def sort_attributes(
    token_pointers: Longs, attributes: Ints, given_values: Doubles, pattern_pointers: Longs, Y: int,
    pointers: Longs, middles: Longs, firsts: Numbers, sizes: Ints, values: Doubles,
) -> None:  # fmt: skip
    """Rows first, then lists; attributes without weights are left out."""
    weighted = values.shape[0] > 0
    n = 0
    for p in range(middles.shape[0]):
        pointers[p] = n
        for rows in (True, False):
            if not rows:
                middles[p] = n
            for e in range(token_pointers[p], token_pointers[p + 1]):
                first = pattern_pointers[attributes[e]]
                size = pattern_pointers[attributes[e] + 1] - first
                if size > 0 and (size == Y) == rows:
                    firsts[n], sizes[n] = first, size
                    if weighted:
                        values[n] = given_values[e]
                    n += 1
    pointers[middles.shape[0]] = n


@tight_kernel
def fetch_token(p: int, pointers: Longs, middles: Longs, firsts: Numbers, Y: int, weights: Floats) -> None:
    """Ask for the weights of token p."""
    for e in range(pointers[p], middles[p]):
        for w in range(firsts[e], firsts[e] + Y, LANES):
            prefetch(weights, w)
    for e in range(middles[p], pointers[p + 1]):
        prefetch(weights, firsts[e])


@tight_kernel
def add_token(
    p: int, pointers: Longs, middles: Longs, firsts: Numbers, sizes: Ints, values: Doubles, labels: Ints, Y: int,
    weights: Floats, row: Floats,
) -> None:  # fmt: skip
    """row += Σ_a v_a W[a] over the attributes a of token p; what it has beyond Y means nothing afterwards."""
    if values.shape[0] > 0:
        for e in range(pointers[p], pointers[p + 1]):
            for w in range(firsts[e], firsts[e] + sizes[e]):
                row[labels[w]] += values[e] * weights[w]
        return
    sum_rows(row, weights, firsts, pointers[p], middles[p], 1, Y, row)
    for e in range(middles[p], pointers[p + 1]):
        for w in range(firsts[e], firsts[e] + sizes[e]):
            row[labels[w]] += weights[w]
