"""The hinge losses of the HM-SVM: by how much the worst labelling of a sentence violates its margin.

    H_i = max( 0, max_{y ≠ y_i}  Δ(y, y_i) + F(x_i, y) − F(x_i, y_i) )

    unit       Δ = 1 for every wrong labelling (HMSVM section 6): two-best Viterbi
    hamming    Δ = the number of wrong labels: Viterbi in which every wrong label gets 1 more (loss-augmented)

Lattices in, one labelling and one number a sentence out. The labelling is the plane that a working set adds.
"""

from __future__ import annotations

import numpy as np

from tagwright._jit import tight_kernel
from tagwright.arrays import Doubles, Floats, Ints, Longs, empty_rows
from tagwright.chain.best_wrong import best_path, fill_prefixes, leave
from tagwright.chain.viterbi import Steps

MARGINS = ("unit", "hamming")


@tight_kernel
def score_labelling(emission: Floats, labels: Ints, T: int, transition: Floats, start: Floats, stop: Floats) -> float:
    """F of one labelling."""
    score = start[labels[0]] + stop[labels[T - 1]]
    for t in range(T):
        score += emission[t, labels[t]]
        if t > 0:
            score += transition[labels[t - 1], labels[t]]
    return float(score)


@tight_kernel
def fill_hinges(
    emission: Floats, offsets: Longs, gold: Ints, transition: Floats, incoming: Floats, start: Floats, stop: Floats,
    lead: Floats, hamming: bool, delta: Floats, alive: Longs, labels: Ints, values: Doubles,
) -> None:  # fmt: skip
    """Given emission [n, P] (changed for `hamming`), offsets, gold [n], Steps; delta and alive are work.

    Returned: labels [n], the worst labelling of each sentence; values [N]: Δ + F(y) − F(y_i) for it, −inf where there
    is no wrong labelling (then labels are the right ones), below 0 where the margin is kept with room.
    """
    Y = incoming.shape[0]
    for i in range(offsets.shape[0] - 1):
        begin, end = offsets[i], offsets[i + 1]
        T = end - begin
        path = labels[begin:end]
        truth = gold[begin:end]
        rows = emission[begin:end]
        if hamming:
            for t in range(T):
                rows[t, truth[t]] -= 1.0
        right = score_labelling(rows, truth, T, transition, start, stop)
        fill_prefixes(rows, T, transition, start, lead, Y, alive, delta)
        values[i] = best_path(delta, T, incoming, stop, Y, path) - right
        same = True
        for t in range(T):
            same &= path[t] == truth[t]
        if same:
            values[i] -= leave(delta, T, incoming, stop, Y, path)
        if not hamming:
            values[i] += 1.0


def hinges(emission: Floats, offsets: Longs, gold: Ints, steps: Steps, *, hamming: bool) -> tuple[Ints, Doubles]:
    """The worst labelling [n] and Δ + F(y) − F(y_i) [N] for a run of sentences; `emission` [n, P] may be changed."""
    labels = np.empty(len(emission), np.int32)
    values = np.empty(len(offsets) - 1)
    P, dtype = emission.shape[1], emission.dtype
    longest = int(np.diff(offsets).max(initial=1))
    fill_hinges(
        emission, offsets, gold, steps.transition, steps.incoming, steps.start, steps.stop, steps.lead, hamming,
        empty_rows((longest, P), dtype), np.empty(steps.n_labels, np.int64), labels, values,
    )  # fmt: skip
    return labels, values
