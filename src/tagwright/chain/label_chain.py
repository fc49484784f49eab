"""What a chain of labels offers, of first or second order: the little that losses and decoders ask of it.

    LabelChain   sums over labellings        losses/, marginals         Chain, SecondOrderChain
    LabelSteps   the best labellings         tagging                    Steps, SecondOrderSteps

Emission rows are [n, P] for a run of sentences that begin at offsets [N + 1]. `candidates` restrict tokens to some
labels (a tag dictionary); −inf in the emission or in the chain forbids, too.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from tagwright.arrays import Doubles, Floats, Ints, Longs
from tagwright.chain.candidates import Candidates
from tagwright.chain.term_weight import TermWeights

ChainScores = tuple[Doubles, Doubles, Doubles]
"""transition [Y, Y] (previous, current), start [Y], stop [Y]."""


def copy_scores(transition: Floats, start: Floats, stop: Floats) -> ChainScores:
    """The scores of a chain in float64, row by row."""
    return (
        np.array(transition, np.float64, order="C"),
        np.array(start, np.float64, order="C"),
        np.array(stop, np.float64, order="C"),
    )


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
