"""Scores of label contexts: what the known labels around a token say about its own. Templates ─► rows over labels.

A template names some of the labels t−2, t−1, t+1, t+2 and perhaps cells of the text (its lexical part: the word, say).
With labels numbered 0 to Y − 1, and Y for a label that is not known, a context is one number:

    place = base + Σ_i stride_i · label_i + lexical stride · (number of the lexical part's value at the token)

    without a lexical part     place is a row of `rows` [R, P]: a weight for every label, added at once
    with one                   place is a key of a hash table that leads to a list of (label, weight): most words were
                               seen in few contexts. Where label pairs alone would fill too many rows, they are keys too

A feature is absent where one of its labels is not known: `needs` has a bit for each. Templates of left labels come
first, then those of right labels, then those of both: a search with several contexts scores each side once.
GUIDED section 4.2. Used by chain/guided.py, learned by optim/guided.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tagwright._jit import kernel, tight_kernel
from tagwright.arrays import Doubles, Floats, Ints, Longs, padded
from tagwright.attributes.cells import Cell, LabelTemplate
from tagwright.errors import ParameterError

OFFSETS = (-2, -1, 1, 2)
LEFT_2, LEFT_1, RIGHT_1, RIGHT_2 = 1, 2, 4, 8  # bits of `needs`
NO_ENTRY = -1
MOST_NUMBERS = 1 << 22
"""In rows [R, P] of one template; beyond that its contexts are keys."""


class Contexts(NamedTuple):
    """Templates and weights for the kernels."""

    sides: Longs  # [4]: templates of left labels from sides[0], of right labels from sides[1], of both from sides[2]
    needs: Longs  # [M] bits of the labels that must be known
    strides: Longs  # [M, 4] of t−2, t−1, t+1, t+2
    bases: Longs  # [M]
    lexical: Longs  # [M] row of the lexical numbers; −1: the place is a row
    lexical_strides: Longs  # [M]
    rows: Floats  # [R, P]
    slots: Longs  # [H] keys in a hash table, −1 where it is free
    heads: Ints  # [H] first entry of a key's list
    labels: Ints  # [N] entries: label, weight, and the next entry of the list
    weights: Floats  # [N]
    following: Ints  # [N]


@tight_kernel
def find_slot(slots: Longs, key: int) -> int:
    """The slot of a key, or the free one where it belongs."""
    place = key % slots.shape[0]
    while slots[place] >= 0 and slots[place] != key:
        place = place + 1 if place + 1 < slots.shape[0] else 0
    return int(place)


@tight_kernel
def find_place(
    contexts: Contexts, m: int, lexical: Ints, k: int, known: int, l2: int, l1: int, r1: int, r2: int
) -> int:
    """The place of template m at token k between these labels; −1 where the feature is absent."""
    if contexts.needs[m] & ~known:
        return -1
    place = contexts.bases[m] + contexts.strides[m, 0] * l2 + contexts.strides[m, 1] * l1
    place += contexts.strides[m, 2] * r1 + contexts.strides[m, 3] * r2
    if contexts.lexical[m] >= 0:
        value = lexical[contexts.lexical[m], k]
        if value < 0:
            return -1
        place += contexts.lexical_strides[m] * value
    return int(place)


@tight_kernel
def add_contexts(
    contexts: Contexts, side: int, lexical: Ints, k: int, known: int, l2: int, l1: int, r1: int, r2: int, out: Floats
) -> None:
    """out [P] += the scores of all templates of one side at token k; lexical [parts, n]."""
    for m in range(contexts.sides[side], contexts.sides[side + 1]):
        place = find_place(contexts, m, lexical, k, known, l2, l1, r1, r2)
        if place < 0:
            continue
        if contexts.lexical[m] < 0:
            for j in range(out.shape[0]):
                out[j] += contexts.rows[place, j]
            continue
        slot = find_slot(contexts.slots, place)
        if contexts.slots[slot] >= 0:
            e = contexts.heads[slot]
            while e >= 0:
                out[contexts.labels[e]] += contexts.weights[e]
                e = contexts.following[e]


@tight_kernel
def known_labels(Y: int, l2: int, l1: int, r1: int, r2: int) -> int:
    """The bits of those that are known."""
    known = LEFT_2 if l2 < Y else 0
    known |= LEFT_1 if l1 < Y else 0
    known |= RIGHT_1 if r1 < Y else 0
    return known | (RIGHT_2 if r2 < Y else 0)


class Layout(NamedTuple):
    """How templates and labels make places: what a weight's place means."""

    templates: tuple[LabelTemplate, ...]  # in the order of the kernels
    parts: tuple[tuple[Cell, ...], ...]  # lexical parts; the first is empty
    n_labels: int
    sides: Longs
    needs: Longs
    strides: Longs
    bases: Longs
    lexical: Longs
    lexical_strides: Longs
    n_rows: int

    @property
    def reach(self) -> tuple[int, int]:
        """How many labels to the left and to the right are looked at."""
        offsets = [offset for template in self.templates for offset in template.offsets]
        return max((-o for o in offsets if o < 0), default=0), max((o for o in offsets if o > 0), default=0)

    def contexts(self, rows: Floats, slots: Longs, heads: Ints, entries: tuple[Ints, Floats, Ints]) -> Contexts:
        """With weights."""
        arrays = (self.sides, self.needs, self.strides, self.bases, self.lexical, self.lexical_strides)
        return Contexts(*arrays, rows, slots, heads, *entries)


