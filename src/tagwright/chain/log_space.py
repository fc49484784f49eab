"""Forward-backward in log space and float64, mostly in plain NumPy: for the sentences that scaled numbers cannot hold.

The same results as chain/forward_backward.py and chain/candidate_forward_backward.py, a hundred times slower; −inf is
an honest −inf throughout. States, sources and rows of the table as chain/candidates.py has them; with S the scores of
steps and p ─► s the steps that there are:

    log α_0 = start + emission_0        log α_t[s] = emission_t[c(s)] + log Σ_{p ─► s} exp(log α_{t−1}[p] + S[p, s])
    log β_{T−1} = stop                  log β_{t−1}[p] = log Σ_{p ─► s} exp(S[p, s] + emission_t[c(s)] + log β_t[s])

And that of chain/marginal_adjoint.py, of first order. With r_t = h_t / γ_t(y_t), the sums of weighted paths that pass
through given labels, as plain positive numbers:

    log a_t[j] = emission_t[j] + log Σ_i exp(log a_{t−1}[i] + transition[i, j])  ⊕  [j = y_t] (log r_t + log α_t[j])
    log b_t[i] = log Σ_j exp(transition[i, j] + emission_{t+1}[j]
                             + (log b_{t+1}[j] ⊕ [j = y_{t+1}] (log r_{t+1} + log β_{t+1}[j])))
    nodes        H γ_t − (a_t ∘ β_t + α_t ∘ b_t) / Z,            H = Σ_t h_t; edges alike

⊕ adds in log space. Impossible labels (γ_t(y_t) = 0) have a term of inf and are left out of a, b and H.
"""

from __future__ import annotations

import numpy as np

from tagwright._jit import kernel, tight_kernel
from tagwright.arrays import Doubles, Floats, Longs
from tagwright.chain.candidates import Candidates, StepTable
from tagwright.chain.label_chain import ChainScores, TermWeights, TokenTerms, term_weight
from tagwright.chain.recursion import LOG
from tagwright.chain.scaling import RunSums


def repeat_in_log_space(
    found: RunSums, emission: Floats, offsets: Longs, candidates: Candidates | None, chain: StepTable,
    given: TermWeights, out: Floats,
) -> None:  # fmt: skip
    """Repeat the sentences that are not done; log_z and counts of all others must be whole. `chain`: scores."""
    for i in np.flatnonzero(~found.done).tolist():
        begin, end = int(offsets[i]), int(offsets[i + 1])
        lists = Candidates.everything(end - begin, chain.n_labels)
        lists = lists if candidates is None else candidates.part(begin, end)
        found.log_z[i], found.weights[i] = log_expectations(
            emission[begin:end], lists, chain, given.of_sentence(i), out[begin:end], found.counts
        )


@tight_kernel
def log_sum(scores: Doubles, ways: Doubles) -> float:
    """log Σ_k exp(scores[k] + ways[k]); −inf for nothing but −inf."""
    peak, total = -np.inf, 0.0
    for k in range(scores.shape[0]):
        peak = max(peak, scores[k] + ways[k])
    if peak == -np.inf:
        return peak
    for k in range(scores.shape[0]):
        total += np.exp(scores[k] + ways[k] - peak)
    return float(peak + np.log(total))


@kernel
def log_forward(emission: Doubles, transition: Doubles, start: Doubles) -> Doubles:
    """log α [T, Y] of one sentence of first order, from emission [T, Y]. Span probabilities ask for it sentence by
    sentence: in NumPy, they take six times as long."""
    T, Y = emission.shape[0], start.shape[0]
    alpha, incoming = np.empty((T, Y)), np.ascontiguousarray(transition.T)
    alpha[0] = start + emission[0]
    for t in range(1, T):
        for y in range(Y):
            alpha[t, y] = emission[t, y] + log_sum(alpha[t - 1], incoming[y])
    return alpha


@kernel
def log_backward(emission: Doubles, transition: Doubles, stop: Doubles) -> Doubles:
    """log β [T, Y], likewise."""
    T, Y = emission.shape[0], stop.shape[0]
    beta = np.empty((T, Y))
    beta[T - 1] = stop
    for t in range(T - 2, -1, -1):
        ahead = emission[t + 1] + beta[t + 1]
        for y in range(Y):
            beta[t, y] = log_sum(ahead, transition[y])
    return beta


def table_rows(candidates: Candidates, t: int, chain: StepTable) -> tuple[Longs, tuple[int, ...]]:
    """The row of the table of every source of the states at t ≥ 1, [G, M]; and the axes that bring the grid of t − 1,
    [G', K'], into that form."""
    Y, last = chain.n_labels, candidates.of_token(t - 1).astype(np.int64)
    if chain.order == 1:
        return last[None, :], (0, 1)
    if t == 1:
        return last[:, None], (1, 0)
    return Y + Y * last[:, None] + candidates.of_token(t - 2)[None, :], (1, 0)


def log_expectations(
    emission: Floats, candidates: Candidates, chain: StepTable, given: TermWeights, out: Floats, counts: Floats
) -> tuple[float, float]:
    """One sentence: log Z, and how much it counts. `chain`: scores. out [T, P] gets the node marginals, counts [R, Y]
    += the expected number of each step, times that weight. 0 and nothing where no labelling is possible."""
    T = len(emission)
    lists = [candidates.of_token(t) for t in range(T)]
    rows = [emission[t, lists[t]].astype(np.float64) for t in range(T)]
    alpha: list[Doubles] = [(chain.start[lists[0]] + rows[0])[None, :]]  # [G, K]
    steps = [table_rows(candidates, t, chain) for t in range(1, T)]
    scores = [chain.table[steps[t][0]][:, :, lists[t + 1]].astype(np.float64) for t in range(T - 1)]  # [G, M, K]
    for t in range(1, T):
        sources = alpha[-1].transpose(steps[t - 1][1])  # [G, M]
        alpha.append(LOG.plus(sources[:, :, None] + scores[t - 1], axis=1) + rows[t])
    beta = np.broadcast_to(chain.stop[lists[-1]].astype(np.float64), alpha[-1].shape)
    log_z = float(LOG.plus((alpha[-1] + beta).ravel(), axis=0))
    out[:] = 0
    if log_z == -np.inf:
        return log_z, float(given.weights[0])
    weight = term_weight(float(given.weights[0]), given.rate, log_z - float(given.pivots[0]))
    for t in range(T - 1, -1, -1):
        out[t, lists[t]] = np.exp(alpha[t] + beta - log_z).sum(axis=0)
        if t > 0:
            index, axes = steps[t - 1]
            ahead = scores[t - 1] + (rows[t] + beta)[:, None, :]  # [G, M, K]
            sources = alpha[t - 1].transpose(axes)
            counts[index[:, :, None], lists[t]] += weight * np.exp(sources[:, :, None] + ahead - log_z)
            beta = LOG.plus(ahead, axis=2).transpose(axes)
    return log_z, weight


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
