"""The probability of a span: that exactly these positions bear one name of this type. Constrained forward-backward.

A labelling has the span [b, e) of type X when a span begins at b with a label of type X, goes on through b + 1 to e − 1
and does not go on at e. Where spans begin and go on is a matter of neighbouring labels (`span_borders` of io/spans.py).
So the sum over all such labellings is a forward recursion along those ways alone, between the α and β of the rest:

    f_b[c]  = Σ_p α_{b−1}[p] M[p, c] [begins(p, c)] · x_b[c]              c of type X; start[c] x_b[c] where b = 0
    f_t[c]  = Σ_p f_{t−1}[p] M[p, c] [goes on(p, c)] · x_t[c]             b < t < e
    p(span) = Σ_p f_{e−1}[p] Σ_c M[p, c] [not goes on(p, c)] x_e[c] β_e[c] / Z        stop[p] in place of Σ_c if e = T

with x = exp(emission), M = exp(transition); computed in log space. Confidence in extracted fields by constraining the
lattice: Culotta and McCallum 2004.
"""

from __future__ import annotations

import numpy as np

from tagwright._jit import kernel
from tagwright.arrays import Bools, Doubles, Floats, Longs
from tagwright.chain.log_space import log_backward, log_forward, log_sum


@kernel
def log_of_span(
    emission: Floats, transition: Doubles, start: Doubles, stop: Doubles, alpha: Doubles, beta: Doubles,
    begins: Bools, goes_on: Bools, types: Longs, span: Longs, inside: Doubles, work: Doubles,
) -> float:  # fmt: skip
    """log Σ exp F over the labellings that have the span (begin, end, type). inside [2, Y] and work [Y]: work."""
    T, Y = emission.shape[0], start.shape[0]
    begin, end, wanted = span[0], span[1], span[2]
    for t in range(begin, end):
        before, now = inside[(t - 1) % 2], inside[t % 2]
        for c in range(Y):
            now[c] = -np.inf
            if types[c] != wanted:
                continue
            for p in range(Y):
                if t > begin:
                    work[p] = before[p] + transition[p, c] if goes_on[p, c] else -np.inf
                elif t > 0:
                    work[p] = alpha[t - 1, p] + transition[p, c] if begins[p, c] else -np.inf
                else:
                    work[p] = start[c] if p == 0 else -np.inf
            now[c] = log_sum(work) + emission[t, c]
    last = inside[(end - 1) % 2]
    if end == T:
        return log_sum(last + stop)
    total = inside[end % 2]
    for p in range(Y):
        for c in range(Y):
            work[c] = -np.inf if goes_on[p, c] else transition[p, c] + emission[end, c] + beta[end, c]
        total[p] = last[p] + log_sum(work)
    return log_sum(total)


@kernel
def spans_of_sentence(
    emission: Floats, transition: Doubles, start: Doubles, stop: Doubles, begins: Bools, goes_on: Bools, types: Longs,
    spans: Longs, out: Doubles,
) -> None:  # fmt: skip
    """The probabilities [K] of spans [K, 3] of one sentence; NaN where no labelling is possible."""
    T, Y = emission.shape[0], start.shape[0]
    alpha, beta = np.empty((T, Y)), np.empty((T, Y))
    inside, work = np.empty((2, Y)), np.empty(Y)
    log_forward(emission, transition, start, alpha)
    log_backward(emission, transition, stop, beta)
    log_z = log_sum(alpha[T - 1] + stop)
    for k in range(spans.shape[0]):
        found = log_of_span(
            emission, transition, start, stop, alpha, beta, begins, goes_on, types, spans[k], inside, work
        )
        out[k] = np.exp(found - log_z)


def span_probabilities(
    emission: Floats, chain: tuple[Doubles, Doubles, Doubles], begins: Bools, goes_on: Bools, types: Longs, spans: Longs
) -> Doubles:
    """p(span | x) [K] of the spans [K, 3] (begin, end, number of the type) of one sentence.

    Given: emission [T, ≥ Y]; the chain's transition, start, stop; begins, goes_on [Y, Y] (previous, current) and the
    type of each label [Y], −1 for labels outside spans. A sentence begins after such a label.
    """
    found = np.empty(len(spans))
    spans_of_sentence(emission, *chain, begins, goes_on, types, spans, found)
    return np.minimum(found, 1.0)
