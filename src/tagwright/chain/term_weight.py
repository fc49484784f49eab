"""How much a term of a loss counts in the gradient, when that depends on the term itself.

A loss is made of terms −log p, of sentences or of tokens. With d loss / d term = a · exp(rate · (term − reference)),

    rate 0      the log losses: every term counts by its own weight a
    rate 1      the exp losses: it counts by a / p too; the reference keeps these numbers in the range of floats

The dynamic programmes apply this between their forward and their backward half, where −log p becomes known.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tagwright._jit import tight_kernel
from tagwright.arrays import Doubles, Ints

HIGHEST = 30.0
"""Of an exponent: exp(30), divided by a probability of 1e-12, is still a float32. Where a term lies further above the
reference, the result is of no use, and the caller must come again with a better one."""


class TermWeights(NamedTuple):
    """How much each sentence counts: a · exp(rate · (log Z − pivot)); the pivot is F(gold labels) + reference."""

    weights: Doubles  # a [N]
    pivots: Doubles  # [N]
    rate: float = 0.0

    @classmethod
    def ones(cls, n_sentences: int) -> TermWeights:
        """Each counts once."""
        return cls(np.ones(n_sentences), np.zeros(n_sentences))

    def of_sentence(self, i: int) -> TermWeights:
        return TermWeights(self.weights[i : i + 1], self.pivots[i : i + 1], self.rate)

    def relative_to(self, shifts: Doubles) -> TermWeights:
        """The same for log Z − shifts [N] in place of log Z."""
        return self._replace(pivots=self.pivots - shifts)


class TokenTerms(NamedTuple):
    """A loss with one term −log γ_t(y_t) for each token, which counts a_t · exp(rate · (term − reference))."""

    labels: Ints  # y [n]
    weights: Doubles  # a [n]
    rate: float = 0.0
    reference: float = 0.0

    def part(self, tokens: slice) -> TokenTerms:
        return TokenTerms(self.labels[tokens], self.weights[tokens], self.rate, self.reference)


@tight_kernel
def term_weight(weight: float, rate: float, excess: float) -> float:
    """weight · exp(rate · excess), excess = term − reference; cut at exp(HIGHEST)."""
    if rate == 0 or weight == 0:
        return weight
    return float(weight * np.exp(min(rate * excess, HIGHEST)))
