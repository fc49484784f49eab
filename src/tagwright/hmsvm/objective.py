"""The primal and the dual objective of the HM-SVM, for the three kinds of slack (HMSVM equations (13) to (25)).

    hard   min ½‖w‖²  with all H_i = 0            max D(α)
    L2     min ½‖w‖² + C/2 Σ H_i²                 max D(α) − Σ_i (Σ_y α_i(y))² / 2C
    L1     min ½‖w‖² + C Σ H_i                    max D(α),  Σ_y α_i(y) ≤ C

    D(α) = Σ α_i(y) Δ(y, y_i) − ½‖w‖²,   w = Σ α_i(y) δΦ(i, y),   δΦ(i, y) = Φ(x_i, y_i) − Φ(x_i, y),   α ≥ 0

H_i, Δ: worst_labelling.py. The length of w is free where it is judged: since Δ ≥ 1, s w with s ≥ 1 has no loss above
s H_i − (s − 1), so the best s gives an upper bound on the optimum. (Predicted labels do not depend on the length.) Hard
margin: if no labelling violates its margin by v ≥ 1, w / (1 − v) keeps all margins, so ½‖w‖² / (1 − v)² is a bound.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tagwright.arrays import Doubles, inner

LONGEST = 1e6
"""The largest s that is tried."""


@dataclass(frozen=True, slots=True)
class MarginObjective:
    """What is minimised. slack: "l1", "l2" or "none"."""

    C: float
    slack: str
    hamming: bool  # whether Δ is the number of wrong labels, else 1

    @property
    def cap(self) -> float:
        """On Σ_y α_i(y)."""
        return self.C if self.slack == "l1" else np.inf

    @property
    def ridge(self) -> float:
        """What is added to all inner products ⟨δΦ, δΦ'⟩ of one sequence."""
        return 1.0 / self.C if self.slack == "l2" else 0.0

    def dual(self, reward: float, squared_norm: float, totals: Doubles) -> float:
        """From Σ α Δ, ‖w‖² and Σ_y α_i(y) [N]."""
        return reward - 0.5 * squared_norm - 0.5 * self.ridge * float(inner(totals, totals))

    def primal(self, losses: Doubles, squared_norm: float) -> float:
        """That of s w at the best length s ≥ 1, from above, for losses H [N]."""
        if self.slack == "none":
            worst = float(losses.max())
            return 0.5 * squared_norm / (1 - worst) ** 2 if worst < 1 else np.inf
        s = self._best_length(losses, squared_norm)
        rest = np.maximum(s * losses - (s - 1), 0.0)
        cost = float(rest.sum() if self.slack == "l1" else 0.5 * inner(rest, rest))
        return 0.5 * s * s * squared_norm + self.C * cost

    def _best_length(self, losses: Doubles, squared_norm: float) -> float:
        """The s ≥ 1 that minimises ½ s² ‖w‖² + the cost of the losses max(0, s H_i − (s − 1)), by bisection."""

        def rises(s: float) -> bool:
            rest = np.maximum(s * losses - (s - 1), 0.0)
            slope = np.sum((rest if self.slack == "l2" else rest > 0) * (losses - 1))
            return s * squared_norm + self.C * float(slope) >= 0

        if rises(1.0):
            return 1.0
        low, high = 1.0, 2.0
        while not rises(high) and high < LONGEST:
            high *= 2
        for _ in range(50):
            middle = 0.5 * (low + high)
            low, high = (low, middle) if rises(middle) else (middle, high)
        return high
