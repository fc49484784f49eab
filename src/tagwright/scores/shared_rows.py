"""Rows of attributes that many forms share, such as a suffix of one letter or a shape.

    row[a, y] = W[a, y], 0 where attribute a has no weight for label y

Such an attribute was seen with many labels. Where the table of forms is made (scores/linear.py), its weights are added
in vectors instead of one by one, for every form that has it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tagwright._jit import tight_kernel
from tagwright.arrays import Floats, Ints, Longs, zero_rows
from tagwright.encode.encoder import Encoder
from tagwright.encode.forms import ColumnForms
from tagwright.scores.places import Pattern, SlotArrays

NARROW = 6
"""Numbers of a row that are added while one weight is."""
FEW = 4
"""Forms to an attribute of a term, on average, that make no row worth its while."""
NO_ROW = -1


class SharedRows:
    """Row n belongs to attribute attributes[n]. The k-th (slot, term) pair of source c gives code v the row
    numbers[c][bases[c][k] + v], if it has any: bases[c][k] ≥ 0, and that number too."""

    def __init__(
        self, encoder: Encoder, slots: list[SlotArrays], pattern: Pattern, width: int, dtype: type[np.floating[Any]]
    ) -> None:
        self.pattern = pattern
        self.bases: list[Longs] = []
        self.numbers: list[Ints] = []
        found: list[Longs] = [np.empty(0, np.int64)]
        n = 0
        for source, own in zip(encoder.sources, slots, strict=True):
            bases = np.full(len(own.terms), NO_ROW, np.int64)
            numbers = [np.empty(0, np.int32)]
            for k, (term, base) in enumerate(zip(own.terms.tolist(), own.bases.tolist(), strict=True)):
                if not isinstance(source, ColumnForms) or FEW * len(source.vocabularies[term]) > source.n_known:
                    continue
                size = len(source.vocabularies[term])
                wide = np.flatnonzero(np.diff(pattern.pointers[base : base + size + 1]) * NARROW > width)
                bases[k] = sum(map(len, numbers))
                numbers.append(np.full(size, NO_ROW, np.int32))
                numbers[-1][wide] = np.arange(n, n + len(wide))
                found.append(base + wide)
                n += len(wide)
            self.bases.append(bases)
            self.numbers.append(np.concatenate(numbers))
        self.attributes = np.concatenate(found)
        self.most = max(map(len, self.bases), default=0)  # no form has more rows in a slot
        self.table: Floats = zero_rows((len(self.attributes), width), dtype)

    def fill(self, weights: Floats) -> None:
        """Take new weights."""
        fill_rows(self.attributes, self.pattern.pointers, self.pattern.labels, weights, self.table)


@tight_kernel
def fill_rows(attributes: Longs, pointers: Longs, labels: Ints, weights: Floats, table: Floats) -> None:
    for n in range(attributes.shape[0]):
        for w in range(pointers[attributes[n]], pointers[attributes[n] + 1]):
            table[n, labels[w]] = weights[w]
