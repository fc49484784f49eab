"""The tag dictionary: which labels a word may have. LOSS section 4.2; Ratnaparkhi 1996.

Stands beside the templates: built once from the training data, then asked by training and tagging for the candidate
labels of every token, which the kernels of chain/candidates.py and chain/second_order.py walk.

    a word that training has at least `least` times      the labels it was seen with
    every other word, and every unknown one              open-class labels: those that the rarer words were seen with

Words are forms (numbers; see encode/forms.py) and a form has a label set. Thousands of words share some hundred sets,
so that a word costs one number: sets_of[form] = r, and set r is labels[pointers[r] : pointers[r + 1]], ascending. Set 0
is that of the open class.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tagwright.arrays import Ints, Longs, Shorts

OPEN = 0
"""The set of words that are rare or unknown."""


@dataclass(frozen=True, slots=True)
class TagDictionary:
    """The label sets of all known forms. `source`: the row of a Dataset's forms that has the words."""

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
        frequent = np.flatnonzero(counts >= least)
        rare = np.asarray(seen[counts < least].any(axis=0))
        kept = rare if rare.any() else np.ones(n_labels, np.bool_)  # no word is rare: unknown ones may be anything
        distinct, numbers = np.unique(np.packbits(seen[frequent], axis=1), axis=0, return_inverse=True)
        sets_of = np.full(n_forms, OPEN, np.int32)
        sets_of[frequent] = numbers.reshape(-1) + 1
        sets = np.concatenate([kept[None], np.unpackbits(distinct, axis=1, count=n_labels).astype(np.bool_)])
        pointers = np.concatenate([[0], np.cumsum(sets.sum(axis=1))]).astype(np.int64)
        return cls(source, sets_of, pointers, np.nonzero(sets)[1].astype(np.uint16))

    def find(self, data: Ints) -> Ints:
        """The label set of every token [n] of a Dataset's forms [C, n]; those that training did not have are open."""
        forms = data[self.source]
        known = forms < len(self.sets_of)
        return np.where(known, self.sets_of[np.where(known, forms, 0)], np.int32(OPEN))

    @property
    def sizes(self) -> Longs:
        """Labels of every set [R]."""
        return np.diff(self.pointers)

    @property
    def n_words(self) -> int:
        """Words that are restricted to what they were seen with."""
        return int(np.count_nonzero(self.sets_of != OPEN))
