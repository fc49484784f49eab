"""The definition: one recursion over a lattice, many semirings. Plain NumPy, written to be read, not to be fast.

Stands beside the fast kernels of chain/ (viterbi, forward_backward, kbest), which compute the same values and are
tested against this file; this file is tested against the enumeration of all labellings (tests/oracle.py).

A semiring has two operations. ⊗ joins the pieces of one path, ⊕ gathers different paths; λ turns a score into a value.

    α_0[y] = λ(start[y]) ⊗ λ(emission[0, y])
    α_t[c] = ( ⊕_p α_{t−1}[p] ⊗ λ(transition[p, c]) ) ⊗ λ(emission[t, c])
    β_{T−1}[y] = λ(stop[y])
    β_t[p] = ⊕_c λ(transition[p, c]) ⊗ λ(emission[t+1, c]) ⊗ β_{t+1}[c]
    total  = ⊕_y α_{T−1}[y] ⊗ β_{T−1}[y]

| semiring | ⊕ | ⊗ | total |
|---|---|---|---|
| LOG | log-sum-exp | + | log Z |
| MAX | max | + | score of the best labelling |
| BOOLEAN | or | and | is there a labelling? |
| COUNT | + | × | number of possible labellings (exact, any size) |
| KMax(k) | k best of the union | k best of the pairwise sums | scores of the k best labellings |
| ENTROPY | mixture | + | (log Z, expected score); their difference is the entropy of p(y|x) |

One recursion for all: Goodman, Semiring parsing (1999). ENTROPY is the expectation semiring of Eisner (2002), kept
normalised so that nothing overflows. Ties: the smallest label wins, at the last position first, then walking back.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tagwright.arrays import Doubles, Longs
from tagwright.chain.lattice import Lattice
from tagwright.errors import DataError, ParameterError

Values = NDArray[Any]
"""Semiring values [..., *V]: V is () for plain numbers, (k,) for KMax(k), (2,) for ENTROPY."""


class Semiring(Protocol):
    """⊕, ⊗ and λ on arrays. The zero is λ(−inf), the one is λ(0)."""

    def lift(self, scores: Doubles) -> Values:
        """λ: scores [...] become values [..., *V]."""
        ...

    def plus(self, values: Values, axis: int) -> Values:
        """⊕ over one axis, counted from the front."""
        ...

    def times(self, left: Values, right: Values) -> Values:
        """⊗, element by element, with broadcasting."""
        ...


class Log:
    """Values are log weights."""

    def lift(self, scores: Doubles) -> Values:
        return scores

    def plus(self, values: Values, axis: int) -> Values:
        peak = values.max(axis=axis, keepdims=True)
        peak = np.where(np.isneginf(peak), 0.0, peak)
        with np.errstate(divide="ignore"):  # log 0 = −inf is meant
            return np.asarray(np.log(np.exp(values - peak).sum(axis=axis)) + peak.squeeze(axis))

    def times(self, left: Values, right: Values) -> Values:
        return np.asarray(left + right)


class Max:
    """Values are scores of the best path so far."""

    def lift(self, scores: Doubles) -> Values:
        return scores

    def plus(self, values: Values, axis: int) -> Values:
        return np.asarray(values.max(axis=axis))

    def times(self, left: Values, right: Values) -> Values:
        return np.asarray(left + right)


class Boolean:
    """Values say whether any path is left."""

    def lift(self, scores: Doubles) -> Values:
        return np.asarray(scores > -np.inf)

    def plus(self, values: Values, axis: int) -> Values:
        return np.asarray(values.any(axis=axis))

    def times(self, left: Values, right: Values) -> Values:
        return np.asarray(left & right)


class Count:
    """Values are numbers of paths: Python integers, since Y^T outgrows 64 bits after a dozen tokens."""

    def lift(self, scores: Doubles) -> Values:
        return np.asarray(scores > -np.inf).astype(np.int64).astype(object)

    def plus(self, values: Values, axis: int) -> Values:
        return np.asarray(values.sum(axis=axis), dtype=object)

    def times(self, left: Values, right: Values) -> Values:
        return np.asarray(left * right)


class KMax:
    """Values are the scores of the k best paths so far, [k], falling; −inf where there are fewer."""

    def __init__(self, k: int) -> None:
        if k < 1:
            raise ParameterError(f"k: found {k}, expected at least 1")
        self.k = k

    def lift(self, scores: Doubles) -> Values:
        values = np.full((*scores.shape, self.k), -np.inf)
        values[..., 0] = scores
        return values

    def plus(self, values: Values, axis: int) -> Values:
        union = np.moveaxis(values, axis, -2)  # [..., paths, k]
        return self._best(union.reshape(*union.shape[:-2], -1))

    def times(self, left: Values, right: Values) -> Values:
        pairs = left[..., :, None] + right[..., None, :]  # [..., k, k]
        return self._best(pairs.reshape(*pairs.shape[:-2], -1))

    def _best(self, values: Values) -> Values:
        """The k largest of the last axis, falling."""
        return np.asarray(-np.sort(-values, axis=-1)[..., : self.k])


class Entropy:
    """Values are pairs [2]: the log weight of a set of paths, and the mean score of that set."""

    def lift(self, scores: Doubles) -> Values:
        return np.stack([scores, np.where(np.isneginf(scores), 0.0, scores)], axis=-1)

    def plus(self, values: Values, axis: int) -> Values:
        weight, mean = values[..., 0], values[..., 1]
        peak = weight.max(axis=axis, keepdims=True)
        share = np.exp(weight - np.where(np.isneginf(peak), 0.0, peak))
        whole = share.sum(axis=axis)  # at least 1; 0 where there is no path
        mean = (share * mean).sum(axis=axis) / np.where(whole == 0, 1.0, whole)
        return np.stack([LOG.plus(weight, axis), mean], axis=-1)

    def times(self, left: Values, right: Values) -> Values:
        return np.asarray(left + right)


LOG, MAX, BOOLEAN, COUNT, ENTROPY = Log(), Max(), Boolean(), Count(), Entropy()


def forward(lattice: Lattice, semiring: Semiring) -> Values:
    """α [T, Y, *V]: all paths from the start to label y at position t, emission t included."""
    emission, transition = semiring.lift(lattice.emission), semiring.lift(lattice.transition)
    alpha = [semiring.times(semiring.lift(lattice.start), emission[0])]
    for t in range(1, lattice.n_positions):
        arrived = semiring.plus(semiring.times(alpha[-1][:, None], transition), axis=0)
        alpha.append(semiring.times(arrived, emission[t]))
    return np.stack(alpha)


def backward(lattice: Lattice, semiring: Semiring) -> Values:
    """β [T, Y, *V]: all paths from label y at position t to the end, emission t left out."""
    emission, transition = semiring.lift(lattice.emission), semiring.lift(lattice.transition)
    beta = [semiring.lift(lattice.stop)]
    for t in range(lattice.n_positions - 1, 0, -1):
        ahead = semiring.times(emission[t], beta[-1])
        beta.append(semiring.plus(semiring.times(transition, ahead[None, :]), axis=1))
    return np.stack(beta[::-1])


def total(lattice: Lattice, semiring: Semiring) -> Values:
    """⊕ over all labellings of the ⊗ of their pieces: [*V]."""
    return _finish(lattice, semiring, forward(lattice, semiring))


def _finish(lattice: Lattice, semiring: Semiring, alpha: Values) -> Values:
    """The recursion's last line."""
    return semiring.plus(semiring.times(alpha[-1], semiring.lift(lattice.stop)), axis=0)


