"""Feature classes: a feature's sentences in which its value has the same range.

A feature is an (attribute, label) of the pattern, a pair of labels, a first or a last label. Over all labellings y of
sentence i, u = Φ(x_i, y) − Φ(x_i, y_i) lies between

    L = Σ min(v, 0) − Φ(x_i, y_i)        U = Σ max(v, 0) − Φ(x_i, y_i)        sums over the attribute's positions

(v = 1 unless attributes have values). Sentences with the same (L, U) of a feature form a class: all that the bounds
need to know of them are two sums over the class (bounds.py). The features of the pattern come first, then those of the
chain, whose highest possible count is T − 1 for a label after itself, T // 2 for two different labels.
"""

from __future__ import annotations

from itertools import count
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tagwright._jit import tight_kernel
from tagwright.arrays import Bools, Doubles, Ints, Longs
from tagwright.boosting.occurrences import Occurrences, count_gold_edges, count_possible_edges
from tagwright.encode.batch import Batch, spread
from tagwright.scores.pattern import Pattern


class FeatureClasses(NamedTuple):
    """Feature k has the classes pointers[k] to pointers[k + 1] − 1, each with its range (L, U)."""

    pointers: Longs  # [K + C + 1]
    L: Doubles  # [classes]
    U: Doubles  # [classes]

    @property
    def n_features(self) -> int:
        return len(self.pointers) - 1

    def have_unit_ranges(self) -> Bools:
        """[K + C]: whether all |L| and |U| of a feature are 0 or 1."""
        wider = ~(np.isin(self.L, (0, -1)) & np.isin(self.U, (0, 1)))
        unit: Bools = np.diff(np.concatenate([[0], np.cumsum(wider)])[self.pointers]) == 0
        return unit


class SumRows(NamedTuple):
    """Occurrences of an attribute that fall into the same class for every label share a row of sums.

    Sums are kept by row while sentences are passed, so that an occurrence writes to one run of memory, and are added up
    by class when a feature is looked at. Attribute a has the rows attribute_pointers[a] to [a + 1] − 1. Row r begins at
    pointers[r]: one entry for all labels (A), then one for each label of its attribute (B).
    """

    attribute_pointers: Longs  # [A + 1]
    pointers: Longs  # [rows + 1]
    classes: Ints  # [pointers[-1]]: the class of each B; −1 at each A
    begins: Ints  # [R] where the row of an occurrence begins
    first_features: Ints  # [R] of the occurrence's attribute
    n_labels: Ints  # [R] that its attribute has features with


Ranges = tuple[Longs, Doubles, Doubles, Ints]
"""pointers, L and U of classes, and the class of everything that was grouped."""


def find_classes(
    occurrences: Occurrences, pattern: Pattern, data: Batch, n_labels: int, *, loose: bool, boundaries: bool
) -> tuple[FeatureClasses, SumRows, Ints]:
    """The classes of all features, the rows of the pattern's features, and [N, C] the classes of the chain's."""
    n_own = np.diff(pattern.pointers)
    sizes = n_own[occurrences.attributes]
    pointers = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    L, U = np.empty((2, int(pointers[-1])))
    find_ranges(occurrences, data.labels, pattern.pointers, pattern.labels, pointers, L, U)
    feature = np.repeat(pattern.pointers[occurrences.attributes] - pointers[:-1], sizes) + np.arange(len(L))
    gold = count_gold_edges(data, n_labels, boundaries=boundaries)
    N, C = gold.shape
    possible = count_possible_edges(data.lengths, n_labels, C)
    classify = widen if loose else group
    own = classify(feature, L, U, pattern.n_weights)
    chain = classify(np.tile(np.arange(C), N), -gold.ravel(), (possible - gold).ravel(), C)
    classes = FeatureClasses(
        np.concatenate([own[0], own[0][-1] + chain[0][1:]]),
        np.concatenate([own[1], chain[1]]),
        np.concatenate([own[2], chain[2]]),
    )
    chain_classes = (chain[3] + np.int32(own[0][-1])).reshape(N, C)
    return classes, find_rows(occurrences, pattern, pointers, own[3]), chain_classes


