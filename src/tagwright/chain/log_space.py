"""Forward-backward in log space and float64: for the sentences that scaled numbers cannot hold.

    log α_t[j] = emission_t[j] + log Σ_i exp(log α_{t−1}[i] + transition[i, j])        log α_0 = start + emission_0
    log β_t[i] = log Σ_j exp(transition[i, j] + emission_{t+1}[j] + log β_{t+1}[j])    log β_{T−1} = stop

The same results as chain/forward_backward.py, 10 to 20 times slower; −inf is an honest −inf throughout. Second order,
for chain/second_order.py, is the same over label pairs and candidate lists.
"""

from __future__ import annotations

import numpy as np

from tagwright._jit import kernel
from tagwright.arrays import Doubles, Floats, Ints, Longs, Shorts


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
    by node marginals (it may be `emission` itself); counts [Y, Y] += expected transitions. Nothing if log Z is −inf."""
    T, Y = emission.shape[0], start.shape[0]
    alpha = np.empty((T, Y))
    beta = np.empty((T, Y))
    log_forward(emission, transition, start, alpha)
    log_z = log_sum(alpha[T - 1] + stop)
    if log_z == -np.inf:
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
    return log_z


@kernel
def log_pairs_forward(
    emission: Floats, rows: Ints, pointers: Longs, labels: Shorts, transition: Doubles, start: Doubles, table: Floats,
    alpha: Doubles, work: Doubles,
) -> None:  # fmt: skip
    """log α [T, K, K] over the candidates of positions t − 1 and t; before position 0 there is one that means nothing.

    log α_t[q, c] = emission_t[c] + log Σ_p exp(log α_{t−1}[p, q] + table[q, p, c])     at t = 1 transition[q, c] alone
    """
    for j in range(pointers[rows[0] + 1] - pointers[rows[0]]):
        c = labels[pointers[rows[0]] + j]
        alpha[0, 0, j] = start[c] + emission[0, c]
    for t in range(1, rows.shape[0]):
        first, before = pointers[rows[t]], pointers[rows[t - 1]]
        older = pointers[rows[t - 2]] if t > 1 else 0
        n_p = pointers[rows[t - 2] + 1] - older if t > 1 else 1
        for i in range(pointers[rows[t - 1] + 1] - before):
            for j in range(pointers[rows[t] + 1] - first):
                q, c = labels[before + i], labels[first + j]
                for h in range(n_p):
                    step = transition[q, c] if t == 1 else table[q, labels[older + h], c]
                    work[h] = alpha[t - 1, h, i] + step
                alpha[t, i, j] = emission[t, c] + log_sum(work[:n_p])


@kernel
def log_pairs_backward(
    emission: Floats, rows: Ints, pointers: Longs, labels: Shorts, transition: Doubles, table: Floats, alpha: Doubles,
    log_z: float, beta: Doubles, work: Doubles, pairs: Floats, edges: Floats,
) -> None:  # fmt: skip
    """log β below its last row, and the expected counts.

    log β_{t−1}[p, q] = log Σ_c exp(table[q, p, c] + emission_t[c] + log β_t[q, c])     at t = 1 transition[q, c] alone
    """
    for t in range(rows.shape[0] - 1, 0, -1):
        first, before = pointers[rows[t]], pointers[rows[t - 1]]
        size = pointers[rows[t] + 1] - first
        older = pointers[rows[t - 2]] if t > 1 else 0
        for h in range(pointers[rows[t - 2] + 1] - older if t > 1 else 1):
            for i in range(pointers[rows[t - 1] + 1] - before):
                q = labels[before + i]
                for j in range(size):
                    c = labels[first + j]
                    step = transition[q, c] if t == 1 else table[q, labels[older + h], c]
                    work[j] = step + emission[t, c] + beta[t, i, j]
                    count = np.exp(alpha[t - 1, h, i] + work[j] - log_z)
                    if t == 1:
                        pairs[q, c] += count
                    else:
                        edges[q, labels[older + h], c] += count
                beta[t - 1, h, i] = log_sum(work[:size])


@kernel
def log_second_order(
    emission: Floats, rows: Ints, pointers: Longs, labels: Shorts, transition: Doubles, start: Doubles, stop: Doubles,
    table: Floats, gamma: Floats, pairs: Floats, edges: Floats,
) -> float:  # fmt: skip
    """One sentence of second order. Given emission [T, ≥ Y], Candidates, scores of the chain, table [q, p, c] =
    transition[q, c] + trigram[p, q, c]. Returned: log Z; gamma [T, ≥ Y] is overwritten by node marginals (it may be
    `emission` itself); pairs [q, c] += expected pairs at position 1; edges [q, p, c] += expected trigrams. Nothing if
    log Z is −inf."""
    T, K = rows.shape[0], 0
    for t in range(T):
        K = max(K, pointers[rows[t] + 1] - pointers[rows[t]])
    alpha, beta, work = np.full((T, K, K), -np.inf), np.full((T, K, K), -np.inf), np.empty(K)
    log_pairs_forward(emission, rows, pointers, labels, transition, start, table, alpha, work)
    for j in range(pointers[rows[T - 1] + 1] - pointers[rows[T - 1]]):
        beta[T - 1, :, j] = stop[labels[pointers[rows[T - 1]] + j]]
    log_z = log_sum((alpha[T - 1] + beta[T - 1]).ravel())
    if log_z == -np.inf:
        return log_z
    log_pairs_backward(emission, rows, pointers, labels, transition, table, alpha, log_z, beta, work, pairs, edges)
    for t in range(T):
        gamma[t, :] = 0
        for j in range(pointers[rows[t] + 1] - pointers[rows[t]]):
            for i in range(K):
                gamma[t, labels[pointers[rows[t]] + j]] += np.exp(alpha[t, i, j] + beta[t, i, j] - log_z)
    return log_z
