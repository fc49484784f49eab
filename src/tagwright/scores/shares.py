"""From sentences to classes of features and back: the kernels of greedy learners over scores/occurrences.py.

score_sentences     weights ─► emission rows of chosen sentences
add_weight          one more weight ─► the emission rows where its attribute stands
slope_of_weight     residuals, times how much each sentence counts ─► the slope of the risk along one weight
add_shares          residuals of chosen sentences, times how much each counts ─► change
add_changes         change ─► the sums A and B (optim/boosting.py) of the rows of all features of these sentences
fold_rows           rows ─► classes
"""

from __future__ import annotations

import numpy as np

from tagwright._jit import tight_kernel
from tagwright.arrays import Bools, Doubles, Ints, Longs


@tight_kernel
def score_sentences(
    chosen: Longs, offsets: Longs, starts: Longs, attributes: Ints, pointers: Longs, positions: Ints, values: Doubles,
    pattern_pointers: Longs, pattern_labels: Ints, weights: Doubles, emission: Doubles,
) -> None:  # fmt: skip
    """emission[p, y] = Σ v·w over the attributes of every token p of the chosen sentences."""
    for n in range(chosen.shape[0]):
        i = chosen[n]
        emission[offsets[i] : offsets[i + 1]] = 0
        for r in range(starts[i], starts[i + 1]):
            for k in range(pattern_pointers[attributes[r]], pattern_pointers[attributes[r] + 1]):
                if weights[k] != 0:
                    for e in range(pointers[r], pointers[r + 1]):
                        emission[positions[e], pattern_labels[k]] += values[e] * weights[k]


@tight_kernel
def add_weight(
    pairs: Longs, pointers: Longs, positions: Ints, values: Doubles, label: int, step: float, emission: Doubles
) -> None:
    """emission[p, label] += v·step where an attribute stands (its pairs)."""
    for n in range(pairs.shape[0]):
        for e in range(pointers[pairs[n]], pointers[pairs[n] + 1]):
            emission[positions[e], label] += values[e] * step


@tight_kernel
def slope_of_weight(
    pairs: Longs, sentences: Ints, pointers: Longs, positions: Ints, values: Doubles, label: int,
    factors: Doubles, residuals: Doubles,
) -> float:  # fmt: skip
    """Σ factors[i] · v · residuals[p, label] where an attribute stands (its pairs); factors may be 0."""
    total = 0.0
    for n in range(pairs.shape[0]):
        r = pairs[n]
        if factors[sentences[r]] != 0:
            for e in range(pointers[r], pointers[r + 1]):
                total += factors[sentences[r]] * values[e] * residuals[positions[e], label]
    return total


@tight_kernel
def add_shares(
    chosen: Longs, offsets: Longs, factors: Doubles, sign: float, residuals: Doubles, chain_residuals: Doubles,
    change: Doubles, chain_change: Doubles,
) -> None:  # fmt: skip
    """change += sign · factors[i] · residuals, for the tokens and the chain of each chosen sentence i."""
    for n in range(chosen.shape[0]):
        i = chosen[n]
        factor = sign * factors[i]
        for p in range(offsets[i], offsets[i + 1]):
            for j in range(change.shape[1]):
                change[p, j] += factor * residuals[p, j]
        for c in range(chain_change.shape[1]):
            chain_change[i, c] += factor * chain_residuals[i, c]


@tight_kernel
def clear_shares(chosen: Longs, offsets: Longs, change: Doubles, chain_change: Doubles) -> None:
    """change = 0 for the chosen sentences."""
    for n in range(chosen.shape[0]):
        i = chosen[n]
        change[offsets[i] : offsets[i + 1]] = 0
        chain_change[i] = 0


@tight_kernel
def add_changes(
    chosen: Longs, starts: Longs, attributes: Ints, pointers: Longs, positions: Ints, values: Doubles,
    pattern_labels: Ints, row_begins: Ints, bases: Ints, sizes: Ints, change: Doubles, weight_change: Doubles,
    Y: int, sums: Doubles, touched: Bools,
) -> None:  # fmt: skip
    """A += weight_change and B += Σ v·change, in the rows of the features of the chosen sentences' attributes."""
    for n in range(chosen.shape[0]):
        i = chosen[n]
        for r in range(starts[i], starts[i + 1]):
            touched[attributes[r]] = True
            row = row_begins[r] + 1
            sums[row - 1] += weight_change[i]
            for e in range(pointers[r], pointers[r + 1]):
                p = positions[e]
                if sizes[r] == Y:  # all labels, in order
                    for j in range(Y):
                        sums[row + j] += values[e] * change[p, j]
                else:
                    for j in range(sizes[r]):
                        sums[row + j] += values[e] * change[p, pattern_labels[bases[r] + j]]


@tight_kernel
def fold_rows(
    touched: Longs, first_row: Longs, row_pointers: Longs, slots: Ints, sums: Doubles, pattern_pointers: Longs,
    class_pointers: Longs, A: Doubles, B: Doubles,
) -> None:  # fmt: skip
    """A and B of the classes of the touched attributes' features: the sums of their rows."""
    for n in range(touched.shape[0]):
        a = touched[n]
        for c in range(class_pointers[pattern_pointers[a]], class_pointers[pattern_pointers[a + 1]]):
            A[c] = 0
            B[c] = 0
        for r in range(first_row[a], first_row[a + 1]):
            for e in range(row_pointers[r] + 1, row_pointers[r + 1]):
                A[slots[e]] += sums[row_pointers[r]]
                B[slots[e]] += sums[e]


@tight_kernel
def add_chain_changes(
    chosen: Longs, chain_slots: Ints, chain_change: Doubles, weight_change: Doubles, A: Doubles, B: Doubles
) -> None:
    """The same for the features of the chain."""
    for n in range(chosen.shape[0]):
        i = chosen[n]
        for c in range(chain_slots.shape[1]):
            A[chain_slots[i, c]] += weight_change[i]
            B[chain_slots[i, c]] += chain_change[i, c]


def split_weight(losses: Doubles, reference: float, power: float) -> tuple[Doubles, Doubles]:
    """q = (1/p)^power and d = q·(1 − p) for losses −log p, both divided by e^reference."""
    q = np.exp(power * losses - reference)
    return q, -q * np.expm1(-losses)


def sum_risks(losses: Doubles, reference: float, power: float) -> float:
    """Σ ((1/p)^power − 1) / power, divided by e^reference; Σ −log p for power 0."""
    if power == 0:
        return float(losses.sum() * np.exp(-reference))
    scaled = power * losses
    small = scaled < 30  # above, the 1 is too small to be seen
    risks = np.where(small, np.expm1(np.where(small, scaled, 0.0)) * np.exp(-reference), np.exp(scaled - reference))
    return float(risks.sum() / power)
