"""The best labellings of second order: Viterbi over label pairs, and the K best.

Stands beside second_order (which has the score F and the pairs) as viterbi and kbest stand beside forward_backward.

    δ_0[·, c] = start[c] + emission_0[c],   δ_1[q, c] = δ_0[·, q] + transition[q, c] + emission_1[c]
    δ_t[q, c] = emission_t[c] + max_p ( δ_{t−1}[p, q] + S[q, p, c] )            S = transition[q, c] + trigram[p, q, c]
    best      = max δ_{T−1}[q, c] + stop[c]; its labels are found backwards, scores alone being kept

The K best come from a search backwards from the end (Soong and Huang, A tree-trellis based fast search, 1991). A
suffix y_t..y_{T−1} has the score of its best completion, which δ knows exactly, so suffixes that are taken best first
become whole labellings in the right order, and none in vain. Ties: the smallest label wins, at the last position first.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from tagwright._jit import kernel, tight_kernel
from tagwright.arrays import Doubles, Floats, Ints, Longs, Shorts
from tagwright.chain.candidates import Candidates
from tagwright.chain.second_order import locate_pairs, most_pairs
from tagwright.chain.trigrams import Trigrams


@dataclass(frozen=True, slots=True)
class PairSteps:
    """The chain's scores, ready for Viterbi over pairs."""

    transition: Floats  # [Y, 1, Y]: S of position 1, where p means nothing
    start: Floats  # [Y]
    stop: Floats  # [Y]
    table: Floats  # S [q, p, c]

    @classmethod
    def build(
        cls, transition: Doubles, start: Doubles, stop: Doubles, trigrams: Trigrams, dtype: type[np.floating[Any]]
    ) -> PairSteps:
        table = trigrams.table(transition, dtype)
        return cls(transition[:, None].astype(dtype), start.astype(dtype), stop.astype(dtype), table)


@kernel
def fill_pair_prefixes(
    emission: Floats, rows: Ints, pointers: Longs, labels: Shorts, places: Longs, transition: Floats, start: Floats,
    S: Floats, delta: Floats,
) -> None:  # fmt: skip
    """δ of one sentence, flat as locate_pairs has it."""
    older = last = np.zeros(1, labels.dtype)
    for t in range(rows.shape[0]):
        now = labels[pointers[rows[t]] : pointers[rows[t] + 1]]
        out = delta[places[t] : places[t + 1]].reshape(-1, now.shape[0])
        if t == 0:
            for j in range(now.shape[0]):
                out[0, j] = start[now[j]]
        else:
            before = delta[places[t - 1] : places[t]].reshape(-1, last.shape[0])
            if t == 1:
                raise_pairs(before, transition, older, last, now, out)
            elif older.shape[0] == last.shape[0] == now.shape[0] == S.shape[0]:
                raise_all_pairs(before, S, out)
            else:
                raise_pairs(before, S, older, last, now, out)
        for i in range(out.shape[0]):
            for j in range(now.shape[0]):
                out[i, j] += emission[t, now[j]]
        older, last = last, now


@tight_kernel
def raise_pairs(before: Floats, S: Floats, older: Shorts, last: Shorts, now: Shorts, out: Floats) -> None:
    """out[q, c] = max_p before[p, q] + S[q, p, c] over candidates."""
    for i in range(last.shape[0]):
        for j in range(now.shape[0]):
            out[i, j] = -np.inf
        for h in range(before.shape[0]):
            d, p, q = before[h, i], older[h], last[i]
            for j in range(now.shape[0]):
                out[i, j] = max(out[i, j], d + S[q, p, now[j]])


@kernel
def raise_all_pairs(before: Floats, S: Floats, out: Floats) -> None:
    """The same over all labels, along whole rows of S, four at a time (the last four overlap those before)."""
    Y = S.shape[0]
    for q in range(Y):
        best = out[q]
        for c in range(Y):
            best[c] = -np.inf
        for start in range(0, Y, 4):
            p = max(min(start, Y - 4), 0)
            d0, r0 = before[p, q], S[q, p]
            d1, r1 = before[min(p + 1, Y - 1), q], S[q, min(p + 1, Y - 1)]
            d2, r2 = before[min(p + 2, Y - 1), q], S[q, min(p + 2, Y - 1)]
            d3, r3 = before[min(p + 3, Y - 1), q], S[q, min(p + 3, Y - 1)]
            for c in range(Y):
                s0, s1, s2, s3 = d0 + r0[c], d1 + r1[c], d2 + r2[c], d3 + r3[c]
                a = s0 if s0 > s1 else s1
                b = s2 if s2 > s3 else s3
                a = a if a > b else b
                best[c] = a if a > best[c] else best[c]