def lay_out(
    templates: Sequence[LabelTemplate], n_labels: int, sizes: dict[tuple[Cell, ...], int], most: int = MOST_NUMBERS
) -> Layout:
    """Give every template its places. sizes: how many values each lexical part has."""
    ordered = sorted(templates, key=lambda t: side_of(t.offsets))
    parts = tuple(dict.fromkeys([(), *(template.cells for template in ordered)]))
    M, radix = len(ordered), n_labels + 1
    needs, bases, lexical, steps = (np.zeros(M, np.int64) for _ in range(4))
    strides = np.zeros((M, 4), np.int64)
    next_row, next_key = 0, 0
    for m, template in enumerate(ordered):
        size = 1
        for i, offset in reversed(list(enumerate(OFFSETS))):
            if offset in template.offsets:
                needs[m] |= 1 << i
                strides[m, i] = size
                size *= radix
        if not template.cells and size * padded(n_labels) <= most:
            bases[m], lexical[m] = next_row, -1
            next_row += size
        else:
            bases[m], lexical[m], steps[m] = next_key, parts.index(template.cells), size
            next_key += size * (sizes[template.cells] if template.cells else 1)
            if next_key >= 2**62:
                raise ParameterError(f"`{template.text}` has too many values with {n_labels} labels; leave it out")
    sides = np.searchsorted([side_of(t.offsets) for t in ordered], range(4)).astype(np.int64)
    return Layout(tuple(ordered), parts, n_labels, sides, needs, strides, bases, lexical, steps, next_row)


def side_of(offsets: Sequence[int]) -> int:
    """0: left labels, 1: right labels, 2: both."""
    return 0 if max(offsets) < 0 else 1 if min(offsets) > 0 else 2


class ContextWeights(NamedTuple):
    """All weights of label contexts, zeros left out of the lists: what training makes and a model file holds."""

    rows: Doubles  # [R, Y]
    keys: Longs  # [N] ascending
    labels: Ints  # [N] ascending for each key
    values: Doubles  # [N]

    @classmethod
    def build(cls, rows: Doubles, keys: Longs, labels: Ints, values: Doubles) -> ContextWeights:
        """Lists in any order; an entry that occurs more than once is added up. All in float32's precision."""
        order = np.lexsort((labels, keys))
        keys, labels, values = keys[order], labels[order], values[order]
        first = np.append(True, (np.diff(keys) != 0) | (np.diff(labels) != 0))[: len(keys)]
        sums = np.add.reduceat(values, np.flatnonzero(first)) if len(keys) else values
        sums = sums.astype(np.float32).astype(np.float64)
        used = sums != 0
        return cls(rows.astype(np.float32).astype(np.float64), keys[first][used], labels[first][used], sums[used])

    def run(self, layout: Layout, dtype: type[np.floating[Any]]) -> Contexts:
        """Ready for tagging. Rows of one side become one row: a row to add for each side of a token."""
        merged, rows = merge_rows(layout, self.rows)
        wide: Floats = np.zeros((len(rows), padded(layout.n_labels)), dtype)
        wide[:, : layout.n_labels] = rows
        keys, first = np.unique(self.keys, return_index=True)
        slots, heads = build_slots(keys, first)
        following = np.arange(1, len(self.keys) + 1, dtype=np.int32)
        following[np.append(first[1:], len(self.keys))[: len(keys)] - 1] = NO_ENTRY
        return merged.contexts(wide, slots, heads, (self.labels, self.values.astype(dtype), following))


def build_slots(keys: Longs, heads: Longs, room: int = 0) -> tuple[Longs, Ints]:
    """The hash table of some keys, at most half full with `room` more."""
    size = 2 * (len(keys) + room) + 3
    while any(size % prime == 0 for prime in (2, 3, 5, 7, 11, 13)):
        size += 1
    slots, places = np.full(size, -1, np.int64), np.full(size, NO_ENTRY, np.int32)
    insert_heads(keys, heads.astype(np.int32), slots, places)
    return slots, places


@kernel
def insert_heads(keys: Longs, heads: Ints, slots: Longs, places: Ints) -> None:
    for n in range(keys.shape[0]):
        slot = find_slot(slots, keys[n])
        slots[slot] = keys[n]
        places[slot] = heads[n]


def merge_rows(layout: Layout, rows: Doubles) -> tuple[Layout, Doubles]:
    """The same scores with at most one template of rows on each side: a row for every pair of labels, known or not."""
    radix = layout.n_labels + 1
    dense = layout.lexical < 0
    tables, columns = [], []
    base = 0
    for side in range(3):
        members = range(layout.sides[side], layout.sides[side + 1])
        plain = [m for m in members if dense[m]]
        if plain:
            used = np.flatnonzero((layout.strides[plain] > 0).any(axis=0))
            grid = np.indices((radix,) * len(used)).reshape(len(used), -1)
            table = np.zeros((grid.shape[1], rows.shape[1]))
            for m in plain:
                table += rows[layout.bases[m] + layout.strides[m, used] @ grid]  # 0 where a label is not known
            strides = np.zeros(4, np.int64)
            strides[used] = radix ** np.arange(len(used))[::-1]
            columns.append((side, 0, strides, base, -1, 0))
            tables.append(table)
            base += len(table)
        for m in members:
            if not dense[m]:
                parts = layout.strides[m], layout.bases[m], layout.lexical[m], layout.lexical_strides[m]
                columns.append((side, layout.needs[m], *parts))
    sides = np.searchsorted([column[0] for column in columns], range(4)).astype(np.int64)
    needs, bases, lexical, steps = (np.array([c[i] for c in columns], np.int64) for i in (1, 3, 4, 5))
    merged = layout._replace(
        sides=sides,
        needs=needs,
        strides=np.array([c[2] for c in columns], np.int64).reshape(len(columns), 4),
        bases=bases,
        lexical=lexical,
        lexical_strides=steps,
        n_rows=base,
    )
    return merged, np.concatenate(tables) if tables else np.zeros((0, rows.shape[1]))
