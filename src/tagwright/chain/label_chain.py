"""What a chain of labels, of first or second order, is asked and answers: the little that losses and decoders know.

    LabelChain   sums over labellings        losses/, marginals         Chain, SecondOrderChain
    LabelSteps   the best labellings         tagging                    Steps, SecondOrderSteps

Emission rows are [n, P] for a run of sentences that begin at offsets [N + 1]. `candidates` restrict tokens to some
labels (a tag dictionary); −inf in the emission or in the chain forbids, too.

A loss is made of terms −log p, of sentences or of tokens. How much a term counts in the gradient may depend on the term
itself. With d loss / d term = a · exp(rate · (term − reference)),

    rate 0      the log losses: every term counts by its own weight a
    rate 1      the exp losses: it counts by a / p too; the reference keeps these numbers in the range of floats

The recursions apply this between their forward and their backward half, where −log p becomes known.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np

from tagwright._jit import tight_kernel
from tagwright.arrays import Doubles, Floats, Ints, Longs
from tagwright.chain.candidates import Candidates

ChainScores = tuple[Doubles, Doubles, Doubles]
"""transition [Y, Y] (previous, current), start [Y], stop [Y]."""

HIGHEST = 30.0
"""Of an exponent: exp(30), divided by a probability of 1e-12, is still a float32. Where a term lies further above the
reference, the result is of no use, and the caller must come again with a better one."""


def copy_scores(transition: Floats, start: Floats, stop: Floats) -> ChainScores:
    """The scores of a chain in float64, row by row."""
    return (
        np.array(transition, np.float64, order="C"),
        np.array(start, np.float64, order="C"),
        np.array(stop, np.float64, order="C"),
    )


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


@dataclass(frozen=True, slots=True)
class Expectations:
    """What forward-backward finds in a run of sentences."""

    log_z: Doubles  # [N]; −inf where no labelling is possible
    weights: Doubles  # [N]: how much each sentence counts in the sums below
    marginals: Floats  # [n, P]: p(y_t = y | x); 0 in the padding
    transitions: Doubles  # [Y, Y]: expected number of each label pair
    trigrams: Doubles = field(default_factory=lambda: np.empty(0))  # [K]: of each trigram that has a weight


class LabelChain(Protocol):
    """A chain for sums over all labellings."""

    @property
    def order(self) -> int: ...

    @property
    def n_labels(self) -> int: ...

    def expect(
        self,
        emission: Floats,
        offsets: Longs,
        given: TermWeights | None = None,
        *,
        candidates: Candidates | None = None,
        out: Floats | None = None,
    ) -> Expectations:
        """Forward-backward. `given`: how much each sentence counts, once unless given. `out` [n, P]: for the marginals;
        it may be `emission` itself."""

    def score_labels(self, emission: Floats, offsets: Longs, labels: Ints) -> Doubles:
        """F of one labelling of each sentence [N]; labels [n]."""

    def count_trigrams(self, offsets: Longs, labels: Ints, weights: Doubles) -> Doubles:
        """How often a labelling has each trigram that has a weight [K], sentence i counted weights[i] times."""


class LabelSteps(Protocol):
    """A chain for the best labellings."""

    def best_paths(
        self, emission: Floats, offsets: Longs, candidates: Candidates | None = None
    ) -> tuple[Ints, Doubles]:
        """The best labels [n] and their scores [N]: −inf where no labelling is possible."""

    def k_best(self, emission: Doubles, k: int, candidates: Candidates | None = None) -> tuple[Longs, Doubles]:
        """The k best labellings of one sentence, best first: paths [K', T] and scores [K']; emission [T, Y]."""
