"""Label contexts: the features of the known labels around a token. Templates ─► scores of the token's own label.

A template names some of the labels t−2, t−1, t+1, t+2 and perhaps cells of the text (its lexical part: the word, say).
With labels numbered 0 to Y − 1, and Y for a label that is not known, a context is one number:

    context = base + Σ_i stride_i · label_i + part stride · (number of the lexical part's value at the token)

    without a lexical part     context is an index of `rows` [R, P]: a weight for every label, added at once
    with one                   context is a key of a hash table that gives a list of (label, weight): most words were
                               seen in few contexts. Where label pairs alone would fill too many rows, they are keys too

A feature is absent where one of its labels is not known: `needs` has a bit for each. Templates of left labels come
first, then those of right labels, then those of both: inference with several context states scores each side once.
GUIDED section 4.2. Used by algorithm1_inference.py, learned by perceptron.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tagwright._jit import tight_kernel
from tagwright.arrays import Doubles, Floats, Ints, Longs, padded
from tagwright.attributes.language import Cell, LabelTemplate
from tagwright.errors import ParameterError
from tagwright.text.hash_tables import EMPTY, first_slot, insert_keys, slots_for

OFFSETS = (-2, -1, 1, 2)
LEFT_2, LEFT_1, RIGHT_1, RIGHT_2 = 1, 2, 4, 8  # bits of `needs`
STRIDES, BASE, NEEDS, PART, PART_STRIDE = slice(0, 4), 4, 5, 6, 7
"""Numbers of a template: the strides of the labels t−2, t−1, t+1, t+2; its base; the bits of the labels that must be
known; its lexical part, or −1 where contexts are rows; and the stride of that."""
NO_ENTRY = EMPTY
MOST_NUMBERS = 1 << 22
"""In rows [R, P] of one template; beyond that its contexts are keys, and templates are not put together."""


class ContextTable(NamedTuple):
    """Templates and weights for the kernels."""

    n_labels: int  # Y
    sides: Longs  # [4] templates of left labels from sides[0], of right labels from sides[1], of both from sides[2]
    numbers: Longs  # [M, 8] of each template: the columns named above
    rows: Floats  # [R, P]
    slots: Longs  # [H] keys in a hash table (text/hash_tables.py), each followed by the first entry of its list
    labels: Ints  # [N] entries: label, weight, and the next entry of the list
    weights: Floats  # [N]
    following: Ints  # [N]


class Neighbours(NamedTuple):
    """The labels around token t; Y for one that is not known."""

    l2: int  # of t − 2
    l1: int  # of t − 1
    r1: int  # of t + 1
    r2: int  # of t + 2


@tight_kernel
def neighbours(labels: Ints, t: int, first: int, last: int, Y: int) -> Neighbours:
    """Those of token t where the labels of the tokens `first` to `last` are known."""
    l2, l1 = labels[t - 2] if t - first > 1 else Y, labels[t - 1] if t > first else Y
    r1, r2 = labels[t + 1] if last > t else Y, labels[t + 2] if last - t > 1 else Y
    return Neighbours(l2, l1, r1, r2)


@tight_kernel
def find_slot(slots: Longs, key: int) -> int:
    """The slot of a key, or the empty one where it belongs."""
    slot = first_slot(key, slots.shape[0])
    while slots[slot] != key and slots[slot] != EMPTY:
        slot = (slot + 2) & (slots.shape[0] - 1)
    return slot


@tight_kernel
def find_context(table: ContextTable, m: int, lexical: Ints, around: Neighbours) -> int:
    """The row or the key of template m between these labels; −1 where the feature is absent. lexical [parts]."""
    Y = table.n_labels
    known = (around.l2 < Y) * LEFT_2 | (around.l1 < Y) * LEFT_1 | (around.r1 < Y) * RIGHT_1 | (around.r2 < Y) * RIGHT_2
    numbers = table.numbers
    if numbers[m, NEEDS] & ~known:
        return -1
    found = numbers[m, 0] * around.l2 + numbers[m, 1] * around.l1 + numbers[m, 2] * around.r1
    found += numbers[m, 3] * around.r2 + numbers[m, BASE]
    if numbers[m, PART] >= 0:
        value = lexical[numbers[m, PART]]
        if value < 0:
            return -1
        found += numbers[m, PART_STRIDE] * value
    return int(found)


@tight_kernel
def add_contexts(table: ContextTable, first: int, last: int, lexical: Ints, around: Neighbours, row: Floats) -> None:
    """row [P] += the weights of the templates `first` to `last` − 1 for a token between these labels."""
    for m in range(first, last):
        found = find_context(table, m, lexical, around)
        if found < 0:
            continue
        if table.numbers[m, PART] < 0:
            for j in range(row.shape[0]):
                row[j] += table.rows[found, j]
            continue
        e = table.slots[find_slot(table.slots, found) + 1]  # NO_ENTRY where the slot is empty
        while e >= 0:
            row[table.labels[e]] += table.weights[e]
            e = table.following[e]


class ContextLayout(NamedTuple):
    """How templates and labels are numbered: what a row and a key mean."""

    templates: tuple[LabelTemplate, ...]  # in the order of the kernels
    parts: tuple[tuple[Cell, ...], ...]  # lexical parts; the first is empty
    n_labels: int
    sides: Longs
    numbers: Longs
    n_rows: int

    @property
    def reach(self) -> tuple[int, int]:
        """How many labels to the left and to the right are looked at."""
        offsets = [offset for template in self.templates for offset in template.offsets]
        return max((-o for o in offsets if o < 0), default=0), max((o for o in offsets if o > 0), default=0)

    def table(self, rows: Floats, slots: Longs, entries: tuple[Ints, Floats, Ints]) -> ContextTable:
        """With weights."""
        return ContextTable(self.n_labels, self.sides, self.numbers, rows, slots, *entries)


def lay_out(
    templates: Sequence[LabelTemplate], n_labels: int, sizes: dict[tuple[Cell, ...], int], most: int = MOST_NUMBERS
) -> ContextLayout:
    """Give every template its rows or keys. sizes: how many values each lexical part has."""
    ordered = sorted(templates, key=lambda t: side_of(t.offsets))
    parts = tuple(dict.fromkeys([(), *(template.cells for template in ordered)]))
    numbers = np.zeros((len(ordered), 8), np.int64)
    next_row, next_key = 0, 0
    for template, own in zip(ordered, numbers, strict=True):
        size = 1
        for i, offset in reversed(list(enumerate(OFFSETS))):
            if offset in template.offsets:
                own[NEEDS] |= 1 << i
                own[STRIDES][i] = size
                size *= n_labels + 1
        if not template.cells and size * padded(n_labels) <= most:
            own[BASE], own[PART] = next_row, -1
            next_row += size
        else:
            own[BASE], own[PART], own[PART_STRIDE] = next_key, parts.index(template.cells), size
            next_key += size * (sizes[template.cells] if template.cells else 1)
            if next_key >= 2**62:
                raise ParameterError(f"`{template.text}` has too many values with {n_labels} labels; leave it out")
    sides = np.searchsorted([side_of(t.offsets) for t in ordered], range(4)).astype(np.int64)
    return ContextLayout(tuple(ordered), parts, n_labels, sides, numbers, next_row)


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

    def run(self, layout: ContextLayout, dtype: type[np.floating[Any]]) -> ContextTable:
        """Ready for tagging. Rows of one side become one row: a row to add for each side of a token."""
        merged, rows = merge_rows(layout, self.rows)
        wide: Floats = np.zeros((len(rows), padded(layout.n_labels)), dtype)
        wide[:, : layout.n_labels] = rows
        changes = np.diff(self.keys) != 0
        first, last = (np.append(*ends)[: len(self.keys)] for ends in ((True, changes), (changes, True)))
        slots = slots_for(int(first.sum()))
        insert_keys(np.where(first, self.keys, -1), slots)
        following = np.where(last, NO_ENTRY, np.arange(1, len(self.keys) + 1)).astype(np.int32)
        return merged.table(wide, slots, (self.labels, self.values.astype(dtype), following))


def merge_rows(layout: ContextLayout, rows: Doubles) -> tuple[ContextLayout, Doubles]:
    """The same scores with at most one template of rows on each side: a row for every pair of labels, known or not.
    Where that would be too many rows, the templates stay as they are."""
    radix, n_rows = layout.n_labels + 1, 0
    numbers, sides, tables = [], [0], [np.zeros((0, rows.shape[1]))]
    for side in range(3):
        members = layout.numbers[layout.sides[side] : layout.sides[side + 1]]
        plain = members[members[:, PART] < 0]
        used = np.flatnonzero(plain[:, STRIDES].any(axis=0))
        if radix ** len(used) * padded(layout.n_labels) > MOST_NUMBERS:
            for own in plain:
                size = radix ** int(np.count_nonzero(own[STRIDES]))
                tables.append(rows[own[BASE] : own[BASE] + size])
                numbers.append(own.copy())
                numbers[-1][BASE] = n_rows
                n_rows += size
        elif len(plain):
            grid = np.indices((radix,) * len(used)).reshape(len(used), -1)
            table = np.zeros((grid.shape[1], rows.shape[1]))
            for own in plain:
                table += rows[own[BASE] + own[STRIDES][used] @ grid]  # 0 where a label is not known
            merged = np.zeros(8, np.int64)
            merged[used], merged[BASE], merged[PART] = radix ** np.arange(len(used))[::-1], n_rows, -1
            numbers.append(merged)
            tables.append(table)
            n_rows += len(table)
        numbers.extend(members[members[:, PART] >= 0])
        sides.append(len(numbers))
    merged_layout = layout._replace(
        sides=np.array(sides), numbers=np.array(numbers, np.int64).reshape(len(numbers), 8), n_rows=n_rows
    )
    return merged_layout, np.concatenate(tables)
