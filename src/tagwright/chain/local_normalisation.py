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

from tagwright.arrays import Doubles, Floats, Longs
from tagwright.chain.recursion import LOG
from tagwright.chain.scaling import FLOOR


def normalise_locally(emission: Floats, offsets: Longs, transition: Doubles, start: Doubles) -> None:
    """Turn the emission rows [n, P] of a run of sentences into emission'; −inf in the chain forbids.

    A label that no label may follow gets −inf, except at the end.
    """
    Y = len(start)
    scores = emission[:, :Y].astype(np.float64)
    inner = np.ones(len(scores), np.bool_)
    inner[offsets[:-1]] = False
    following = np.flatnonzero(inner)
    scores[following - 1] -= log_normalisers(scores[following], transition)
    firsts = offsets[:-1]
    scores[firsts] -= log_normalisers(emission[firsts, :Y].astype(np.float64), start[None])
    emission[:, :Y] = scores


def log_normalisers(scores: Doubles, ways: Doubles) -> Doubles:
    """log Σ_c exp(ways[p, c] + scores[i, c]) [n, W]; inf where nothing is possible: what it is taken from becomes −inf.

    The sum of the products of exponentials; where it is too small to trust, all is done again in log space.
    """
    peaks, tops = (np.maximum(rows.max(axis=1, keepdims=True), -1e300) for rows in (scores, ways))
    with np.errstate(invalid="ignore"):  # a score of +inf: the decoder refuses what comes of it
        sums = np.einsum("ic,pc->ip", np.exp(scores - peaks), np.exp(ways - tops))
    found: Doubles = np.log(np.maximum(sums, FLOOR)) + peaks + tops[:, 0]
    for i, p in np.argwhere(sums <= FLOOR).tolist():
        found[i, p] = LOG.plus(scores[i] + ways[p], axis=0)
    found[found == -np.inf] = np.inf
    return found
