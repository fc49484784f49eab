"""What a linear chain is trained on, and which maker turns it into an objective."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tagwright.arrays import Bools, Doubles, Longs, Workers
from tagwright.attributes.lexicon import TagDictionary
from tagwright.chain.candidates import Candidates
from tagwright.chain.label_chain import ChainScores
from tagwright.encode.batch import Batch
from tagwright.losses.run import Loss
from tagwright.objective.evaluation import TrainingObjective
from tagwright.scores.linear import LinearMap


@dataclass(frozen=True, slots=True)
class WeightParts:
    """Views of a weight vector: [attribute weights | trigrams | transition Y·Y | start Y | stop Y]."""

    attributes: Doubles
    transition: Doubles  # [Y, Y]
    start: Doubles
    stop: Doubles
    trigrams: Doubles  # [K], of second order

    @classmethod
    def split(cls, vector: Doubles, n_labels: int, n_trigrams: int = 0) -> WeightParts:
        Y, K = n_labels, n_trigrams
        n = len(vector) - K - Y * Y - 2 * Y
        transition, start, stop = np.split(vector[n + K :], [Y * Y, Y * Y + Y])
        return cls(vector[:n], transition.reshape(Y, Y), start, stop, vector[n : n + K])

    @property
    def chain(self) -> ChainScores:
        return self.transition, self.start, self.stop


@dataclass(frozen=True, slots=True)
class TrainingProblem:
    """minimise   loss(w) + c1 ‖w‖₁ + c2 ‖w‖²   from `start`, on one labelled Batch."""

    scores: LinearMap
    data: Batch
    weights: Doubles | None  # how much each token counts (losses/run.py); None: all the same
    loss: Loss
    free: Bools  # [weights]: those that may move
    start: Doubles
    maker: ObjectiveMaker
    c1: float = 0.0
    c2: float = 0.0
    dictionary: TagDictionary | None = None  # which labels words may have
    keys: Longs | None = None  # the label trigrams that have a weight, of second order

    @property
    def n_trigrams(self) -> int:
        return 0 if self.keys is None else len(self.keys)

    def split(self, vector: Doubles) -> WeightParts:
        """Views of a weight vector, or of a gradient."""
        return WeightParts.split(vector, self.scores.n_labels, self.n_trigrams)

    def candidates_of(self, data: Batch) -> Candidates | None:
        """The labels that tokens of this data may have; None: all."""
        words = self.dictionary
        return None if words is None else Candidates(words.find(data.forms), words.pointers, words.labels)

    def objective(self, workers: Workers) -> TrainingObjective:
        """The loss as a function of the weights."""
        return self.maker(self, workers)


ObjectiveMaker = Callable[[TrainingProblem, Workers], TrainingObjective]
"""Makes the objective of a problem; the threads are for what it does on this machine."""


def count_gold(data: Batch, n_labels: int) -> tuple[Doubles, Doubles, Doubles]:
    """Gold transitions [Y, Y], first labels [Y] and last labels [Y]; those not known are left out."""
    Y, labels = n_labels, data.labels
    inner = labels >= 0
    inner[1:] &= labels[:-1] >= 0
    inner[data.offsets[:-1]] = False
    current = np.flatnonzero(inner)
    pairs = np.bincount(labels[current - 1].astype(np.int64) * Y + labels[current], minlength=Y * Y)
    first, last = labels[data.offsets[:-1]], labels[data.offsets[1:] - 1]
    start = np.bincount(first[first >= 0], minlength=Y)
    stop = np.bincount(last[last >= 0], minlength=Y)
    return pairs.reshape(Y, Y).astype(np.float64), start.astype(np.float64), stop.astype(np.float64)
