"""Forms: the distinct values of one input column, and what each spelling function (term) makes of them.

"Score forms, not tokens": a term is computed once per distinct value; a token is then one number, its form.

    codes[f, k] = number of the value that term k gives for form f, in that term's Vocabulary; −1 where it gives none

Forms 0 and 1 are the edges: what stands left and right of every sentence. Then come the values that training saw. Forms
after those belong to a batch: words that training did not see, numbered as they come (UnknownWords).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from tagwright._jit import natural, tight_kernel
from tagwright.arrays import Bytes, Ints, Longs, Plain
from tagwright.attributes.clusters import WordClusters
from tagwright.attributes.templates import Term
from tagwright.text.characters import CharacterTables
from tagwright.text.hash_tables import (
    NO_STRINGS,
    StringTable,
    StringTables,
    count_slots,
    find_strings,
    n_slots,
    number_some,
    number_strings,
)
from tagwright.text.spelling import (
    NO_CLUSTERS,
    WORDS_AHEAD,
    CodeTables,
    CodeWork,
    Speller,
    find_codes,
    marks_for,
    room_for_spelling,
)
from tagwright.text.strings import Strings, join

N_EDGES = 2


class Vocabulary:
    """Distinct strings in the order of their first appearance, for kernels and for people; the number of a string is
    its index. It never changes."""

    def __init__(self, values: Iterable[str] | Strings = ()) -> None:
        if isinstance(values, Strings):
            self.strings = values
        else:
            self.values = list(values)

    @cached_property
    def values(self) -> list[str]:
        return self.strings.decode()

    @cached_property
    def strings(self) -> Strings:
        return Strings.of(self.values, len(self.values))

    @cached_property
    def index(self) -> dict[str, int]:
        """The number of every string."""
        return {value: number for number, value in enumerate(self.values)}

    def __len__(self) -> int:
        return len(self.values) if "values" in self.__dict__ else self.strings.n


@dataclass(frozen=True, eq=False)
class ColumnForms:
    """One column: its known values and, for each term, its vocabulary and codes."""

    column: int
    terms: tuple[Term, ...]
    table: StringTable  # of the known values; the form of one is N_EDGES + its number
    codes: Ints  # [F, K]
    vocabularies: tuple[Vocabulary, ...]
    speller: Speller

    @classmethod
    def build(
        cls,
        column: int,
        terms: Sequence[Term],
        clusters: WordClusters | None,
        values: Strings,
        codes: Ints,
        vocabularies: Sequence[Vocabulary],
    ) -> ColumnForms:
        """From distinct values, their codes, and the values of all terms."""
        speller = make_speller(terms, clusters)
        return cls(column, tuple(terms), StringTable.build(values), codes, tuple(vocabularies), speller)

    @classmethod
    def learn(cls, column: int, terms: Sequence[Term], clusters: WordClusters | None, values: Strings) -> ColumnForms:
        """From the distinct values of the training data, in the order of their first appearance."""
        pieces = make_speller(terms, clusters).spell(values)
        codes = np.empty((N_EDGES + values.n, len(terms)), np.int32)
        vocabularies = []
        for k, term in enumerate(terms):
            found = with_edges(term, pieces.of_term(k))
            codes[:, k], first = number_strings(found)
            vocabularies.append(Vocabulary(found.take(first).compact()))
        return cls.build(column, terms, clusters, values, codes, vocabularies)

    @property
    def n_known(self) -> int:
        return len(self.codes)

    @property
    def values(self) -> list[str]:
        """The known values."""
        return self.table.strings.decode()


class FormTables(NamedTuple):
    """All columns of an encoder, for kernels."""

    columns: Longs  # [C, 4]: which column of the text, its first term and the end of its last, what its terms need
    known: Plain  # StringTables: the known values of every column
    coding: Plain  # CodeTables

    @classmethod
    def build(cls, columns: Sequence[ColumnForms]) -> FormTables:
        spellers = [column.speller for column in columns]
        longest = max((speller.longest for speller in spellers), default=0)
        ends = np.cumsum([0, *(len(column.terms) for column in columns)])
        rows = [(c.column, ends[k], ends[k + 1], c.speller.wanted) for k, c in enumerate(columns)]
        known = StringTables.build([column.table for column in columns])
        vocabularies = StringTables.build([StringTable.build(v.strings) for c in columns for v in c.vocabularies])
        terms = np.concatenate([np.empty((0, 3), np.int64), *(speller.terms(longest) for speller in spellers)])
        clusters = max(
            (column.speller.clusters for column in columns), key=lambda own: own.paths.n, default=NO_CLUSTERS
        )
        coding = terms, vocabularies.plain, clusters.plain
        return cls(np.array(rows, np.int64).reshape(-1, 4), known.plain, coding)


class FormWork(NamedTuple):
    """Memory for find_forms, of n tokens at most."""

    keys: Longs  # [n]
    slots: Longs
    firsts: Longs  # [n]
    coding: Plain  # CodeWork

    @classmethod
    def build(cls, columns: Sequence[ColumnForms], n: int, n_words: int, n_letters: int) -> FormWork:
        """n_words: unknown ones of a column, at most; n_letters: of the text."""
        spellers = [column.speller for column in columns]
        marks = marks_for(max((speller.longest for speller in spellers), default=0))
        letters = room_for_spelling(
            n_letters, n_words, max((speller.clusters.longest for speller in spellers), default=0)
        )
        ahead = np.empty((WORDS_AHEAD, 3, max((len(column.terms) for column in columns), default=0)), np.int64)
        slots = np.empty(n_slots(n_words), np.int64)
        return cls(np.empty(n, np.int64), slots, np.empty(n_words, np.int64), (letters, marks, ahead))


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


def room_for_unknown(columns: Sequence[ColumnForms], n: int) -> UnknownWords:
    """Memory for n unknown words of every column; their letters are those of the text."""
    begins, ends = np.empty((2, n * len(columns)), np.int64)
    codes = np.empty(n * sum(len(column.terms) for column in columns), np.int32)
    return UnknownWords(NO_STRINGS._replace(begins=begins, ends=ends), codes, np.zeros((len(columns) + 1, 2), np.int64))


FOUND, NEW_CHARACTER, NO_ROOM = range(3)


@tight_kernel
def find_forms(
    text: Plain, p: int, n: int, tables: FormTables, characters: CharacterTables, of_work: Plain,
    unknown: UnknownWords, forms: Ints,
) -> int:  # fmt: skip
    """The forms of the tokens p to p + n − 1 into forms [≥ C, ≥ n], and their unknown words. Returns FOUND;
    NEW_CHARACTER, where a character was never met; NO_ROOM, where there are more unknown words than there is room
    for."""
    work, coding = FormWork(*of_work), CodeTables(*tables.coding)
    for c in range(tables.columns.shape[0]):
        column, first, last, wanted = (
            tables.columns[c, 0], tables.columns[c, 1], tables.columns[c, 2], tables.columns[c, 3],
        )  # fmt: skip
        values = Strings(text[0], text[1][column][p : p + n], text[2][column][p : p + n])
        row, w0, k0 = forms[c][:n], unknown.firsts[c, 0], unknown.firsts[c, 1]
        n_unknown = find_strings(values, tables.known, c, N_EDGES, work.keys, row)
        m = 0
        if n_unknown > 0:
            if n_unknown > work.firsts.shape[0]:
                return NO_ROOM
            n_known = N_EDGES + tables.known[2][c + 1] - tables.known[2][c]
            slots = work.slots[: count_slots(n_unknown)]
            m = number_some(values, work.keys[:n_unknown], n_known, slots, work.firsts, row)
            for w in range(m):
                k = work.firsts[w]
                unknown.words.begins[w0 + w], unknown.words.ends[w0 + w] = values.begins[k], values.ends[k]
            words = Strings(text[0], unknown.words.begins[w0 : w0 + m], unknown.words.ends[w0 : w0 + m])
            if not find_codes(
                words, coding, first, last, wanted, characters, CodeWork(*work.coding), unknown.codes[k0:]
            ):
                return NEW_CHARACTER
        unknown.firsts[c + 1, 0], unknown.firsts[c + 1, 1] = w0 + m, k0 + m * (last - first)
    return FOUND


@tight_kernel
def find_form(forms: Ints, p: int, offset: int, begin: int, end: int) -> int:
    """The form `offset` tokens after p; 0 and 1 are the edges."""
    q = p + offset
    if q < begin:
        return 0
    if q >= end:
        return 1
    return int(forms[natural(q)])  # begin is not negative


def make_speller(terms: Sequence[Term], clusters: WordClusters | None) -> Speller:
    return Speller([(term.function, term.argument) for term in terms], clusters)


def distinct_values(values: Strings) -> Strings:
    """In the order of their first appearance. Those of parts of a text, joined in order, are those of the whole."""
    return values.take(number_strings(values)[1]).compact()


def with_edges(term: Term, values: Strings) -> Strings:
    """The values of a term for both edges, then for all words."""
    edges = [term.edge_value(side) for side in range(N_EDGES)]
    strings = Strings.of([value or "" for value in edges], N_EDGES)
    ends = np.where([value is None for value in edges], strings.begins - 1, strings.ends)
    return join([strings._replace(ends=ends), values])
