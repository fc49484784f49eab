"""Where features can occur: the lists that greedy learners walk, attribute ─► sentences and sentence ─► attributes.

LM-POS 3.2, "bookkeeping". A pair is an attribute in a sentence, with the positions where it stands. A feature is an
(attribute, label) of the pattern. Over all labellings y of sentence i, its value Φ(x_i, y) − Φ(x_i, y_i) lies between

    low = Σ min(v, 0) − Φ(x_i, y_i)        high = Σ max(v, 0) − Φ(x_i, y_i)        sums over the pair's positions

(v = 1 unless attributes have values). Sentences with the same (low, high) of a feature form a class: what boosting
needs to know of them are two sums over the class. Pairs of labels (and first and last labels) are features too, after
those of the pattern; their highest possible count is T − 1 for a label after itself, T // 2 for two others.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count

import numpy as np
from numpy.typing import NDArray

from tagwright._jit import tight_kernel
from tagwright.arrays import Doubles, Ints, Longs
from tagwright.encode.dataset import Dataset, spread
from tagwright.encode.encoder import Encoder
from tagwright.scores.expanded import expand
from tagwright.scores.places import Pattern


@dataclass(frozen=True, slots=True)
class Pairs:
    """Sentence i has the pairs starts[i] to starts[i + 1] − 1, by ascending attribute; attribute a has the pairs
    of_attribute[first[a] : first[a + 1]], by ascending sentence. Pair r stands at positions[pointers[r] : ...]."""

    starts: Longs  # [N + 1]
    attributes: Ints  # [R]
    sentences: Ints  # [R]
    pointers: Longs  # [R + 1]
    positions: Ints  # token numbers
    values: Doubles  # at the positions
    first: Longs  # [A + 1]
    of_attribute: Ints  # [R]

    @classmethod
    def build(cls, encoder: Encoder, data: Dataset, pattern: Pattern) -> Pairs:
        """All pairs whose attribute has features; values of 0 are left out."""
        tokens = expand(encoder, data)
        A = encoder.n_attributes
        token = np.repeat(np.arange(data.n_tokens, dtype=np.int32), np.diff(tokens.pointers))
        used = np.diff(pattern.pointers)[tokens.attributes] > 0
        if len(tokens.values):
            used &= tokens.values != 0
        token, attribute = token[used], tokens.attributes[used]
        values = tokens.values[used] if len(tokens.values) else np.ones(len(token))
        sentence = np.repeat(np.arange(data.n_sentences), data.lengths)[token]
        key = sentence * A + attribute
        order = np.argsort(key, kind="stable")
        key = key[order]
        begins = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]])[: len(key)])
        attributes, sentences = (key[begins] % max(A, 1)).astype(np.int32), (key[begins] // max(A, 1)).astype(np.int32)
        return cls(
            starts=np.searchsorted(sentences, np.arange(data.n_sentences + 1)).astype(np.int64),
            attributes=attributes,
            sentences=sentences,
            pointers=np.append(begins, len(key)).astype(np.int64),
            positions=token[order],
            values=values[order],
            first=np.concatenate([[0], np.cumsum(np.bincount(attributes, minlength=A))]).astype(np.int64),
            of_attribute=np.argsort(attributes, kind="stable").astype(np.int32),
        )


@dataclass(frozen=True, slots=True)
class Classes:
    """Feature k has the classes pointers[k] to pointers[k + 1] − 1, each with its (low, high).

    Pairs of an attribute that fall into the same class for every label share a row: sums are kept by row while
    sentences are walked, one run of memory a pair, and folded into classes when a feature is looked at.
    Attribute a has the rows first_row[a] to first_row[a + 1] − 1. Row r begins at row_pointers[r]: one entry for all
    labels (A), then one for each label of its attribute (B); slots are the classes of the latter, −1 at the former.
    What add_changes needs of a pair lies by pair, read in order: where its row begins, its first feature, how many.
    chain_slots[i, c]: the class of sentence i for the c-th feature of the chain.
    """

    pointers: Longs  # [K + C + 1]
    low: Doubles
    high: Doubles
    row_begins: Ints  # [pairs]
    bases: Ints  # [pairs]
    sizes: Ints  # [pairs]
    first_row: Longs  # [A + 1]
    row_pointers: Longs  # [rows + 1]
    slots: Ints  # [row_pointers[-1]]
    chain_slots: Ints  # [N, C]

    @property
    def n_features(self) -> int:
        return len(self.pointers) - 1


@tight_kernel
def list_ranges(
    attributes: Ints, pointers: Longs, positions: Ints, values: Doubles, labels: Ints, pattern_pointers: Longs,
    pattern_labels: Ints, slot_pointers: Longs, low: Doubles, high: Doubles,
) -> None:  # fmt: skip
    """low and high of every (pair, label)."""
    for r in range(attributes.shape[0]):
        a = attributes[r]
        for j in range(pattern_pointers[a + 1] - pattern_pointers[a]):
            label = pattern_labels[pattern_pointers[a] + j]
            below, above = 0.0, 0.0
            for e in range(pointers[r], pointers[r + 1]):
                here = values[e] if labels[positions[e]] == label else 0.0
                below += min(values[e], 0.0) - here
                above += max(values[e], 0.0) - here
            low[slot_pointers[r] + j] = below
            high[slot_pointers[r] + j] = above


def group(feature: Longs, low: Doubles, high: Doubles, n_features: int) -> tuple[Longs, Doubles, Doubles, Ints]:
    """Equal (feature, low, high) become one class: pointers [n_features + 1], low and high of the classes, slots."""
    order = np.lexsort((high, low, feature))
    f, a, b = feature[order], low[order], high[order]
    new = np.ones(len(f), np.bool_)
    new[1:] = (f[1:] != f[:-1]) | (a[1:] != a[:-1]) | (b[1:] != b[:-1])
    slots = np.empty(len(f), np.int32)
    slots[order] = np.cumsum(new, dtype=np.int32) - 1
    counts = np.bincount(f[new], minlength=n_features)
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64), a[new], b[new], slots


def widen(feature: Longs, low: Doubles, high: Doubles, n_features: int) -> tuple[Longs, Doubles, Doubles, Ints]:
    """One class for each feature, as wide as all of its sentences together: the loose bound's."""
    lowest, highest = np.zeros(n_features), np.zeros(n_features)
    np.minimum.at(lowest, feature, low)
    np.maximum.at(highest, feature, high)
    return np.arange(n_features + 1, dtype=np.int64), lowest, highest, feature.astype(np.int32)


