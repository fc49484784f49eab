"""An encoder without the attributes that nobody uses: what a sparse model keeps.

Vocabularies shrink to the values that some kept attribute needs (itself, or as part of a conjunction); what they no
longer know is ignored, as unknown values are. Known words stay known.
"""

from __future__ import annotations

import numpy as np

from tagwright.arrays import Bools, Ints, Longs
from tagwright.encode.conjunctions import Combinations, join_codes
from tagwright.encode.encoder import Encoder
from tagwright.encode.vocabulary import Vocabulary


def prune(encoder: Encoder, keep: Bools) -> tuple[Encoder, Longs]:
    """The encoder with the attributes `keep` [A] (and those that share a value with one at another offset), and the
    new number of every attribute, −1 where it is gone."""
    if encoder.features is None:
        return _prune_given(encoder, keep)
    needed = _needed_values(encoder, keep)
    smaller = Encoder(encoder.features, min_conjunction=encoder.min_conjunction)
    smaller.width = encoder.width
    codes_of: list[list[Ints]] = []  # old code ─► new code, by column and term
    for old, new, wanted in zip(encoder.columns, smaller.columns, needed, strict=True):
        codes_of.append([np.where(w, np.cumsum(w) - 1, -1).astype(np.int32) for w in wanted])
        kept = [[v.values[n] for n in np.flatnonzero(w)] for v, w in zip(old.vocabularies, wanted, strict=True)]
        known = old.codes[: old.n_known]
        codes = [_translate(table, known[:, k]) for k, table in enumerate(codes_of[-1])]
        new.restore(old.values, np.array(codes, np.int32).reshape(len(codes), -1).T.copy(), kept)
    smaller.number_slots()
    place_of = np.full(encoder.n_attributes, -1, np.int64)
    for c, tables in enumerate(codes_of):
        for before, after in zip(encoder.slots[c], smaller.slots[c], strict=True):
            for term, base, target in zip(before.terms, before.bases, after.bases, strict=True):
                table = tables[term]
                place_of[base : base + len(table)] = np.where(table >= 0, target + table, -1)
    for conjunction, slots in zip(encoder.conjunctions, encoder.slots[len(encoder.columns) :], strict=True):
        _prune_conjunction(encoder, smaller, conjunction, slots[0].bases[0], keep, codes_of, place_of)
    return smaller, place_of


def _translate(table: Ints, codes: Ints) -> Ints:
    """New codes for old ones; −1 stays −1."""
    return np.append(table, np.int32(-1))[codes]


def _needed_values(encoder: Encoder, keep: Bools) -> list[list[Bools]]:
    """For every column and term, which values of its vocabulary are needed."""
    needed = [[np.zeros(len(v), np.bool_) for v in column.vocabularies] for column in encoder.columns]
    for c, column in enumerate(encoder.columns):
        for slot in encoder.slots[c]:
            for term, base in zip(slot.terms, slot.bases, strict=True):
                needed[c][term] |= keep[base : base + len(column.vocabularies[term])]
    for conjunction, slots in zip(encoder.conjunctions, encoder.slots[len(encoder.columns) :], strict=True):
        base = slots[0].bases[0]
        kept = keep[base : base + len(conjunction.table.keys)]
        for (place, term, _), digits in zip(conjunction.places, encoder.split_keys(conjunction), strict=True):
            needed[place][term][digits[kept]] = True
    return needed


def _prune_conjunction(
    encoder: Encoder, smaller: Encoder, conjunction: Combinations, base: int, keep: Bools, codes_of: list[list[Ints]],
    place_of: Longs,
) -> None:  # fmt: skip
    """The kept combinations, their keys made of the new codes. New codes keep the order of the old: keys ascend."""
    kept = np.flatnonzero(keep[base : base + len(conjunction.table.keys)])
    digits = encoder.split_keys(conjunction)
    places = conjunction.places
    codes = [codes_of[place][term][own[kept]] for (place, term, _), own in zip(places, digits, strict=True)]
    sizes = [len(smaller.columns[place].vocabularies[term]) for place, term, _ in places]
    place_of[base + kept] = smaller.n_attributes + np.arange(len(kept))
    smaller.add_conjunction(conjunction.cells, join_codes(codes, sizes))


def _prune_given(encoder: Encoder, keep: Bools) -> tuple[Encoder, Longs]:
    smaller = Encoder(None, min_conjunction=encoder.min_conjunction)
    smaller.width = encoder.width
    smaller.given = Vocabulary([encoder.given.values[a] for a in np.flatnonzero(keep)])
    smaller.n_attributes = len(smaller.given)
    return smaller, np.where(keep, np.cumsum(keep) - 1, -1)
