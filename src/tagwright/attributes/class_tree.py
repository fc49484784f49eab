"""A tree of word classes: neighbours in the tree are alike, and the first bits of a class's path are a coarser class.

Brown et al. 1992, section 3: merge the two classes that cost the least average mutual information, again and again,
until one is left. With F as in exchange.py, and

    D(x, y) = φ(x + y) − φ(x) − φ(y)

merging i and j changes F by

    Σ_{c ≠ i,j} [ D(N(i, c), N(j, c)) + D(N(c, i), N(c, j)) ]
    + φ(N(i, i) + N(i, j) + N(j, i) + N(j, j)) − φ(N(i, i)) − φ(N(i, j)) − φ(N(j, i)) − φ(N(j, j))
    − D(N(i, ·), N(j, ·)) − D(N(·, i), N(·, j))

After a merge of a and b all other sums change in their terms for a and b alone: O(C²) for a merge, O(C³) for the tree.
D is 0 where one of its counts is, and most counts of neighbouring classes are. The border class (the last) is in the
counts but is not merged.
"""

from __future__ import annotations

import numpy as np

from tagwright.arrays import Doubles, Longs


def find_paths(counts: Longs) -> list[str]:
    """The path of every class from the root, as bits; counts [C + 1, C + 1]: of neighbouring classes."""
    pairs = counts.astype(np.float64)
    nodes = [[c] for c in range(len(pairs) - 1)]  # the classes of each node that is not merged yet
    paths = [""] * len(nodes)
    changes = np.array([own_terms(pairs, i) for i in range(len(nodes))])  # [C, C] of F, by merging i and j
    for c in range(len(pairs)):
        add_terms(changes, pairs, c, 1.0)
    while len(nodes) > 1:
        later = np.where(np.tri(len(nodes), dtype=np.bool_), -np.inf, changes)
        a, b = divmod(int(later.argmax()), len(nodes))
        for bit, classes in (("0", nodes[a]), ("1", nodes[b])):
            for c in classes:
                paths[c] = bit + paths[c]
        nodes[a] += nodes.pop(b)
        add_terms(changes, pairs, a, -1.0)
        add_terms(changes, pairs, b, -1.0)
        pairs[a] += pairs[b]
        pairs[:, a] += pairs[:, b]
        pairs, changes = (np.delete(np.delete(matrix, b, axis=0), b, axis=1) for matrix in (pairs, changes))
        add_terms(changes, pairs, a, 1.0)
        others = joined(pairs[:-1], pairs[a]).sum(axis=1) + joined(pairs[:, :-1], pairs[:, a, None]).sum(axis=0)
        changes[a] = changes[:, a] = others + own_terms(pairs, a)
    return paths


def phi(x: Doubles) -> Doubles:
    return np.asarray(x * np.log(np.maximum(x, 1)))


def joined(x: Doubles, y: Doubles) -> Doubles:
    """D(x, y)."""
    return phi(x + y) - phi(x) - phi(y)


def add_terms(changes: Doubles, pairs: Doubles, c: int, sign: float) -> None:
    """Add the terms of class c to the changes by merging any i and j (those of i and j too), or take them away."""
    for counts in (pairs[:-1, c], pairs[c, :-1]):
        there = np.flatnonzero(counts)
        changes[np.ix_(there, there)] += sign * joined(counts[there, None], counts[there])


def own_terms(pairs: Doubles, i: int) -> Doubles:
    """[C] by merging i and any j: the terms without a third class, less what `add_terms` adds for c = i and c = j."""
    after, before, itself, others = pairs[i, :-1], pairs[:-1, i], pairs[i, i], np.diag(pairs)[:-1]
    terms = phi(itself + after + before + others) - phi(itself) - phi(after) - phi(before) - phi(others)
    terms -= joined(itself, after) + joined(itself, before) + joined(others, after) + joined(others, before)
    left, right = pairs.sum(axis=1), pairs.sum(axis=0)
    return terms - joined(left[i], left[:-1]) - joined(right[i], right[:-1])
