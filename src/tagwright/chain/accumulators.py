"""How often a feature occurs in a labelling: the distribution of its count over all labellings of a sentence.

Sequence AdaBoost's exact step needs it (LM-POS 3.2 and BOOST 5, equation 14: "dynamic programming with accumulators").
Beside the label, the recursion keeps the count b so far:

    α_t[b, j] = x_t[j] · Σ_i α_{t−1}[b − counts, i] M[i, j]        counts = 1 where (i, j) at t is an occurrence, else 0

An occurrence at t is: label targets[t] (−1: none), after label `source` (−1: after any). That covers an attribute with
a label (targets only where the attribute is), a pair of labels, a first label and a last label.

The mass of different counts can differ by more than a float holds, and a large step makes up for it. So each b has a
scale of its own, log_scale[b], and its row has 1 as its largest entry.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tagwright._jit import tight_kernel
from tagwright.arrays import Doubles, Floats, Ints, Longs
from tagwright.chain.forward_backward import Chain, exponentiate

NO_BITS = np.empty(0, np.int32), np.empty(0, np.float32)
"""What `exponentiate` needs in float32 only."""


@tight_kernel
def move_mass(row: Doubles, scale: float, lower: float, lower_scale: float, target: int, n: int) -> float:
    """row (times e^scale) at `target` += lower (times e^lower_scale); returns the row's new scale, its peak being 1."""
    top = max(scale, lower_scale) if lower > 0 else scale
    if top > -np.inf:
        if top != scale:
            factor = np.exp(scale - top)
            for j in range(n):
                row[j] *= factor
        if lower > 0:
            row[target] += lower * np.exp(lower_scale - top)
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
    alpha: Doubles, log_scale: Doubles, x: Floats, M: Floats, target: int, source: int, n: int, Y: int, work: Doubles
) -> None:
    """α_t from α_{t−1}, for the counts 0 to n − 1. From the highest count down: each takes from the one below it."""
    for b in range(n - 1, -1, -1):
        lower = 0.0  # the mass that comes up from b − 1
        if target >= 0 and b > 0:
            for i in range(Y):
                if source < 0 or i == source:
                    lower += alpha[b - 1, i] * M[i, target]
            lower *= x[target]
        for j in range(Y):
            work[j] = 0
        if log_scale[b] > -np.inf:
            for i in range(Y):
                for j in range(Y):
                    work[j] += alpha[b, i] * M[i, j]
            if target >= 0:  # without what goes up from b (left out, not subtracted: it may be nearly all)
                work[target] = 0
                for i in range(Y):
                    if source >= 0 and i != source:
                        work[target] += alpha[b, i] * M[i, target]
        for j in range(Y):
            alpha[b, j] = work[j] * x[j]
        log_scale[b] = move_mass(alpha[b], log_scale[b], lower, log_scale[b - 1] if b > 0 else -np.inf, target, Y)


@tight_kernel
def count_labellings(
    x: Floats, M: Floats, start: Floats, stop: Floats, targets: Ints, source: int, Y: int, alpha: Doubles,
    work: Doubles, log_counts: Doubles,
) -> None:  # fmt: skip
    """One sentence: log_counts [B] is the log mass of the labellings with b occurrences, b < B; more must not be.

    Given x [T, P], the exponentials of the emission, and a Chain's arrays. alpha [B, Y], work [Y]: work space.
    """
    B = log_counts.shape[0]
    log_counts[:] = -np.inf
    for b in range(B):
        for j in range(Y):
            here = targets[0] == j and source < 0
            alpha[b, j] = start[j] * x[0, j] if b == (1 if here else 0) else 0.0
        if b < 2:
            log_counts[b] = move_mass(alpha[b], 0.0, 0.0, 0.0, 0, Y)
    highest = 1
    for t in range(1, x.shape[0]):
        highest += 1 if targets[t] >= 0 else 0
        step_counts(alpha, log_counts, x[t], M, targets[t], source, min(highest + 1, B), Y, work)
    for b in range(B):
        total = 0.0
        for j in range(Y):
            total += alpha[b, j] * stop[j]
        log_counts[b] += np.log(total) if total > 0 else -np.inf


def count_distribution(emission: Floats, chain: Chain, targets: Ints, source: int, most: int) -> Doubles:
    """log p(b occurrences) for b = 0 to `most`, of one sentence with emission [T, P] in float64."""
    x = np.empty_like(emission)
    exponentiate(emission, chain.n_labels, x, *NO_BITS)
    log_counts = np.empty(most + 1)
    Y = chain.n_labels
    count_labellings(
        x, chain.matrix, chain.start, chain.stop, targets, source, Y, np.empty((most + 1, Y)), np.empty(Y), log_counts
    )
    log_counts -= np.logaddexp.reduce(log_counts)
    return log_counts


@dataclass(frozen=True, slots=True)
class Masses:
    """Σ_i e^{loss_i} p_i(count) for counts relative to the gold one, in logs."""

    counts: Doubles  # ascending whole numbers
    logs: Doubles
    low: Longs  # of each sentence: minus its gold count
    high: Longs  # its highest count, relative to the gold one

    @classmethod
    def build(cls, low: Doubles, high: Doubles) -> Masses:
        counts = np.arange(low.min(initial=0), high.max(initial=0) + 1)
        return cls(counts, np.full(len(counts), -np.inf), low.astype(np.int64), high.astype(np.int64))


@tight_kernel
def join_logs(a: float, b: float) -> float:
    """log(e^a + e^b)."""
    top = max(a, b)
    return float(top + np.log(np.exp(a - top) + np.exp(b - top))) if top > -np.inf else top


@tight_kernel
def add_sentences(
    chosen: Longs, offsets: Longs, emission: Doubles, M: Floats, start: Floats, stop: Floats, Y: int,
    targets: Ints, source: int, losses: Doubles, low: Longs, high: Longs, lowest: int, x: Doubles, alpha: Doubles,
    work: Doubles, log_counts: Doubles, bits: Ints, powers: Floats, logs: Doubles,
) -> None:  # fmt: skip
    """logs[u − lowest] joined with the masses of every chosen sentence n at u = low[n] to high[n]."""
    for n in range(chosen.shape[0]):
        begin, end = offsets[chosen[n]], offsets[chosen[n] + 1]
        B = high[n] - low[n] + 1
        exponentiate(emission[begin:end], Y, x, bits, powers)
        count_labellings(x[: end - begin], M, start, stop, targets[begin:end], source, Y, alpha, work, log_counts[:B])
        log_z = -np.inf
        for b in range(B):
            log_z = join_logs(log_z, log_counts[b])
        for b in range(B):
            u = low[n] + b - lowest
            logs[u] = join_logs(logs[u], log_counts[b] - log_z + losses[chosen[n]])


def add_masses(
    chosen: Longs, offsets: Longs, emission: Doubles, chain: Chain, targets: Ints, source: int, losses: Doubles,
    masses: Masses,
) -> None:  # fmt: skip
    """Count a feature's occurrences in the labellings of the chosen sentences; targets [n]: of all tokens."""
    Y = chain.n_labels
    longest = int(np.diff(offsets).max())
    most = int((masses.high - masses.low).max(initial=0)) + 1
    add_sentences(
        chosen, offsets, emission, chain.matrix, chain.start, chain.stop, Y, targets, source, losses, masses.low,
        masses.high, int(masses.counts[0]), np.empty((longest, emission.shape[1])), np.empty((most, Y)), np.empty(Y),
        np.empty(most), *NO_BITS, masses.logs,
    )  # fmt: skip
