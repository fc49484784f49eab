"""Well-formed output: which labels can still be joined when the tokens between them have none yet.

    R_0[l, r]    l may stand right before r                  (a labelling scheme says so: io/spans.py)
    R_m = R_{m−1} · R_0                                      some m labels fit between l and r

In a span scheme every gap of two tokens or more can be filled, so that R_0 and R_1 say all. Inference labels tokens in
any order: it rules out labels by their neighbours and by gaps to the next accepted span. Before it, the ends of the
sentence and tokens with few labels are taken care of (`rule_out_impossible`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tagwright._jit import tight_kernel
from tagwright.arrays import Bools, Floats, Longs
from tagwright.guided.chart import SpanChart

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


def score_gaps(gaps: Bools, width: int, dtype: type[np.floating[Any]]) -> Floats:
    """What gaps [M, Y, Y] add to the scores of a label y, −inf or 0 [2, M, Y + 1, P].

    [0, m, l, y]: m tokens between l and y; [1, m, r, y]: between y and r. l or r = Y: not known
    """
    M, Y, _ = gaps.shape
    scores: Floats = np.zeros((2, M, Y + 1, width), dtype)
    scores[0, :, :Y, :Y][~gaps] = -np.inf
    scores[1, :, :Y, :Y] = scores[0, :, :Y, :Y].transpose(0, 2, 1)
    return scores


@tight_kernel
def rule_out(chart: SpanChart, gaps: Floats, side: int, k: int, state: int, n: int, row: Floats) -> None:
    """row [P] = −inf for labels of token k that may not stand beside a state of the accepted span on this side (0:
    left), or, where there is none, with which the gap to the next accepted span could not be filled in all its states.

    The interface of such a span on the side of k is not at the end of the sentence, so it has a label (where there are
    gaps, `reach` is at least 1).
    """
    for m in range(gaps.shape[1]):
        t = k - 1 - m if side == 0 else k + 1 + m
        if t < 0 or t >= n:
            break
        span = chart.ends[t + 1] if side == 0 else chart.begins[t + 1]
        if span < 0:
            continue
        for b in range(chart.n_states[span]):
            if m > 0 or b == state:
                label = chart.interfaces[span, b, 2 if side == 0 else 0]
                for c in range(row.shape[0]):
                    row[c] += gaps[side, m, label, c]
        break


@tight_kernel
def rule_out_impossible(emission: Floats, offsets: Longs, allowed: Bools, start: Bools, stop: Bools) -> None:
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
