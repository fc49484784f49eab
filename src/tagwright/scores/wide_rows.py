"""Weights of a pattern as the solver "sgd" reads them: whole rows where an attribute has many labels, else lists.

    TokenAttributes (scores/expanded.py), Pattern ─► TokenData ─► optim/stochastic.py

Frequent attributes were seen with dozens of labels. Their weights, one after the other with their labels beside them,
are read number by number; a row with a weight for every label is read in vectors, and the weight of a label is found
at once. So an attribute with more than NARROW labels gets a row; those of its weights that the pattern does not have
are not parameters, and stay 0.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tagwright._jit import natural, tight_kernel
from tagwright._simd import BYTES, prefetch, sum_rows
from tagwright.arrays import ROW_UNIT, Bools, Doubles, Floats, Ints, Longs
from tagwright.encode.batch import Batch, spread
from tagwright.encode.encoder import Encoder
from tagwright.scores.expanded import TokenAttributes, expand
from tagwright.scores.pattern import Pattern

NARROW = 8
"""Labels that are read one by one."""
PREFETCH_DISTANCE = 2
"""Tokens between asking for weights and reading them."""


class WidePattern(NamedTuple):
    """A pattern with rows. Attribute a has the weights pointers[a] to pointers[a + 1] − 1; W weights in all."""

    pointers: Longs  # [A + 1]
    labels: Ints  # [W]
    n_labels: int
    indices: Longs  # weight w of the given pattern is weight indices[w] of this one; [0]: the patterns are the same
    in_pattern: Bools  # [W]: whether the given pattern has the weight; [0]: it has all

    @property
    def n_weights(self) -> int:
        return len(self.labels)

    @property
    def vector_size(self) -> int:
        """The length of a weight vector: rows are read in vectors, so there is something after the last one."""
        return self.n_weights + BYTES // 4

    @classmethod
    def build(cls, pattern: Pattern, n_labels: int) -> WidePattern:
        sizes = np.diff(pattern.pointers)
        wide = (sizes > NARROW) & (sizes < n_labels)
        if not wide.any():
            return cls(pattern.pointers, pattern.labels, n_labels, np.empty(0, np.int64), np.empty(0, np.bool_))
        pointers = np.concatenate([[0], np.cumsum(np.where(wide, n_labels, sizes))]).astype(np.int64)
        indices = spread(pointers[:-1], sizes)
        in_row = np.repeat(wide, sizes)
        indices[in_row] = np.repeat(pointers[:-1], sizes)[in_row] + pattern.labels[in_row]
        labels = np.empty(int(pointers[-1]), np.int32)
        labels[spread(pointers[:-1][wide], np.full(int(wide.sum()), n_labels))] = np.tile(
            np.arange(n_labels, dtype=np.int32), int(wide.sum())
        )
        labels[indices] = pattern.labels
        in_pattern = np.zeros(len(labels), np.bool_)
        in_pattern[indices] = True
        return cls(pointers, labels, n_labels, indices, in_pattern)

    def locate(self, part: slice) -> slice | Longs:
        """The indices of the weights `part` of the given pattern."""
        return self.indices[part] if len(self.indices) else part


class TokenWeights(NamedTuple):
    """The attributes of every token, as runs of weights: run r is the sizes[r] weights from firsts[r] on.

    Token p has the runs pointers[p] to pointers[p + 1] − 1: rows (a weight for every label) before lists[p], lists
    from there on.
    """

    pointers: Longs  # [n + 1]
    lists: Longs  # [n]
    firsts: Longs | Ints  # [R], 32 bits where that is enough
    sizes: Ints  # [R]
    values: Doubles  # [R], of the attributes; [0]: all are 1

    @classmethod
    def build(cls, tokens: TokenAttributes, pattern: WidePattern) -> TokenWeights:
        n, R = len(tokens.pointers) - 1, len(tokens.attributes)
        firsts = np.empty(R, np.int32) if pattern.n_weights < 2**31 else np.empty(R, np.int64)
        found = cls(
            np.empty(n + 1, np.int64), np.empty(n, np.int64), firsts, np.empty(R, np.int32),
            np.empty(len(tokens.values)),
        )  # fmt: skip
        list_runs(tokens, pattern, found)
        return found


class TokenData(NamedTuple):
    """Training sentences, and the weights that each token has."""

    offsets: Longs  # [N + 1]
    gold: Ints  # [n]
    tokens: TokenWeights
    pattern: WidePattern

    @classmethod
    def build(cls, encoder: Encoder, batch: Batch, pattern: Pattern, n_labels: int) -> TokenData:
        wide = WidePattern.build(pattern, n_labels)
        return cls(batch.offsets, batch.labels, TokenWeights.build(expand(encoder, batch), wide), wide)

    @property
    def n_sentences(self) -> int:
        return len(self.offsets) - 1


@tight_kernel
def list_runs(tokens: TokenAttributes, pattern: WidePattern, found: TokenWeights) -> None:
    """Rows first, then lists; attributes without weights are left out."""
    weighted = tokens.values.shape[0] > 0
    r = 0
    for p in range(found.lists.shape[0]):
        found.pointers[p] = r
        for rows in (True, False):
            if not rows:
                found.lists[p] = r
            for e in range(tokens.pointers[p], tokens.pointers[p + 1]):
                first = pattern.pointers[tokens.attributes[e]]
                size = pattern.pointers[tokens.attributes[e] + 1] - first
                if size > 0 and (size == pattern.n_labels) == rows:
                    found.firsts[r], found.sizes[r] = first, size
                    if weighted:
                        found.values[r] = tokens.values[e]
                    r += 1
    found.pointers[found.lists.shape[0]] = r


# What is natural below: weights and labels come from a Pattern, by way of list_runs.


@tight_kernel
def prefetch_token(p: int, data: TokenData, weights: Floats) -> None:
    """Ask for the weights of token p."""
    tokens = data.tokens
    for r in range(tokens.pointers[p], tokens.lists[p]):
        for w in range(tokens.firsts[r], tokens.firsts[r] + data.pattern.n_labels, ROW_UNIT):
            prefetch(weights, w)
    for r in range(tokens.lists[p], tokens.pointers[p + 1]):
        prefetch(weights, tokens.firsts[r])


@tight_kernel
def add_token_scores(p: int, data: TokenData, weights: Floats, row: Floats) -> None:
    """row += Σ_a v_a W[a] over the attributes a of token p; what it has beyond Y means nothing afterwards."""
    tokens, labels = data.tokens, data.pattern.labels
    if tokens.values.shape[0] > 0:
        for r in range(tokens.pointers[p], tokens.pointers[p + 1]):
            for w in range(tokens.firsts[r], tokens.firsts[r] + tokens.sizes[r]):
                row[natural(labels[natural(w)])] += tokens.values[r] * weights[natural(w)]
        return
    sum_rows(row, weights, tokens.firsts, tokens.pointers[p], tokens.lists[p], 1, data.pattern.n_labels, row)
    for r in range(tokens.lists[p], tokens.pointers[p + 1]):
        for w in range(tokens.firsts[r], tokens.firsts[r] + tokens.sizes[r]):
            row[natural(labels[natural(w)])] += weights[natural(w)]