def log_partition(lattice: Lattice) -> float:
    """log Z = log Σ_y exp F(y). −inf when no labelling is possible."""
    return float(total(lattice, LOG))


def count_labellings(lattice: Lattice) -> int:
    """The number of labellings with a score above −inf."""
    return int(total(lattice, COUNT))


def entropy(lattice: Lattice) -> float:
    """H = −Σ_y p(y) log p(y) = log Z − E[F], in nats."""
    log_z, mean_score = total(lattice, ENTROPY)
    _require_possible(float(log_z))
    return float(log_z - mean_score)


def best_score(lattice: Lattice) -> float:
    """max_y F(y). −inf when no labelling is possible."""
    return float(total(lattice, MAX))


def best_path(lattice: Lattice) -> tuple[Longs, float]:
    """The best labelling [T] and its score.

    ŷ_{T−1} = argmax_y α_{T−1}[y] + stop[y],  ŷ_t = argmax_p α_t[p] + transition[p, ŷ_{t+1}]; argmax takes the smallest.
    """
    alpha = forward(lattice, MAX)
    score = float(_finish(lattice, MAX, alpha))
    _require_possible(score)
    labels = np.empty(lattice.n_positions, dtype=np.int64)
    labels[-1] = np.argmax(alpha[-1] + lattice.stop)
    for t in range(lattice.n_positions - 2, -1, -1):
        labels[t] = np.argmax(alpha[t] + lattice.transition[:, labels[t + 1]])
    return labels, score


def node_marginals(lattice: Lattice) -> Doubles:
    """p(y_t = y | x) [T, Y] = exp(α_t[y] + β_t[y] − log Z)."""
    alpha = forward(lattice, LOG)
    log_z = _require_possible(float(_finish(lattice, LOG, alpha)))
    return np.asarray(np.exp(alpha + backward(lattice, LOG) - log_z))


def edge_marginals(lattice: Lattice) -> Doubles:
    """p(y_t = p, y_{t+1} = c | x) [T−1, Y, Y], p and c being labels:

    exp(α_t[p] + transition[p, c] + emission[t+1, c] + β_{t+1}[c] − log Z)
    """
    alpha = forward(lattice, LOG)
    log_z = _require_possible(float(_finish(lattice, LOG, alpha)))
    ahead = (lattice.emission + backward(lattice, LOG))[1:]
    return np.asarray(np.exp(alpha[:-1, :, None] + lattice.transition + ahead[:, None, :] - log_z))


def _require_possible(value: float) -> float:
    """`value` of all labellings, or DataError when there are none."""
    if value == -np.inf:
        raise DataError("no labelling is possible: the constraints forbid every path")
    return value
