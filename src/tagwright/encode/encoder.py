"""The encoder: sentences of strings ─► Batch of integers. It is learned from the training data, and never changes.

Attributes have one numbering, 0 to A − 1, made of runs:

    a slot's term       slot = (column, offset); attribute = base[slot, term] + code of the form's value
    a conjunction       base + number of the combination
    attribute dicts     the number of the name in the vocabulary

Columns and conjunctions are both sources of forms: scores/ treats them alike.

Learning goes in steps, each of which can be done for parts of the data and merged, with the same result as from the
whole: distinct values (joined in order), then the keys of conjunctions (a sorted union, counts added up).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from tagwright._jit import tight_kernel
from tagwright.arrays import Doubles, Ints, Longs, Plain
from tagwright.attributes.templates import Cell, FeatureSet, Term, attribute_name, join_values
from tagwright.encode.attribute_dicts import encode_dicts, number_dicts
from tagwright.encode.attribute_sets import AttributeSet, gather_sets
from tagwright.encode.attribute_tables import AttributeTables
from tagwright.encode.batch import Batch
from tagwright.encode.conjunctions import (
    Conjunction,
    Conjunctions,
    KeyWork,
    find_cell,
    find_combinations,
    find_keys,
)
from tagwright.encode.forms import (
    FOUND,
    NEW_CHARACTER,
    NO_WORDS,
    ColumnForms,
    FormTables,
    FormWork,
    UnknownWords,
    Vocabulary,
    as_unknown_words,
    distinct_values,
    find_forms,
    room_for_unknown,
)
from tagwright.encode.text import Text
from tagwright.text.characters import CHARACTERS, CharacterTables, meet_characters
from tagwright.text.strings import join


@dataclass(frozen=True, slots=True)
class Slot:
    """One offset of one source: the terms (numbers within the source) that look there, and their attribute runs."""

    offset: int
    terms: tuple[int, ...]
    bases: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Encoder:
    """Turns sentences into a Batch.

    features: None where items are attribute dicts; then `given` has the names of all attributes
    width: columns of an item; 0 for attribute dicts
    slots: of every source, columns first, then conjunctions, then sets
    keys: in training, the key in attribute dicts of every attribute, by numbers; −1: several, or unknown
    sets: in training, sources of the attributes of dicts (attribute_sets.py)
    """

    features: FeatureSet | None
    width: int
    columns: tuple[ColumnForms, ...]
    conjunctions: Conjunctions
    given: Vocabulary
    slots: tuple[tuple[Slot, ...], ...]
    n_attributes: int
    keys: Ints | None = None
    sets: tuple[AttributeSet, ...] = ()

    # ---- learning ----

    @classmethod
    def learn(
        cls, features: FeatureSet | None, parts: Sequence[Text], *, min_conjunction: int = 1
    ) -> tuple[Encoder, list[Batch]]:
        """From the training data, in one part or in several; the parts, encoded.

        min_conjunction: a combination of cells that training has less often is not numbered.
        """
        width = parts[0].width
        if features is None:
            names, of_names, encoded = number_dicts(parts)
            encoder = replace(cls.build(None, width, given=Vocabulary(names)), keys=of_names)
            return encoder, [_batch_of_dicts(text, *found) for text, found in zip(parts, encoded, strict=True)]
        columns = [
            ColumnForms.learn(c, terms, features.clusters, distinct_values(join([part.columns[c] for part in parts])))
            for c, terms in column_terms(features).items()
        ]
        encoder = cls.build(features, width, columns)
        batches = [encoder.encode(part) for part in parts]
        keys = []
        for cells in features.conjunctions:
            counts = [count_keys(encoder, cells, batch) for batch in batches]
            keys.append(merge_keys(counts, min_conjunction))
        encoder = cls.build(features, width, columns, keys)
        return encoder, [encoder.encode(part) for part in parts]

    @classmethod
    def build(
        cls,
        features: FeatureSet | None,
        width: int,
        columns: Sequence[ColumnForms] = (),
        keys: Sequence[Longs] = (),
        given: Vocabulary | None = None,
    ) -> Encoder:
        """From columns and the keys of conjunctions (fewer than there are: the others are left out), or from the names
        of attributes."""
        given = Vocabulary() if given is None else given
        if features is None:
            return cls(None, width, (), Conjunctions((), ()), given, (), len(given))
        members = [Conjunction(cells, columns, own) for cells, own in zip(features.conjunctions, keys, strict=False)]
        slots, n = number_slots(features, columns)
        for member in members:
            slots.append((Slot(0, (0,), (n,)),))
            n += len(member.table.keys)
        return cls(features, width, tuple(columns), Conjunctions(members, columns), given, tuple(slots), n)

    def with_sets(self, data: Batch) -> tuple[Encoder, Batch]:
        """For training on a batch of attribute dicts: an encoder of the same attributes with sources for those that
        come together, and the batch in their forms. This one is to tag with."""
        if self.keys is None:
            return self, data
        sets, gathered = gather_sets(self.keys, data)
        slots = [(Slot(0, tuple(range(own.codes.shape[1])), (0,) * own.codes.shape[1]),) for own in sets]
        return replace(self, sets=tuple(sets), slots=tuple(slots)), gathered

    @property
    def sources(self) -> tuple[ColumnForms | Conjunction | AttributeSet, ...]:
        """Everything that gives a token a form: row k of a Batch's forms belongs to source k, as slots[k] does."""
        return (*self.columns, *self.conjunctions.members, *self.sets)

    @property
    def word_source(self) -> int | None:
        """The source whose forms are the words (column 0); None where no template looks at them."""
        return next((k for k, column in enumerate(self.columns) if column.column == 0), None)

    def column_of(self, cell: Cell) -> tuple[ColumnForms, int]:
        """The column of a cell, and which of its terms it is."""
        at = find_cell(cell, self.columns)
        return self.columns[at.column], at.term

    # ---- encoding ----

    @cached_property
    def plain(self) -> Plain:
        """FormTables and Conjunctions.plain, for kernels."""
        return tuple(FormTables.build(self.columns)), self.conjunctions.plain

    @cached_property
    def attribute_tables(self) -> AttributeTables:
        """Where the attributes of dicts are found."""
        return AttributeTables(self.given)

    def encode(self, text: Text) -> Batch:
        """`text` as a Batch; unknown attributes are left out."""
        if self.features is None:
            return _batch_of_dicts(text, *encode_dicts(text, self.attribute_tables))
        n, (pieces, _) = int(text.offsets[-1]), text.pieces(split=True)
        forms, n_words, letters = np.empty((len(self.slots), n), np.int32), min(n, SOME_WORDS + n // 16), pieces[0]
        while True:
            unknown = room_for_unknown(self.columns, n_words)
            work = EncodingWork.build(self, n, len(text.offsets) - 1, n_words, len(letters))
            found = encode_text(pieces, text.offsets, self.plain, CHARACTERS, unknown.plain, tuple(work), forms)
            if found == FOUND:
                break
            if found == NEW_CHARACTER:
                meet_characters(letters)
            else:
                n_words = n
        return Batch(
            text.offsets, forms, unknown.cut(letters), np.zeros(n + 1, np.int64), NO_ATTRIBUTES, NO_VALUES, NO_LABELS
        )

    def find_keys(self, cells: Sequence[Cell], batch: Batch) -> Longs:
        """The key of some cells together at every token; −1 where one is absent."""
        return find_keys([find_cell(cell, self.columns) for cell in cells], self.columns, batch)

    def codes_of(self, c: int, batch: Batch) -> Ints:
        """The codes of all forms of source c that occur in a batch, those of unknown words last."""
        known = self.sources[c].codes
        if c >= len(self.columns):
            return known
        unknown = batch.unknown.codes_of(c, known.shape[1])
        return np.concatenate([known, unknown]) if len(unknown) else known

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
        for conjunction in self.conjunctions.members:
            names.extend(self._conjunction_names(conjunction))
        return names

    def _conjunction_names(self, conjunction: Conjunction) -> list[str]:
        vocabularies = [self.columns[at.column].vocabularies[at.term] for at in conjunction.index]
        digits = conjunction.split_keys()
        parts = [[v.values[d] for d in code.tolist()] for v, code in zip(vocabularies, digits, strict=True)]
        cells = conjunction.cells
        return [attribute_name(cells, join_values(cells, values)) for values in zip(*parts, strict=True)]


def _batch_of_dicts(text: Text, pointers: Longs, attributes: Ints, values: Doubles) -> Batch:
    forms = np.empty((0, len(text.items)), np.int32)
    return Batch(text.offsets, forms, NO_WORDS, pointers, attributes, values, NO_LABELS)


def column_terms(features: FeatureSet) -> dict[int, list[Term]]:
    """The distinct terms of every column that templates look at, columns in order."""
    terms: dict[int, dict[Term, None]] = {column: {} for column in features.columns}
    for cell in features.cells:
        terms[cell.term.column][cell.term] = None
    return {column: list(found) for column, found in terms.items()}


def number_slots(features: FeatureSet, columns: Sequence[ColumnForms]) -> tuple[list[tuple[Slot, ...]], int]:
    """Give each (slot, term) of the columns its run of attributes; returns how many attributes there are."""
    found: list[tuple[Slot, ...]] = []
    n = 0
    for column in columns:
        wanted: dict[int, list[int]] = {}
        for cell in features.singles:
            if cell.term.column == column.column:
                wanted.setdefault(cell.offset, []).append(column.terms.index(cell.term))
        slots = []
        for offset, terms in sorted(wanted.items()):
            bases = []
            for term in terms:
                bases.append(n)
                n += len(column.vocabularies[term])
            slots.append(Slot(offset, tuple(terms), tuple(bases)))
        found.append(tuple(slots))
    return found, n


def count_keys(encoder: Encoder, cells: Sequence[Cell], batch: Batch) -> tuple[Longs, Longs]:
    """The distinct keys of some cells in a batch, ascending, and how often each occurs."""
    keys = encoder.find_keys(cells, batch)
    found, counts = np.unique(keys[keys >= 0], return_counts=True)
    return found, counts.astype(np.int64)


def merge_keys(parts: Sequence[tuple[Longs, Longs]], least: int) -> Longs:
    """The sorted union of the keys of some parts, of which there are at least so many."""
    if len(parts) == 1:
        keys, counts = parts[0]
        return keys[counts >= least]
    keys, where = np.unique(np.concatenate([keys for keys, _ in parts]), return_inverse=True)
    counts = np.zeros(len(keys), np.int64)
    np.add.at(counts, where, np.concatenate([counts for _, counts in parts]))
    return keys[counts >= least]


class SlotArrays(NamedTuple):
    """The slots of one source for the kernels: slot s has offset offsets[s], and for its terms k the entries
    pointers[s] to pointers[s + 1] of `terms` and `bases`."""

    offsets: Longs  # [S]
    pointers: Longs  # [S + 1]
    terms: Longs
    bases: Longs

    @property
    def n_slots(self) -> int:
        return len(self.offsets)


def slot_arrays(encoder: Encoder) -> list[SlotArrays]:
    """For each source of the encoder."""
    arrays = []
    for slots in encoder.slots:
        sizes = [len(slot.terms) for slot in slots]
        arrays.append(
            SlotArrays(
                offsets=np.array([slot.offset for slot in slots], np.int64),
                pointers=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
                terms=np.array([term for slot in slots for term in slot.terms], np.int64),
                bases=np.array([base for slot in slots for base in slot.bases], np.int64),
            )
        )
    return arrays


class EncodingWork(NamedTuple):
    """Memory for encode_tokens."""

    forms: Plain  # FormWork
    keys: Plain  # KeyWork

    @classmethod
    def build(cls, encoder: Encoder, n: int, n_sentences: int, n_words: int, n_letters: int) -> EncodingWork:
        """For n tokens and sentences, unknown words of a column and letters, at most so many."""
        forms = FormWork.build(encoder.columns, n, n_words, n_letters)
        return cls(tuple(forms), tuple(KeyWork.build(encoder.conjunctions.plain[0], n, n_sentences)))


@tight_kernel
def encode_tokens(
    text: Plain, first: int, offsets: Longs, encoder: Plain, characters: Plain, unknown: UnknownWords, of_work: Plain,
    forms: Ints,
) -> int:  # fmt: skip
    """The forms of all sources for the tokens from `first` on, whose sentences begin at first + offsets [N + 1], into
    forms [≥ C, ≥ n], and their unknown words; returns as find_forms does. text: letters, and where the strings of every
    column begin and end [W, n]; encoder: Encoder.plain; of_work: EncodingWork, plain."""
    n, work = offsets[offsets.shape[0] - 1], EncodingWork(*of_work)
    tables, known = FormTables(*encoder[0]), CharacterTables(*characters)
    found = find_forms(text, first, n, tables, known, work.forms, unknown, forms)
    if found == FOUND:
        find_combinations(encoder[1], unknown, offsets, work.keys, forms)
    return found


@tight_kernel
def encode_text(
    text: Plain, offsets: Longs, encoder: Plain, characters: Plain, unknown: Plain, work: Plain, forms: Ints
) -> int:
    """As encode_tokens, for all tokens; UnknownWords come as a plain tuple."""
    return encode_tokens(text, 0, offsets, encoder, characters, as_unknown_words(unknown), work, forms)


SOME_WORDS = 64
"""Unknown words for which there is room at first."""
NO_LABELS: Ints = np.empty(0, np.int32)
NO_ATTRIBUTES: Ints = np.empty(0, np.int32)
NO_VALUES: Doubles = np.empty(0)
