"""The perceptron of guided learning: weights of the moment, their averages, and the update of algorithm 2.

    U(action) = w · f(action)            attributes of the token (here) + label contexts (label_contexts.py)
    w += f(gold action) − f(top action)

The average of w over all steps is lazy (as in optim/online.py): an update δ at step c also adds c · δ to a sum, and

    average after C steps = w − sum / C

Keys of label contexts get entries when they are first updated; training.py makes room for them beforehand.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tagwright._jit import tight_kernel
from tagwright.arrays import Doubles, Floats, Ints, Longs
from tagwright.guided.algorithm1_inference import InferenceModel, ScoredSentence
from tagwright.guided.label_contexts import PART, ContextTable, Neighbours, find_context, find_slot, neighbours


class TrainingText(NamedTuple):
    """Token p has attributes[pointers[p] : pointers[p + 1]]; sentence i the tokens offsets[i] to offsets[i + 1] − 1."""

    offsets: Longs  # [N + 1]
    gold: Ints  # [n]
    pointers: Longs  # [n + 1]
    attributes: Ints  # [pointers[-1]]
    values: Doubles  # [pointers[-1]], or [0] when all are 1
    lexical: Ints  # [n, parts] numbers of the lexical parts of label templates


class Perceptron(NamedTuple):
    """Weights and the sums of their averages. The weights of label contexts are those of `model`."""

    model: InferenceModel
    first: Longs  # [A] where the weights of an attribute begin, one for each label; −1: it has none
    weights: Floats  # [W]
    sums: Doubles  # [W]
    row_sums: Doubles  # [R, P]
    entry_sums: Doubles  # [N]
    entry_keys: Longs  # [N]
    n_entries: Longs  # [1]


class Example(NamedTuple):
    """A sentence of the training text, scored with the weights of the moment."""

    sentence: ScoredSentence
    gold: Ints  # [n]
    begin: int  # its first token in the text


@tight_kernel
def score_token(perceptron: Perceptron, text: TrainingText, p: int, margin: float, row: Floats) -> bool:
    """row [P] = the scores of token p by its attributes, its gold label handicapped; whether all are finite."""
    Y = perceptron.model.contexts.n_labels
    weighted = text.values.shape[0] > 0
    for y in range(row.shape[0]):
        row[y] = 0
    row[text.gold[p]] = -margin
    for e in range(text.pointers[p], text.pointers[p + 1]):
        first = perceptron.first[text.attributes[e]]
        if first < 0:
            continue
        if weighted:
            for y in range(Y):
                row[y] += text.values[e] * perceptron.weights[first + y]
        else:
            for y in range(Y):
                row[y] += perceptron.weights[first + y]
    finite = True
    for y in range(Y if weighted else 0):  # without values, scores are the margin and sums of ±1
        finite = finite and np.isfinite(row[y])
    return finite


@tight_kernel
def rescore_labels(
    perceptron: Perceptron, text: TrainingText, p: int, margin: float, gold: int, top: int, row: Floats
) -> None:
    """The same for the two labels of an update, at any token p."""
    weighted = text.values.shape[0] > 0
    gold_score = -margin if gold == text.gold[p] else 0.0
    top_score = -margin if top == text.gold[p] else 0.0
    for e in range(text.pointers[p], text.pointers[p + 1]):
        first = perceptron.first[text.attributes[e]]
        if first >= 0:
            value = text.values[e] if weighted else 1.0
            gold_score += value * perceptron.weights[first + gold]
            top_score += value * perceptron.weights[first + top]
    row[gold], row[top] = gold_score, top_score


@tight_kernel
def update(
    perceptron: Perceptron, text: TrainingText, example: Example, labels: Ints, bounds: Longs, k: int, clock: float
) -> None:
    """w += f(gold action of token k) − f(its action in labels [n]), between the labels of bounds[k, 0] to bounds[k, 1],
    which were known then."""
    p, gold, top = example.begin + k, example.gold[k], labels[k]
    weighted = text.values.shape[0] > 0
    for e in range(text.pointers[p], text.pointers[p + 1] if gold != top else text.pointers[p]):
        first = perceptron.first[text.attributes[e]]
        if first >= 0:
            size = text.values[e] if weighted else 1.0
            perceptron.weights[first + gold] += size
            perceptron.sums[first + gold] += clock * size
            perceptron.weights[first + top] -= size
            perceptron.sums[first + top] -= clock * size
    for sign in (1, -1):
        action = example.gold if sign > 0 else labels
        around = neighbours(action, k, bounds[k, 0], bounds[k, 1], perceptron.model.contexts.n_labels)
        update_contexts(perceptron, example.sentence.lexical[k], action[k], around, sign, clock)


@tight_kernel
def update_contexts(
    perceptron: Perceptron, lexical: Ints, label: int, around: Neighbours, size: int, clock: float
) -> None:
    """w += size · (the label contexts of one action: a label between others)."""
    contexts = perceptron.model.contexts
    for m in range(contexts.sides[3]):
        found = find_context(contexts, m, lexical, around)
        if found < 0:
            continue
        if contexts.numbers[m, PART] < 0:
            contexts.rows[found, label] += size
            perceptron.row_sums[found, label] += clock * size
        else:
            e = find_entry(perceptron, contexts, found, label)
            contexts.weights[e] += size
            perceptron.entry_sums[e] += clock * size


@tight_kernel
def find_entry(perceptron: Perceptron, contexts: ContextTable, key: int, y: int) -> int:
    """The entry of a key and a label, made where there is none."""
    slot = find_slot(contexts.slots, key)
    contexts.slots[slot] = key
    e = contexts.slots[slot + 1]
    while e >= 0 and contexts.labels[e] != y:
        e = contexts.following[e]
    if e < 0:
        e = perceptron.n_entries[0]
        perceptron.n_entries[0] += 1
        contexts.labels[e], contexts.weights[e], contexts.following[e] = y, 0, contexts.slots[slot + 1]
        perceptron.entry_keys[e], perceptron.entry_sums[e] = key, 0
        contexts.slots[slot + 1] = e
    return int(e)
