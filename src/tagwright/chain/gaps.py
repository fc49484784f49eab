"""Gaps between labels: which two labels can still be joined when the tokens between them have none yet.

    R_0[l, r]    l may stand right before r                  (a labelling scheme says so: io/spans.py)
    R_m = R_{m−1} · R_0                                      some m labels fit between l and r

In a span scheme every gap of two tokens or more can be filled, so that R_0 and R_1 say all. For chain/guided.py, which
labels tokens in any order; `leave_possible` does the same for the ends of a sentence and for tokens with few labels.
"""

from __future__ import annotations

import numpy as np

from tagwright._jit import tight_kernel
from tagwright.arrays import Bools, Floats, Longs

MOST_GAPS = 3
"""Further gaps are not looked at: they matter only where labels of a scheme are missing from the training data."""


def find_gaps(allowed: Bools) -> Bools:
    """R_0, R_1 ... [M, Y, Y], as far as they forbid something; allowed [Y, Y]: previous, current."""
    found: list[Bools] = []
    gap = allowed
    while not gap.all() and len(found) < MOST_GAPS:
        found.append(gap)
        gap = (gap.astype(np.int64) @ allowed) > 0
    return np.array(found, np.bool_).reshape(len(found), *allowed.shape)


@tight_kernel
def leave_possible(emission: Floats, offsets: Longs, allowed: Bools, start: Bools, stop: Bools) -> None:
    """emission [n, P] = −inf for every label that no well-formed labelling of its sentence has.

    Forward: a label needs one before it; backward: and one after it. allowed [Y, Y], start [Y], stop [Y].
    """
    Y = start.shape[0]
    for s in range(offsets.shape[0] - 1):
        for t in range(offsets[s], offsets[s + 1]):
            for y in range(Y):
                fits = start[y] if t == offsets[s] else False
                for x in range(Y if t > offsets[s] else 0):
                    fits = fits or (allowed[x, y] and emission[t - 1, x] > -np.inf)
                if not fits:
                    emission[t, y] = -np.inf
        for t in range(offsets[s + 1] - 1, offsets[s] - 1, -1):
            for y in range(Y):
                last = t == offsets[s + 1] - 1
                fits = stop[y] if last else False
                for x in range(0 if last else Y):
                    fits = fits or (allowed[y, x] and emission[t + 1, x] > -np.inf)
                if not fits:
                    emission[t, y] = -np.inf
