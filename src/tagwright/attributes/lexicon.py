"""The tag dictionary: which labels a word may have. LOSS section 4.2; Ratnaparkhi 1996.

Stands beside the templates: built once from the training data, then asked by training and tagging for the candidate
labels of every token, which the kernels of chain/candidates.py and chain/second_order.py walk.

    a word that training has at least `least` times      the labels it was seen with
    a rarer one                                          the labels it was seen with, and the open class
    an unknown one                                       the open class

The open class has the labels that one of a thousand rarer words (OPEN_SHARE) was seen with: a new noun is likely, a new
article is not. On EWT, with least = 100, that is 30 of 50 labels, 15 for a token on average; the dictionary forbids
0.09 % of the right labels of the dev set, where the open class with all labels of rarer words, and 22 labels for a
token, forbids 0.07 %.

Words are forms (numbers; see encode/forms.py) and a form has a label set. Thousands of words share some hundred sets,
so that a word costs one number: sets_of[form] = r, and set r is labels[pointers[r] : pointers[r + 1]], ascending. Set 0
is that of the open class.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tagwright.arrays import Ints, Longs, Shorts

OPEN = 0
"""The set of unknown words."""
OPEN_SHARE = 0.001


@dataclass(frozen=True, slots=True)
class TagDictionary:
    """The label sets of all known forms. `source`: the row of a batch's forms that has the words."""

    source: int
    sets_of: Ints  # [F]
    pointers: Longs  # [R + 1]
    labels: Shorts  # [pointers[-1]]

    @classmethod
    def learn(cls, data: Ints, labels: Ints, *, source: int, n_forms: int, n_labels: int, least: int) -> TagDictionary:
        """From the forms [C, n] and labels [n] of the training tokens; words with `least` tokens are restricted."""
        forms = data[source]
        counts = np.bincount(forms, minlength=n_forms)
        seen = np.zeros((n_forms, n_labels), np.bool_)
        seen[forms, labels] = True
        rarer = (counts > 0) & (counts < least)
        types = seen[rarer].sum(axis=0)
        open_class = (types > 0) & (types >= OPEN_SHARE * np.count_nonzero(rarer))
        if not open_class.any():  # no word is rare: unknown ones may be anything
            open_class[:] = True
        seen[counts < least] |= open_class
        special = np.flatnonzero((seen != open_class).any(axis=1))
        distinct, numbers = np.unique(np.packbits(seen[special], axis=1), axis=0, return_inverse=True)
        sets_of = np.full(n_forms, OPEN, np.int32)
        sets_of[special] = numbers.reshape(-1) + 1
        sets = np.concatenate([open_class[None], np.unpackbits(distinct, axis=1, count=n_labels).astype(np.bool_)])
        pointers = np.concatenate([[0], np.cumsum(sets.sum(axis=1))]).astype(np.int64)
        return cls(source, sets_of, pointers, np.nonzero(sets)[1].astype(np.uint16))

    def find(self, data: Ints) -> Ints:
        """The label set of every token [n], from a batch's forms [C, n]; words that training did not have are open."""
        forms = data[self.source]
        return np.where(forms < len(self.sets_of), self.sets_of.take(forms, mode="clip"), np.int32(OPEN))

    @property
    def sizes(self) -> Longs:
        """Labels of every set [R]."""
        return np.diff(self.pointers)

    @property
    def restricted(self) -> Ints:
        """The sets of the words that keep to what they were seen with: those without some label of the open class."""
        shared = np.isin(self.labels, self.labels[: self.pointers[1]])
        n_open = np.add.reduceat(shared.astype(np.int64), self.pointers[:-1])
        return np.asarray(self.sets_of[n_open[self.sets_of] < n_open[OPEN]], np.int32)

    @property
    def n_words(self) -> int:
        """How many such words there are."""
        return len(self.restricted)
