"""The best labellings over candidate labels: Viterbi of both orders, and the K best of second order.

Stands beside candidate_forward_backward, as viterbi and kbest stand beside forward_backward. States, groups and the
table S as chain/candidates.py has them.

    δ_0[c] = start[c] + emission_0[c],      δ_t[s] = emission_t[c(s)] + max_{p ─► s} ( δ_{t−1}[p] + S[p, s] )
    best   = max δ_{T−1}[s] + stop[c(s)]; its labels are found backwards, scores alone being kept

The K best come from a search backwards from the end (Soong and Huang, A tree-trellis based fast search, 1991). A
suffix y_t..y_{T−1} has the score of its best completion, which δ knows exactly, so suffixes that are taken best first
become whole labellings in the right order, and none in vain. Ties: the smallest label wins, at the last position first.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from itertools import islice

import numpy as np

from tagwright._jit import tight_kernel
from tagwright.arrays import Doubles, Floats, Ints, Longs
from tagwright.chain.candidates import (
    Candidates,
    StepTable,
    count_groups,
    list_of,
    locate_sources,
    locate_states,
    step_to_best,
)
from tagwright.chain.log_space import table_rows


@tight_kernel
def fill_prefixes(
    emission: Floats, candidates: Candidates, begin: int, T: int, chain: StepTable, first_state: Longs, delta: Floats
) -> None:
    """δ of the sentence that begins at token `begin`."""
    labels = candidates.labels
    for t in range(T):
        now = list_of(candidates, begin + t)
        K = now[1] - now[0]
        for g in range(count_groups(candidates, begin, t, chain.order)):
            here = first_state[t] + g * K
            if t == 0:
                for j in range(K):
                    delta[j] = chain.start[labels[now[0] + j]]
            else:
                sources = locate_sources(candidates, begin, t, g, chain, first_state)
                step_to_best(delta, sources, labels, chain.table, chain.n_labels, now, here)
            for j in range(K):
                delta[here + j] += emission[begin + t, labels[now[0] + j]]


@tight_kernel
def trace_back(
    candidates: Candidates, begin: int, T: int, chain: StepTable, first_state: Longs, delta: Floats, found: Ints
) -> float:
    """The best labels of one sentence from δ, right to left, into found [begin : begin + T]; returns their score. Of
    equal last states, that with the smallest label."""
    labels, state, score = candidates.labels, first_state[T - 1], -np.inf
    low, high = list_of(candidates, begin + T - 1)
    for j in range(high - low):
        for e in range(first_state[T - 1] + j, first_state[T], high - low):
            if delta[e] + chain.stop[labels[low + j]] > score:
                state, score = e, float(delta[e] + chain.stop[labels[low + j]])
    for t in range(T - 1, -1, -1):
        low, high = list_of(candidates, begin + t)
        g, c = (state - first_state[t]) // (high - low), labels[low + (state - first_state[t]) % (high - low)]
        found[begin + t] = c
        if t > 0:
            low, high, first, stride, base = locate_sources(candidates, begin, t, g, chain, first_state)
            state, top = first, -np.inf
            for m in range(high - low):
                value = delta[first + m * stride] + chain.table[base + labels[low + m], c]
                if value > top:
                    state, top = first + m * stride, value
    return score


@tight_kernel
def viterbi_of_candidates(
    emission: Floats, offsets: Longs, candidates: Candidates, chain: StepTable, places: Longs, delta: Floats,
    found: Ints, scores: Doubles,
) -> None:  # fmt: skip
    """Given emission [n, P], offsets [N + 1]; places [2, L + 1] and delta [the most states of a sentence] are work.
    Returned: found [n], scores [N] (−inf where no labelling is possible)."""
    first_state = places[1]
    for i in range(offsets.shape[0] - 1):
        begin, T = offsets[i], offsets[i + 1] - offsets[i]
        locate_states(candidates, begin, T, chain.order, places[0], first_state)
        fill_prefixes(emission, candidates, begin, T, chain, first_state, delta)
        scores[i] = trace_back(candidates, begin, T, chain, first_state, delta, found)


def best_paths_over_candidates(
    emission: Floats, offsets: Longs, candidates: Candidates, chain: StepTable
) -> tuple[Ints, Doubles]:
    """The best labels [n] and their scores [N] for a run of sentences, emission [n, P]."""
    found, scores = np.empty(len(emission), np.int32), np.empty(len(offsets) - 1)
    lengths = np.diff(offsets)
    places = np.empty((2, int(lengths.max()) + 1), np.int64)
    delta = np.empty(candidates.most_states(lengths, chain.order), emission.dtype)
    viterbi_of_candidates(emission, offsets, candidates, chain, places, delta, found, scores)
    return found, scores


def k_best_of_pairs(emission: Doubles, candidates: Candidates, chain: StepTable, k: int) -> tuple[Longs, Doubles]:
    """The k best labellings of one sentence of second order, best first: paths [K', T] and their scores [K'], falling.

    Given emission [T, ≥ Y] in float64. K' is smaller where there are fewer labellings.
    """
    T = len(emission)
    ranked = list(islice(_rank(emission, candidates, chain, k), k))
    paths = np.array([labels[::-1] for labels, _ in ranked], np.int64).reshape(-1, T)
    return paths, np.array([score for _, score in ranked], np.float64)


def _rank(
    emission: Doubles, candidates: Candidates, chain: StepTable, k: int
) -> Iterator[tuple[tuple[int, ...], float]]:
    """Labellings, read from the end, with their scores, best first; the k best at least.

    A suffix with the pair (q, c) at its left end, at positions t and t + 1, has the score δ_{t+1}[q, c] + tail, the
    tail being all that lies to the right. Each one that is taken is lengthened by the k best labels p.
    """
    T, Y = len(emission), chain.n_labels
    lists = [candidates.of_token(t) for t in range(T)]
    grids = [(chain.start[lists[0]] + emission[0, lists[0]])[None]]  # δ, [G, K]
    for t in range(1, T):
        rows, axes = table_rows(candidates, t, chain)
        sums = grids[-1].transpose(axes)[:, :, None] + chain.table[rows][:, :, lists[t]]  # [G, M, K]
        grids.append(sums.max(axis=1) + emission[t, lists[t]])
    queue: list[tuple[float, tuple[int, ...], int, float]] = []  # −score, labels, index of the last in its list, tail
    for j, c in enumerate(lists[-1].tolist()):
        tail = float(chain.stop[c])
        for i, d in enumerate(grids[-1][:, j].tolist()):
            labels: tuple[int, ...] = (c, int(lists[-2][i])) if T > 1 else (c,)
            if d + tail > -np.inf:
                queue.append((-(d + tail), labels, i, tail))
    heapq.heapify(queue)
    while queue:
        negative, labels, at, tail = heapq.heappop(queue)
        t = T - len(labels)
        if t == 0:
            yield labels, -negative
            continue
        q, c = labels[-1], labels[-2]
        tails = chain.table[Y + q * Y + lists[t - 1].astype(np.int64), c] + (emission[t + 1, c] + tail)
        scores = grids[t][:, at] + tails
        for h in np.argsort(-scores, kind="stable")[:k].tolist():
            if scores[h] > -np.inf:
                longer = (*labels, int(lists[t - 1][h]))
                heapq.heappush(queue, (-float(scores[h]), longer, h, float(tails[h])))
