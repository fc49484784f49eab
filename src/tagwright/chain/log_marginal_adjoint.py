"""chain/marginal_adjoint.py in log space and float64, in plain NumPy: for sentences that scaled numbers cannot hold.

With r_t = h_t / γ_t(y_t), the sums of weighted paths that pass through given labels, as plain positive numbers:

    log a_t[j] = emission_t[j] + log Σ_i exp(log a_{t−1}[i] + transition[i, j])  ⊕  [j = y_t] (log r_t + log α_t[j])
    log b_t[i] = log Σ_j exp(transition[i, j] + emission_{t+1}[j]
                             + (log b_{t+1}[j] ⊕ [j = y_{t+1}] (log r_{t+1} + log β_{t+1}[j])))
    nodes        H γ_t − (a_t ∘ β_t + α_t ∘ b_t) / Z,            H = Σ_t h_t; edges alike

⊕ adds in log space. Impossible labels (γ_t(y_t) = 0) have a term of inf and are left out of a, b and H.
"""

from __future__ import annotations

import numpy as np

from tagwright.arrays import Doubles, Floats
from tagwright.chain.label_chain import ChainScores, TokenTerms, term_weight
from tagwright.chain.log_space import log_backward, log_forward
from tagwright.chain.recursion import LOG


def log_marginal_adjoint(
    emission: Floats, chain: ChainScores, given: TokenTerms, terms: Doubles, transitions: Doubles, out: Floats
) -> None:
    """One sentence. Given emission [T, ≥ Y], scores of the chain. Returned: out [T, ≥ Y], the gradient of the emission
    (it may be `emission` itself); terms [T]; transitions [Y, Y] += their gradient. All terms inf, and no gradient, if
    no labelling is possible."""
    (transition, start, stop), Y = chain, len(chain[1])
    rows, T = emission[:, :Y].astype(np.float64), len(emission)
    alpha, beta = log_forward(rows, transition, start), log_backward(rows, transition, stop)
    log_z = float(LOG.plus(alpha[-1] + stop, axis=0))
    out[:] = 0
    if log_z == -np.inf:
        terms[:] = np.inf
        return
    gold = np.arange(T), given.labels
    terms[:] = log_z - (alpha + beta)[gold]
    pairs = zip(given.weights.tolist(), terms.tolist(), strict=True)
    h = np.array([term_weight(a, given.rate, term - given.reference) if term < np.inf else 0.0 for a, term in pairs])
    with np.errstate(divide="ignore", invalid="ignore"):  # log 0 = −inf is meant
        log_r = np.where(h > 0, np.log(h) + terms, -np.inf)
    a = np.full((T, Y), -np.inf)
    for t in range(T):
        if t > 0:
            a[t] = rows[t] + LOG.plus(a[t - 1][:, None] + transition, axis=0)
        y = given.labels[t]
        a[t, y] = np.logaddexp(a[t, y], log_r[t] + alpha[t, y])
    b, total = np.full(Y, -np.inf), float(h.sum())
    for t in range(T - 1, -1, -1):
        through = np.exp(a[t] + beta[t] - log_z) + np.exp(alpha[t] + b - log_z)
        out[t, :Y] = total * np.exp(alpha[t] + beta[t] - log_z) - through
        if t > 0:
            y = given.labels[t]
            ahead, after = rows[t] + beta[t], rows[t] + b
            after[y] = np.logaddexp(after[y], rows[t, y] + log_r[t] + beta[t, y])
            edge = transition - log_z
            before, so_far = alpha[t - 1][:, None] + edge, a[t - 1][:, None] + edge
            transitions += total * np.exp(before + ahead) - (np.exp(so_far + ahead) + np.exp(before + after))
            b = LOG.plus(transition + after, axis=1)
