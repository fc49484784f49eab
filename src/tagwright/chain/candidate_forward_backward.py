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

A sentence where c_t, g_t or Σ u_t falls under FLOOR is given up and repeated with chain/log_space.py.
LM-POS section 2.1 (higher-order label features); Thede and Harper 1999 for the recursions over label pairs.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tagwright._jit import natural, tight_kernel
from tagwright.arrays import Doubles, Floats, Longs
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
from tagwright.chain.label_chain import TermWeights, term_weight
from tagwright.chain.scaling import FLOOR, RunSums, exp_row, room_for_powers, sum_logs


class CandidateBuffers(NamedTuple):
    """Work space for one sentence: L positions, C candidates and S states in all."""

    x: Floats  # [C]
    gamma: Floats  # [C]: scores, until γ takes their place
    bits: NDArray[Any]  # [C]: of exp_row
    powers: Floats  # [C]: the same memory
    first_label: Longs  # [L + 1]: where those of a position begin in x and γ
    first_state: Longs  # [L + 1]: the same in α and v
    c: Doubles  # [L]
    alpha: Floats  # [S]
    v: Floats  # [S]: β_t, until v_t takes its place

    @classmethod
    def build(cls, lengths: Longs, candidates: Candidates, order: int, like: Floats) -> CandidateBuffers:
        L = int(lengths.max())
        C, S = candidates.most_states(lengths, 1), candidates.most_states(lengths, order)
        (x, gamma), (alpha, v) = np.empty((2, C), like.dtype), np.empty((2, S), like.dtype)
        bits, powers = room_for_powers(C, like.dtype.type)
        places = np.empty((2, L + 1), np.int64)
        return cls(x, gamma, bits, powers, places[0], places[1], np.empty(L), alpha, v)


# What is natural below: tokens and states count from 0.


@tight_kernel
def gather_exponentials(emission: Floats, candidates: Candidates, begin: int, T: int, work: CandidateBuffers) -> float:
    """x_t[k] = exp(emission[t, candidate k] − max_t); returns Σ max_t. A position of nothing but −inf becomes 0."""
    labels, scores, shift = candidates.labels, work.gamma, 0.0
    for t in range(T):
        low, high = list_of(candidates, begin + t)
        row, here = emission[natural(begin + t)], work.first_label[t] - low
        peak = row[labels[natural(low)]]
        for e in range(low + 1, high):
            peak = max(peak, row[labels[natural(e)]])
        peak = peak if peak > -np.inf else row.dtype.type(0)
        shift += peak
        for e in range(low, high):
            scores[natural(here + e)] = row[labels[natural(e)]] - peak
    n = work.first_label[T]
    exp_row(scores[:n], scores.dtype.type(0), work.x[:n], work.bits[:n], work.powers[:n])
    return shift


@tight_kernel
def walk_forward(candidates: Candidates, begin: int, T: int, chain: StepTable, work: CandidateBuffers) -> bool:
    """α and c of one sentence. False when a sum is too small to trust."""
    alpha, labels = work.alpha, candidates.labels
    number = alpha.dtype.type
    for t in range(T):
        now, here = list_of(candidates, begin + t), work.first_state[t]
        K, G = now[1] - now[0], count_groups(candidates, begin, t, chain.order)
        total = number(0)
        if t == 0:
            for j in range(K):
                alpha[j] = chain.start[labels[natural(now[0] + j)]] * work.x[j]
                total += alpha[j]
        for g in range(G if t > 0 else 0):
            sources = locate_sources(candidates, begin, t, g, chain, work.first_state)
            total += step_forward(
                alpha, sources, labels, chain.table, chain.n_labels, now, work.x, work.first_label[t], here + g * K
            )
        work.c[t] = total
        if not total > FLOOR:
            return False
        inverse = number(1 / total)
        for e in range(here, work.first_state[t + 1]):
            alpha[natural(e)] *= inverse
    return True


