"""The pointwise losses: of the marginal probability of every gold label. LOSS section 3.3.

    term        −log p(y_t | x), one a token
    F3, log     −Σ_i Σ_t log p(y_{i,t} | x_i)            gradient  Σ_t a_t · (E[Φ | x] − E[Φ | x, y_t])
    F4, exp     Σ_i Σ_t 1/p(y_{i,t} | x_i), minimised    gradient  Σ_t D_t · (E[Φ | x] − E[Φ | x, y_t]),
                as n · log of the mean 1/p over all                D_t = a_t · exp(term_t − reference) · factor of the
                n tokens                                           whole

The gradient takes a constant number of passes (Kakade et al. 2002). F3 equals F1 for sentences of one token. At w = 0
every 1/p is Y, so the first gradient of F4 is that of F3. Neither is convex, unlike the sequence losses; L-BFGS finds a
minimum near its start.
"""

from __future__ import annotations

from tagwright.arrays import Floats
from tagwright.chain.label_chain import LabelChain, TokenTerms
from tagwright.chain.marginal_adjoint import differentiate_marginals
from tagwright.losses.run import RunLoss, SentenceRun, first_order, sum_ends


def pointwise_loss(run: SentenceRun, chain: LabelChain, rate: float, reference: float, out: Floats | None) -> RunLoss:
    """Terms −log p(y_t | x) and their gradient, each counted weight · exp(rate · (term − reference)) times."""
    given = TokenTerms(run.labels, run.weights, rate, reference)
    found = differentiate_marginals(run.emission, run.offsets, first_order(run, chain), given, out)
    start, stop = sum_ends(found.emission, run.offsets, chain.n_labels)
    return RunLoss(found.terms, run.weights, found.emission, found.transitions, start, stop)


def pointwise_log(run: SentenceRun, chain: LabelChain, reference: float = 0.0, out: Floats | None = None) -> RunLoss:
    """Terms and gradient of one run; the reference is of no use here."""
    return pointwise_loss(run, chain, 0.0, reference, out)


def pointwise_exp(run: SentenceRun, chain: LabelChain, reference: float = 0.0, out: Floats | None = None) -> RunLoss:
    """Terms and gradient of one run, relative to the reference."""
    return pointwise_loss(run, chain, 1.0, reference, out)