@tight_kernel
def find_ranges(
    occurrences: Occurrences, labels: Ints, pattern_pointers: Longs, pattern_labels: Ints, pointers: Longs,
    L: Doubles, U: Doubles,
) -> None:  # fmt: skip
    """L and U of occurrence r and the j-th label of its attribute, at pointers[r] + j."""
    for r in range(occurrences.attributes.shape[0]):
        a = occurrences.attributes[r]
        for j in range(pattern_pointers[a + 1] - pattern_pointers[a]):
            label = pattern_labels[pattern_pointers[a] + j]
            below, above = 0.0, 0.0
            for e in range(occurrences.pointers[r], occurrences.pointers[r + 1]):
                v = occurrences.values[e]
                gold = v if labels[occurrences.positions[e]] == label else 0.0
                below += min(v, 0.0) - gold
                above += max(v, 0.0) - gold
            L[pointers[r] + j] = below
            U[pointers[r] + j] = above


def group(feature: Longs, L: Doubles, U: Doubles, n_features: int) -> Ranges:
    """Equal (feature, L, U) become one class: the tight bound's."""
    order = np.lexsort((U, L, feature))
    f, low, high = feature[order], L[order], U[order]
    new = np.ones(len(f), np.bool_)
    new[1:] = (f[1:] != f[:-1]) | (low[1:] != low[:-1]) | (high[1:] != high[:-1])
    classes = np.empty(len(f), np.int32)
    classes[order] = np.cumsum(new, dtype=np.int32) - 1
    counts = np.bincount(f[new], minlength=n_features)
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64), low[new], high[new], classes


def widen(feature: Longs, L: Doubles, U: Doubles, n_features: int) -> Ranges:
    """One class for each feature, as wide as all of its sentences together: the loose bound's."""
    lowest, highest = np.zeros(n_features), np.zeros(n_features)
    np.minimum.at(lowest, feature, L)
    np.maximum.at(highest, feature, U)
    return np.arange(n_features + 1, dtype=np.int64), lowest, highest, feature.astype(np.int32)


# ---- rows ----


def find_rows(occurrences: Occurrences, pattern: Pattern, pointers: Longs, classes: Ints) -> SumRows:
    """`classes` of occurrence r and its attribute's labels: from pointers[r] to pointers[r + 1] − 1."""
    for seed in count(1):  # until no two different rows have the same hash
        hashes = hash_classes(pointers, classes, seed)
        _, example, row_of = np.unique(hashes, return_index=True, return_inverse=True)
        lengths, like = np.diff(pointers), example[row_of]
        if np.array_equal(lengths, lengths[like]) and np.array_equal(classes, classes[spread(pointers[like], lengths)]):
            break
    order = np.argsort(occurrences.attributes[example], kind="stable")
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    example = example[order]
    owner, sizes = occurrences.attributes[example], np.diff(pattern.pointers)
    row_pointers = np.concatenate([[0], np.cumsum(sizes[owner] + 1)]).astype(np.int64)
    row_classes = np.full(int(row_pointers[-1]), -1, np.int32)
    entries = spread(pointers[example], sizes[owner])
    row_classes[spread(row_pointers[:-1] + 1, sizes[owner])] = classes[entries]
    return SumRows(
        attribute_pointers=np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=len(sizes)))]).astype(np.int64),
        pointers=row_pointers,
        classes=row_classes,
        begins=row_pointers[rank[row_of]].astype(np.int32),
        first_features=pattern.pointers[occurrences.attributes].astype(np.int32),
        n_labels=sizes[occurrences.attributes].astype(np.int32),
    )


def hash_classes(pointers: Longs, classes: Ints, seed: int) -> NDArray[np.uint64]:
    """A hash of the classes of every occurrence: the sum of their splitmix64 hashes, modulo 2^64."""
    z = classes.astype(np.uint64) * np.uint64(2 * seed + 1)
    z ^= z >> np.uint64(30)
    z *= np.uint64(0xBF58476D1CE4E5B9)
    z ^= z >> np.uint64(27)
    z *= np.uint64(0x94D049BB133111EB)
    z ^= z >> np.uint64(31)
    return np.add.reduceat(z, pointers[:-1]) if len(z) else z
