"""F3: −Σ_i Σ_t log p(y_{i,t} | x_i), the marginal probability of every gold label. DIGEST section 2; LOSS section 3.3.

    term       −log p(y_t | x), one a token
    gradient   Σ_t a_t · (E[Φ | x] − E[Φ | x, y_t])            in a constant number of passes (Kakade et al. 2002)

Equal to F1 for sentences of one token. Not convex, unlike the sequence losses; L-BFGS finds a minimum near its start.
"""

from __future__ import annotations

import numpy as np

from tagwright.chain.marginal_adjoint import differentiate_marginals
from tagwright.chain.second_order import AnyChain
from tagwright.losses.run import Run, RunLoss, add_ends, plain_chain


def pointwise_loss(run: Run, chain: AnyChain, rate: float, reference: float) -> RunLoss:
    """Terms −log p(y_t | x) and their gradient, each counted weight · exp(rate · (term − reference)) times."""
    chain = plain_chain(run, chain)
    found = differentiate_marginals(
        run.emission, run.offsets, run.labels, chain, weights=run.weights, rate=rate, reference=reference
    )
    start, stop = np.zeros(chain.n_labels), np.zeros(chain.n_labels)
    add_ends(run.emission, run.offsets, start, stop)
    return RunLoss(found.terms, run.weights, found.transitions, start, stop)


def pointwise_log(run: Run, chain: AnyChain, reference: float = 0.0) -> RunLoss:
    """Terms and gradient of one run; the reference is of no use here."""
    return pointwise_loss(run, chain, 0.0, reference)
