"""An encoder without the attributes that nobody uses: what a sparse model keeps.

Vocabularies shrink to the values that some kept attribute needs (itself, or as part of a conjunction); what they no
longer know is ignored, as unknown values are. Known words stay known.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tagwright.arrays import Bools, Ints, Longs
from tagwright.attributes.templates import FeatureSet
from tagwright.encode.conjunctions import Conjunction, join_codes
from tagwright.encode.encoder import Encoder
from tagwright.encode.forms import ColumnForms, Vocabulary


def prune(encoder: Encoder, keep: Bools) -> tuple[Encoder, Longs]:
    """The encoder with the attributes `keep` [A] (and those that share a value with one at another offset), and the
    new number of every attribute, −1 where it is gone."""
    features = encoder.features
    if features is None:
        given = Vocabulary([encoder.given.values[a] for a in np.flatnonzero(keep)])
        return Encoder.build(None, encoder.width, given=given), np.where(keep, np.cumsum(keep) - 1, -1)
    needed = _needed_values(encoder, keep)
    codes_of = [[np.where(w, np.cumsum(w) - 1, -1).astype(np.int32) for w in wanted] for wanted in needed]
    columns = [_prune_column(*parts, features) for parts in zip(encoder.columns, needed, codes_of, strict=True)]
    kept = [keep[base : base + len(c.table.keys)] for c, base in _conjunction_bases(encoder)]
    keys = [
        _new_keys(conjunction, own, codes_of, columns)
        for (conjunction, _), own in zip(_conjunction_bases(encoder), kept, strict=True)
    ]
    smaller = Encoder.build(features, encoder.width, columns, keys)
    number_of = np.full(encoder.n_attributes, -1, np.int64)
    for c, tables in enumerate(codes_of):
        for before, after in zip(encoder.slots[c], smaller.slots[c], strict=True):
            for term, base, target in zip(before.terms, before.bases, after.bases, strict=True):
                table = tables[term]
                number_of[base : base + len(table)] = np.where(table >= 0, target + table, -1)
    for (_, base), (_, target), own in zip(_conjunction_bases(encoder), _conjunction_bases(smaller), kept, strict=True):
        number_of[base + np.flatnonzero(own)] = target + np.arange(np.count_nonzero(own))
    return smaller, number_of


def _conjunction_bases(encoder: Encoder) -> list[tuple[Conjunction, int]]:
    """Every conjunction with the number of its first attribute."""
    slots = encoder.slots[len(encoder.columns) :]
    return [(one, own[0].bases[0]) for one, own in zip(encoder.conjunctions.members, slots, strict=True)]


def _prune_column(old: ColumnForms, needed: list[Bools], codes_of: list[Ints], features: FeatureSet) -> ColumnForms:
    """The column with the needed values of its vocabularies."""
    vocabularies = [
        Vocabulary([vocabulary.values[n] for n in np.flatnonzero(wanted)])
        for vocabulary, wanted in zip(old.vocabularies, needed, strict=True)
    ]
    codes = np.empty_like(old.codes)
    for k, table in enumerate(codes_of):
        codes[:, k] = np.append(table, np.int32(-1))[old.codes[:, k]]  # −1 stays −1
    return ColumnForms.build(old.column, old.terms, features.clusters, old.table.strings, codes, vocabularies)


def _needed_values(encoder: Encoder, keep: Bools) -> list[list[Bools]]:
    """For every column and term, which values of its vocabulary are needed."""
    needed = [[np.zeros(len(v), np.bool_) for v in column.vocabularies] for column in encoder.columns]
    for c, column in enumerate(encoder.columns):
        for slot in encoder.slots[c]:
            for term, base in zip(slot.terms, slot.bases, strict=True):
                needed[c][term] |= keep[base : base + len(column.vocabularies[term])]
    for conjunction, base in _conjunction_bases(encoder):
        kept = keep[base : base + len(conjunction.table.keys)]
        for at, digits in zip(conjunction.index, conjunction.split_keys(), strict=True):
            needed[at.column][at.term][digits[kept]] = True
    return needed


def _new_keys(
    conjunction: Conjunction, kept: Bools, codes_of: list[list[Ints]], columns: Sequence[ColumnForms]
) -> Longs:
    """The kept combinations, their keys made of the new codes. New codes keep the order of the old: keys ascend."""
    digits = conjunction.split_keys()
    codes = [codes_of[at.column][at.term][own[kept]] for at, own in zip(conjunction.index, digits, strict=True)]
    return join_codes(codes, [len(columns[at.column].vocabularies[at.term]) for at in conjunction.index])
