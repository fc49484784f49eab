"""The lattice of one sentence: all that a dynamic programme may see.

Stands between scores/, which turn weights into lattices, and the rest of chain/, which knows nothing else. One
labelling y_0..y_{T−1} is one path through it, and its score is F(x, y):

    F(y) = start[y_0] + Σ_t emission[t, y_t] + Σ_{t>0} transition[y_{t−1}, y_t] + stop[y_{T−1}]

A score of −inf forbids: emission −inf a label at a position, transition −inf a pair of neighbours, start and stop −inf
a first and a last label.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import ArrayLike

from tagwright.arrays import Doubles
from tagwright.errors import DataError, ParameterError


@dataclass(frozen=True, eq=False)
class Lattice:
    """The scores of one sentence, in float64. T ≥ 1 positions, Y ≥ 1 labels."""

    emission: Doubles  # [T, Y]
    transition: Doubles  # [Y, Y], transition[previous, current]
    start: Doubles  # [Y]
    stop: Doubles  # [Y]

    def __post_init__(self) -> None:
        for field in fields(self):
            array = np.asarray(getattr(self, field.name), dtype=np.float64)
            object.__setattr__(self, field.name, array)
        if self.emission.ndim != 2 or 0 in self.emission.shape:
            found = self.emission.shape
            raise ParameterError(f"emission: found shape {found}, expected [T, Y] with T ≥ 1 and Y ≥ 1")
        Y = self.emission.shape[1]
        for name, expected in (("transition", (Y, Y)), ("start", (Y,)), ("stop", (Y,))):
            found = getattr(self, name).shape
            if found != expected:
                raise ParameterError(f"{name}: found shape {found}, expected {expected}: emission has {Y} labels")
        for field in fields(self):
            _require_scores(getattr(self, field.name), field.name)

    @property
    def n_positions(self) -> int:
        """T"""
        return int(self.emission.shape[0])

    @property
    def n_labels(self) -> int:
        """Y"""
        return int(self.emission.shape[1])

    def score(self, labels: ArrayLike) -> float:
        """F(labels), summed from left to right as Viterbi does. −inf for a labelling that breaks a constraint."""
        path = self._checked(labels)
        total = self.start[path[0]] + self.emission[0, path[0]]
        for t in range(1, len(path)):
            total = (total + self.transition[path[t - 1], path[t]]) + self.emission[t, path[t]]
        return float(total + self.stop[path[-1]])

    def _checked(self, labels: ArrayLike) -> list[int]:
        """`labels` as T label numbers; DataError when they are anything else."""
        array = np.asarray(labels)
        if array.shape != (self.n_positions,) or array.dtype.kind not in "iu":
            found = f"shape {array.shape} of {array.dtype}"
            raise DataError(f"found {found}, expected {self.n_positions} label numbers", location="labels")
        for t, label in enumerate(array.tolist()):
            if not 0 <= label < self.n_labels:
                raise DataError(
                    f"found {label}, expected a label from 0 to {self.n_labels - 1}", location=f"labels[{t}]"
                )
        return [int(label) for label in array]


def _require_scores(array: Doubles, name: str) -> None:
    """DataError at the first NaN or +inf. One pass when all is well: the maximum of an array with NaN is NaN."""
    if array.max() < np.inf:
        return
    first = np.argwhere(~(array < np.inf))[0]
    value = array[tuple(first)]
    location = f"{name}[{', '.join(str(i) for i in first)}]"
    raise DataError(f"found {value}, expected a finite score, or −inf for what is forbidden", location=location)
