"""Forms: the distinct values of one input column, and what each spelling function (term) makes of them.

"Score forms, not tokens": a term is computed once per distinct value; a token is then one number, its form.

    codes[f, k] = number of the value that term k gives for form f, −1 where it gives none

Forms 0 and 1 are the edges: what stands left and right of every sentence. Then come the values that training saw. Forms
after those belong to a batch (encode/batch.py): words that training did not see, numbered as they come.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tagwright.arrays import Ints, Plain
from tagwright.attributes.clusters import WordClusters
from tagwright.attributes.templates import Term
from tagwright.encode.batch import UnknownWords
from tagwright.encode.vocabulary import Vocabulary
from tagwright.text.spelling import Speller
from tagwright.text.string_table import StringTable, StringTables, number_strings, number_unknown
from tagwright.text.strings import Strings, join

N_EDGES = 2


@dataclass(frozen=True, eq=False)
class ColumnForms:
    """One column: its known values and, for each term, its vocabulary and codes."""

    column: int
    terms: tuple[Term, ...]
    table: StringTable  # of the known values; the form of one is N_EDGES + its number
    codes: Ints  # [F, K]
    vocabularies: tuple[Vocabulary, ...]
    speller: Speller
    tables: StringTables  # of the vocabularies

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
        tables = StringTables.build([vocabulary.strings for vocabulary in vocabularies])
        return cls(column, tuple(terms), StringTable.build(values), codes, tuple(vocabularies), speller, tables)

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

    @cached_property
    def _no_words(self) -> UnknownWords:
        return UnknownWords(Strings.of([], 0), np.empty((0, len(self.terms)), np.int32))

    @cached_property
    def _plain_tables(self) -> Plain:
        return tuple(self.tables.strings), *self.tables[1:]

    @property
    def values(self) -> list[str]:
        """The known values."""
        return self.table.strings.decode()

    def find(self, values: Strings, forms: Ints) -> UnknownWords:
        """The form of every value into forms [n]; returns the values that are not known."""
        unknown = self.table.find(values, forms, N_EDGES)
        if len(unknown) == 0:
            return self._no_words
        words = values.take(number_unknown(values, unknown, self.n_known, forms))
        return UnknownWords(words, self.speller.look_up(words, self._plain_tables))


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
