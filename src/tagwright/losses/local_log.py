"""The loss of a locally normalised chain (MEMM): −Σ_i Σ_t log p(y_{i,t} | y_{i,t−1}, x_i), on the gold previous labels.

    p(c | p, t) = exp s(c) / Σ_c' exp s(c')       s(c) = emission[t, c] + transition[p, c], for the first label start[c]
    term          −log p(y_t | y_{t−1}, t) = log Σ_c exp s(c) − s(y_t), one a token
    gradient      of s at t: a_t · (p(c | y_{t−1}, t) − [c = y_t])

McCallum, Freitag and Pereira 2000. Every position is a classification by itself: no forward-backward is needed. There
is no stop: what may end a sentence is not part of the model. Runs, terms and weights a_t: losses/run.py.
"""

from __future__ import annotations

import numpy as np

from tagwright._jit import kernel
from tagwright.arrays import Doubles, Floats, Ints, Longs, empty_rows
from tagwright.chain.label_chain import LabelChain
from tagwright.losses.run import RunLoss, SentenceRun, first_order


@kernel
def classify_positions(
    emission: Floats, offsets: Longs, labels: Ints, weights: Doubles, transition: Doubles, start: Doubles,
    work: Doubles, terms: Doubles, out: Floats, edges: Doubles, first: Doubles,
) -> None:  # fmt: skip
    """Given emission [n, P], offsets [N + 1], gold labels and weights [n], the chain; work [Y].

    Returned: terms [n]; out [n, P], the gradient of the emission (it may be `emission` itself); edges [Y, Y] and
    first [Y] += those of the chain.
    """
    Y = start.shape[0]
    for i in range(offsets.shape[0] - 1):
        for p in range(offsets[i], offsets[i + 1]):
            inner, gold = p > offsets[i], labels[p]
            before = transition[labels[p - 1]] if inner else start
            peak = -np.inf
            for y in range(Y):
                work[y] = emission[p, y] + before[y]
                peak = max(peak, work[y])
            terms[p] = peak - work[gold]
            total = 0.0
            for y in range(Y):
                work[y] = np.exp(work[y] - peak)
                total += work[y]
            terms[p] += np.log(total)
            into = edges[labels[p - 1]] if inner else first
            out[p, :] = 0
            for y in range(Y):
                change = weights[p] * (work[y] / total - (y == gold))
                into[y] += change
                out[p, y] = change


def local_log(run: SentenceRun, chain: LabelChain, reference: float = 0.0, out: Floats | None = None) -> RunLoss:
    """Terms and gradient of one run; the reference is of no use here."""
    transition, start, _ = first_order(run, chain).scores
    Y = len(start)
    terms, edges, first = np.empty(len(run.labels)), np.zeros((Y, Y)), np.zeros(Y)
    out = empty_rows(run.emission.shape, run.emission.dtype) if out is None else out
    classify_positions(
        run.emission, run.offsets, run.labels, run.weights, transition, start, np.empty(Y), terms, out, edges, first
    )
    return RunLoss(terms, run.weights, out, edges, first, np.zeros(Y))