@tight_kernel
def look_back(t: int, K: int, G: int, work: CandidateBuffers) -> float:
    """From β_t: γ_t [K] (labels) and v_t [states]. Returns the factor with which u_t = factor · v_t; 0 when a sum is
    too small to trust."""
    alpha, v, x, gamma = work.alpha, work.v, work.x, work.gamma
    here, first = work.first_state[t], work.first_label[t]
    number = x.dtype.type
    g, total = number(0), number(0)
    for k in range(G):
        for j in range(K):
            e = natural(here + k * K + j)
            g += alpha[e] * v[e]
            total += x[natural(first + j)] * v[e]
    if not (g > FLOOR and total > FLOOR):
        return 0.0
    node, edge = number(1 / g), number(1 / (g * work.c[t]))
    for j in range(K):
        gamma[natural(first + j)] = 0
    for k in range(G):
        for j in range(K):
            e = natural(here + k * K + j)
            gamma[natural(first + j)] += alpha[e] * v[e] * node
            v[e] = x[natural(first + j)] * v[e] * edge
    return float(g * work.c[t] / total)


@tight_kernel
def walk_backward(candidates: Candidates, begin: int, T: int, chain: StepTable, work: CandidateBuffers) -> bool:
    """γ and v of one sentence. False when a sum is too small to trust."""
    labels = candidates.labels
    for t in range(T - 1, -1, -1):
        now, here = list_of(candidates, begin + t), work.first_state[t]
        K, G = now[1] - now[0], count_groups(candidates, begin, t, chain.order)
        if t == T - 1:
            for g in range(G):
                for j in range(K):
                    work.v[natural(here + g * K + j)] = chain.stop[labels[natural(now[0] + j)]]
        factor = look_back(t, K, G, work)
        if factor == 0:
            return False
        for g in range(G if t > 0 else 0):
            sources = locate_sources(candidates, begin, t, g, chain, work.first_state)
            step_back(work.v, here + g * K, factor, now, labels, chain.table, chain.n_labels, sources)
    return True


@tight_kernel
def add_steps(
    candidates: Candidates, begin: int, T: int, chain: StepTable, work: CandidateBuffers, weight: float, counts: Floats
) -> None:
    """counts += weight · Σ_{t>0} α_{t−1} ⊗ v_t."""
    for t in range(1, T):
        now = list_of(candidates, begin + t)
        for g in range(count_groups(candidates, begin, t, chain.order)):
            here = work.first_state[t] + g * (now[1] - now[0])
            sources = locate_sources(candidates, begin, t, g, chain, work.first_state)
            add_products(work.alpha, sources, work.v, here, weight, now, candidates.labels, chain.n_labels, counts)


@tight_kernel
def forward_backward_of_candidates(
    emission: Floats, offsets: Longs, given: TermWeights, found: RunSums, out: Floats, candidates: Candidates,
    chain: StepTable, work: CandidateBuffers,
) -> None:  # fmt: skip
    """All sentences of a run: emission [n, P], offsets [N + 1].

    Returned: out [n, P] = γ, 0 where a label is no candidate (it may be `emission` itself); found, with log_z lacking
    what was taken out of W, start and stop. A sentence that is not done leaves its rows of `out` alone.
    """
    labels = candidates.labels
    for i in range(offsets.shape[0] - 1):
        begin, T = offsets[i], offsets[i + 1] - offsets[i]
        locate_states(candidates, begin, T, chain.order, work.first_label, work.first_state)
        log_z = gather_exponentials(emission, candidates, begin, T, work)
        done = walk_forward(candidates, begin, T, chain, work) and walk_backward(candidates, begin, T, chain, work)
        found.done[i] = done
        if not done:
            continue
        low, high = list_of(candidates, begin + T - 1)
        total = 0.0  # α_{T−1} · exp(stop)
        for e in range(work.first_state[T - 1], work.first_state[T], high - low):
            for j in range(high - low):
                total += work.alpha[e + j] * chain.stop[labels[low + j]]
        log_z += np.log(total) + sum_logs(work.c[:T])
        found.log_z[i] = log_z
        found.weights[i] = term_weight(given.weights[i], given.rate, log_z - given.pivots[i])
        add_steps(candidates, begin, T, chain, work, found.weights[i], found.counts)
        for t in range(T):
            low, high = list_of(candidates, begin + t)
            row, here = out[natural(begin + t)], work.first_label[t] - low
            row[:] = 0
            for e in range(low, high):
                row[labels[natural(e)]] = work.gamma[natural(here + e)]
