"""How much a term of a loss counts in the gradient, when that depends on the term itself.

A loss is made of terms −log p, of sentences or of tokens. With d loss / d term = a · exp(rate · (term − reference)),

    rate 0      the log losses: every term counts by its own weight a
    rate 1      the exp losses: it counts by a / p too; the reference keeps these numbers in the range of floats

The dynamic programmes apply this between their forward and their backward half, where −log p becomes known.
"""

from __future__ import annotations

import numpy as np

from tagwright._jit import tight_kernel

HIGHEST = 30.0
"""Of an exponent: exp(30), divided by a probability of 1e-12, is still a float32. Where a term lies further above the
reference, the result is of no use, and the caller must come again with a better one."""


@tight_kernel
def tilt(weight: float, rate: float, excess: float) -> float:
    """weight · exp(rate · excess), excess = term − reference; cut at exp(HIGHEST)."""
    if rate == 0 or weight == 0:
        return weight
    return float(weight * np.exp(min(rate * excess, HIGHEST)))
