"""Confidence that keeps its word: of all spans with probability 0.8, about 80 % should be right.

Stands beside metrics: numbers in, numbers out. `expected_calibration_error` measures; `Platt` is a map from the model's
probability to a better one, fitted on held-out data.

    p' = 1 / (1 + exp(−(slope · logit p + intercept)))        logit p = log(p / (1 − p))

Platt 1999, with his smoothed targets, by the Newton method of Lin, Lin and Weng 2007. Slope 1 and intercept 0 change
nothing; a slope under 1 takes confidence back. The order of spans stays as long as the slope is above 0. Two
numbers can be learned from few spans.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tagwright.errors import DataError, ParameterError

Doubles = NDArray[np.float64]
Bools = NDArray[np.bool_]

EDGE = 1e-6
"""Probabilities nearer to 0 or 1 count as this near: their logit stays finite."""
MOST_STEPS = 100


@dataclass(frozen=True, slots=True)
class Platt:
    """The map; call it with probabilities."""

    slope: float
    intercept: float

    @classmethod
    def fit(cls, probabilities: ArrayLike, right: ArrayLike) -> Platt:
        """The map with the largest likelihood: probabilities [n] that were given, and whether each was right [n]."""
        given, truth = _checked(probabilities, right)
        n_right = int(truth.sum())
        n_wrong = len(truth) - n_right
        targets = np.where(truth, (n_right + 1) / (n_right + 2), 1 / (n_wrong + 2))
        inputs = np.column_stack([_logit(given), np.ones(len(given))])
        slope, intercept = _newton(inputs, targets)
        return cls(float(slope), float(intercept))

    def __call__(self, probabilities: ArrayLike) -> Doubles:
        return _sigmoid(self.slope * _logit(np.asarray(probabilities, np.float64)) + self.intercept)


def expected_calibration_error(probabilities: ArrayLike, right: ArrayLike, *, bins: int = 10) -> float:
    """Σ_bins (share of the bin) · |mean probability − share of right ones|, in percent; bins of equal width.

    Naeini, Cooper and Hauskrecht 2015. 0 is perfect; always saying 1 gives the share of wrong ones.
    """
    rows = reliability(probabilities, right, bins=bins)
    return 100 * sum(row.share * abs(row.probability - row.right) for row in rows)


@dataclass(frozen=True, slots=True)
class Bin:
    """Predictions of similar probability: their share of all, mean probability, and share of right ones (0 to 1)."""

    share: float
    probability: float
    right: float


def reliability(probabilities: ArrayLike, right: ArrayLike, *, bins: int = 10) -> Sequence[Bin]:
    """The bins that are not empty, in order: what a reliability diagram shows."""
    if bins < 1:
        raise ParameterError(f"bins must be at least 1, found {bins!r}")
    given, truth = _checked(probabilities, right)
    numbers = np.minimum((given * bins).astype(np.int64), bins - 1)
    chosen = [numbers == number for number in np.unique(numbers)]
    return [Bin(float(c.mean()), float(given[c].mean()), float(truth[c].mean())) for c in chosen]


def _newton(inputs: Doubles, targets: Doubles) -> Doubles:
    """Minimise −Σ t log p + (1 − t) log(1 − p) over (slope, intercept), from the identity on; steps are halved.

    Sums are NumPy's: those of a BLAS (`@`) depend on the number of its threads."""
    point = np.array([1.0, 0.0])
    value = _cross_entropy((inputs * point).sum(axis=1), targets)
    for _ in range(MOST_STEPS):
        p = _sigmoid((inputs * point).sum(axis=1))
        gradient = (inputs * (p - targets)[:, None]).sum(axis=0)
        weighted = inputs * (p * (1 - p))[:, None]
        hessian = (weighted[:, :, None] * inputs[:, None]).sum(axis=0) + 1e-9 * np.eye(2)
        step = np.linalg.solve(hessian, gradient)
        size, better = 1.0, value
        while size > 1e-10:
            better = _cross_entropy((inputs * (point - size * step)).sum(axis=1), targets)
            if better <= value - 1e-4 * size * float((gradient * step).sum()):
                break
            size /= 2
        if not better < value:
            break
        point, value = point - size * step, better
    return point


def _cross_entropy(scores: Doubles, targets: Doubles) -> float:
    """With log p = −log(1 + exp(−s)), log(1 − p) = −log(1 + exp s)."""
    return float(np.sum(np.logaddexp(0, scores) - targets * scores))


def _sigmoid(scores: Doubles) -> Doubles:
    return np.asarray(np.exp(-np.logaddexp(0, -scores)))


def _logit(probabilities: Doubles) -> Doubles:
    p = np.clip(probabilities, EDGE, 1 - EDGE)
    return np.asarray(np.log(p) - np.log1p(-p))


def _checked(probabilities: ArrayLike, right: ArrayLike) -> tuple[Doubles, Bools]:
    given, truth = np.asarray(probabilities, np.float64), np.asarray(right)
    if given.ndim != 1 or truth.shape != given.shape or truth.dtype != np.bool_:
        found = f"{truth.dtype} of shape {truth.shape} for probabilities of shape {given.shape}"
        raise DataError(f"found {found}, expected one boolean a probability", location="right")
    if not len(given):
        raise DataError("there is nothing to calibrate: no probabilities", location="probabilities")
    outside = given[~((given >= 0) & (given <= 1))]
    if len(outside):
        raise DataError(f"found {outside[0]}, expected 0 to 1", location="probabilities")
    return given, truth
