"""A Batch: sentences as integers, concatenated. What the encoder makes and scores/ reads. It never changes.

forms[c, p]          form of the token at p in source c (a column or a conjunction)
attributes of p      attributes[pointers[p] : pointers[p + 1]], with values: those of items that are attribute dicts
labels[p]            gold label; negative where it is not known (−1 − k: it is one of the k-th set of labels)

A word that training did not have is numbered inside its batch: form n_known + u of a column is unknown word u, whose
attribute codes the batch carries (UnknownWords). The encoder learns nothing from it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tagwright._jit import tight_kernel
from tagwright.arrays import Bytes, Floats, Ints, Longs, Plain
from tagwright.text.strings import Strings


class UnknownWords(NamedTuple):
    """The distinct unknown words of all columns, end to end, and the codes of each: column c has the words from
    firsts[c, 0] to firsts[c + 1, 0] − 1, with as many codes each as it has terms, from firsts[c, 1] on."""

    words: Strings  # [U]
    codes: Ints
    firsts: Longs  # [C + 1, 2]

    def words_of(self, c: int) -> Strings:
        """Those of column c."""
        return self.words.take(np.arange(self.firsts[c, 0], self.firsts[c + 1, 0]))

    def codes_of(self, c: int, n_terms: int) -> Ints:
        """Of the words of column c [U, K]."""
        return self.codes[self.firsts[c, 1] : self.firsts[c + 1, 1]].reshape(-1, n_terms)

    def cut(self, letters: Bytes) -> UnknownWords:
        """Those of a text with these letters, without memory that was not needed."""
        n, size = self.firsts[-1].tolist()
        words = Strings(letters, self.words.begins[:n].copy(), self.words.ends[:n].copy())
        return UnknownWords(words, self.codes[:size].copy(), self.firsts)

    @property
    def plain(self) -> Plain:
        return tuple(self.words), self.codes, self.firsts


@tight_kernel
def as_unknown_words(plain: Plain) -> UnknownWords:
    """UnknownWords of a plain tuple."""
    return UnknownWords(Strings(*plain[0]), plain[1], plain[2])


NO_WORDS = UnknownWords(Strings.of([], 0), np.empty(0, np.int32), np.zeros((1, 2), np.int64))


class Batch(NamedTuple):
    """N sentences, n tokens; sentence i holds the tokens offsets[i] to offsets[i + 1] − 1."""

    offsets: Longs  # [N + 1]
    forms: Ints  # [C, n]
    unknown: UnknownWords
    pointers: Longs  # [n + 1]
    attributes: Ints  # [pointers[-1]]
    values: Floats  # [pointers[-1]], or [0] when all are 1
    labels: Ints  # [n], or [0] without labels

    @property
    def n_sentences(self) -> int:
        return len(self.offsets) - 1

    @property
    def n_tokens(self) -> int:
        return int(self.offsets[-1])

    @property
    def lengths(self) -> Longs:
        return np.diff(self.offsets)

    def take(self, order: Longs) -> Batch:
        """The same sentences in another order, or some of them."""
        lengths = self.lengths[order]
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        tokens = spread(self.offsets[:-1][order], lengths)
        sizes = np.diff(self.pointers)[tokens]
        entries = spread(self.pointers[:-1][tokens], sizes)
        return Batch(
            offsets=offsets,
            forms=np.ascontiguousarray(self.forms[:, tokens]),
            unknown=self.unknown,
            pointers=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            attributes=self.attributes[entries],
            values=self.values[entries] if len(self.values) else self.values,
            labels=self.labels[tokens] if len(self.labels) else self.labels,
        )


def spread(starts: Longs, lengths: Longs) -> Longs:
    """The concatenation of ranges: starts[0], starts[0] + 1 ... (lengths[0] numbers), then starts[1] ..."""
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    ranges: Longs = np.arange(total, dtype=np.int64) + np.repeat(starts - (ends - lengths), lengths)
    return ranges
