"""Forms: the distinct values of one input column, and what each spelling function (term) makes of them.

"Score forms, not tokens": a term is computed once per distinct value; a token is then one number, its form.

    codes[f, k] = number of the value that term k gives for form f, −1 where it gives none

Forms 0 and 1 are the edges: what stands left and right of every sentence. Then come the values that training saw, then
visitors: values met since, kept so that an unknown word is worked out once, and sent away when they become too many.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from tagwright.arrays import Ints, Longs, grown
from tagwright.attributes.clusters import WordClusters
from tagwright.attributes.templates import Term
from tagwright.encode.new_words import NewWords
from tagwright.encode.spelled import Spelled
from tagwright.encode.string_table import UNKNOWN, StringTable
from tagwright.encode.visitors import SOME_VISITORS, Visitors
from tagwright.encode.vocabulary import Vocabulary

N_EDGES = 2
MOST_VISITORS = 1 << 16


class ColumnForms:
    """One column: its forms and, for each term, its vocabulary and codes."""

    def __init__(self, column: int, terms: Sequence[Term], clusters: WordClusters | None = None) -> None:
        self.column = column
        self.terms = tuple(terms)
        self.vocabularies = [Vocabulary() for _ in terms]
        self.values: list[str] = []  # of the known forms after the edges
        self.visitors = Visitors(0)
        self.n_known = 0
        self.season = 0  # of visitors: grows when they are sent away
        self._codes: Ints = np.empty((0, len(terms)), np.int32)  # with room for visitors
        self._functions = [term.compile(clusters) for term in terms]
        self._table = StringTable.build([])  # of `values`: their forms
        self._new_words: NewWords | None = None  # made when they are needed

    def __len__(self) -> int:
        return self.n_known + len(self.visitors)

    @property
    def codes(self) -> Ints:
        return self._codes[: len(self)]

    def learn(self, values: Iterable[str]) -> None:
        """Make the forms, and the vocabularies of all terms, from the training data; after this they are locked."""
        distinct = list(dict.fromkeys(values))
        self._know(distinct)
        edges = [
            [-1 if (value := term.edge_value(side)) is None else vocabulary.add(value) for side in range(N_EDGES)]
            for term, vocabulary in zip(self.terms, self.vocabularies, strict=True)
        ]
        self._codes = np.empty((self.n_known, len(self.terms)), np.int32)
        self._codes[:N_EDGES] = np.array(edges, np.int32).reshape(len(self.terms), N_EDGES).T
        classes = Spelled.build(distinct).character_classes()
        for k, (term, vocabulary) in enumerate(zip(self.terms, self.vocabularies, strict=True)):
            if term.test is None:
                self._codes[N_EDGES:, k] = vocabulary.add_all(list(map(self._functions[k], distinct)))
            else:
                holds = term.test(*classes)
                self._codes[N_EDGES:, k] = np.where(holds, vocabulary.add("") if holds.any() else UNKNOWN, UNKNOWN)

    def restore(self, values: Sequence[str], codes: Ints, vocabularies: Sequence[Sequence[str]]) -> None:
        """The state that a model file holds."""
        self._know(list(values))
        self._codes = grown(codes, len(codes) + SOME_VISITORS, 0)
        self.vocabularies = [Vocabulary(values) for values in vocabularies]
        self._new_words = NewWords(self.terms, self.vocabularies)  # now rather than at the first unknown word

    def _know(self, values: list[str]) -> None:
        self.values = values
        self.n_known = N_EDGES + len(values)
        self.visitors = Visitors(self.n_known)
        self._table = StringTable.build(values, N_EDGES)

    def find(self, values: Spelled, forms: Ints) -> None:
        """The form of every value into forms [n]; a new one becomes a visitor."""
        unknown = self._table.find(values, forms)
        if not len(unknown):
            return
        try:
            new = self.visitors.find(values, unknown, forms)
            if len(new):
                self._receive(values, new)
        except BaseException:  # Ctrl-C, say: nobody may stay without codes
            self.send_visitors_away()
            raise

    def forget_visitors(self) -> None:
        """Make room, if it is needed. Forms found before no longer count."""
        if len(self.visitors) > MOST_VISITORS:
            self.send_visitors_away()

    def send_visitors_away(self) -> None:
        self.season += 1
        self.visitors = Visitors(self.n_known)

    def _receive(self, values: Spelled, which: Longs) -> None:
        """Work out the codes of the last visitors, some of the values; what a vocabulary does not know is −1."""
        last = len(self)
        first = last - len(which)
        self._codes = grown(self._codes, last, last)
        if self._new_words is None:
            self._new_words = NewWords(self.terms, self.vocabularies)
        codes = self._codes[first:last]
        self._new_words.find(values, which, codes)
        for k in self._new_words.others:
            codes[:, k] = self.vocabularies[k].find_all(map(self._functions[k], values.some(which).strings()))
