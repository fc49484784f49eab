"""What an algorithm is given to learn from, and what it gives back; train.py makes it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tagwright.arrays import Bools, Doubles
from tagwright.encode.batch import Batch
from tagwright.encode.encoder import Encoder
from tagwright.learners._decoder import Decoder
from tagwright.objective.problem import WeightParts
from tagwright.pycrfsuite.features import Features
from tagwright.pycrfsuite.report import Report
from tagwright.scores.linear import LinearMap
from tagwright.scores.pattern import Pattern


@dataclass(frozen=True, eq=False)
class Training:
    """What an algorithm is given."""

    data: Batch
    held_out: Batch | None
    encoder: Encoder
    labels: list[str]
    features: Features
    values: dict[str, Any]
    report: Report
    n_jobs: int | None = None

    @cached_property
    def start(self) -> Doubles:
        """Weights 0: [attributes | transitions Y·Y | first Y | last Y]."""
        return np.zeros(self.features.pattern.n_weights + len(self.features.free_chain))

    @cached_property
    def free(self) -> Bools:
        """Which of these may change."""
        return np.concatenate([np.ones(self.features.pattern.n_weights, np.bool_), self.features.free_chain])

    def evaluate(self, pattern: Pattern, weights: Doubles) -> None:
        """Report how these weights label what is held out."""
        if self.held_out is None:
            return
        parts = WeightParts.split(weights, len(self.labels))
        scores = LinearMap.build(self.encoder, pattern, len(self.labels), np.float64).at(parts.attributes)
        decoder = Decoder(scores, *parts.chain)
        found = decoder.best(self.held_out) if self.held_out.n_tokens else np.empty(0, np.int32)
        self.report.evaluation(self.labels, self.held_out.labels, found, self.held_out.offsets)


Algorithm = Callable[[Training], tuple[Pattern, Doubles]]
"""Learns: which attributes have weights for which labels, and all weights."""
