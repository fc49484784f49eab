"""A locally normalised chain (MEMM) as an ordinary lattice, so that all of chain/ works on it as it is.

    p(y | x) = Π_t exp(emission[t, y_t] + transition[y_{t−1}, y_t]) / N_t(y_{t−1})
    N_t(p)   = Σ_c exp(transition[p, c] + emission[t, c])                     for the first label: start instead

N_t depends on the previous label alone, so its logarithm can be taken from that label's own emission:

    emission'[t, y] = emission[t, y] − log N_{t+1}(y)                         and −log N_0 for all labels of the first

Then F'(x, y) = log p(y | x), and log Z = 0 where every label may be the last. Stands between scores/ and the decoder.
McCallum, Freitag and Pereira 2000.
"""

from __future__ import annotations

import numpy as np

from tagwright._jit import kernel
from tagwright.arrays import Doubles, Floats, Longs
from tagwright.chain.log_space import FLOOR, log_sum


@kernel
def log_normaliser(scores: Floats, x: Doubles, peak: float, before: Doubles, factors: Doubles, top: float) -> float:
    """log Σ_c exp(before[c] + scores[c]). x = exp(scores − peak) and factors = exp(before − top) [Y] save the
    exponentials; where their product is too small to trust, all is done again in log space."""
    total = 0.0
    for c in range(x.shape[0]):
        total += factors[c] * x[c]
    if total > FLOOR:
        return float(np.log(total) + peak + top)
    return log_sum(before + scores[: x.shape[0]])


@kernel
def subtract_normalisers(
    emission: Floats, offsets: Longs, ways: Doubles, factors: Doubles, tops: Doubles, x: Doubles
) -> None:
    """emission [n, P] becomes emission'. ways [Y + 1, Y]: the transitions, then start; factors = exp(ways − tops).

    x [Y]: work. A label that no label may follow gets −inf, except at the end.
    """
    Y = x.shape[0]
    for i in range(offsets.shape[0] - 1):
        for p in range(offsets[i], offsets[i + 1]):
            row = emission[p]
            peak = float(row[0])
            for y in range(1, Y):
                peak = max(peak, float(row[y]))
            for y in range(Y):
                x[y] = np.exp(row[y] - peak)
            if p == offsets[i]:
                whole = log_normaliser(row, x, peak, ways[Y], factors[Y], float(tops[Y]))
                for y in range(Y):
                    row[y] = row[y] - whole if whole > -np.inf else -np.inf
                continue
            for y in range(Y):
                ahead = log_normaliser(row, x, peak, ways[y], factors[y], float(tops[y]))
                emission[p - 1, y] = emission[p - 1, y] - ahead if ahead > -np.inf else -np.inf


def normalise_locally(emission: Floats, offsets: Longs, transition: Doubles, start: Doubles) -> None:
    """Turn the emission rows [n, P] of a run of sentences into emission'; −inf in the chain forbids."""
    ways = np.vstack([transition, start])
    tops = ways.max(axis=1)
    tops[tops == -np.inf] = 0.0
    subtract_normalisers(emission, offsets, ways, np.exp(ways - tops[:, None]), tops, np.empty(len(start)))
