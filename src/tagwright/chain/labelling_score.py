"""The score F of given labellings, as the gold ones.

F(y) = start[y_0] + Σ_t emission[t, y_t] + Σ_{t>0} transition[y_{t−1}, y_t] + stop[y_{T−1}]
"""

from __future__ import annotations

from tagwright._jit import natural, tight_kernel
from tagwright.arrays import Doubles, Floats, Ints, Longs


@tight_kernel
def score_labels(
    emission: Floats, offsets: Longs, labels: Ints, transition: Doubles, start: Doubles, stop: Doubles, out: Doubles
) -> None:
    """F of one labelling of every sentence: emission [n, P], offsets [N + 1], labels [n], the chain, out [N]."""
    for i in range(offsets.shape[0] - 1):
        begin, end = offsets[i], offsets[i + 1]
        last = natural(labels[begin])
        total = start[last] + emission[begin, last]
        for p in range(begin + 1, end):
            now = natural(labels[natural(p)])
            total += transition[last, now] + emission[natural(p), now]
            last = now
        out[i] = total + stop[last]
