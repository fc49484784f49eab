"""Forward-backward in log space and float64: for the sentences that scaled numbers cannot hold.

    log α_t[j] = emission_t[j] + log Σ_i exp(log α_{t−1}[i] + transition[i, j])        log α_0 = start + emission_0
    log β_t[i] = log Σ_j exp(transition[i, j] + emission_{t+1}[j] + log β_{t+1}[j])    log β_{T−1} = stop

The same results as chain/forward_backward.py, 10 to 20 times slower; −inf is an honest −inf throughout. The same over
candidate lists and of second order: chain/candidate_log_space.py.
"""

from __future__ import annotations

import numpy as np

from tagwright._jit import kernel
from tagwright.arrays import Doubles, Floats

FLOOR = 1e-18
"""A sum of scaled numbers below this cannot be trusted: its sentence is repeated in log space."""


@kernel
def log_sum(scores: Doubles) -> float:
    """log Σ exp(scores), −inf for nothing but −inf."""
    peak = np.max(scores)
    if peak == -np.inf:
        return -np.inf
    total = 0.0
    for k in range(scores.shape[0]):
        total += np.exp(scores[k] - peak)
    return float(peak + np.log(total))


@kernel
def log_forward(emission: Floats, transition: Doubles, start: Doubles, alpha: Doubles) -> None:
    """log α [T, Y] of one sentence, emission [T, ≥ Y]."""
    Y = start.shape[0]
    alpha[0] = start + emission[0, :Y]
    for t in range(1, emission.shape[0]):
        for j in range(Y):
            alpha[t, j] = np.float64(emission[t, j]) + log_sum(alpha[t - 1] + transition[:, j])


@kernel
def log_backward(emission: Floats, transition: Doubles, stop: Doubles, beta: Doubles) -> None:
    """log β [T, Y] of one sentence, emission [T, ≥ Y]."""
    T, Y = emission.shape[0], stop.shape[0]
    beta[T - 1] = stop
    for t in range(T - 2, -1, -1):
        ahead = emission[t + 1, :Y] + beta[t + 1]
        for i in range(Y):
            beta[t, i] = log_sum(transition[i] + ahead)


@kernel
def log_forward_backward(
    emission: Floats, transition: Doubles, start: Doubles, stop: Doubles, gamma: Floats, counts: Doubles
) -> float:
    """One sentence. Given emission [T, ≥ Y] and scores of the chain. Returned: log Z; gamma [T, ≥ Y] is overwritten
    by node marginals (it may be `emission` itself), with 0 in the padding; counts [Y, Y] += expected transitions.
    If log Z is −inf, gamma is 0 and counts are left alone."""
    T, Y = emission.shape[0], start.shape[0]
    alpha = np.empty((T, Y))
    beta = np.empty((T, Y))
    log_forward(emission, transition, start, alpha)
    log_z = log_sum(alpha[T - 1] + stop)
    if log_z == -np.inf:
        gamma[:] = 0
        return log_z
    log_backward(emission, transition, stop, beta)
    for t in range(T - 2, -1, -1):
        for i in range(Y):
            for j in range(Y):
                ahead = np.float64(emission[t + 1, j]) + beta[t + 1, j]
                counts[i, j] += np.exp(alpha[t, i] + transition[i, j] + ahead - log_z)
    for t in range(T):
        for y in range(Y):
            gamma[t, y] = np.exp(alpha[t, y] + beta[t, y] - log_z)
        for y in range(Y, gamma.shape[1]):
            gamma[t, y] = 0
    return log_z
