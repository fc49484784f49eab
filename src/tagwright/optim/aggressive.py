"""Passive-aggressive and AROW updates: how far an online learner goes, and in which weights.

    ℓ = cost(d) − w·δ,      δ = Φ(x, y) − Φ(x, ŷ),      d = wrong labels of ŷ,      cost(d) = 1, √d or d

w·δ is F(x, y) − F(x, ŷ): y must be ahead by the cost. If it is (ℓ ≤ 0), the weights stay as they are (passive); if not
(aggressive):

    PA      w += τ δ      τ = ℓ / ‖δ‖²                   the nearest w with ℓ = 0        Crammer et al. 2006, figure 1
    PA-I                  τ = min(C, ℓ / ‖δ‖²)           C · slack may be left
    PA-II                 τ = ℓ / (‖δ‖² + 1/(2C))        C · slack²
    AROW    w += τ Σδ     τ = ℓ / (δᵀΣδ + γ)             Crammer, Kulesza and Dredze 2009, where γ is r
            Σ⁻¹ += δδᵀ / γ, of which the diagonal is kept

So all are one formula, with Σ = 1 in the first three: τ = min(most, ℓ / (δᵀΣδ + extra)). AROW's variances get smaller
where weights are changed often. From Σ_kk = v at the beginning follows 1/Σ_kk = 1/v + s_k/γ, where s_k is the sum of
all δ_k² so far: those sums are kept (`squares`), 0 for a weight that was never changed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tagwright._jit import tight_kernel
from tagwright.arrays import Bools, Doubles, Ints, Longs
from tagwright.chain.viterbi import PrunedSteps
from tagwright.optim.chain_updates import chain_weight, change_chain, list_chain_changes, n_chain_weights
from tagwright.scores.expanded import LabelledTokens
from tagwright.scores.growing_weights import GrowingWeights, add_weight


class UpdateRule(NamedTuple):
    """What decides the step τ; None stands for the perceptron, whose step is 1."""

    power: float  # cost(d) = d to this power
    most: float
    extra: float
    variance: float  # of AROW, at the beginning

    @classmethod
    def passive_aggressive(cls, power: float, slack: str, C: float) -> UpdateRule:
        """PA-I with the slack "l1", PA-II with "l2", PA with "none"."""
        most, extra = float(C) if slack == "l1" else np.inf, 1 / (2 * C) if slack == "l2" else 0.0
        return cls(power, most, extra, 1.0)

    @classmethod
    def arow(cls, power: float, variance: float, gamma: float) -> UpdateRule:
        """Needs weights with squares."""
        return cls(power, np.inf, float(gamma), float(variance))


class OnlineState(NamedTuple):
    """w and what is kept beside it: u, the sums of lazy averages, and the squares of AROW; [0] where there are none.
    Of the attributes, `weights` has these."""

    weights: GrowingWeights
    chain: PrunedSteps
    chain_sums: Doubles  # [Y·Y + 2 Y]
    chain_squares: Doubles  # [Y·Y + 2 Y]
    free: Bools  # [Y·Y + 2 Y]: chain weights that may change

    @classmethod
    def build(cls, weights: GrowingWeights, free: Bools) -> OnlineState:
        """With a chain of zeros."""
        sums, squares = (np.zeros(len(free) if len(own) else 0) for own in (weights.sums, weights.squares))
        return cls(weights, PrunedSteps.zeros(weights.n_labels, np.float32), sums, squares, free)


class Difference(NamedTuple):
    """δ of one sentence. The number of a weight: that of a chain weight (chain_updates.py), or, for the weight at a
    place of GrowingWeights, Y·Y + 2 Y more than the place."""

    amounts: Doubles  # [Y·Y + 2 Y + R]: of every weight; 0 between sentences
    numbers: Longs  # [M]: of the weights in which δ is not 0
    deltas: Doubles  # [M]: δ there

    @classmethod
    def build(cls, data: LabelledTokens, weights: GrowingWeights, rule: UpdateRule | None) -> Difference:
        """For sentences of this data, and weights that have so much room. The perceptron needs no amounts."""
        n_attributes = np.diff(data.tokens.pointers[data.offsets])
        most = 2 * int((n_attributes + np.diff(data.offsets) + 1).max())
        n_amounts = 0 if rule is None else n_chain_weights(weights.n_labels) + len(weights.values)
        return cls(np.zeros(n_amounts), np.empty(most, np.int64), np.empty(most))


@tight_kernel
def add_amount(difference: Difference, n: int, k: int, amount: float) -> int:
    """δ_k += amount; returns the length of the list of numbers, which has n so far. A δ_k that was 0 again on the way
    is listed twice."""
    if difference.amounts[k] == 0:
        difference.numbers[n] = k
        n += 1
    difference.amounts[k] += amount
    return n


@tight_kernel
def find_difference(
    begin: int, end: int, data: LabelledTokens, path: Ints, state: OnlineState, difference: Difference
) -> int:
    """δ of the sentence of the tokens `begin` to `end` − 1, for which `path` is ŷ; returns in how many weights it is
    not 0. Attributes get the weights that they lack, if they may."""
    gold, tokens, numbers, deltas = data.gold, data.tokens, difference.numbers, difference.deltas
    Y, weighted = state.weights.n_labels, tokens.values.shape[0] > 0
    n = list_chain_changes(gold[begin:end], path, Y, state.free, numbers, deltas)
    m = 0
    for e in range(n):
        m = add_amount(difference, m, numbers[e], deltas[e])
    for making in (True, False):  # weights that are made move others of their attribute
        for p in range(begin, end):
            if path[p - begin] == gold[p]:
                continue
            for sign in (1, -1):
                y = gold[p] if sign > 0 else path[p - begin]
                for e in range(tokens.pointers[p], tokens.pointers[p + 1]):
                    k = add_weight(state.weights, tokens.attributes[e], y)
                    if k >= 0 and not making:
                        amount = sign * (tokens.values[e] if weighted else 1.0)
                        m = add_amount(difference, m, Y * Y + 2 * Y + k, amount)
    n = 0
    for e in range(m):
        k = numbers[e]
        delta = difference.amounts[k]
        if delta != 0:
            numbers[n], deltas[n] = k, delta
            difference.amounts[k] = 0
            n += 1
    return n


@tight_kernel
def variance_of(state: OnlineState, k: int, rule: UpdateRule) -> float:
    """Σ_kk of weight number k: 1 / (1/v + s_k/γ); 1 without squares."""
    if state.chain_squares.shape[0] == 0:
        return 1.0
    n_chain = state.free.shape[0]
    square = state.chain_squares[k] if k < n_chain else state.weights.squares[k - n_chain]
    return float(1.0 / (1.0 / rule.variance + square / rule.extra))


@tight_kernel
def measure(difference: Difference, n: int, state: OnlineState, rule: UpdateRule) -> tuple[float, float]:
    """w·δ and δᵀΣδ."""
    n_chain, product, square = state.free.shape[0], 0.0, 0.0
    for e in range(n):
        k, delta = difference.numbers[e], difference.deltas[e]
        weight = chain_weight(state.chain, k) if k < n_chain else state.weights.values[k - n_chain]
        product += delta * weight
        square += delta * delta * variance_of(state, k, rule)
    return product, square


@tight_kernel
def change_weights(
    difference: Difference, n: int, tau: float, now: float, state: OnlineState, rule: UpdateRule
) -> None:
    """w += τ Σδ, lazy sums that times `now`; squares += δ²."""
    n_chain, weights = state.free.shape[0], state.weights
    averaged, adaptive = state.chain_sums.shape[0] > 0, state.chain_squares.shape[0] > 0
    for e in range(n):
        k, delta = difference.numbers[e], difference.deltas[e]
        change = tau * variance_of(state, k, rule) * delta
        if k < n_chain:
            change_chain(state.chain, k, change)
            if averaged:
                state.chain_sums[k] += now * change
            if adaptive:
                state.chain_squares[k] += delta * delta
        else:
            weights.values[k - n_chain] += change
            if averaged:
                weights.sums[k - n_chain] += now * change
            if adaptive:
                weights.squares[k - n_chain] += delta * delta


@tight_kernel
def aggressive_update(
    begin: int, end: int, wrong: int, data: LabelledTokens, path: Ints, state: OnlineState, difference: Difference,
    now: float, rule: UpdateRule,
) -> float:  # fmt: skip
    """The update of a sentence in which `path` has so many wrong labels; returns ℓ, or 0 if it is negative; NaN if
    numbers were too large."""
    n = find_difference(begin, end, data, path, state, difference)
    product, square = measure(difference, n, state, rule)
    loss = float(wrong**rule.power) - product
    if not (np.isfinite(loss) and np.isfinite(square)):
        return np.nan
    if loss <= 0:
        return 0.0
    if square > 0:
        change_weights(difference, n, min(rule.most, loss / (square + rule.extra)), now, state, rule)
    return loss
