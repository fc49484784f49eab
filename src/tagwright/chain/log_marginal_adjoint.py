"""chain/marginal_adjoint.py in log space and float64: for the sentences that scaled numbers cannot hold.

With r_t = h_t / γ_t(y_t), the sums of weighted paths that pass through given labels, as plain positive numbers:

    log a_t[j] = emission_t[j] + log Σ_i exp(log a_{t−1}[i] + transition[i, j])  ⊕  [j = y_t] (log r_t + log α_t[j])
    log b_t[i] = log Σ_j exp(transition[i, j] + emission_{t+1}[j] + (log b_{t+1}[j] ⊕ [j = y_{t+1}] (log r_{t+1} + log β_{t+1}[j])))
    nodes        H γ_t − (a_t ∘ β_t + α_t ∘ b_t) / Z,            H = Σ_t h_t; edges alike

⊕ adds in log space. Impossible labels (γ_t(y_t) = 0) have a term of inf and are left out of a, b and H.
"""  # noqa: E501

from __future__ import annotations

import numpy as np

from tagwright._jit import kernel
from tagwright.arrays import Doubles, Floats, Ints
from tagwright.chain.log_space import log_sum
from tagwright.chain.tilt import tilt


@kernel
def log_add(a: float, b: float) -> float:
    """log(e^a + e^b)."""
    high, low = max(a, b), min(a, b)
    return float(high if low == -np.inf else high + np.log1p(np.exp(low - high)))


@kernel
def log_alphas_and_betas(
    emission: Floats, transition: Doubles, start: Doubles, stop: Doubles, alpha: Doubles, beta: Doubles
) -> float:
    """log α, log β [T, Y]; returns log Z."""
    T, Y = alpha.shape
    alpha[0] = start + emission[0, :Y]
    for t in range(1, T):
        for j in range(Y):
            alpha[t, j] = emission[t, j] + log_sum(alpha[t - 1] + transition[:, j])
    beta[T - 1] = stop
    for t in range(T - 2, -1, -1):
        for i in range(Y):
            beta[t, i] = log_sum(transition[i] + emission[t + 1, :Y] + beta[t + 1])
    return log_sum(alpha[T - 1] + stop)


@kernel
def log_marginal_adjoint(
    emission: Floats, transition: Doubles, start: Doubles, stop: Doubles, labels: Ints, weights: Doubles,
    rate: float, reference: float, terms: Doubles, transitions: Doubles,
) -> None:  # fmt: skip
    """One sentence. Given emission [T, ≥ Y], scores of the chain, labels and weights [T], tilt. Returned: emission is
    overwritten by its gradient; terms [T]; transitions [Y, Y] += their gradient. All terms inf, and no gradient, if
    no labelling is possible."""
    T, Y = emission.shape[0], start.shape[0]
    alpha, beta = np.empty((T, Y)), np.empty((T, Y))
    log_z = log_alphas_and_betas(emission, transition, start, stop, alpha, beta)
    log_r = np.full(T, -np.inf)
    total = 0.0
    for t in range(T):
        log_gold = alpha[t, labels[t]] + beta[t, labels[t]] - log_z if log_z > -np.inf else -np.inf
        terms[t] = -log_gold
        h = tilt(weights[t], rate, terms[t] - reference) if log_gold > -np.inf else 0.0
        total += h
        if h > 0:
            log_r[t] = np.log(h) - log_gold
    if log_z == -np.inf:
        emission[:] = 0
        return
    a = np.empty((T, Y))
    for t in range(T):
        for j in range(Y):
            a[t, j] = emission[t, j] + log_sum(a[t - 1] + transition[:, j]) if t > 0 else -np.inf
        a[t, labels[t]] = log_add(a[t, labels[t]], log_r[t] + alpha[t, labels[t]])
    b, after, ahead = np.full(Y, -np.inf), np.empty(Y), np.empty(Y)
    for t in range(T - 1, -1, -1):
        after[:] = emission[t, :Y] + b
        after[labels[t]] = log_add(after[labels[t]], emission[t, labels[t]] + log_r[t] + beta[t, labels[t]])
        ahead[:] = emission[t, :Y] + beta[t]
        for j in range(Y):
            hit = np.exp(a[t, j] + beta[t, j] - log_z) + np.exp(alpha[t, j] + b[j] - log_z)
            emission[t, j] = total * np.exp(alpha[t, j] + beta[t, j] - log_z) - hit
        for i in range(Y if t > 0 else 0):
            b[i] = log_sum(transition[i] + after)
            for j in range(Y):
                edge = transition[i, j] - log_z
                hit = np.exp(a[t - 1, i] + edge + ahead[j]) + np.exp(alpha[t - 1, i] + edge + after[j])
                transitions[i, j] += total * np.exp(alpha[t - 1, i] + edge + ahead[j]) - hit
