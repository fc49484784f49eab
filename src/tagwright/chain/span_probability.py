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

from tagwright.arrays import Bools, Doubles, Floats, Longs
from tagwright.chain.label_chain import ChainScores
from tagwright.chain.log_space import log_backward, log_forward
from tagwright.chain.recursion import LOG


def span_probabilities(
    emission: Floats, chain: ChainScores, begins: Bools, goes_on: Bools, types: Longs, spans: Longs
) -> Doubles:
    """p(span | x) [K] of the spans [K, 3] (begin, end, number of the type) of one sentence; NaN where no labelling is
    possible.

    Given: emission [T, ≥ Y]; the chain's transition, start, stop; begins, goes_on [Y, Y] (previous, current) and the
    type of each label [Y], −1 for labels outside spans. A sentence begins after such a label.
    """
    transition, start, stop = chain
    rows = np.ascontiguousarray(emission[:, : len(start)], np.float64)
    alpha, beta = log_forward(rows, transition, start), log_backward(rows, transition, stop)
    first, inside, after = (np.where(ways, transition, -np.inf) for ways in (begins, goes_on, ~goes_on))
    found = np.empty(len(spans))
    for k, (begin, end, wanted) in enumerate(spans.tolist()):
        own = np.where(types == wanted, rows, -np.inf)
        f = own[begin] + (LOG.plus(alpha[begin - 1][:, None] + first, axis=0) if begin > 0 else start)
        for t in range(begin + 1, end):
            f = own[t] + LOG.plus(f[:, None] + inside, axis=0)
        rest = LOG.plus(after + (rows[end] + beta[end]), axis=1) if end < len(rows) else stop
        found[k] = LOG.plus(f + rest, axis=0)
    with np.errstate(invalid="ignore"):  # −inf − −inf: NaN is meant
        return np.minimum(np.exp(found - LOG.plus(alpha[-1] + stop, axis=0)), 1.0)
