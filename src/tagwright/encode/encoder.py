"""The encoder: sentences of strings ─► Dataset of integers. It is learned from the training data, then locked.

Attributes have one numbering, 0 to A − 1, made of runs:

    a slot's term      slot = (column, offset); attribute = base[slot, term] + code of the form's value
    a conjunction      base + number of the combination
    given attributes   their number in the vocabulary (items that are dicts)

Columns and conjunctions are both sources of forms: scores/ treats them alike.

A word that training did not see is a new form: it keeps those of its attributes that are known.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tagwright.arrays import Doubles, Ints, Longs
from tagwright.attributes.templates import Cell, FeatureSet, Term, attribute_name, join_values
from tagwright.encode.column_pairs import ColumnPairs
from tagwright.encode.conjunctions import Combinations, check_size, join_next
from tagwright.encode.dataset import Dataset
from tagwright.encode.flat_text import FlatText
from tagwright.encode.forms import ColumnForms
from tagwright.encode.given import flatten
from tagwright.encode.key_table import KeyTable
from tagwright.encode.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class Slot:
    """One offset of one column: the terms (numbers within the column) that look there, and their attribute runs."""

    offset: int
    terms: tuple[int, ...]
    bases: tuple[int, ...]


class Encoder:
    """Knows how to turn sentences into a Dataset. `features` is None when the items are ready-made attributes.

    min_conjunction: a combination of cells that training has less often is not numbered.
    """

    def __init__(self, features: FeatureSet | None, *, min_conjunction: int = 1) -> None:
        self.features = features
        self.min_conjunction = min_conjunction
        self.width = 0  # columns of an item; 0 for ready-made attributes
        self.columns: list[ColumnForms] = []
        self.slots: list[list[Slot]] = []
        self.conjunctions: list[Combinations] = []
        self._grouped: tuple[list[ColumnPairs], dict[int, Combinations]] | None = None  # when all are there
        self.given = Vocabulary()
        self.n_attributes = 0
        if features is not None:
            self._make_columns(features)

    @property
    def lock(self) -> threading.RLock:
        """For one text at a time: unknown words change the tables."""
        lock: threading.RLock | None = self.__dict__.get("_lock")
        if lock is None:
            lock = self.__dict__.setdefault("_lock", threading.RLock())  # by one of the threads that ask
        return lock

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key != "_lock"}

    @property
    def sources(self) -> list[ColumnForms | Combinations]:
        """Everything that gives a token a form: row k of a Dataset's forms belongs to source k, as slots[k] does."""
        return [*self.columns, *self.conjunctions]

    @property
    def word_source(self) -> int | None:
        """The source whose forms are the words (column 0); None where no template looks at them."""
        return next((k for k, column in enumerate(self.columns) if column.column == 0), None)

    # ---- learning ----

    def learn(self, text: FlatText) -> Dataset:
        """Lock every vocabulary on `text` and encode it."""
        self.width = text.width
        if self.features is None:
            dataset = self._encode_given(text, learn=True)
            self.n_attributes = len(self.given)
            return dataset
        for column in self.columns:
            column.learn(text.column(column.column))
        self.number_slots()
        forms = self._find_forms(text)
        self._learn_conjunctions(forms, text.offsets)
        return self._join(forms, text.offsets)

    def _make_columns(self, features: FeatureSet) -> None:
        terms: dict[int, dict[Term, None]] = {column: {} for column in features.columns}
        for cell in features.cells:
            terms[cell.term.column][cell.term] = None
        self.columns = [ColumnForms(column, list(found), features.clusters) for column, found in terms.items()]

    def number_slots(self) -> None:
        """Give each (slot, term) its run of attributes."""
        assert self.features is not None
        for column in self.columns:
            wanted: dict[int, list[int]] = {}
            for cell in self.features.singles:
                if cell.term.column == column.column:
                    wanted.setdefault(cell.offset, []).append(column.terms.index(cell.term))
            slots = []
            for offset, terms in sorted(wanted.items()):
                bases = []
                for term in terms:
                    bases.append(self.n_attributes)
                    self.n_attributes += len(column.vocabularies[term])
                slots.append(Slot(offset, tuple(terms), tuple(bases)))
            self.slots.append(slots)

    def _learn_conjunctions(self, forms: Ints, offsets: Longs) -> None:
        assert self.features is not None
        for cells in self.features.conjunctions:
            keys = self.find_keys([self.place_of(cell) for cell in cells], forms, offsets)
            found, counts = np.unique(keys[keys >= 0], return_counts=True)
            self.add_conjunction(cells, found[counts >= self.min_conjunction])

    def add_conjunction(self, cells: tuple[Cell, ...], keys: Longs) -> None:
        """Number the known combinations of some cells."""
        places = tuple(self.place_of(cell) for cell in cells)
        self.conjunctions.append(Combinations(cells, places, KeyTable(keys)))
        self._grouped = None
        self.slots.append([Slot(0, (0,), (self.n_attributes,))])
        self.n_attributes += len(keys)

    def place_of(self, cell: Cell) -> tuple[int, int, int]:
        place = [column.column for column in self.columns].index(cell.term.column)
        return place, self.columns[place].terms.index(cell.term), cell.offset

    # ---- encoding ----

    def encode(self, text: FlatText) -> Dataset:
        """`text` as a Dataset; unknown attributes are left out."""
        if self.features is None:
            return self._encode_given(text, learn=False)
        for column in self.columns:
            column.forget_visitors()
        return self._join(self._find_forms(text), text.offsets)

    def _find_forms(self, text: FlatText) -> Ints:
        """The forms of the columns [C, n], with room for those of the conjunctions."""
        forms = np.empty((len(self.columns) + len(self._conjunction_cells), int(text.offsets[-1])), np.int32)
        for row, column in zip(forms, self.columns, strict=False):
            column.find(text.spelled(column.column), row)
        return forms

    def _join(self, forms: Ints, offsets: Longs) -> Dataset:
        """The Dataset, after finding the forms of the conjunctions."""
        n = int(offsets[-1])
        together, others = self.group_conjunctions()
        for pairs in together:
            pairs.find(self.columns[pairs.place].codes, offsets, forms)
        for row, conjunction in others.items():
            conjunction.find(self.find_keys(conjunction.places, forms, offsets), forms[row])
        return Dataset(offsets, forms, np.zeros(n + 1, np.int64), NO_ATTRIBUTES, NO_VALUES, NO_LABELS)

    def send_visitors_away(self) -> None:
        """Forget the words met since training."""
        for column in self.columns:
            column.send_visitors_away()

    def make_ready(self) -> None:
        """Make the tables of conjunctions now rather than at the first sentence."""
        for conjunction in self.group_conjunctions()[1].values():
            _ = conjunction.table.slots

    def group_conjunctions(self) -> tuple[list[ColumnPairs], dict[int, Combinations]]:
        """The conjunctions that can be found together, and the others by their rows among the forms."""
        if self._grouped is not None:
            return self._grouped
        groups: dict[int, dict[int, Combinations]] = {}
        others: dict[int, Combinations] = {}
        for row, conjunction in enumerate(self.conjunctions, len(self.columns)):
            if len(conjunction.places) == 2 and conjunction.places[0][0] == conjunction.places[1][0]:
                groups.setdefault(conjunction.places[0][0], {})[row] = conjunction
            else:
                others[row] = conjunction
        pairs = [ColumnPairs.build(place, found, self.columns[place]) for place, found in groups.items()]
        self._grouped = pairs, others
        return self._grouped

    @property
    def _conjunction_cells(self) -> Sequence[tuple[Cell, ...]]:
        assert self.features is not None
        return self.features.conjunctions

    def find_keys(self, places: Sequence[tuple[int, int, int]], forms: Ints, offsets: Longs) -> Longs:
        """The key of a conjunction at every token; −1 where a cell is absent."""
        cells = [(forms[place], self.columns[place].codes, term, offset) for place, term, offset in places]
        sizes = [len(self.columns[place].vocabularies[term]) for place, term, _ in places]
        if len(sizes) > 2:  # two cannot be too many
            check_size(sizes)
        keys = np.zeros(int(offsets[-1]), np.int64)
        for cell, size in zip(cells, sizes, strict=True):
            join_next(*cell, size, offsets, keys)
        return keys

    def _encode_given(self, text: FlatText, *, learn: bool) -> Dataset:
        """Ready-made attributes; unknown ones are ignored unless learning. An attribute given twice is added up."""
        add, find = self.given.add, self.given.index.get
        counts: list[int] = []
        attributes: list[int] = []
        values: list[float] = []
        for p, item in enumerate(text.items):
            found: dict[int, float] = {}
            for name, value in flatten(item, text, p):
                number = add(name) if learn else find(name, -1)
                if number >= 0:
                    found[number] = found.get(number, 0.0) + value
            counts.append(len(found))
            attributes.extend(found)
            values.extend(found.values())
        pointers = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        forms = np.empty((0, len(text.items)), np.int32)
        numbers = np.array(values, np.float64)
        return Dataset(text.offsets, forms, pointers, np.array(attributes, np.int32), numbers, NO_LABELS)

    # ---- reading ----

    def attribute_names(self) -> list[str]:
        """The readable name of every attribute, in the order of their numbers."""
        if self.features is None:
            return list(self.given.values)
        names: list[str] = []
        for column, slots in zip(self.columns, self.slots, strict=False):  # the conjunctions' slots come after
            for slot in slots:
                for term in slot.terms:
                    cell = (Cell(column.terms[term], slot.offset),)
                    names.extend(attribute_name(cell, value) for value in column.vocabularies[term].values)
        for conjunction in self.conjunctions:
            names.extend(self._conjunction_names(conjunction))
        return names

    def split_keys(self, conjunction: Combinations) -> list[Longs]:
        """The codes of every cell in the known combinations."""
        rest = conjunction.table.keys.copy()
        digits: list[Longs] = []
        for place, term, _ in reversed(conjunction.places):
            size = max(len(self.columns[place].vocabularies[term]), 1)
            digits.append(rest % size)
            rest //= size
        return digits[::-1]

    def _conjunction_names(self, conjunction: Combinations) -> list[str]:
        vocabularies = [self.columns[place].vocabularies[term] for place, term, _ in conjunction.places]
        digits = self.split_keys(conjunction)
        parts = [[v.values[d] for d in code] for v, code in zip(vocabularies, digits, strict=True)]
        cells = conjunction.cells
        return [attribute_name(cells, join_values(cells, values)) for values in zip(*parts, strict=True)]


NO_LABELS: Ints = np.empty(0, np.int32)
NO_ATTRIBUTES: Ints = np.empty(0, np.int32)
NO_VALUES: Doubles = np.empty(0)
