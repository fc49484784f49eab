"""The label contexts that a guided model learned, by name: for `tagwright inspect`, and for explanations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from tagwright.arrays import Doubles, Ints, Longs
from tagwright.attributes.language import LABEL, attribute_name, join_values
from tagwright.guided.decoder import LabelContexts
from tagwright.guided.label_contexts import BASE, OFFSETS, PART, PART_STRIDE, STRIDES


def top_contexts(contexts: LabelContexts, names: Sequence[str], n: int) -> dict[str, list[tuple[str, float]]]:
    """For each label, its n label contexts with the largest weights above 0."""
    weights, layout = contexts.weights, contexts.layout
    rows, labels = np.nonzero(weights.rows > 0)
    listed = weights.values > 0
    values = np.concatenate([weights.rows[rows, labels], weights.values[listed]])
    keys = np.concatenate([rows, weights.keys[listed]])
    dense = np.arange(len(keys)) < len(rows)
    templates = np.empty(len(keys), np.int64)
    for kind in (True, False):
        members = np.flatnonzero((layout.numbers[:, PART] < 0) == kind)
        if len(members):
            bases = layout.numbers[members, BASE]
            templates[dense == kind] = members[np.searchsorted(bases, keys[dense == kind], "right") - 1]
    labels = np.concatenate([labels, weights.labels[listed]])
    order = np.argsort(-values, kind="stable")
    found: dict[str, list[tuple[str, float]]] = {}
    for y, label in enumerate(names):
        best = order[labels[order] == y][:n].tolist()
        shown = [name_context(contexts, names, int(templates[e]), int(keys[e])) for e in best]
        found[label] = list(zip(shown, values[best].tolist(), strict=True))
    return found


def name_context(contexts: LabelContexts, names: Sequence[str], m: int, key: int) -> str:
    """The context of template m that has this key: `label[-1]=DT & label[1]=NN & word[0]=run`."""
    layout = contexts.layout
    numbers = layout.numbers[m]
    rest = key - int(numbers[BASE])
    radix = layout.n_labels + 1
    shown = []
    for offset, stride in zip(OFFSETS, numbers[STRIDES].tolist(), strict=True):
        if stride:
            shown.append(f"{LABEL}[{offset}]={names[rest // stride % radix]}")
    cells = layout.templates[m].cells
    if cells:
        number = rest // int(numbers[PART_STRIDE])
        shown.append(attribute_name(cells, join_values(cells, list(lexical_values(contexts, m, number)))))
    return " & ".join(shown)


def lexical_values(contexts: LabelContexts, m: int, number: int) -> Iterator[str]:
    """The values of the cells of template m, from the number of its lexical part."""
    cells, encoder = contexts.layout.templates[m].cells, contexts.parts.encoder
    key = number if len(cells) == 1 else int(contexts.parts.tables[cells].keys[number])
    vocabularies = []
    for cell in cells:
        column, term = encoder.column_of(cell)
        vocabularies.append(column.vocabularies[term])
    codes: Longs = np.array(np.unravel_index(key, [len(one) for one in vocabularies]))
    for vocabulary, code in zip(vocabularies, codes.tolist(), strict=True):
        yield vocabulary.values[code]


def contexts_of(
    contexts: LabelContexts, names: Sequence[str], around: Longs, lexical: Ints
) -> Iterator[tuple[str, Doubles]]:
    """The label contexts of one token and their weights for all labels [Y]. around: the labels at OFFSETS, Y where one
    is not known; lexical: the numbers of its lexical parts."""
    weights, layout = contexts.weights, contexts.layout
    for m, numbers in enumerate(layout.numbers):
        part = int(numbers[PART])
        value = int(lexical[part]) if part >= 0 else 0
        if value < 0 or (around[numbers[STRIDES] > 0] == layout.n_labels).any():
            continue
        key = int(numbers[BASE] + around @ numbers[STRIDES] + (numbers[PART_STRIDE] * value if part >= 0 else 0))
        row = np.zeros(layout.n_labels)
        if part < 0:
            row[:] = weights.rows[key]
        else:
            first, last = np.searchsorted(weights.keys, [key, key + 1])
            row[weights.labels[first:last]] = weights.values[first:last]
        yield name_context(contexts, names, m, key), row
