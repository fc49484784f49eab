"""First-order kernels that walk only the candidate labels of every position: k_{t−1} · k_t steps instead of Y².

Stands beside forward_backward and viterbi, for learners with a tag dictionary. A label that is no candidate is as good
as forbidden: the results are those of the dense kernels on emission scores of −inf there. The mathematics is theirs
too, over short rows: row t of x, α, β has an entry for each candidate of position t.

    x_t = exp(emission_t − max)     M = exp(transition − max)
    forward    α_0 = x_0 ∘ exp(start) / c_0,   α_t = (α_{t−1} M) ∘ x_t / c_t       c_t makes Σ α_t = 1
    backward   β_{T−1} = exp(stop),            β_{t−1} = M u_t,   u_t = x_t ∘ β_t / Σ (x_t ∘ β_t)
    nodes      γ_t = α_t ∘ β_t / g_t,          g_t = α_t · β_t
    edges      Σ_t α_{t−1} ⊗ v_t ∘ M,          v_t = x_t ∘ β_t / (c_t g_t)

A sentence where c_t, g_t or Σ u_t falls under FLOOR is given up and repeated with chain/log_space.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tagwright._jit import tight_kernel
from tagwright._registers import best_sums
from tagwright.arrays import Bools, Doubles, Floats, Ints, Longs, Shorts, empty_rows
from tagwright.chain.forward_backward import FLOOR, Chain, Expectations
from tagwright.chain.log_space import log_forward_backward
from tagwright.chain.tilt import tilt
from tagwright.chain.viterbi import Steps, find_survivors, first_best

FEW = 8
"""Labels that Viterbi looks at one by one rather than as a row."""


@dataclass(frozen=True, slots=True)
class Candidates:
    """The labels that each token may have: token p has list rows[p], list r is labels[pointers[r] : pointers[r + 1]].

    Lists ascend and are never empty.
    """

    rows: Ints  # [n]
    pointers: Longs  # [R + 1]
    labels: Shorts  # [pointers[-1]]

    @classmethod
    def everything(cls, n_tokens: int, n_labels: int) -> Candidates:
        """All labels everywhere."""
        labels = np.arange(n_labels, dtype=np.uint16)
        return cls(np.zeros(n_tokens, np.int32), np.array([0, n_labels], np.int64), labels)

    def part(self, first: int, last: int) -> Candidates:
        """Those of the tokens `first` to `last` − 1."""
        return Candidates(self.rows[first:last], self.pointers, self.labels)

    @property
    def arrays(self) -> tuple[Ints, Longs, Shorts]:
        return self.rows, self.pointers, self.labels

    @property
    def sizes(self) -> Longs:
        """Candidates of every token [n]."""
        sizes: Longs = np.diff(self.pointers)[self.rows]
        return sizes

    def mask(self, n_labels: int) -> Bools:
        """The same as booleans [n, Y]."""
        lists = np.zeros((len(self.pointers) - 1, n_labels), np.bool_)
        lists[np.repeat(np.arange(len(lists)), np.diff(self.pointers)), self.labels] = True
        return np.asarray(lists[self.rows])


@tight_kernel
def gather(values: Floats, now: Shorts, out: Floats) -> None:
    """out[k] = values[candidate k]."""
    for j in range(now.shape[0]):
        out[j] = values[now[j]]


@tight_kernel
def step_forward(before: Floats, M: Floats, last: Shorts, now: Shorts, out: Floats) -> None:
    """out[c] = Σ_p before[p] M[p, c] over candidates: `last` of p, `now` of c."""
    for j in range(now.shape[0]):
        out[j] = 0
    for i in range(last.shape[0]):
        a, p = before[i], last[i]
        for j in range(now.shape[0]):
            out[j] += a * M[p, now[j]]


@tight_kernel
def scale(row: Floats, factor: Floats, size: int) -> Any:
    """row ∘= factor; row /= Σ row. Returns the sum; one too small to trust is left in the row."""
    total = row.dtype.type(0)
    for j in range(size):
        row[j] *= factor[j]
        total += row[j]
    if total > FLOOR:
        inverse = row.dtype.type(1 / total)
        for j in range(size):
            row[j] *= inverse
    return total


@tight_kernel
def step_back(M: Floats, last: Shorts, now: Shorts, u: Floats, out: Floats) -> None:
    """out[p] = Σ_c M[p, c] u[c]."""
    for i in range(last.shape[0]):
        p = last[i]
        total = u.dtype.type(0)
        for j in range(now.shape[0]):
            total += M[p, now[j]] * u[j]
        out[i] = total


@tight_kernel
def add_products(before: Floats, v: Floats, last: Shorts, now: Shorts, weight: float, edges: Floats) -> None:
    """edges[p, c] += weight · before[p] v[c]."""
    number = v.dtype.type(weight)
    for i in range(last.shape[0]):
        a, p = before[i] * number, last[i]
        for j in range(now.shape[0]):
            edges[p, now[j]] += a * v[j]


@tight_kernel
def gather_exponentials(emission: Floats, rows: Ints, pointers: Longs, labels: Shorts, x: Floats) -> float:
    """x[t, k] = exp(emission[t, candidate k] − max_t); returns Σ max_t. A position of nothing but −inf becomes 0."""
    shift = 0.0
    for t in range(rows.shape[0]):
        first, last = pointers[rows[t]], pointers[rows[t] + 1]
        peak = emission[t, labels[first]]
        for e in range(first + 1, last):
            peak = max(peak, emission[t, labels[e]])
        if peak == -np.inf:
            x[t, : last - first] = 0
            continue
        for e in range(first, last):
            x[t, e - first] = np.exp(emission[t, labels[e]] - peak)
        shift += peak
    return shift


@tight_kernel
def scatter_marginals(gamma: Floats, rows: Ints, pointers: Longs, labels: Shorts, out: Floats) -> None:
    """out[t] = γ_t at the candidates, 0 elsewhere."""
    for t in range(rows.shape[0]):
        first = pointers[rows[t]]
        out[t, :] = 0
        for e in range(first, pointers[rows[t] + 1]):
            out[t, labels[e]] = gamma[t, e - first]


@tight_kernel
def walk_forward(
    x: Floats, rows: Ints, pointers: Longs, labels: Shorts, M: Floats, start: Floats, alpha: Floats, c: Doubles
) -> bool:
    """α and c of one sentence. False when a sum is too small to trust."""
    for t in range(rows.shape[0]):
        first, end = pointers[rows[t]], pointers[rows[t] + 1]
        if t == 0:
            gather(start, labels[first:end], alpha[0])
        else:
            before, last = pointers[rows[t - 1]], pointers[rows[t - 1] + 1]
            step_forward(alpha[t - 1], M, labels[before:last], labels[first:end], alpha[t])
        c[t] = scale(alpha[t], x[t], end - first)
        if not c[t] > FLOOR:
            return False
    return True


@tight_kernel
def look_back(x: Floats, alpha: Floats, c: float, size: int, beta: Floats, gamma: Floats, u: Floats) -> bool:
    """From β_t: γ_t and u_t; x_t becomes v_t. False when a sum is too small to trust."""
    g = x.dtype.type(0)
    total = x.dtype.type(0)
    for j in range(size):
        g += alpha[j] * beta[j]
        total += x[j] * beta[j]
    if not (g > FLOOR and total > FLOOR):
        return False
    node, step, edge = x.dtype.type(1 / g), x.dtype.type(1 / total), x.dtype.type(1 / (g * c))
    for j in range(size):
        weight = x[j] * beta[j]
        gamma[j] = alpha[j] * beta[j] * node
        u[j] = weight * step
        x[j] = weight * edge
    return True


@tight_kernel
def walk_backward(
    x: Floats, rows: Ints, pointers: Longs, labels: Shorts, M: Floats, stop: Floats, alpha: Floats, c: Doubles,
    beta: Floats, u: Floats, gamma: Floats,
) -> bool:  # fmt: skip
    """γ and v (in place of x) of one sentence; beta, u [K] are work. False when a sum is too small to trust."""
    T = rows.shape[0]
    gather(stop, labels[pointers[rows[T - 1]] : pointers[rows[T - 1] + 1]], beta)
    for t in range(T - 1, -1, -1):
        first, end = pointers[rows[t]], pointers[rows[t] + 1]
        if not look_back(x[t], alpha[t], c[t], end - first, beta, gamma[t], u):
            return False
        if t > 0:
            before, last = pointers[rows[t - 1]], pointers[rows[t - 1] + 1]
            step_back(M, labels[before:last], labels[first:end], u, beta)
    return True


@tight_kernel
def add_edges(
    alpha: Floats, v: Floats, rows: Ints, pointers: Longs, labels: Shorts, weight: float, edges: Floats
) -> None:
    """edges += weight · Σ_{t>0} α_{t−1} ⊗ v_t."""
    for t in range(1, rows.shape[0]):
        before, last = pointers[rows[t - 1]], pointers[rows[t - 1] + 1]
        first, end = pointers[rows[t]], pointers[rows[t] + 1]
        add_products(alpha[t - 1], v[t], labels[before:last], labels[first:end], weight, edges)


@tight_kernel
def forward_backward_of_candidates(
    emission: Floats, offsets: Longs, rows: Ints, pointers: Longs, labels: Shorts, M: Floats, start: Floats,
    stop: Floats, x: Floats, alpha: Floats, gamma: Floats, c: Doubles, beta: Floats, u: Floats, edges: Floats,
    log_z: Doubles, done: Bools, weights: Doubles, pivots: Doubles, rate: float,
) -> None:  # fmt: skip
    """All sentences of a run.

    Given: emission [n, P] scores; offsets [N + 1]; Candidates; a Chain's arrays.
    Work space: x, alpha, gamma [L, K], c [L], beta, u [K] with L the longest length and K the longest list.
    Returned: emission is overwritten by γ; edges [P, P] += Σ α ⊗ v (multiply by M for the expected counts);
    log_z [N] without the Chain's shifts; weights [N] are tilted (chain/tilt.py) and count in edges; done [N], false
    where scaled numbers would not do: such a sentence keeps its emission and weight and adds nothing to edges.
    """
    for i in range(offsets.shape[0] - 1):
        begin, end = offsets[i], offsets[i + 1]
        shift = gather_exponentials(emission[begin:end], rows[begin:end], pointers, labels, x)
        done[i] = walk_forward(x, rows[begin:end], pointers, labels, M, start, alpha, c)
        done[i] = done[i] and walk_backward(x, rows[begin:end], pointers, labels, M, stop, alpha, c, beta, u, gamma)
        if not done[i]:
            continue
        total = 0.0
        first = pointers[rows[end - 1]]
        for e in range(first, pointers[rows[end - 1] + 1]):
            total += alpha[end - begin - 1, e - first] * stop[labels[e]]
        log_z[i] = shift + np.log(total)
        for t in range(end - begin):
            log_z[i] += np.log(c[t])
        weights[i] = tilt(weights[i], rate, log_z[i] - pivots[i])
        add_edges(alpha, x, rows[begin:end], pointers, labels, weights[i], edges)
        scatter_marginals(gamma, rows[begin:end], pointers, labels, emission[begin:end])


def expect_of_candidates(
    emission: Floats,
    offsets: Longs,
    candidates: Candidates,
    chain: Chain,
    *,
    weights: Doubles | None = None,
    pivots: Doubles | None = None,
    rate: float = 0.0,
) -> Expectations:
    """Forward-backward of a run of sentences: emission [n, P] is overwritten by the node marginals.

    Sentence i counts weights[i] · exp(rate · (log Z_i − pivots[i])) times in the transitions; once if nothing is given.
    log Z is −inf where no labelling is possible (such a sentence's marginals mean nothing).
    """
    N, L, K = len(offsets) - 1, int(np.diff(offsets).max()), int(candidates.sizes.max())
    Y = chain.n_labels
    x, alpha, gamma = np.empty((3, L, K), emission.dtype)
    beta, u = np.empty((2, K), emission.dtype)
    edges = np.zeros((Y, Y), emission.dtype)
    log_z, done = np.empty(N), np.empty(N, np.bool_)
    shifts = chain.shift * (np.diff(offsets) - 1) + chain.edge_shift
    weights = np.ones(N) if weights is None else weights.copy()
    pivots = np.zeros(N) if pivots is None else pivots
    forward_backward_of_candidates(
        emission, offsets, *candidates.arrays, chain.matrix, chain.start, chain.stop,
        x, alpha, gamma, np.empty(L), beta, u, edges, log_z, done, weights, pivots - shifts, rate,
    )  # fmt: skip
    log_z += shifts
    transitions = (edges * chain.matrix[:Y, :Y]).astype(np.float64)
    for i in np.flatnonzero(~done):
        begin, end = int(offsets[i]), int(offsets[i + 1])
        rows = emission[begin:end]
        rows[:, :Y][~candidates.part(begin, end).mask(Y)] = -np.inf
        counts = np.zeros((Y, Y))
        log_z[i] = log_forward_backward(rows, *chain.scores, rows, counts)
        weights[i] = tilt(weights[i], rate, log_z[i] - pivots[i])
        transitions += weights[i] * counts
    return Expectations(log_z, transitions, weights)


@tight_kernel
def step_to_candidates(
    previous: Floats, emission: Floats, transition: Floats, lead: Floats, before: Shorts, now: Shorts, alive: Longs,
    masked: Floats, out: Floats,
) -> None:  # fmt: skip
    """δ_t (chain/viterbi.py) at the candidates `now`; `before` are those of t − 1.

    Few labels are looked at one by one, and the rest of their row means nothing. Many are a row, with −inf beside them;
    as predecessors, those that survive are enough.
    """
    n = before.shape[0]
    if n > FEW:
        n = find_survivors(previous, lead, transition.shape[0], alive)
    else:
        for k in range(n):
            alive[k] = before[k]
    if now.shape[0] > FEW:
        masked[:] = -np.inf
        for k in range(now.shape[0]):
            masked[now[k]] = emission[now[k]]
        best_sums(previous, alive, n, transition, masked, transition.shape[0], out)
        return
    for k in range(now.shape[0]):
        y = now[k]
        best = previous[alive[0]] + transition[alive[0], y]
        for i in range(1, n):
            best = max(best, previous[alive[i]] + transition[alive[i], y])
        out[y] = best + emission[y]


@tight_kernel
def best_candidate(delta: Floats, bonus: Floats, now: Shorts, Y: int) -> int:
    """The smallest candidate that maximises δ + bonus."""
    if now.shape[0] > FEW:
        return first_best(delta, bonus, Y)
    best = int(now[0])
    for k in range(1, now.shape[0]):
        best = int(now[k]) if delta[now[k]] + bonus[now[k]] > delta[best] + bonus[best] else best
    return best


@tight_kernel
def trace_candidates(
    delta: Floats, T: int, rows: Ints, pointers: Longs, labels: Shorts, incoming: Floats, stop: Floats, found: Ints,
) -> float:  # fmt: skip
    """The best labels of one sentence into found [≥ T]; returns their score."""
    Y = incoming.shape[0]
    best, total = 0, 0.0
    for t in range(T - 1, -1, -1):
        now = labels[pointers[rows[t]] : pointers[rows[t] + 1]]
        best = best_candidate(delta[t], stop if t == T - 1 else incoming[best], now, Y)
        if t == T - 1:
            total = float(delta[t, best] + stop[best])
        found[t] = best
    return total


@tight_kernel
def viterbi_of_candidates(
    emission: Floats, offsets: Longs, rows: Ints, pointers: Longs, labels: Shorts, transition: Floats, incoming: Floats,
    start: Floats, stop: Floats, lead: Floats, delta: Floats, alive: Longs, masked: Floats, found: Ints,
    scores: Doubles,
) -> None:  # fmt: skip
    """Given emission [n, P], offsets [N + 1], Candidates and Steps; delta [L, P], alive [Y], masked [P] are work.

    Returned: found [n], scores [N] (−inf where no labelling is possible). Ties: the smallest label wins, as in viterbi.
    """
    for i in range(offsets.shape[0] - 1):
        begin, T = offsets[i], offsets[i + 1] - offsets[i]
        before = labels[pointers[rows[begin]] : pointers[rows[begin] + 1]]
        delta[0, :] = -np.inf
        for k in range(before.shape[0]):
            delta[0, before[k]] = start[before[k]] + emission[begin, before[k]]
        for t in range(1, T):
            r = rows[begin + t]
            now = labels[pointers[r] : pointers[r + 1]]
            step_to_candidates(
                delta[t - 1], emission[begin + t], transition, lead, before, now, alive, masked, delta[t]
            )
            before = now
        scores[i] = trace_candidates(delta, T, rows[begin:], pointers, labels, incoming, stop, found[begin:])


def best_paths_of_candidates(
    emission: Floats, offsets: Longs, candidates: Candidates, steps: Steps
) -> tuple[Ints, Doubles]:
    """The best labels [n] and their scores [N] for a run of sentences, emission [n, P]."""
    P = emission.shape[1]
    found, scores = np.empty(len(emission), np.int32), np.empty(len(offsets) - 1)
    viterbi_of_candidates(
        emission, offsets, *candidates.arrays, steps.transition, steps.incoming, steps.start, steps.stop, steps.lead,
        empty_rows((int(np.diff(offsets).max(initial=1)), P), emission.dtype), np.empty(steps.n_labels, np.int64),
        np.empty(P, emission.dtype), found, scores,
    )  # fmt: skip
    return found, scores
