"""Lexical parts of label templates: the numbers of their values at every token. Dataset ─► [n, parts].

The part of `label[-1] & word[0]` is the word: a token's number is that of its value, −1 where training did not have it.
Several cells at once are a conjunction, numbered as encode/conjunctions.py does.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tagwright.arrays import Ints, Longs
from tagwright.attributes.cells import Cell
from tagwright.encode.dataset import Dataset
from tagwright.encode.encoder import Encoder
from tagwright.encode.key_table import KeyTable

Part = tuple[Cell, ...]


class LexicalParts:
    """The parts of some templates, bound to an encoder; locked by `learn`, or by the keys of a model file."""

    def __init__(self, encoder: Encoder, parts: Sequence[Part]) -> None:
        self.encoder = encoder
        self.parts = tuple(dict.fromkeys(part for part in parts if part))
        self.tables: dict[Part, KeyTable] = {}  # of parts with several cells

    def learn(self, data: Dataset) -> None:
        """Number the conjunctions of the training data."""
        for part in self.parts:
            if len(part) > 1:
                keys = self._keys(part, data)
                self.restore(part, np.unique(keys[keys >= 0]))

    def restore(self, part: Part, keys: Longs) -> None:
        """Number these combinations."""
        self.tables[part] = KeyTable(keys)

    @property
    def sizes(self) -> dict[Part, int]:
        """How many values each part has."""
        return {part: self._size(part) for part in self.parts}

    def _size(self, part: Part) -> int:
        if len(part) > 1:
            return len(self.tables[part].keys)
        column, term, _ = self.encoder.place_of(part[0])
        return len(self.encoder.columns[column].vocabularies[term])

    def find(self, data: Dataset, order: Sequence[Part]) -> Ints:
        """The number of every part of `order` at every token [n, parts]; 0 for the empty one, −1 for unknown values."""
        found = np.zeros((data.n_tokens, len(order)), np.int32)
        for p, part in enumerate(order):
            if len(part) > 1:
                found[:, p] = self.tables[part].find(self._keys(part, data))
            elif part:
                found[:, p] = self._keys(part, data)
        return found

    def _keys(self, part: Part, data: Dataset) -> Longs:
        cells = [self.encoder.place_of(cell) for cell in part]
        return self.encoder.find_keys(cells, data.forms, data.offsets)
