"""F4: Σ_i Σ_t 1/p(y_{i,t} | x_i), minimised as n · log of the mean 1/p over all n tokens. LOSS section 3.3.

    term       −log p(y_t | x), one a token
    gradient   Σ_t D_t · (E[Φ | x] − E[Φ | x, y_t]),   D_t = a_t · exp(term_t − reference) · factor of the whole

At w = 0 every 1/p is Y, so the first gradient is that of the pointwise log loss. Not convex.
"""

from __future__ import annotations

from tagwright.arrays import Floats
from tagwright.chain.label_chain import LabelChain
from tagwright.losses.pointwise_log import pointwise_loss
from tagwright.losses.run import RunLoss, SentenceRun


def pointwise_exp(run: SentenceRun, chain: LabelChain, reference: float = 0.0, out: Floats | None = None) -> RunLoss:
    """Terms and gradient of one run, relative to the reference."""
    return pointwise_loss(run, chain, 1.0, reference, out)
