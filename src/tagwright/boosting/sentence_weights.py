"""How much each sentence counts: D(i), which a round of boosting changes.

    q_i = (1/p(y_i|x_i))^τ      d_i = q_i·(1 − p)      R = Σ (q_i − 1)/τ      D(i) = d_i / Σ d

The power τ = 1 gives R^exp = Σ d_i (LM-POS equation 5). For less, (1/p)^τ is concave in 1/p, so that the same bounds
hold for what a step adds to R: Σ q_i·(E[e^{Δu}] − 1), which is their R·Z − R with these q and d. τ → 0 gives the CRF's
R = Σ −log p. Without a common divisor, no sentence's weight depends on the others. All q and d are divided by
e^reference, which is near the largest: 1/p may be Y^T.

Inactive sentences. At first R^exp is all in the longest sentences. A sentence whose D(i) is far below NEGLIGIBLE / N is
inactive: it is not passed, and q = d = 0. Meanwhile its loss is known to be below `loss_bounds`: a step Δ raises it by
at most max(Δ·L, Δ·U). It becomes active again before D(i) can have grown to NEGLIGIBLE / N, so that all inactive
sentences together have a weight below NEGLIGIBLE.
"""

from __future__ import annotations

import numpy as np

from tagwright.arrays import Bools, Doubles, Longs
from tagwright.boosting.expectations import SentenceExpectations

NEGLIGIBLE = 1e-9

MARGIN = 10.0
"""A sentence becomes inactive at e^−MARGIN of the weight at which it becomes active again."""


class SentenceWeights:
    """q, d and the expectations that they follow from, for the sentences that are active."""

    def __init__(self, expectations: SentenceExpectations, power: float) -> None:
        """After forward-backward of all sentences."""
        self.expectations, self.power = expectations, power
        losses = self.losses
        N = len(losses)
        self.loss_bounds = losses.copy()  # [N]
        self.log_negligible = float(np.log(NEGLIGIBLE / N))
        self.reference = power * float(losses.max())
        self.q, self.d = split_weight(losses, self.reference, power)  # [N], [N]
        self.active: Bools = power * losses > self.log_total + self.log_negligible - MARGIN  # [N]
        self.rescale()

    @property
    def losses(self) -> Doubles:
        """[N] −log p(y_i | x_i); up to date where active."""
        return self.expectations.losses

    @property
    def log_risk(self) -> float:
        """log R; −inf when every right labelling is certain."""
        total = self.relative_risk
        return self.reference + float(np.log(total)) if total > 0 else -np.inf

    @property
    def relative_risk(self) -> float:
        """R / e^reference, without the negligible weight of inactive sentences."""
        return sum_risks(self.losses[self.active], self.reference, self.power)

    @property
    def log_total(self) -> float:
        """log Σ d; with the power 1, log R^exp."""
        total = float(self.d.sum())
        return self.reference + float(np.log(total)) if total > 0 else -np.inf

    def not_negligible(self) -> Bools:
        """[N]: the inactive sentences that must be made active."""
        return ~self.active & (self.power * self.loss_bounds > self.log_total + self.log_negligible)

    def update(self, chosen: Longs) -> None:
        """After forward-backward of some sentences: their weights, and whether they are active."""
        losses = self.losses[chosen]
        self.loss_bounds[chosen] = losses
        self.q[chosen], self.d[chosen] = split_weight(losses, self.reference, self.power)
        self.active[chosen] = self.power * losses > self.log_total + self.log_negligible - MARGIN
        inactive = chosen[~self.active[chosen]]
        self.q[inactive] = self.d[inactive] = 0

    def rescale(self) -> None:
        """All weights anew, relative to the largest loss of now."""
        active = np.flatnonzero(self.active)
        self.reference = self.power * float(self.losses[active].max())
        self.q[:] = self.d[:] = 0
        self.q[active], self.d[active] = split_weight(self.losses[active], self.reference, self.power)


def split_weight(losses: Doubles, reference: float, power: float) -> tuple[Doubles, Doubles]:
    """q = (1/p)^power and d = q·(1 − p) for losses −log p, both divided by e^reference."""
    q = np.exp(power * losses - reference)
    return q, -q * np.expm1(-losses)


def sum_risks(losses: Doubles, reference: float, power: float) -> float:
    """Σ ((1/p)^power − 1) / power, divided by e^reference; Σ −log p for power 0."""
    if power == 0:
        return float(losses.sum() * np.exp(-reference))
    scaled = power * losses
    small = scaled < 30  # above, the 1 is too small to be seen
    risks = np.where(small, np.expm1(np.where(small, scaled, 0.0)) * np.exp(-reference), np.exp(scaled - reference))
    return float(risks.sum() / power)
