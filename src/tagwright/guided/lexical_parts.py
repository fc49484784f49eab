"""Lexical parts of label templates: the numbers of their values at every token. Batch ─► [n, parts].

The part of `label[-1] & word[0]` is the word: a token's number is that of its value, −1 where training did not have it.
Several cells at once are a conjunction, numbered as encode/conjunctions.py does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from tagwright.arrays import Ints, Longs
from tagwright.attributes.language import Cell
from tagwright.encode.batch import Batch
from tagwright.encode.encoder import Encoder
from tagwright.text.hash_tables import KeyTable

Part = tuple[Cell, ...]


class LexicalParts:
    """The parts of some templates, bound to an encoder, with the known combinations of those of several cells."""

    def __init__(self, encoder: Encoder, parts: Sequence[Part], keys: Callable[[int, Part], Longs]) -> None:
        """keys: of the k-th part, which has several cells; ascending."""
        self.encoder = encoder
        self.parts = tuple(dict.fromkeys(part for part in parts if part))
        self.tables = {part: KeyTable(keys(k, part)) for k, part in enumerate(self.parts) if len(part) > 1}

    @classmethod
    def learn(cls, encoder: Encoder, parts: Sequence[Part], data: Batch) -> LexicalParts:
        """With the combinations of the training data."""

        def combinations(_: int, part: Part) -> Longs:
            keys = encoder.find_keys(part, data)
            return np.unique(keys[keys >= 0])

        return cls(encoder, parts, combinations)

    @property
    def sizes(self) -> dict[Part, int]:
        """How many values each part has."""
        return {part: self._size(part) for part in self.parts}

    def _size(self, part: Part) -> int:
        if len(part) > 1:
            return len(self.tables[part].keys)
        column, term = self.encoder.column_of(part[0])
        return len(column.vocabularies[term])

    def find(self, data: Batch, order: Sequence[Part]) -> Ints:
        """The number of every part of `order` at every token [n, parts]; 0 for the empty one, −1 for unknown values."""
        found = np.zeros((data.n_tokens, len(order)), np.int32)
        for p, part in enumerate(order):
            if len(part) > 1:
                found[:, p] = self.tables[part].find(self.encoder.find_keys(part, data))
            elif part:
                found[:, p] = self.encoder.find_keys(part, data)
        return found