def find_rows(pairs: Pairs, sizes: Longs, slot_pointers: Longs, slots: Ints) -> tuple[Ints, Longs, Longs, Longs]:
    """row_of [R], first_row [A + 1], row_pointers, and a pair of each row. `sizes` [A]: labels of each attribute."""
    for seed in count(1):  # until no two different rows have one key
        keys = hash_slots(slot_pointers, slots, seed)
        _, example, row_of = np.unique(keys, return_index=True, return_inverse=True)
        if all_alike(slot_pointers, slots, example, row_of):
            break
    order = np.argsort(pairs.attributes[example], kind="stable")
    place = np.empty(len(order), np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    example = example[order]
    owner = pairs.attributes[example]
    first_row = np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=len(sizes)))]).astype(np.int64)
    row_pointers = np.concatenate([[0], np.cumsum(sizes[owner] + 1)]).astype(np.int64)
    return place[row_of], first_row, row_pointers, example


def hash_slots(slot_pointers: Longs, slots: Ints, seed: int) -> NDArray[np.uint64]:
    """A number for the slots of every pair: the sum of a scrambled number for each (splitmix64), modulo 2^64."""
    z = slots.astype(np.uint64) * np.uint64(2 * seed + 1)
    z ^= z >> np.uint64(30)
    z *= np.uint64(0xBF58476D1CE4E5B9)
    z ^= z >> np.uint64(27)
    z *= np.uint64(0x94D049BB133111EB)
    z ^= z >> np.uint64(31)
    return np.add.reduceat(z, slot_pointers[:-1]) if len(z) else z


