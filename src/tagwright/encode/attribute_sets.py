"""Sets of attributes that come together again and again: a training Batch of attribute dicts, in forms.

    keys whose values depend on each other, such as a word, its suffix and its case   ─► one source
    a distinct combination of their values                                            ─► a form of that source

"Score forms, not tokens": the scores of a combination are computed once in a pass, and a token reads three rows instead
of the weights of twenty attributes (sklearn-crfsuite's tutorial on Spanish names, one thread: a pass takes a third of
the time). Attributes keep their numbers, so the weights are those of the encoder without sets, which is the one to tag
with: in new text, combinations are new.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tagwright._jit import tight_kernel
from tagwright.arrays import Bools, Floats, Ints, Longs
from tagwright.encode.batch import Batch
from tagwright.encode.forms import N_EDGES
from tagwright.text.hash_tables import EMPTY, first_slot, slots_for

MOST_KEYS = 64
"""Keys that are looked at, the most frequent ones."""
SAMPLE = 1 << 15
"""Tokens by which keys are sorted into sources."""
GROWTH = 2.0
"""A source may have so many times the forms that its first key alone has."""
ABSENT = -1


@dataclass(frozen=True, eq=False)
class AttributeSet:
    """One source: the attributes of its forms."""

    codes: Ints  # [F, K], ABSENT where a form has none of a key

    @property
    def n_known(self) -> int:
        return len(self.codes)


def gather_sets(keys: Ints, data: Batch) -> tuple[list[AttributeSet], Batch]:
    """Sources for the keys of a training batch of dicts (keys [A]: those of all attributes, −1 where there is none),
    and the batch in their forms. What has another value than 1 stays with its token; what has the value 0 adds nothing
    to scores, and is dropped."""
    columns, rest = list_columns(keys, data)
    groups = sort_keys(columns[:, :: max(1, data.n_tokens // SAMPLE)])
    sets, forms = [], np.empty((len(groups), data.n_tokens), np.int32)
    for g, group in enumerate(groups):
        found, first = number_combinations(columns[group])
        forms[g] = found + N_EDGES
        edges = np.full((N_EDGES, len(group)), ABSENT, np.int32)
        sets.append(AttributeSet(np.concatenate([edges, columns[group][:, first].T])))
    pointers = np.concatenate([[0], np.cumsum(rest)])[data.pointers]
    return sets, data._replace(
        forms=forms, pointers=pointers, attributes=data.attributes[rest], values=data.values[rest]
    )


def list_columns(keys: Ints, data: Batch) -> tuple[Ints, Bools]:
    """columns[k, p]: the attribute that token p has for one of the most frequent keys, with the value 1. And which
    entries of the batch are in none, and have a value."""
    counts = np.bincount(keys[data.attributes] + 1)
    chosen = [k for k in np.argsort(-counts[1:], kind="stable").tolist()[:MOST_KEYS] if counts[1 + k]]
    column_of = np.full(len(counts), ABSENT, np.int64)  # of key k − 1
    column_of[np.array(chosen, np.int64) + 1] = np.arange(len(chosen))
    columns = np.full((len(chosen), data.n_tokens), ABSENT, np.int32)
    rest = np.empty(len(data.attributes), np.bool_)
    fill_columns(data.pointers, data.attributes, data.values, keys, column_of, columns, rest)
    return columns, rest


@tight_kernel
def fill_columns(
    pointers: Longs, attributes: Ints, values: Floats, keys: Ints, column_of: Longs, columns: Ints, rest: Bools
) -> None:
    for p in range(pointers.shape[0] - 1):
        for e in range(pointers[p], pointers[p + 1]):
            c = column_of[keys[attributes[e]] + 1]
            fits = c >= 0 and values[e] == 1.0 and columns[max(c, 0), p] == ABSENT
            if fits:
                columns[c, p] = attributes[e]
            rest[e] = not fits and values[e] != 0.0


def sort_keys(columns: Ints) -> list[list[int]]:
    """Which columns go together, given some tokens: the column with the most values begins a source, and every other
    one joins the source that grows the least by it, unless that becomes too large."""
    alone = [number_combinations(column[None])[1].size for column in columns]
    groups: list[list[int]] = []
    forms: list[Ints] = []
    for k in sorted(range(len(columns)), key=lambda k: -alone[k]):
        joint = [number_pairs(own, columns[k] + 1) for own in forms]
        fits = [
            (len(first) / (int(own.max()) + 1), g)
            for g, (own, (_, first)) in enumerate(zip(forms, joint, strict=True))
            if len(first) <= GROWTH * alone[groups[g][0]]
        ]
        if fits:
            _, g = min(fits)
            groups[g].append(k)
            forms[g] = joint[g][0]
        else:
            groups.append([k])
            forms.append(number_combinations(columns[k][None])[0])
    return groups


def number_combinations(columns: Ints) -> tuple[Ints, Longs]:
    """Number the combinations of some columns [K, n]; and where each appears first."""
    found, first = number_pairs(np.zeros(columns.shape[1], np.int32), columns[0] + 1)
    for column in columns[1:]:
        found, first = number_pairs(found, column + 1)
    return found, first


def number_pairs(left: Ints, right: Ints) -> tuple[Ints, Longs]:
    """Number the pairs of numbers in the order of their first appearance; and where each appears first."""
    found, first = np.empty(len(left), np.int32), np.empty(len(left), np.int64)
    n = count_pairs(left, right, slots_for(len(left)), found, first)
    return found, first[:n]


@tight_kernel
def count_pairs(left: Ints, right: Ints, slots: Longs, found: Ints, first: Longs) -> int:
    """As number_pairs; slots: empty, enough for all. Returns how many distinct ones there are."""
    n, size = 0, slots.shape[0]
    for p in range(left.shape[0]):
        key = (np.int64(left[p]) << 32) | right[p]
        slot = first_slot(key, size)
        while slots[slot] != EMPTY and slots[slot] != key:
            slot = (slot + 2) & (size - 1)
        if slots[slot] == EMPTY:
            slots[slot], slots[slot + 1], first[n] = key, n, p
            n += 1
        found[p] = slots[slot + 1]
    return n
