"""Which (attribute, label) pairs get a weight: those seen together in training, or all.

`min_count`: an attribute that fewer tokens have gets none. Occurrences can be counted for parts of the data and merged.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tagwright._jit import kernel
from tagwright.arrays import Bools, Floats, Ints, Longs
from tagwright.encode.batch import Batch
from tagwright.encode.encoder import Encoder, SlotArrays, slot_arrays
from tagwright.encode.forms import find_form


class Pattern(NamedTuple):
    """Which (attribute, label) pairs have a weight: attribute a has the weights pointers[a] to pointers[a + 1] − 1."""

    pointers: Longs  # [A + 1]
    labels: Ints  # [pointers[-1]]

    @property
    def n_weights(self) -> int:
        return len(self.labels)


class LabelWeights(NamedTuple):
    """A weight vector and the labels that its weights belong to."""

    pointers: Longs  # [A + 1]
    labels: Ints  # [n]
    values: Floats  # [n]


@kernel
def mark_seen(label: int, sets: Bools, seen: Bools) -> None:
    """seen [Y] |= the label; where that is −1 − k, the labels sets[k]."""
    if label >= 0:
        seen[label] = True
        return
    for y in range(seen.shape[0]):
        seen[y] |= sets[-1 - label, y]


@kernel
def count_rows(
    forms: Ints, slot_offsets: Longs, offsets: Longs, gold: Ints, sets: Bools, seen: Bools, counts: Longs
) -> None:
    """How often each table row is read, and with which labels."""
    S = slot_offsets.shape[0]
    for i in range(offsets.shape[0] - 1):
        for p in range(offsets[i], offsets[i + 1]):
            for s in range(S):
                row = find_form(forms, p, slot_offsets[s], offsets[i], offsets[i + 1]) * S + s
                counts[row] += 1
                mark_seen(gold[p], sets, seen[row])


@kernel
def count_attributes(
    codes: Ints, slots: SlotArrays, row_seen: Bools, row_counts: Longs, seen: Bools, counts: Longs
) -> None:
    """The same for the attributes of the rows."""
    S = slots.offsets.shape[0]
    for f in range(codes.shape[0]):
        for s in range(S):
            for k in range(slots.pointers[s], slots.pointers[s + 1]):
                code = codes[f, slots.terms[k]]
                if code >= 0:
                    counts[slots.bases[k] + code] += row_counts[f * S + s]
                    for y in range(seen.shape[1]):
                        seen[slots.bases[k] + code, y] |= row_seen[f * S + s, y]


@kernel
def count_carried(pointers: Longs, attributes: Ints, gold: Ints, sets: Bools, seen: Bools, counts: Longs) -> None:
    """The same for attributes that tokens carry themselves."""
    for p in range(gold.shape[0]):
        for e in range(pointers[p], pointers[p + 1]):
            counts[attributes[e]] += 1
            mark_seen(gold[p], sets, seen[attributes[e]])


@kernel
def list_seen(seen: Bools, labels: Ints) -> None:
    """The labels of every row of seen [A, Y], row after row."""
    n = 0
    for a in range(seen.shape[0]):
        for y in range(seen.shape[1]):
            if seen[a, y]:
                labels[n] = y
                n += 1


class AttributeCounts(NamedTuple):
    """What a training set, or a part of it, says about its attributes."""

    seen: Bools  # [A, Y]: with which labels an attribute occurs
    counts: Longs  # [A]: how many tokens have it

    def merge(self, other: AttributeCounts) -> AttributeCounts:
        """Those of two parts together."""
        return AttributeCounts(self.seen | other.seen, self.counts + other.counts)

    def pattern(self, *, all_states: bool, min_count: int) -> Pattern:
        """The pairs that get a weight."""
        seen = np.where((self.counts > 0)[:, None], True, self.seen) if all_states else self.seen.copy()
        seen[self.counts < min_count] = False
        pointers = np.concatenate([[0], np.cumsum(seen.sum(axis=1))]).astype(np.int64)
        labels = np.empty(int(pointers[-1]), np.int32)
        list_seen(seen, labels)
        return Pattern(pointers, labels)


def count_occurrences(encoder: Encoder, data: Batch, n_labels: int, sets: Bools | None = None) -> AttributeCounts:
    """Of labelled sentences. A label −1 − k stands for all labels of sets[k], [K, Y]."""
    if sets is None:
        sets = np.zeros((1, n_labels), np.bool_)  # −1: unknown, and seen with no label
    seen = np.zeros((encoder.n_attributes, n_labels), np.bool_)
    counts = np.zeros(encoder.n_attributes, np.int64)
    for c, slots in enumerate(slot_arrays(encoder)):
        codes = encoder.codes_of(c, data)
        row_seen = np.zeros((len(codes) * slots.n_slots, n_labels), np.bool_)
        row_counts = np.zeros(len(row_seen), np.int64)
        count_rows(data.forms[c], slots.offsets, data.offsets, data.labels, sets, row_seen, row_counts)
        count_attributes(codes, slots, row_seen, row_counts, seen, counts)
    count_carried(data.pointers, data.attributes, data.labels, sets, seen, counts)
    return AttributeCounts(seen, counts)


def find_pattern(
    encoder: Encoder, data: Batch, n_labels: int, *, all_states: bool, min_count: int, sets: Bools | None = None
) -> Pattern:
    """The pattern of a training set with labels."""
    return count_occurrences(encoder, data, n_labels, sets).pattern(all_states=all_states, min_count=min_count)
