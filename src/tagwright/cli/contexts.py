"""What a guided model learned beside the weights of words: label contexts, and the order in which labels are given."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from tagwright.arrays import Longs
from tagwright.attributes.cells import LABEL, attribute_name, join_values
from tagwright.guided.decoder import LabelContexts
from tagwright.guided.label_contexts import OFFSETS
from tagwright.guided.tagger import GuidedTagger
from tagwright.learners import SequenceTagger


class Place(NamedTuple):
    """Where a label comes in the order of a sentence, on average: 0 is first, 1 is last."""

    label: str
    place: float


def top_contexts(model: SequenceTagger, n: int) -> dict[str, list[tuple[str, float]]]:
    """For each label, its n label contexts with the largest weights; none for other learners."""
    if not isinstance(model, GuidedTagger):
        return {}
    weights, layout = model.decoder_.labels.weights, model.decoder_.labels.layout
    rows, labels = np.nonzero(weights.rows > 0)
    lists = weights.values > 0
    values = np.concatenate([weights.rows[rows, labels], weights.values[lists]])
    places = np.concatenate([rows, weights.keys[lists]])
    dense = np.arange(len(places)) < len(rows)
    owners = np.empty(len(places), np.int64)
    for kind in (True, False):
        members = np.flatnonzero((layout.part < 0) == kind)
        if len(members):
            owners[dense == kind] = members[np.searchsorted(layout.bases[members], places[dense == kind], "right") - 1]
    labels = np.concatenate([labels, weights.labels[lists]])
    order = np.argsort(-values, kind="stable")
    found: dict[str, list[tuple[str, float]]] = {}
    for y, label in enumerate(model.labels_):
        best = order[labels[order] == y][:n].tolist()
        names = [name_context(model.decoder_.labels, model.labels_, int(owners[e]), int(places[e])) for e in best]
        found[label] = list(zip(names, values[best].tolist(), strict=True))
    return found


def name_context(contexts: LabelContexts, names: Sequence[str], m: int, place: int) -> str:
    """The context of template m at a place: `label[-1]=DT & label[1]=NN & word[0]=run`."""
    layout = contexts.layout
    rest = place - int(layout.bases[m])
    radix = layout.n_labels + 1
    shown = []
    for offset, stride in zip(OFFSETS, layout.strides[m].tolist(), strict=True):
        if stride:
            shown.append(f"{LABEL}[{offset}]={names[rest // stride % radix]}")
    cells = layout.templates[m].cells
    if cells:
        number = rest // int(layout.part_strides[m])
        shown.append(attribute_name(cells, join_values(cells, list(lexical_values(contexts, m, number)))))
    return " & ".join(shown)


def lexical_values(contexts: LabelContexts, m: int, number: int) -> Iterator[str]:
    """The values of the cells of template m, from the number of its lexical part."""
    cells, encoder = contexts.layout.templates[m].cells, contexts.parts.encoder
    key = number if len(cells) == 1 else int(contexts.parts.tables[cells].keys[number])
    places = [encoder.place_of(cell) for cell in cells]
    sizes = [len(encoder.columns[place].vocabularies[term]) for place, term, _ in places]
    codes: Longs = np.array(np.unravel_index(key, sizes))
    for (place, term, _), code in zip(places, codes.tolist(), strict=True):
        yield encoder.columns[place].vocabularies[term].values[code]


def label_order(model: SequenceTagger) -> list[Place]:
    """The labels of a guided model in their typical order; those that it gave to no training token are left out."""
    if not isinstance(model, GuidedTagger):
        return []
    found = [Place(*pair) for pair in zip(model.labels_, model.label_order_.tolist(), strict=True)]
    return sorted([one for one in found if not np.isnan(one.place)], key=lambda one: one.place)
