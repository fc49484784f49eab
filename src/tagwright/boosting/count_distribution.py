"""How often a feature occurs in a labelling: the distribution of its count over all labellings of a sentence.

AdaBoost's exact step needs it (LM-POS 3.2 and BOOST 5, equation 14: "dynamic programming with accumulators"). Beside
the label, the recursion keeps the count b so far:

    α_t[b, j] = x_t[j] · Σ_i α_{t−1}[b − counts, i] M[i, j]        counts = 1 where (i, j) at t is an occurrence, else 0

An occurrence at t is: label targets[t] (−1: none), after label `source` (−1: after any). That covers an attribute with
a label (targets only where the attribute is), a pair of labels, a first label and a last label.

The masses of two counts can differ by more than a float holds, and a large step makes up for it. So each b has a scale
of its own, log_scale[b], and its row has 1 as its largest entry.
"""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np

from tagwright._jit import tight_kernel
from tagwright.arrays import Doubles, Floats, Ints, Longs
from tagwright.chain.forward_backward import Chain


class CountedFeature(NamedTuple):
    """Where a feature can occur."""

    targets: Ints  # [n] by token: the label with which it occurs there; −1 where it cannot
    source: int  # the label before; −1 for any


class CountWorkspace(NamedTuple):
    """Arrays for one sentence and counts below B."""

    alpha: Doubles  # [B, Y]
    row: Doubles  # [Y]
    log_counts: Doubles  # [B]

    @classmethod
    def build(cls, B: int, n_labels: int) -> Self:
        return cls(np.empty((B, n_labels)), np.empty(n_labels), np.empty(B))


@tight_kernel
def add_mass(row: Doubles, scale: float, mass: float, mass_scale: float, target: int, n: int) -> float:
    """row (times e^scale) at `target` += mass (times e^mass_scale); returns the row's new scale, its peak being 1."""
    top = max(scale, mass_scale) if mass > 0 else scale
    if top > -np.inf:
        if top != scale:
            factor = np.exp(scale - top)
            for j in range(n):
                row[j] *= factor
        if mass > 0:
            row[target] += mass * np.exp(mass_scale - top)
    peak = 0.0
    for j in range(n):
        peak = max(peak, row[j])
    if peak == 0:
        return -np.inf
    for j in range(n):
        row[j] /= peak
    return float(top + np.log(peak))


@tight_kernel
def step_counts(
    alpha: Doubles, log_scale: Doubles, x: Floats, chain: Chain, target: int, source: int, n: int, row: Doubles
) -> None:
    """α_t from α_{t−1}, for the counts 0 to n − 1. From the highest count down: each takes from the one below it."""
    Y, M = row.shape[0], chain.matrix
    for b in range(n - 1, -1, -1):
        lower = 0.0  # the mass that comes up from b − 1
        if target >= 0 and b > 0:
            for i in range(Y):
                if source < 0 or i == source:
                    lower += alpha[b - 1, i] * M[i, target]
            lower *= x[target]
        for j in range(Y):
            row[j] = 0
        if log_scale[b] > -np.inf:
            for i in range(Y):
                for j in range(Y):
                    row[j] += alpha[b, i] * M[i, j]
            if target >= 0:  # without what goes up from b (left out, not subtracted: it may be nearly all)
                row[target] = 0
                for i in range(Y):
                    if source >= 0 and i != source:
                        row[target] += alpha[b, i] * M[i, target]
        for j in range(Y):
            alpha[b, j] = row[j] * x[j]
        log_scale[b] = add_mass(alpha[b], log_scale[b], lower, log_scale[b - 1] if b > 0 else -np.inf, target, Y)


@tight_kernel
def count_labellings(x: Floats, chain: Chain, targets: Ints, source: int, B: int, work: CountWorkspace) -> None:
    """One sentence: work.log_counts[b] is the log mass of the labellings with b occurrences, b < B; there may be no
    labellings with more. x [T, P]: the exponentials of the emission, up to a factor for each token."""
    alpha, log_counts, Y = work.alpha, work.log_counts, work.row.shape[0]
    for b in range(B):
        for j in range(Y):
            here = targets[0] == j and source < 0
            alpha[b, j] = chain.start[j] * x[0, j] if b == (1 if here else 0) else 0.0
        log_counts[b] = add_mass(alpha[b], 0.0, 0.0, 0.0, 0, Y) if b < 2 else -np.inf
    highest = 1
    for t in range(1, x.shape[0]):
        highest += 1 if targets[t] >= 0 else 0
        step_counts(alpha, log_counts, x[t], chain, targets[t], source, min(highest + 1, B), work.row)
    for b in range(B):
        total = 0.0
        for j in range(Y):
            total += alpha[b, j] * chain.stop[j]
        log_counts[b] += np.log(total) if total > 0 else -np.inf


@tight_kernel
def add_sentences(
    chosen: Longs, offsets: Longs, x: Doubles, chain: Chain, feature: CountedFeature, log_weights: Doubles,
    firsts: Longs, n_counts: Longs, work: CountWorkspace, log_masses: Doubles,
) -> None:  # fmt: skip
    """log_masses[firsts[n] + b] gains log_weight + log p(count = b), b < n_counts[n], for every chosen sentence n. x
    [n, P] and log_weights [N] are of all tokens and of all sentences."""
    for n in range(chosen.shape[0]):
        begin, end, B = offsets[chosen[n]], offsets[chosen[n] + 1], n_counts[n]
        count_labellings(x[begin:end], chain, feature.targets[begin:end], feature.source, B, work)
        log_z = -np.inf
        for b in range(B):
            log_z = np.logaddexp(log_z, work.log_counts[b])
        for b in range(B):
            u = firsts[n] + b
            log_masses[u] = np.logaddexp(log_masses[u], work.log_counts[b] - log_z + log_weights[chosen[n]])
