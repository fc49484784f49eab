"""What a solver minimises: a function of a weight vector, whoever computes it.

    learners/ ─► TrainingProblem ─► ObjectiveMaker ─► Objective ─► optim/
                                    threads on this machine (objective/threads.py); another device; shards elsewhere

An objective is a pure function. Some losses (losses/run.py) are computed relative to a reference, the largest term of
an earlier evaluation: it comes back with every value, the solver keeps it with its point, and hands it in at the next
evaluation nearby. A poor reference costs a second pass, never a wrong value.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from tagwright.arrays import Doubles


class ValueAndGradient(NamedTuple):
    """A function at some weights."""

    value: float
    gradient: Doubles
    reference: float = 0.0  # for evaluations nearby


class Objective(Protocol):
    """weights ─► value and gradient."""

    def __call__(self, weights: Doubles, reference: float = 0.0, /) -> ValueAndGradient: ...


class TrainingObjective(Objective, Protocol):
    """The objective of a training set, without the penalty."""

    def count_features(self) -> Doubles:
        """How often the data has what each weight stands for, with the gold labels; those not known are left out."""