@tight_kernel
def all_alike(slot_pointers: Longs, slots: Ints, example: Longs, row_of: Longs) -> bool:
    """Whether every pair has the slots of its row's example."""
    for r in range(row_of.shape[0]):
        other = example[row_of[r]]
        if slot_pointers[r + 1] - slot_pointers[r] != slot_pointers[other + 1] - slot_pointers[other]:
            return False
        for j in range(slot_pointers[r + 1] - slot_pointers[r]):
            if slots[slot_pointers[r] + j] != slots[slot_pointers[other] + j]:
                return False
    return True


def find_classes(
    pairs: Pairs, pattern: Pattern, data: Dataset, gold: Doubles, n_labels: int, *, loose: bool
) -> Classes:
    """The classes of all features. `gold` [N, C]: how often each feature of the chain has its gold value."""
    n_own = np.diff(pattern.pointers)
    sizes = n_own[pairs.attributes]
    slot_pointers = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    n = int(slot_pointers[-1])
    low, high = np.empty(n), np.empty(n)
    list_ranges(
        pairs.attributes, pairs.pointers, pairs.positions, pairs.values, data.labels, pattern.pointers,
        pattern.labels, slot_pointers, low, high,
    )  # fmt: skip
    feature = np.repeat(pattern.pointers[pairs.attributes] - slot_pointers[:-1], sizes) + np.arange(n)
    K, (N, C) = pattern.n_weights, gold.shape
    most = most_counts(data.lengths, n_labels, C)
    make = widen if loose else group
    own = make(feature, low, high, K)
    chain = make(np.tile(np.arange(C), N), -gold.ravel(), (most - gold).ravel(), C)
    row_of, first_row, row_pointers, example = find_rows(pairs, n_own, slot_pointers, own[3])
    slots = np.full(int(row_pointers[-1]), -1, np.int32)
    slots[spread(row_pointers[:-1] + 1, sizes[example])] = own[3][spread(slot_pointers[example], sizes[example])]
    return Classes(
        pointers=np.concatenate([own[0], own[0][-1] + chain[0][1:]]),
        low=np.concatenate([own[1], chain[1]]),
        high=np.concatenate([own[2], chain[2]]),
        row_begins=row_pointers[row_of].astype(np.int32),
        bases=pattern.pointers[pairs.attributes].astype(np.int32),
        sizes=sizes.astype(np.int32),
        first_row=first_row,
        row_pointers=row_pointers,
        slots=slots,
        chain_slots=(chain[3] + np.int32(own[0][-1])).reshape(N, C),
    )


def most_counts(lengths: Longs, n_labels: int, n_chain: int) -> Doubles:
    """[N, C]: how often each feature of the chain (Y · Y pairs, then first and last labels) can occur at most."""
    Y = n_labels
    most = np.ones((len(lengths), n_chain))
    most[:, : Y * Y] = (lengths // 2)[:, None]
    most[:, : Y * Y : Y + 1] = (lengths - 1)[:, None]
    return most


def count_chain(data: Dataset, n_labels: int, *, boundaries: bool) -> Doubles:
    """[N, C]: how often each feature of the chain occurs in the gold labels."""
    Y, N = n_labels, data.n_sentences
    gold = np.zeros((N, Y * Y + 2 * Y * boundaries))
    sentence = np.repeat(np.arange(N), data.lengths)
    inner = np.setdiff1d(np.arange(data.n_tokens), data.offsets[:-1])
    np.add.at(gold, (sentence[inner], data.labels[inner - 1] * np.int64(Y) + data.labels[inner]), 1.0)
    if boundaries:
        gold[np.arange(N), Y * Y + data.labels[data.offsets[:-1]]] = 1
        gold[np.arange(N), Y * Y + Y + data.labels[data.offsets[1:] - 1]] = 1
    return gold
