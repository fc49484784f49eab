"""Where attributes occur: the lists attribute ─► sentences and sentence ─► attributes (LM-POS 3.2, "bookkeeping").

An occurrence is an attribute in a sentence, with all positions at which the sentence has it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tagwright.arrays import Doubles, Ints, Longs
from tagwright.encode.batch import Batch, spread
from tagwright.encode.encoder import Encoder
from tagwright.scores.expanded import expand
from tagwright.scores.pattern import Pattern


class Occurrences(NamedTuple):
    """Sentence i has the occurrences sentence_pointers[i] to sentence_pointers[i + 1] − 1, by ascending attribute;
    attribute a has by_attribute[attribute_pointers[a] : attribute_pointers[a + 1]], by ascending sentence. Occurrence r
    is at the tokens positions[pointers[r] : pointers[r + 1]]."""

    sentence_pointers: Longs  # [N + 1]
    attributes: Ints  # [R]
    sentences: Ints  # [R]
    pointers: Longs  # [R + 1]
    positions: Ints  # [pointers[-1]] token numbers
    values: Doubles  # [pointers[-1]] of the attribute at these tokens
    attribute_pointers: Longs  # [A + 1]
    by_attribute: Ints  # [R]

    def of_attribute(self, a: int) -> Longs:
        """The occurrences of attribute a."""
        return self.by_attribute[self.attribute_pointers[a] : self.attribute_pointers[a + 1]].astype(np.int64)

    def positions_of(self, chosen: Longs) -> Ints:
        """The tokens of some occurrences."""
        begins = self.pointers[chosen]
        return self.positions[spread(begins, self.pointers[chosen + 1] - begins)]


def find_occurrences(encoder: Encoder, data: Batch, pattern: Pattern) -> Occurrences:
    """All occurrences of attributes that have features; values of 0 are left out."""
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
    return Occurrences(
        sentence_pointers=np.searchsorted(sentences, np.arange(data.n_sentences + 1)).astype(np.int64),
        attributes=attributes,
        sentences=sentences,
        pointers=np.append(begins, len(key)).astype(np.int64),
        positions=token[order],
        values=values[order],
        attribute_pointers=np.concatenate([[0], np.cumsum(np.bincount(attributes, minlength=A))]).astype(np.int64),
        by_attribute=np.argsort(attributes, kind="stable").astype(np.int32),
    )


def count_gold_edges(data: Batch, n_labels: int, *, boundaries: bool) -> Doubles:
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


def count_possible_edges(lengths: Longs, n_labels: int, n_chain: int) -> Doubles:
    """[N, C]: how often each feature of the chain (Y · Y label pairs, then first and last labels) can occur at most."""
    Y = n_labels
    most = np.ones((len(lengths), n_chain))
    most[:, : Y * Y] = (lengths // 2)[:, None]
    most[:, : Y * Y : Y + 1] = (lengths - 1)[:, None]
    return most
