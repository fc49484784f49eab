"""Forms: the distinct values of one input column, and what each spelling function (term) makes of them.

"Score forms, not tokens": a term is computed once per distinct value, in Python; a token is then one number, its form.

    codes[f, k] = number of the value that term k gives for form f, −1 where it gives none

Forms 0 and 1 are the edges: what stands left and right of every sentence. Then come the values that training saw, then
visitors: values met since, kept so that an unknown word is worked out once, and sent away when they become too many.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import repeat

import numpy as np

from tagwright.arrays import Ints
from tagwright.attributes.templates import Term
from tagwright.encode.vocabulary import Vocabulary

N_EDGES = 2
MOST_VISITORS = 1 << 16


class ColumnForms:
    """One column: its forms and, for each term, its vocabulary and codes."""

    def __init__(self, column: int, terms: Sequence[Term]) -> None:
        self.column = column
        self.terms = tuple(terms)
        self.vocabularies = [Vocabulary() for _ in terms]
        self.index: dict[str, int] = {}
        self.n_known = 0
        self.season = 0  # of visitors: grows when they are sent away
        self._codes: Ints = np.empty((0, len(terms)), np.int32)  # with room for visitors
        self._functions = [term.compile() for term in terms]

    def __len__(self) -> int:
        return N_EDGES + len(self.index)

    @property
    def codes(self) -> Ints:
        return self._codes[: len(self)]

    def learn(self, values: Iterable[str]) -> None:
        """Make the forms, and the vocabularies of all terms, from the training data; after this they are locked."""
        distinct = dict.fromkeys(values)
        self.index = {value: number for number, value in enumerate(distinct, start=N_EDGES)}
        edges = [
            [-1 if (value := term.edge_value(side)) is None else vocabulary.add(value) for side in range(N_EDGES)]
            for term, vocabulary in zip(self.terms, self.vocabularies, strict=True)
        ]
        self.n_known = N_EDGES + len(distinct)
        self._codes = np.empty((self.n_known, len(self.terms)), np.int32)
        self._codes[:N_EDGES] = np.array(edges, np.int32).reshape(len(self.terms), N_EDGES).T
        for k, (function, vocabulary) in enumerate(zip(self._functions, self.vocabularies, strict=True)):
            add = vocabulary.add
            made = map(function, distinct)
            self._codes[N_EDGES:, k] = [-1 if value is None else add(value) for value in made]

    def restore(self, values: Sequence[str], codes: Ints, vocabularies: Sequence[Sequence[str]]) -> None:
        """The state that a model file holds."""
        self.index = {value: number for number, value in enumerate(values, start=N_EDGES)}
        self.n_known = len(codes)
        self._codes = codes
        self.vocabularies = [Vocabulary(values) for values in vocabularies]

    @property
    def values(self) -> list[str]:
        """The strings of the known forms after the edges."""
        return list(self.index)[: self.n_known - N_EDGES]

    def find(self, values: Sequence[str]) -> Ints:
        """The form of every value; a new one becomes a visitor."""
        forms = np.fromiter(map(self.index.get, values, repeat(-1)), np.int32, len(values))
        unknown = np.flatnonzero(forms < 0).tolist()
        if unknown:
            self._receive(list(dict.fromkeys([values[p] for p in unknown])))
            forms[unknown] = [self.index[values[p]] for p in unknown]
        return forms

    def forget_visitors(self) -> None:
        """Make room, if it is needed. Forms found before no longer count."""
        if len(self) > self.n_known + MOST_VISITORS:
            for value in list(self.index)[self.n_known - N_EDGES :]:
                del self.index[value]
            self.season += 1

    def _receive(self, values: Sequence[str]) -> None:
        """Work out the codes of new values; what a vocabulary does not know is −1."""
        first = len(self)
        last = first + len(values)
        if last > len(self._codes):
            self._codes = np.concatenate([self.codes, np.empty((last, len(self.terms)), np.int32)])
        for k, (term, vocabulary) in enumerate(zip(self.terms, self.vocabularies, strict=True)):
            self._codes[first:last, k] = self._code(k, term, vocabulary.index, values)
        self.index.update(zip(values, range(first, last), strict=True))

    def _code(self, k: int, term: Term, index: Mapping[str, int], values: Sequence[str]) -> list[int]:
        """The codes of one term. Affixes are cut here, three times as fast as by their function: a word that is too
        short for one gives a string too short to be known."""
        n = term.argument or 0
        made: Iterable[str | None]
        if term.function == "prefix":
            made = [value[:n] for value in values]
        elif term.function == "suffix":
            made = [value[-n:] for value in values]
        else:
            made = map(self._functions[k], values)
        return list(map(index.get, made, repeat(-1)))  # type: ignore[arg-type]  # None is no key
