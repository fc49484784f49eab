"""A tree of word classes: neighbours in the tree are alike, and the first bits of a class's path are a coarser class.

Brown et al. 1992, section 3: merge the two classes that cost the least average mutual information, again and again,
until one is left. With F as in exchange.py, and

    D(x, y) = φ(x + y) − φ(x) − φ(y)

merging i and j changes F by

    Σ_{c ≠ i,j} [ D(N(i, c), N(j, c)) + D(N(c, i), N(c, j)) ]
    + φ(N(i, i) + N(i, j) + N(j, i) + N(j, j)) − φ(N(i, i)) − φ(N(i, j)) − φ(N(j, i)) − φ(N(j, j))
    − D(N(i, ·), N(j, ·)) − D(N(·, i), N(·, j))

After a merge of a and b all other sums change in their terms for a and b alone: O(C²) a merge, O(C³) for the tree.
The border class (the last) is in the counts but is not merged.
"""

from __future__ import annotations

import numpy as np

from tagwright._jit import kernel
from tagwright.arrays import Bools, Doubles, Longs
from tagwright.attributes.exchange import phi, phi_table


def find_paths(pairs: Longs) -> list[str]:
    """The path of every class from the root, as bits; pairs [C + 1, C + 1]: counts of neighbouring classes."""
    C = len(pairs) - 1
    merges = np.zeros((max(C - 1, 0), 2), np.int64)
    merge_classes(pairs.copy(), phi_table(int(pairs.sum())), np.ones(C + 1, np.bool_), np.zeros((C, C)), merges)
    members = [[c] for c in range(C)]
    bits: list[list[str]] = [[] for _ in range(C)]
    for a, b in merges.tolist():
        for bit, classes in (("0", members[a]), ("1", members[b])):
            for c in classes:
                bits[c].append(bit)
        members[a] = members[a] + members[b]
    return ["".join(reversed(path)) for path in bits]


@kernel
def joined(table: Doubles, x: int, y: int) -> float:
    """D(x, y)."""
    return phi(table, x + y) - phi(table, x) - phi(table, y)


@kernel
def column_share(pairs: Longs, table: Doubles, i: int, j: int, c: int) -> float:
    """The terms of class c in the change of F by merging i and j."""
    return joined(table, pairs[i, c], pairs[j, c]) + joined(table, pairs[c, i], pairs[c, j])


@kernel
def find_change(pairs: Longs, table: Doubles, i: int, j: int, there: Bools) -> float:
    """The change of F by merging i and j, from scratch."""
    block = phi(table, pairs[i, i] + pairs[i, j] + pairs[j, i] + pairs[j, j]) - phi(table, pairs[i, i])
    change = block - phi(table, pairs[i, j]) - phi(table, pairs[j, i]) - phi(table, pairs[j, j])
    rows_i, rows_j, columns_i, columns_j = 0, 0, 0, 0
    for c in range(pairs.shape[0]):
        if there[c]:
            rows_i, rows_j = rows_i + pairs[i, c], rows_j + pairs[j, c]
            columns_i, columns_j = columns_i + pairs[c, i], columns_j + pairs[c, j]
            if c not in (i, j):
                change += column_share(pairs, table, i, j, c)
    return change - joined(table, rows_i, rows_j) - joined(table, columns_i, columns_j)


@kernel
def add_column(pairs: Longs, table: Doubles, there: Bools, merged: int, c: int, sign: float, changes: Doubles) -> None:
    """Add the terms of class c to the changes of all pairs without `merged`, or take them away."""
    C = changes.shape[0]
    for i in range(C):
        for j in range(i + 1, C if there[i] and i != merged else 0):
            if there[j] and j != merged:
                changes[i, j] += sign * column_share(pairs, table, i, j, c)


@kernel
def merge_classes(pairs: Longs, table: Doubles, there: Bools, changes: Doubles, merges: Longs) -> None:
    """merges [C − 1, 2] = the classes that become one, step by step: b goes into a. Work: there, changes [C, C]."""
    C = changes.shape[0]
    for i in range(C):
        for j in range(i + 1, C):
            changes[i, j] = find_change(pairs, table, i, j, there)
    for step in range(C - 1):
        a, b, best = -1, -1, -np.inf
        for i in range(C):
            for j in range(i + 1, C if there[i] else 0):
                if there[j] and changes[i, j] > best:
                    a, b, best = i, j, changes[i, j]
        merges[step, 0], merges[step, 1] = a, b
        there[b] = False
        add_column(pairs, table, there, a, a, -1.0, changes)
        add_column(pairs, table, there, a, b, -1.0, changes)
        pairs[a] += pairs[b]
        pairs[:, a] += pairs[:, b]
        add_column(pairs, table, there, a, a, 1.0, changes)
        for i in range(C):
            if there[i] and i != a:
                changes[min(i, a), max(i, a)] = find_change(pairs, table, min(i, a), max(i, a), there)
