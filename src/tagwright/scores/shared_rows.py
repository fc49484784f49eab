"""Rows of attributes that many forms share, such as a suffix of one letter or a shape.

    row[a, y] = W[a, y], 0 where attribute a has no weight for label y

Most attributes of such terms were seen with many labels. Where the table of forms is made (scores/linear.py), their
weights are added in vectors instead of one by one, for every form that has them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tagwright._jit import tight_kernel
from tagwright.arrays import Floats, Longs, zero_rows
from tagwright.encode.encoder import Encoder
from tagwright.scores.row_index import LabelWeights, SlotArrays

FEW = 16
"""Forms to an attribute of a term, on average, that make no row worth its while."""
WIDEST = 256
"""Columns of rows that are added as quickly as an attribute's weights."""
NO_ROW = -1


class SharedRows:
    """Row n belongs to attribute attributes[n]. The k-th (slot, term) pair of source c gives code v the row
    bases[c][k] + v, or none where bases[c][k] is NO_ROW. Which terms have rows depends on the forms alone: a
    model that is stored without its zeros adds up the rest in the same order."""

    def __init__(self, encoder: Encoder, slots: Sequence[SlotArrays], width: int) -> None:
        self.bases: list[Longs] = []
        found: list[Longs] = [np.empty(0, np.int64)]
        n = 0
        for c, own in enumerate(slots):
            bases = np.full(len(own.terms), NO_ROW, np.int64)
            column = encoder.columns[c] if c < len(encoder.columns) else None  # combinations share no attribute
            for k, (term, base) in enumerate(zip(own.terms.tolist(), own.bases.tolist(), strict=True)):
                size = 0 if column is None else len(column.vocabularies[term])
                if column is not None and 0 < FEW * size <= column.n_known and width <= WIDEST:
                    bases[k] = n
                    found.append(np.arange(base, base + size))
                    n += size
            self.bases.append(bases)
        self.attributes = np.concatenate(found)
        self.most = max(map(len, self.bases), default=0)  # no form has more rows in a slot

    def fill(self, weights: LabelWeights, width: int) -> Floats:
        """The rows with these weights [n, P]."""
        table: Floats = zero_rows((len(self.attributes), width), weights.values.dtype)
        fill_rows(self.attributes, weights, table)
        return table


@tight_kernel
def fill_rows(attributes: Longs, weights: LabelWeights, table: Floats) -> None:
    for n in range(attributes.shape[0]):
        for w in range(weights.pointers[attributes[n]], weights.pointers[attributes[n] + 1]):
            table[n, weights.labels[w]] = weights.values[w]
