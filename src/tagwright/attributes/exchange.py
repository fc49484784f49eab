"""The exchange algorithm: words into classes, so that the class of a word predicts the class of the next one.

Kneser and Ney 1993; Martin, Liermann and Ney 1998. (Brown et al. 1992 do the same moves after their merges.) With words
w, v, their classes g, h, and counts N of neighbours, the text's probability under a bigram model of classes,

    p(v | w) = p(v | h) · p(h | g)        log p(text) = F + (what no class changes)

    F = Σ_{g,h} φ(N(g, h)) − Σ_g φ(N(g, ·)) − Σ_h φ(N(·, h))          φ(x) = x · log x

is raised by one word at a time: take it out of its class, put it where F is highest. A pass goes through all words, the
most frequent first; passes end when hardly a word moves. F is the average mutual information of neighbouring classes,
times the number of neighbours, and a constant.

A word costs (number of classes) · (classes among its neighbours): a pass is linear in the distinct pairs of words.
Nothing is random. Sentence borders are a class of their own, the last one, which nobody joins.
Stands beside the templates: clusters.py has the words, class_tree.py makes a tree of the classes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tagwright._jit import kernel
from tagwright.arrays import Doubles, Ints, Longs

FEW = 0.001
"""Share of words: when fewer move in a pass, it was the last."""
MOST_PASSES = 30
TABLE = 1 << 20
"""φ is a table up to here."""
PORTION = 512
"""Words for each call of a kernel: Ctrl-C is heard between calls."""


Tell = Callable[[int, int], None]
"""Called after every pass with its number, and with how many words have moved."""


class WordPairs(NamedTuple):
    """Distinct pairs of neighbours: word w is followed by words[pointers[w] : pointers[w + 1]], `counts` times each."""

    pointers: Longs  # [V + 1]
    words: Ints
    counts: Longs

    @classmethod
    def build(cls, first: Ints, second: Ints, n_words: int) -> WordPairs:
        """Of the pairs (first[i], second[i])."""
        keys, counts = np.unique(first.astype(np.int64) * n_words + second, return_counts=True)
        pointers = np.searchsorted(keys, n_words * np.arange(n_words + 1))
        return cls(pointers.astype(np.int64), (keys % n_words).astype(np.int32), counts.astype(np.int64))


class Pairs(NamedTuple):
    """Counts of neighbouring classes, both ways, so that a kernel can always go along a row."""

    forward: Longs  # [C, C] N(g, h)
    backward: Longs  # [C, C] N(h, g)
    left: Longs  # [C] N(g, ·)
    right: Longs  # [C] N(·, g)


def learn_classes(
    text: Ints, n_words: int, n_classes: int, tell: Tell = lambda passes, moved: None
) -> tuple[Ints, Longs]:
    """The class of every word [V], and the counts of neighbouring classes [C + 1, C + 1], that of borders last.

    text: numbers of words, the most frequent is 0; n_words stands for a border between sentences, and is at both ends.
    """
    V, C = n_words, min(n_classes, n_words)
    after = WordPairs.build(text[:-1], text[1:], V + 1)
    before = WordPairs.build(text[1:], text[:-1], V + 1)
    classes = np.append(np.arange(V) % C, C).astype(np.int32)
    pairs = count_pairs(after, classes, C + 1)
    table = phi_table(len(text))
    gains, work = np.zeros(C), np.zeros((2, C + 1), np.int64)
    for number in range(1, MOST_PASSES + 1):
        moved = 0
        for first in range(0, V, PORTION):
            last = min(first + PORTION, V)
            moved += move_words(first, last, after, before, classes, pairs, table, gains, work)
        tell(number, moved)
        if moved <= FEW * V:
            break
    return classes[:V], pairs.forward


def count_pairs(after: WordPairs, classes: Ints, n_classes: int) -> Pairs:
    """The counts of neighbouring classes, from scratch."""
    first = np.repeat(classes, np.diff(after.pointers)).astype(np.int64)
    keys = first * n_classes + classes[after.words]
    forward = np.bincount(keys, after.counts, n_classes**2).astype(np.int64).reshape(n_classes, n_classes)
    return Pairs(forward, forward.T.copy(), forward.sum(axis=1), forward.sum(axis=0))


def phi_table(most: int) -> Doubles:
    """φ(0), φ(1) ... up to `most` or TABLE."""
    x = np.arange(min(most, TABLE) + 1, dtype=np.float64)
    return x * np.log(np.maximum(x, 1))


@kernel
def phi(table: Doubles, x: int) -> float:
    if x < table.shape[0]:
        return float(table[x])
    return float(x * np.log(x))


@kernel
def add_word(g: int, size: int, work: Longs, total: int, itself: int, pairs: Pairs) -> None:
    """Put the word with these neighbours into class g (size 1), or take it out (−1)."""
    for h in range(work.shape[1]):
        s, p = size * work[0, h], size * work[1, h]
        if s:
            pairs.forward[g, h] += s
            pairs.backward[h, g] += s
        if p:
            pairs.forward[h, g] += p
            pairs.backward[g, h] += p
    pairs.forward[g, g] += size * itself
    pairs.backward[g, g] += size * itself
    pairs.left[g] += size * total
    pairs.right[g] += size * total


@kernel
def count_neighbours(w: int, after: WordPairs, before: WordPairs, classes: Ints, work: Longs) -> tuple[int, int]:
    """work [2, C + 1] = how often w stands before and after each class, but for itself; its count, and pairs w w."""
    work[:] = 0
    total, itself = 0, 0
    for e in range(after.pointers[w], after.pointers[w + 1]):
        total += after.counts[e]
        if after.words[e] == w:
            itself = after.counts[e]
        else:
            work[0, classes[after.words[e]]] += after.counts[e]
    for e in range(before.pointers[w], before.pointers[w + 1]):
        if before.words[e] != w:
            work[1, classes[before.words[e]]] += before.counts[e]
    return total, itself


@kernel
def find_gains(work: Longs, total: int, itself: int, pairs: Pairs, table: Doubles, gains: Doubles) -> None:
    """gains [C] = what F gains when the word joins each class; it must be in none."""
    C = gains.shape[0]
    for h in range(C):
        both = work[0, h] + work[1, h]
        here = pairs.forward[h, h]
        gains[h] = phi(table, here + both + itself) - phi(table, here)
        gains[h] -= phi(table, here + work[0, h]) - phi(table, here)  # the loops below add these
        gains[h] -= phi(table, here + work[1, h]) - phi(table, here)
        gains[h] -= phi(table, pairs.left[h] + total) - phi(table, pairs.left[h])
        gains[h] -= phi(table, pairs.right[h] + total) - phi(table, pairs.right[h])
    for c in range(C + 1):
        s, p = work[0, c], work[1, c]
        if s:
            for h in range(C):  # N(h, c)
                gains[h] += phi(table, pairs.backward[c, h] + s) - phi(table, pairs.backward[c, h])
        if p:
            for h in range(C):  # N(c, h)
                gains[h] += phi(table, pairs.forward[c, h] + p) - phi(table, pairs.forward[c, h])


@kernel
def move_words(
    first: int, last: int, after: WordPairs, before: WordPairs, classes: Ints, pairs: Pairs, table: Doubles,
    gains: Doubles, work: Longs,
) -> int:  # fmt: skip
    """The words `first` to `last` − 1, one after the other; how many have moved. A class keeps its last word."""
    moved = 0
    for w in range(first, last):
        total, itself = count_neighbours(w, after, before, classes, work)
        old = classes[w]
        add_word(old, -1, work, total, itself, pairs)
        if pairs.left[old] == 0:
            add_word(old, 1, work, total, itself, pairs)
            continue
        find_gains(work, total, itself, pairs, table, gains)
        best = old
        for h in range(gains.shape[0]):
            best = h if gains[h] > gains[best] + 1e-9 else best
        add_word(best, 1, work, total, itself, pairs)
        classes[w] = best
        moved += best != old
    return moved
