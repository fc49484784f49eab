"""Forward-backward over candidate labels, of first and second order, with scaled probabilities.

Stands beside forward_backward: the same mathematics over the states of chain/candidates.py. p ─► s are the steps from
state to state that there are, W their factors, c(s) the label of state s.

    x_t = exp(emission_t − max)     W = exp(scores − max)
    forward    α_0[c] = x_0[c] exp(start[c]),    α_t[s] = x_t[c(s)] Σ_{p ─► s} α_{t−1}[p] W[p, s]
                                                 each divided by its sum c_t, so that Σ α_t = 1
    backward   β_{T−1}[s] = exp(stop[c(s)]),     β_{t−1}[p] = Σ_{p ─► s} W[p, s] u_t[s]
                                                 u_t = x_t ∘ β_t / Σ (x_t ∘ β_t)
    states     γ_t = α_t ∘ β_t / g_t,            g_t = Σ α_t ∘ β_t;          a label's γ is the sum over its states
    steps      Σ_t α_{t−1}[p] v_t[s] W[p, s],    v_t = x_t ∘ β_t / (c_t g_t)

A sentence where c_t, g_t or Σ u_t falls under FLOOR is given up and repeated with chain/candidate_log_space.py.
LM-POS section 2.1 (higher-order label features); Thede and Harper 1999 for the recursions over label pairs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tagwright._jit import tight_kernel
from tagwright.arrays import Bools, Doubles, Floats, Longs, Shorts
from tagwright.chain.candidate_log_space import log_expectations
from tagwright.chain.candidates import (
    Candidates,
    StepTable,
    add_products,
    count_groups,
    list_of,
    locate_sources,
    locate_states,
    step_back,
    step_forward,
)
from tagwright.chain.log_space import FLOOR
from tagwright.chain.term_weight import TermWeights, term_weight


class CandidateBuffers(NamedTuple):
    """Work space for one sentence: L positions, K candidates of one, S states in all, B states of one position."""

    x: Floats  # [L, K]
    gamma: Floats  # [L, K]
    first_state: Longs  # [L + 1]
    c: Doubles  # [L]
    alpha: Floats  # [S]
    v: Floats  # [S]
    beta: Floats  # [B]
    nothing: Shorts  # [1], 0: the label before the first

    @classmethod
    def build(cls, offsets: Longs, candidates: Candidates, order: int, like: Floats) -> CandidateBuffers:
        L = int(np.diff(offsets).max())
        S, B, K = candidates.most_states(offsets, order)
        (x, gamma), (alpha, v) = (np.empty((2, *size), like.dtype) for size in ((L, K), (S,)))
        nothing = np.zeros(1, candidates.labels.dtype)
        return cls(x, gamma, np.empty(L + 1, np.int64), np.empty(L), alpha, v, np.empty(B, like.dtype), nothing)


class StepCounts(NamedTuple):
    """What a run has of every step and sentence."""

    counts: Floats  # [R, Y] Σ α ⊗ v; times W, the expected number of each step
    log_z: Doubles  # [N]
    weights: Doubles  # [N] how much each sentence counted
    done: Bools  # [N] false where scaled numbers would not do: such a sentence has added nothing


@tight_kernel
def gather_exponentials(emission: Floats, candidates: Candidates, begin: int, T: int, x: Floats) -> float:
    """x[t, k] = exp(emission[t, candidate k] − max_t); returns Σ max_t. A position of nothing but −inf becomes 0."""
    shift = 0.0
    for t in range(T):
        low, high = list_of(candidates, begin + t)
        now, row = candidates.labels[low:high], emission[begin + t]
        peak = row[now[0]]
        for k in range(1, now.shape[0]):
            peak = max(peak, row[now[k]])
        if peak == -np.inf:
            x[t, : now.shape[0]] = 0
            continue
        for k in range(now.shape[0]):
            x[t, k] = np.exp(row[now[k]] - peak)
        shift += peak
    return shift


@tight_kernel
def walk_forward(candidates: Candidates, begin: int, T: int, chain: StepTable, work: CandidateBuffers) -> bool:
    """α and c of one sentence. False when a sum is too small to trust."""
    older = last = work.nothing
    before = work.alpha
    for t in range(T):
        low, high = list_of(candidates, begin + t)
        now = candidates.labels[low:high]
        K, G = now.shape[0], count_groups(chain.order, t, last)
        out = work.alpha[work.first_state[t] : work.first_state[t + 1]]
        if t == 0:
            for j in range(K):
                out[j] = chain.start[now[j]]
        else:
            sources = last if chain.order == 1 else older
            for g in range(G):
                first, stride, base = locate_sources(chain.order, t, g, last, chain.n_labels)
                group = out[g * K : g * K + K]
                step_forward(before, first, stride, chain.table, base, sources, chain.n_labels, now, group)
        total = out.dtype.type(0)
        for g in range(G):
            for j in range(K):
                out[g * K + j] *= work.x[t, j]
                total += out[g * K + j]
        work.c[t] = total
        if not total > FLOOR:
            return False
        inverse = out.dtype.type(1 / total)
        for e in range(out.shape[0]):
            out[e] *= inverse
        older, last, before = last, now, out
    return True


@tight_kernel
def look_back(t: int, K: int, G: int, work: CandidateBuffers) -> float:
    """From β_t: γ_t [K] (labels) and v_t [states]. Returns the factor with which u_t = factor · v_t; 0 when a sum is
    too small to trust."""
    here, end = work.first_state[t], work.first_state[t + 1]
    alpha, v, x, gamma, beta = work.alpha[here:end], work.v[here:end], work.x[t], work.gamma[t], work.beta
    number = x.dtype.type
    g, total = number(0), number(0)
    for k in range(G):
        for j in range(K):
            g += alpha[k * K + j] * beta[k * K + j]
            total += x[j] * beta[k * K + j]
    if not (g > FLOOR and total > FLOOR):
        return 0.0
    node, edge = number(1 / g), number(1 / (g * work.c[t]))
    for j in range(K):
        gamma[j] = 0
    for k in range(G):
        for j in range(K):
            gamma[j] += alpha[k * K + j] * beta[k * K + j] * node
            v[k * K + j] = x[j] * beta[k * K + j] * edge
    return float(g * work.c[t] / total)


@tight_kernel
def walk_backward(candidates: Candidates, begin: int, T: int, chain: StepTable, work: CandidateBuffers) -> bool:
    """γ and v of one sentence. False when a sum is too small to trust."""
    low, high = list_of(candidates, begin + T - 1)
    now = candidates.labels[low:high]
    for t in range(T - 1, -1, -1):
        low, high = list_of(candidates, begin + max(t - 1, 0))
        last = candidates.labels[low:high]
        K, G = now.shape[0], count_groups(chain.order, t, last)
        if t == T - 1:
            for g in range(G):
                for j in range(K):
                    work.beta[g * K + j] = chain.stop[now[j]]
        factor = look_back(t, K, G, work)
        if factor == 0:
            return False
        if t > 0:
            sources = last
            if chain.order == 2:
                low, high = list_of(candidates, begin + max(t - 2, 0))
                sources = candidates.labels[low:high] if t > 1 else work.nothing
            for g in range(G):
                first, stride, base = locate_sources(chain.order, t, g, last, chain.n_labels)
                v = work.v[work.first_state[t] + g * K : work.first_state[t] + g * K + K]
                step_back(v, factor, now, chain.table, base, sources, chain.n_labels, first, stride, work.beta)
        now = last
    return True


@tight_kernel
def add_steps(
    candidates: Candidates, begin: int, T: int, chain: StepTable, work: CandidateBuffers, weight: float, counts: Floats
) -> None:
    """counts += weight · Σ_{t>0} α_{t−1} ⊗ v_t."""
    older = work.nothing
    low, high = list_of(candidates, begin)
    last = candidates.labels[low:high]
    for t in range(1, T):
        low, high = list_of(candidates, begin + t)
        now = candidates.labels[low:high]
        before = work.alpha[work.first_state[t - 1] : work.first_state[t]]
        sources = last if chain.order == 1 else older
        K = now.shape[0]
        for g in range(count_groups(chain.order, t, last)):
            first, stride, base = locate_sources(chain.order, t, g, last, chain.n_labels)
            v = work.v[work.first_state[t] + g * K : work.first_state[t] + g * K + K]
            add_products(before, first, stride, v, weight, now, base, sources, chain.n_labels, counts)
        older, last = last, now


@tight_kernel
def log_of_sums(now: Shorts, T: int, stop: Floats, work: CandidateBuffers) -> float:
    """log(α_{T−1} · exp(stop)) + Σ log c_t; `now`: the candidates of the last position."""
    total = 0.0
    for e in range(work.first_state[T - 1], work.first_state[T], now.shape[0]):
        for j in range(now.shape[0]):
            total += work.alpha[e + j] * stop[now[j]]
    total = np.log(total)
    for t in range(T):
        total += np.log(work.c[t])
    return float(total)


@tight_kernel
def forward_backward_of_candidates(
    emission: Floats, offsets: Longs, candidates: Candidates, chain: StepTable, given: TermWeights,
    work: CandidateBuffers, found: StepCounts, out: Floats,
) -> None:  # fmt: skip
    """All sentences of a run: emission [n, P], offsets [N + 1].

    Returned: out [n, P] = γ, 0 where a label is no candidate (it may be `emission` itself); found, with log_z lacking
    what was taken out of W, start and stop. A sentence that is not done leaves its rows of `out` alone.
    """
    for i in range(offsets.shape[0] - 1):
        begin, T = offsets[i], offsets[i + 1] - offsets[i]
        locate_states(candidates, begin, T, chain.order, work.first_state)
        shift = gather_exponentials(emission, candidates, begin, T, work.x)
        done = walk_forward(candidates, begin, T, chain, work) and walk_backward(candidates, begin, T, chain, work)
        found.done[i] = done
        if not done:
            continue
        low, high = list_of(candidates, begin + T - 1)
        found.log_z[i] = shift + log_of_sums(candidates.labels[low:high], T, chain.stop, work)
        found.weights[i] = term_weight(given.weights[i], given.rate, found.log_z[i] - given.pivots[i])
        add_steps(candidates, begin, T, chain, work, found.weights[i], found.counts)
        for t in range(T):
            low, high = list_of(candidates, begin + t)
            now = candidates.labels[low:high]
            out[begin + t, :] = 0
            for k in range(now.shape[0]):
                out[begin + t, now[k]] = work.gamma[t, k]


@dataclass(frozen=True, slots=True)
class ScaledTable:
    """A StepTable of exponentials, and how to undo the scaling."""

    steps: StepTable
    shifts: Callable[[Longs], Doubles]  # lengths [N] ─► what was taken out of log Z [N]
    scores: Callable[[], StepTable]  # the scores themselves, for log space


def expect_over_candidates(
    emission: Floats, offsets: Longs, candidates: Candidates, chain: ScaledTable, given: TermWeights, out: Floats
) -> StepCounts:
    """Forward-backward of a run of sentences: out [n, P] gets the node marginals (it may be `emission` itself).

    Returned: expected counts of all steps, W put in; log Z, −inf where no labelling is possible (such a sentence's
    marginals are 0).
    """
    N, steps = len(offsets) - 1, chain.steps
    shifts = chain.shifts(np.diff(offsets))
    counts = np.zeros((steps.n_rows, steps.n_labels), emission.dtype)
    found = StepCounts(counts, np.empty(N), np.empty(N), np.empty(N, np.bool_))
    forward_backward_of_candidates(
        emission, offsets, candidates, steps, given.relative_to(shifts),
        CandidateBuffers.build(offsets, candidates, steps.order, emission), found, out,
    )  # fmt: skip
    found.log_z[:] += shifts
    counts *= steps.table[: steps.n_rows, : steps.n_labels]
    scores = None if found.done.all() else chain.scores()
    for i in np.flatnonzero(~found.done).tolist():
        assert scores is not None
        part = slice(int(offsets[i]), int(offsets[i + 1]))
        one = TermWeights(given.weights[i : i + 1], given.pivots[i : i + 1], given.rate)
        result = log_expectations(
            emission[part], candidates.part(part.start, part.stop), scores, one, out[part], counts
        )
        found.log_z[i], found.weights[i] = result
    return found
