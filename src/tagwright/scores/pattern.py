"""Which (attribute, label) pairs get a weight: those seen together in training, or all.

    Batch ─► forms of a slot, with the labels seen ─► attributes of the forms ─► AttributeCounts ─► Pattern

Labels seen are bits: a form passes them on to its attributes, and a part of the data adds its own to another's, by one
`or` for 63 labels (no word is negative then). `min_count`: an attribute that fewer tokens have gets no weight.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tagwright._jit import tight_kernel
from tagwright._simd import lowest_bit
from tagwright.arrays import Bools, Floats, Ints, Longs
from tagwright.encode.batch import Batch
from tagwright.encode.encoder import Encoder, slot_arrays
from tagwright.encode.forms import find_form

BITS = 63
"""Labels in a word."""


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


def n_words(n_labels: int) -> int:
    """W, for the bits of so many labels."""
    return -(-n_labels // BITS)


def as_bits(sets: Bools) -> Longs:
    """Sets of labels [K, Y] as bits [K, W]."""
    words = np.zeros((len(sets), n_words(sets.shape[1])), np.int64)
    for y in range(sets.shape[1]):
        words[:, y // BITS] |= sets[:, y].astype(np.int64) << (y % BITS)
    return words


@tight_kernel
def mark_seen(label: int, sets: Longs, seen: Longs, row: int) -> None:
    """seen[row] |= the label; where that is −1 − k, the labels sets[k]."""
    if label >= 0:
        seen[row, label // BITS] |= 1 << (label % BITS)
        return
    for w in range(seen.shape[1]):
        seen[row, w] |= sets[-1 - label, w]


@tight_kernel
def count_forms(
    forms: Ints, offset: int, offsets: Longs, gold: Ints, sets: Longs, seen: Longs, counts: Longs
) -> None:  # fmt: skip
    """How often each form is read at this offset, and with which labels."""
    for i in range(offsets.shape[0] - 1):
        for p in range(offsets[i], offsets[i + 1]):
            form = find_form(forms, p, offset, offsets[i], offsets[i + 1])
            counts[form] += 1
            mark_seen(gold[p], sets, seen, form)


@tight_kernel
def count_attributes(
    codes: Ints, term: int, base: int, of_forms: Longs, counts_of_forms: Longs, seen: Longs, counts: Longs
) -> None:  # fmt: skip
    """The same for the attributes of the forms: base + their code of this term."""
    for f in range(codes.shape[0]):
        if codes[f, term] >= 0 and counts_of_forms[f] > 0:
            a = base + codes[f, term]
            counts[a] += counts_of_forms[f]
            for w in range(seen.shape[1]):
                seen[a, w] |= of_forms[f, w]


@tight_kernel
def count_carried(pointers: Longs, attributes: Ints, gold: Ints, sets: Longs, seen: Longs, counts: Longs) -> None:
    """The same for attributes that tokens carry themselves."""
    for p in range(gold.shape[0]):
        for e in range(pointers[p], pointers[p + 1]):
            counts[attributes[e]] += 1
            mark_seen(gold[p], sets, seen, attributes[e])


@tight_kernel
def list_seen(seen: Longs, wanted: Bools, pointers: Longs, labels: Ints) -> int:
    """The labels of the wanted attributes, one after the other; attribute a has those from pointers[a] on. Returns how
    many there are; with empty `labels`, they are only counted."""
    counting, n = labels.shape[0] == 0, 0
    for a in range(seen.shape[0]):
        pointers[a] = n
        for w in range(seen.shape[1] if wanted[a] else 0):
            word = seen[a, w]
            while word != 0:
                if not counting:
                    labels[n] = BITS * w + lowest_bit(word)
                word &= word - 1
                n += 1
    pointers[seen.shape[0]] = n
    return n


class AttributeCounts(NamedTuple):
    """What a training set, or a part of it, says about its attributes."""

    n_labels: int
    seen: Longs  # [A, W]: with which labels an attribute occurs, as bits
    counts: Longs  # [A]: how many tokens have it

    def merge(self, other: AttributeCounts) -> AttributeCounts:
        """Those of two parts together."""
        return AttributeCounts(self.n_labels, self.seen | other.seen, self.counts + other.counts)

    def pattern(self, *, all_states: bool, min_count: int) -> Pattern:
        """The pairs that get a weight."""
        wanted = self.counts >= max(min_count, 1)
        pointers = np.zeros(len(wanted) + 1, np.int64)
        if all_states:
            np.cumsum(self.n_labels * wanted, out=pointers[1:])
            return Pattern(pointers, np.tile(np.arange(self.n_labels, dtype=np.int32), int(wanted.sum())))
        labels = np.empty(list_seen(self.seen, wanted, pointers, np.empty(0, np.int32)), np.int32)
        list_seen(self.seen, wanted, pointers, labels)
        return Pattern(pointers, labels)


def count_occurrences(encoder: Encoder, data: Batch, n_labels: int, sets: Bools | None = None) -> AttributeCounts:
    """Of labelled sentences. A label −1 − k stands for all labels of sets[k], [K, Y]; without sets, −1 is unknown, and
    seen with no label."""
    words = as_bits(np.zeros((1, n_labels), np.bool_) if sets is None else sets)
    W = words.shape[1]
    seen, counts = np.zeros((encoder.n_attributes, W), np.int64), np.zeros(encoder.n_attributes, np.int64)
    for c, slots in enumerate(slot_arrays(encoder)):
        codes, forms = encoder.codes_of(c, data), data.forms[c]
        for s, offset in enumerate(slots.offsets.tolist()):
            of_forms, counts_of_forms = np.zeros((len(codes), W), np.int64), np.zeros(len(codes), np.int64)
            count_forms(forms, offset, data.offsets, data.labels, words, of_forms, counts_of_forms)
            for k in range(int(slots.pointers[s]), int(slots.pointers[s + 1])):
                term, base = int(slots.terms[k]), int(slots.bases[k])
                count_attributes(codes, term, base, of_forms, counts_of_forms, seen, counts)
    count_carried(data.pointers, data.attributes, data.labels, words, seen, counts)
    return AttributeCounts(n_labels, seen, counts)


def find_pattern(
    encoder: Encoder, data: Batch, n_labels: int, *, all_states: bool, min_count: int, sets: Bools | None = None
) -> Pattern:
    """The pattern of a training set with labels."""
    return count_occurrences(encoder, data, n_labels, sets).pattern(all_states=all_states, min_count=min_count)