@kernel
def trace_pairs_back(
    rows: Ints, pointers: Longs, labels: Shorts, places: Longs, stop: Floats, S: Floats, delta: Floats, found: Ints
) -> float:
    """The best labels of one sentence from δ, right to left, into found [≥ T]; returns their score."""
    T = rows.shape[0]
    first = pointers[rows[T - 1]]
    size = pointers[rows[T - 1] + 1] - first
    now, then = 0, 0  # the places of c and q in their lists
    top = -np.inf
    for j in range(size):
        for i in range((places[T] - places[T - 1]) // size):
            value = delta[places[T - 1] + i * size + j] + stop[labels[first + j]]
            if value > top:
                now, then, top = j, i, value
    score = float(top)
    found[T - 1] = labels[first + now]
    for t in range(T - 2, -1, -1):
        before = pointers[rows[t]]
        n_q = pointers[rows[t] + 1] - before
        found[t] = labels[before + then]
        best, top = 0, -np.inf
        older = pointers[rows[t - 1]] if t > 0 else 0
        for h in range(pointers[rows[t - 1] + 1] - older if t > 0 else 0):
            value = delta[places[t] + h * n_q + then] + S[found[t], labels[older + h], found[t + 1]]
            if value > top:
                best, top = h, value
        then = best
    return score


@kernel
def viterbi_of_pairs(
    emission: Floats, offsets: Longs, rows: Ints, pointers: Longs, labels: Shorts, transition: Floats, start: Floats,
    stop: Floats, S: Floats, places: Longs, delta: Floats, found: Ints, scores: Doubles,
) -> None:  # fmt: skip
    """Given emission [n, P], offsets [N + 1], Candidates and PairSteps; places [L + 1] and delta [the most pairs of a
    sentence] are work. Returned: found [n], scores [N] (−inf where no labelling is possible)."""
    for i in range(offsets.shape[0] - 1):
        begin, end = offsets[i], offsets[i + 1]
        here = rows[begin:end]
        locate_pairs(here, pointers, places)
        fill_pair_prefixes(emission[begin:end], here, pointers, labels, places, transition, start, S, delta)
        scores[i] = trace_pairs_back(here, pointers, labels, places, stop, S, delta, found[begin:])


def best_paths_of_pairs(
    emission: Floats, offsets: Longs, candidates: Candidates, steps: PairSteps
) -> tuple[Ints, Doubles]:
    """The best labels [n] and their scores [N] for a run of sentences, emission [n, P]."""
    found, scores = np.empty(len(emission), np.int32), np.empty(len(offsets) - 1)
    places = np.empty(int(np.diff(offsets).max()) + 1, np.int64)
    delta = np.empty(most_pairs(offsets, candidates)[0], emission.dtype)
    viterbi_of_pairs(
        emission, offsets, *candidates.arrays, steps.transition, steps.start, steps.stop, steps.table,
        places, delta, found, scores,
    )  # fmt: skip
    return found, scores


def k_best_of_pairs(emission: Doubles, candidates: Candidates, steps: PairSteps, k: int) -> tuple[Longs, Doubles]:
    """The k best labellings of one sentence, best first: paths [K', T] and their scores [K'], falling.

    Given emission [T, ≥ Y] and PairSteps, all in float64. K' is smaller where there are fewer labellings.
    """
    T = len(emission)
    ranked = list(islice(_rank(emission, candidates, steps, k), k))
    paths = np.array([labels[::-1] for labels, _ in ranked], np.int64).reshape(-1, T)
    return paths, np.array([score for _, score in ranked], np.float64)


def _rank(
    emission: Doubles, candidates: Candidates, steps: PairSteps, k: int
) -> Iterator[tuple[tuple[int, ...], float]]:
    """Labellings, read from the end, with their scores, best first; the k best at least.

    A suffix with the pair (q, c) at its left end, at positions t and t + 1, has the score δ_{t+1}[q, c] + tail, the
    tail being all that lies to the right. Each one that is taken is lengthened by the k best labels p.
    """
    T = len(emission)
    lists = [candidates.labels[candidates.pointers[r] : candidates.pointers[r + 1]] for r in candidates.rows]
    places = np.empty(T + 1, np.int64)
    locate_pairs(candidates.rows, candidates.pointers, places)
    flat = np.empty(int(places[-1]))
    fill_pair_prefixes(emission, *candidates.arrays, places, steps.transition, steps.start, steps.table, flat)
    delta = [flat[a:b].reshape(-1, len(one)) for a, b, one in zip(places[:-1], places[1:], lists, strict=True)]
    queue: list[tuple[float, tuple[int, ...], int, float]] = []  # −score, labels, place of the last in its list, tail
    for j, c in enumerate(lists[-1].tolist()):
        tail = float(steps.stop[c])
        for i, d in enumerate(delta[-1][:, j].tolist()):
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
        tails = steps.table[q, lists[t - 1], c] + (emission[t + 1, c] + tail)
        scores = delta[t][:, at] + tails
        for h in np.argsort(-scores, kind="stable")[:k].tolist():
            if scores[h] > -np.inf:
                longer = (*labels, int(lists[t - 1][h]))
                heapq.heappush(queue, (-float(scores[h]), longer, h, float(tails[h])))
