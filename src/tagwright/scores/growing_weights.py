"""Weights of (attribute, label) pairs that come into being when a learner first changes them.

    TokenAttributes (scores/expanded.py) ─► add_token_scores ─► rows of scores
                                                  ▲
    online learners ─► change_weight ─► GrowingWeights ─► averages: pattern and values of the model

Perceptrons, guided learning and HM-SVMs may give a weight to any pair, also to those that training never has. With 450
labels and a million attributes that is 450 million weights, of which a training changes one in fifty. So an attribute
has a list of the labels that it has weights for, and the list grows:

    up to `longest` weights    a list of (label, weight), in a place for 2, 4, 8 ... of them; a full one moves to a
                               place for twice as many at the end of the arrays
    more                       a row with a place for every label, read in vectors, its labels found at once

What a list leaves behind is 0, and is left out when the arrays get larger; the kernels that change weights ask for room
first (`has_room`), and Python makes it (`with_room`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tagwright._jit import natural, tight_kernel
from tagwright._simd import BYTES, prefetch, sum_rows
from tagwright.arrays import ROW_UNIT, Doubles, Floats, Ints, Longs, Shorts, zero_rows
from tagwright.scores.expanded import TokenAttributes
from tagwright.scores.pattern import Pattern

LEAST_LONGEST = 8
"""Of a list, with few labels."""
SHARE = 8
"""A list is at most so many times shorter than a row, with many labels."""
SPARE = BYTES // 4
"""Numbers after the last weight: rows are read in vectors."""
PREFETCH_DISTANCE = 2
"""Tokens between asking for weights and reading them."""
NO_LABEL = np.iinfo(np.uint16).max
"""Of a place in a row that stands for no weight."""
FIRST, SIZE = 0, 1


class GrowingWeights(NamedTuple):
    """Attribute a has the weights values[k] of labels[k], places[a, FIRST] ≤ k < places[a, FIRST] + places[a, SIZE]; a
    row where it has n_labels of them."""

    n_labels: int
    longest: int  # list
    grows: bool  # whether pairs get weights that have none yet
    places: Longs  # [A, 2]
    end: Longs  # [1]: of what is used of the arrays below
    labels: Shorts  # [R]
    values: Floats  # [R]
    sums: Doubles  # [R], or [0]: of the lazy averages (optim/online.py)
    squares: Doubles  # [R], or [0]: of the changes, for AROW (optim/aggressive.py)

    @classmethod
    def build(
        cls, pattern: Pattern, values: Doubles, n_labels: int, *, grows: bool, dtype: type[np.floating[Any]],
        averaged: bool, adaptive: bool = False,
    ) -> GrowingWeights:  # fmt: skip
        """These weights. Where they do not grow, they are all there will be. averaged: with sums; adaptive: with
        squares."""
        sizes, longest = np.diff(pattern.pointers), LEAST_LONGEST
        while longest * SHARE < n_labels:
            longest *= 2
        longest = min(longest, n_labels - 1)
        places = np.zeros((len(sizes), 2), np.int64)
        places[:, SIZE] = np.where(sizes > longest, n_labels, sizes)
        n = set_firsts(places, n_labels)
        labels, found = np.full(n + SPARE, NO_LABEL, np.uint16), zero_rows((n + SPARE,), dtype)
        sums, squares = (zero_rows((n + SPARE if kept else 0,), np.float64) for kept in (averaged, adaptive))
        weights = cls(n_labels, longest, grows, places, np.array([n], np.int64), labels, found, sums, squares)
        write_weights(pattern.pointers, pattern.labels, values, weights)
        return weights

    @classmethod
    def empty(
        cls, n_attributes: int, n_labels: int, *, dtype: type[np.floating[Any]], averaged: bool
    ) -> GrowingWeights:  # fmt: skip
        """None so far."""
        pattern = Pattern(np.zeros(n_attributes + 1, np.int64), np.empty(0, np.int32))
        return cls.build(pattern, np.empty(0), n_labels, grows=True, dtype=dtype, averaged=averaged)

    def with_room(self, n: int) -> GrowingWeights:
        """The same with room for changes of n attributes, and for some more."""
        places = self.places.copy()
        end = set_firsts(places, self.n_labels)
        size = end + end // 2 + len(places) + most_new(self, n) + SPARE

        def moved(array: Any) -> Any:
            larger = np.zeros(size, array.dtype)  # takes no memory where nothing is written
            move_lists(self.places, places, array, larger)
            return larger

        labels, values = moved(self.labels), moved(self.values)
        sums, squares = (moved(array) if len(array) else array for array in (self.sums, self.squares))
        ends = np.array([end], np.int64)
        return self._replace(places=places, end=ends, labels=labels, values=values, sums=sums, squares=squares)


@tight_kernel
def room_for(size: int, n_labels: int) -> int:
    """The places that so many weights of an attribute take."""
    if size == n_labels or size == 0:
        return size
    room = 2
    while room < size:
        room *= 2
    return room


@tight_kernel
def set_firsts(places: Longs, n_labels: int) -> int:
    """Put the weights of all attributes one after the other; returns where they end."""
    end = 0
    for a in range(places.shape[0]):
        places[a, FIRST] = end
        end += room_for(places[a, SIZE], n_labels)
    return end


@tight_kernel
def move_lists(before: Longs, after: Longs, array: Floats, larger: Floats) -> None:
    """What stands at the places `before` to the places `after` of a larger array."""
    for a in range(before.shape[0]):
        for k in range(before[a, SIZE]):
            larger[after[a, FIRST] + k] = array[before[a, FIRST] + k]


@tight_kernel
def write_weights(pointers: Longs, labels: Ints, values: Doubles, weights: GrowingWeights) -> None:
    """The weights of a pattern to the places made for them."""
    whole = weights.n_labels
    for a in range(weights.places.shape[0]):
        first, is_row = weights.places[a, FIRST], weights.places[a, SIZE] == whole
        if is_row and weights.grows:
            for y in range(whole):
                weights.labels[first + y] = y
        for w in range(pointers[a], pointers[a + 1]):
            k = first + (labels[w] if is_row else w - pointers[a])
            weights.labels[k], weights.values[k] = labels[w], values[w]


# What is natural below: places, made by set_firsts and add_weight; labels of weights, which are below Y.


@tight_kernel
def most_new(weights: GrowingWeights, n: int) -> int:
    """No changes of n attributes take more new places: an attribute gets lists of 2, 4, 8 ... and then a row."""
    return int(min(n, weights.places.shape[0]) * (weights.n_labels + 4 * weights.longest))


@tight_kernel
def has_room(weights: GrowingWeights, n: int) -> bool:
    """Whether weights of n attributes can be changed as often as need be."""
    return not weights.grows or weights.end[0] + most_new(weights, n) + SPARE <= weights.values.shape[0]


@tight_kernel
def prefetch_token(tokens: TokenAttributes, p: int, weights: GrowingWeights) -> None:
    """Ask for the weights of token p, and where those of a later one are."""
    later = min(p + PREFETCH_DISTANCE, tokens.pointers.shape[0] - 2)
    for e in range(tokens.pointers[later], tokens.pointers[later + 1]):
        prefetch(weights.places, tokens.attributes[e])
    for e in range(tokens.pointers[p], tokens.pointers[p + 1]):
        a = tokens.attributes[e]
        first, size = weights.places[natural(a), FIRST], weights.places[natural(a), SIZE]
        if size == weights.n_labels:
            for k in range(first, first + size, ROW_UNIT):
                prefetch(weights.values, k)
        elif size > 0:
            prefetch(weights.labels, first)
            prefetch(weights.values, first)


@tight_kernel
def add_token_scores(tokens: TokenAttributes, p: int, weights: GrowingWeights, rows: Longs, row: Floats) -> None:
    """row += Σ_a v_a W[a] over the attributes a of token p; what it has beyond Y means nothing afterwards. rows: work,
    as long as the list of attributes of any token."""
    Y, n = weights.n_labels, 0
    if tokens.values.shape[0] > 0:
        for e in range(tokens.pointers[p], tokens.pointers[p + 1]):
            first, size = weights.places[tokens.attributes[e], FIRST], weights.places[tokens.attributes[e], SIZE]
            for k in range(first, first + size):
                y = weights.labels[k] if size < Y else k - first
                row[y] += tokens.values[e] * weights.values[k]
        return
    for e in range(tokens.pointers[p], tokens.pointers[p + 1]):
        a = natural(tokens.attributes[natural(e)])
        first, size = weights.places[a, FIRST], weights.places[a, SIZE]
        if size == Y:
            rows[natural(n)] = first
            n += 1
        else:
            for k in range(first, first + size):
                row[natural(weights.labels[natural(k)])] += weights.values[natural(k)]
    sum_rows(row, weights.values, rows, 0, n, 1, Y, row)


@tight_kernel
def find_weight(weights: GrowingWeights, a: int, y: int) -> int:
    """Where the weight of attribute a for label y stands; −1 where there is none."""
    first, size = weights.places[natural(a), FIRST], weights.places[natural(a), SIZE]
    if size == weights.n_labels:
        return int(first + y) if weights.labels[first + y] == y else -1
    for k in range(first, first + size):
        if weights.labels[natural(k)] == y:
            return int(k)
    return -1


@tight_kernel
def label_score(tokens: TokenAttributes, p: int, weights: GrowingWeights, y: int) -> float:
    """Σ_a v_a W[a, y] over the attributes a of token p."""
    weighted, score = tokens.values.shape[0] > 0, 0.0
    for e in range(tokens.pointers[p], tokens.pointers[p + 1]):
        k = find_weight(weights, tokens.attributes[e], y)
        if k >= 0:
            score += weights.values[k] * (tokens.values[e] if weighted else 1.0)
    return score


@tight_kernel
def add_weight(weights: GrowingWeights, a: int, y: int) -> int:
    """Where the weight of attribute a for label y stands, which it is given if it has none; −1 if it may not."""
    k = find_weight(weights, a, y)
    if k >= 0 or not weights.grows:
        return k
    size = weights.places[a, SIZE]
    if size == weights.longest or size == room_for(size, weights.n_labels):
        move_list(weights, a)
    if weights.places[a, SIZE] == weights.n_labels:
        return int(weights.places[a, FIRST] + y)
    k = weights.places[a, FIRST] + size
    weights.labels[k] = y
    weights.places[a, SIZE] += 1
    return int(k)


@tight_kernel
def move_list(weights: GrowingWeights, a: int) -> None:
    """Give attribute a, whose list is full, a larger place: twice the room, or a row after the longest list."""
    first, size, new = weights.places[a, FIRST], weights.places[a, SIZE], weights.end[0]
    is_row, averaged, adaptive = size == weights.longest, weights.sums.shape[0] > 0, weights.squares.shape[0] > 0
    weights.places[a, FIRST] = new
    weights.end[0] += weights.n_labels if is_row else room_for(size + 1, weights.n_labels)
    if is_row:
        weights.places[a, SIZE] = weights.n_labels
        for y in range(weights.n_labels):
            weights.labels[new + y] = y
    for k in range(first, first + size):
        to = new + (weights.labels[k] if is_row else k - first)
        weights.labels[to], weights.values[to] = weights.labels[k], weights.values[k]
        weights.values[k] = 0
        if averaged:
            weights.sums[to] = weights.sums[k]
        if adaptive:
            weights.squares[to] = weights.squares[k]


@tight_kernel
def change_token(
    tokens: TokenAttributes, p: int, y: int, size: float, now: float, weights: GrowingWeights
) -> None:  # fmt: skip
    """W[a, y] += v_a · size on every attribute a of token p; their lazy sums get that times `now`."""
    weighted, averaged = tokens.values.shape[0] > 0, weights.sums.shape[0] > 0
    for e in range(tokens.pointers[p], tokens.pointers[p + 1]):
        k = add_weight(weights, tokens.attributes[e], y)
        if k >= 0:
            change = size * (tokens.values[e] if weighted else 1.0)
            weights.values[k] += change
            if averaged:
                weights.sums[k] += now * change


# ---- the model ----


class LearnedWeights(NamedTuple):
    """Weights that are not 0: what a training gives to the model."""

    pattern: Pattern
    values: Doubles

    @classmethod
    def none(cls, n_attributes: int) -> LearnedWeights:
        return cls(Pattern(np.zeros(n_attributes + 1, np.int64), np.empty(0, np.int32)), np.empty(0))

    def plus(self, weights: GrowingWeights, share: float, steps: int) -> LearnedWeights:
        """These and share · the weights averaged over so many steps: share · (w − u / steps), u being the lazy sums."""
        sums = np.zeros(weights.n_labels)
        pointers = np.zeros_like(self.pattern.pointers)
        nothing = np.empty(0, np.int32), np.empty(0)
        add_averages(*self.pattern, self.values, weights, share, steps, sums, pointers, *nothing)
        labels, values = np.empty(int(pointers[-1]), np.int32), np.empty(int(pointers[-1]))
        add_averages(*self.pattern, self.values, weights, share, steps, sums, pointers, labels, values)
        return LearnedWeights(Pattern(pointers, labels), values)

    def rounded(self) -> LearnedWeights:
        """As precise as a model file is."""
        values = self.values.astype(np.float32).astype(np.float64)
        used = values != 0
        pointers = np.concatenate([[0], np.cumsum(used)])[self.pattern.pointers]
        return LearnedWeights(Pattern(pointers, self.pattern.labels[used]), values[used])


@tight_kernel
def add_averages(
    before: Longs, labels_before: Ints, values_before: Doubles, weights: GrowingWeights, share: float, steps: int,
    sums: Doubles, pointers: Longs, labels: Ints, values: Doubles,
) -> None:  # fmt: skip
    """The weights before [.., as a pattern] and share · the averages of others, attribute by attribute, labels
    ascending, without zeros; with empty `labels`, only where they would stand, in `pointers`. sums [Y]: zeros, work."""
    counting, averaged, n = labels.shape[0] == 0, weights.sums.shape[0] > 0, 0
    for a in range(weights.places.shape[0]):
        pointers[a] = n
        for w in range(before[a], before[a + 1]):
            sums[labels_before[w]] += values_before[w]
        first, size = weights.places[a, FIRST], weights.places[a, SIZE]
        for k in range(first, first + size):
            if weights.labels[k] != NO_LABEL:
                lazy = weights.sums[k] / steps if averaged else 0.0
                sums[weights.labels[k]] += share * (weights.values[k] - lazy)
        for y in range(sums.shape[0] if size > 0 or before[a + 1] > before[a] else 0):
            if sums[y] != 0.0:
                if not counting:
                    labels[n], values[n] = y, sums[y]
                sums[y] = 0.0
                n += 1
    pointers[weights.places.shape[0]] = n
