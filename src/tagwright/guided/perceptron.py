"""The perceptron of guided learning: weights of the moment, their averages, and the update of algorithm 2.

    U(action) = w · f(action)            attributes of the token (here) + label contexts (label_contexts.py)
    w += f(gold action) − f(top action)

The average of w over all steps is lazy (as in optim/online.py): an update δ at step c also adds c · δ to a sum, and

    average after C steps = w − sum / C

Attributes and keys of label contexts get weights when they are first updated; training.py makes room for them
beforehand.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tagwright._jit import tight_kernel
from tagwright.arrays import Doubles, Floats, Ints, Longs
from tagwright.guided.algorithm1_inference import InferenceModel, ScoredSentence
from tagwright.guided.label_contexts import PART, ContextTable, Neighbours, find_context, find_slot, neighbours
from tagwright.scores.expanded import TokenAttributes
from tagwright.scores.growing_weights import (
    PREFETCH_DISTANCE,
    GrowingWeights,
    add_token_scores,
    change_token,
    has_room,
    label_score,
    prefetch_token,
)


class TrainingText(NamedTuple):
    """Sentence i has the tokens offsets[i] to offsets[i + 1] − 1."""

    offsets: Longs  # [N + 1]
    gold: Ints  # [n]
    tokens: TokenAttributes
    lexical: Ints  # [n, parts] numbers of the lexical parts of label templates


class Perceptron(NamedTuple):
    """Weights and the sums of their averages. The weights of label contexts are those of `model`."""

    model: InferenceModel
    weights: GrowingWeights  # of attributes
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
def can_learn(perceptron: Perceptron, text: TrainingText, i: int, most_entries: int) -> bool:
    """Whether there is room for the weights that sentence i may add, with so many label contexts for each token."""
    begin, end, pointers = text.offsets[i], text.offsets[i + 1], text.tokens.pointers
    enough = perceptron.n_entries[0] + (end - begin) * most_entries <= perceptron.entry_keys.shape[0]
    return enough and has_room(perceptron.weights, pointers[end] - pointers[begin])


@tight_kernel
def score_token(
    perceptron: Perceptron, text: TrainingText, p: int, margin: float, rows: Longs, row: Floats
) -> bool:  # fmt: skip
    """row [P] = the scores of token p by its attributes, its gold label handicapped; whether all are finite. rows:
    work for add_token_scores."""
    weighted = text.tokens.values.shape[0] > 0
    for y in range(row.shape[0]):
        row[y] = 0
    row[text.gold[p]] = -margin
    prefetch_token(text.tokens, min(p + PREFETCH_DISTANCE, text.gold.shape[0] - 1), perceptron.weights)
    add_token_scores(text.tokens, p, perceptron.weights, rows, row)
    finite = True
    for y in range(perceptron.weights.n_labels if weighted else 0):  # else they are the margin and sums of ±1
        finite = finite and np.isfinite(row[y])
    return finite


@tight_kernel
def rescore_labels(
    perceptron: Perceptron, text: TrainingText, p: int, margin: float, gold: int, top: int, row: Floats
) -> None:
    """The same for the two labels of an update, at any token p."""
    for k in range(2):  # not two calls: both would be compiled
        y = gold if k == 0 else top
        handicap = margin if y == text.gold[p] else 0.0
        row[y] = label_score(text.tokens, p, perceptron.weights, y) - handicap


@tight_kernel
def update(
    perceptron: Perceptron, text: TrainingText, example: Example, labels: Ints, bounds: Longs, k: int, clock: float
) -> None:
    """w += f(gold action of token k) − f(its action in labels [n]), between the labels of bounds[k, 0] to bounds[k, 1],
    which were known then."""
    gold, top = example.gold[k], labels[k]
    for sign in (1, -1):
        if gold != top:
            y = gold if sign > 0 else top
            change_token(text.tokens, example.begin + k, y, float(sign), clock, perceptron.weights)
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
