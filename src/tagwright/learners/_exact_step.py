"""The step of boosting's exact bound: where the risk R itself is least along one weight. Three ways to the same Δ.

counted    The distribution of the feature's count over all labellings (chain/accumulators.py: the papers' way) gives
           R^exp for any Δ. One pass for each count: good for the power 1 and few occurrences in a sentence.
once       Where an attribute with the value v stands once in a sentence, its marginal m says all:
           1/p(Δ) = 1/p · (1 + m(e^{vΔ} − 1)) · e^{−vΔ[gold]}. No pass.
searched   The zero of R's slope, one forward-backward pass of the other sentences for each step that is tried.

BOOST section 5, LM-POS section 3.2.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from tagwright.arrays import Doubles, Ints, Longs
from tagwright.chain.accumulators import Masses, add_masses
from tagwright.learners._booster import Booster
from tagwright.optim.boosting import find_zero, minimise_exactly
from tagwright.scores.shares import slope_of_weight

FEW = 6
"""Up to so many occurrences in a sentence, counting is quicker than searching."""


def exact_step(booster: Booster, k: int) -> float:
    """The Δ of feature k that minimises R, within the bound's longest step (tight classes only)."""
    if k >= booster.pattern.n_weights:
        return counted_step(booster, k) if _counts_are_few(booster, k) else _ChainSearch(booster, k).step()
    search = _AttributeSearch(booster, k)
    return counted_step(booster, k) if len(search.often) and _counts_are_few(booster, k) else search.step()


def _counts_are_few(booster: Booster, k: int) -> bool:
    classes = slice(booster.bound.pointers[k], booster.bound.pointers[k + 1])
    few = (booster.bound.high[classes] - booster.bound.low[classes]).max() <= FEW
    return booster.power == 1 and bool(few) and not booster.has_values


# ---- counted ----


def counted_step(booster: Booster, k: int) -> float:
    """Δ by the counts of feature k in all labellings."""
    b = booster
    targets: Ints = np.full(b.data.n_tokens, -1, np.int32)
    source = _mark_chain(b, k, targets) if k >= b.pattern.n_weights else _mark_attribute(b, k, targets)
    chosen, slots = b.places_of(k)
    there = b.awake[chosen]
    masses = Masses.build(b.classes.low[slots[there]], b.classes.high[slots[there]])
    add_masses(
        chosen[there], b.data.offsets, b.scores.emission, b.chain(), targets, source, b.power * b.losses - b.reference,
        masses,
    )  # fmt: skip
    return minimise_exactly(masses.logs, masses.counts, b.bound.most)


def _mark_attribute(booster: Booster, k: int, targets: Ints) -> int:
    """Where a feature of the pattern can occur, after any label."""
    targets[booster.positions_of(booster.pairs_of(k)[0])] = booster.pattern.labels[k]
    return -1


def _mark_chain(booster: Booster, k: int, targets: Ints) -> int:
    """Where a feature of the chain can occur; the label that must stand before (−1: any)."""
    Y, offsets, c = booster.n_labels, booster.data.offsets, k - booster.pattern.n_weights
    if c < Y * Y:
        targets[:] = c % Y
        targets[offsets[:-1]] = -1
        return c // Y
    first = c < Y * Y + Y
    targets[offsets[:-1] if first else offsets[1:] - 1] = (c - Y * Y) % Y
    return -1


# ---- searched ----


class _Search(ABC):
    """dR/dΔ for any Δ. `chosen`: the sentences that are passed for it."""

    def __init__(self, booster: Booster, k: int, chosen: Longs) -> None:
        self.booster, self.k, self.chosen = booster, k, chosen
        self.at = 0.0  # the step that the booster's scores have now
        self.factors = np.zeros(booster.data.n_sentences)

    def step(self) -> float:
        """Where the slope is 0. The booster is left as it was."""
        bound = self.booster.bound
        falling = self.slope_now()
        step = find_zero(self.slope, falling, bound.step(self.k), bound.most) if falling else 0.0
        self._move(-self.at)
        return step

    @abstractmethod
    def slope_now(self) -> float:
        """At Δ = 0."""

    @abstractmethod
    def slope(self, step: float) -> float:
        """At any Δ."""

    @abstractmethod
    def _move(self, step: float) -> None:
        """Change the booster's scores by one more `step`."""

    def _pass(self, step: float, *, with_chain: bool) -> tuple[Doubles, Doubles]:
        """Residuals of the sentences at Δ = step, and self.factors = (1/p)^power."""
        b = self.booster
        self._move(step - self.at)
        self.at = step
        residuals, chain_residuals, losses = b.trial_space()
        if not with_chain:
            chain_residuals = chain_residuals[:0]
        b.expect_into(self.chosen, residuals, chain_residuals, losses)
        self.factors[self.chosen] = np.exp(b.power * losses[self.chosen] - b.reference)
        return residuals, chain_residuals


class _AttributeSearch(_Search):
    """Of a feature of the pattern: `once` are the pairs with one position, `often` the others."""

    def __init__(self, booster: Booster, k: int) -> None:
        p = booster.pairs
        pairs, _ = booster.pairs_of(k)
        pairs = pairs[booster.awake[p.sentences[pairs]]]
        single = p.pointers[pairs + 1] - p.pointers[pairs] == 1
        self.once, self.often = pairs[single], pairs[~single]
        self.label = int(booster.pattern.labels[k])
        super().__init__(booster, k, p.sentences[self.often].astype(np.int64))
        at, self.value = p.positions[p.pointers[self.once]], p.values[p.pointers[self.once]]
        self.gold = (booster.data.labels[at] == self.label).astype(np.float64)
        self.marginal = np.clip(booster.residuals[at, self.label] + self.gold, 0.0, 1.0)

    def slope_now(self) -> float:
        return self._slope_of_once(0.0) + self._slope_of_often(self.booster.q, self.booster.residuals)

    def slope(self, step: float) -> float:
        total = self._slope_of_once(step)
        if len(self.often):
            residuals, _ = self._pass(step, with_chain=False)
            total += self._slope_of_often(self.factors, residuals)
        return total

    def _slope_of_once(self, step: float) -> float:
        b, m, move = self.booster, self.marginal, step * self.value
        grown = 1 + m * np.expm1(move)  # e^F summed over all labellings, before and after
        weight = b.q[b.pairs.sentences[self.once]] * (grown * np.exp(-move * self.gold)) ** b.power
        return float((weight * self.value) @ (m * np.exp(move) / grown - self.gold))

    def _slope_of_often(self, factors: Doubles, residuals: Doubles) -> float:
        p = self.booster.pairs
        return slope_of_weight(
            self.often, p.sentences, p.pointers, p.positions, p.values, self.label, factors, residuals
        )

    def _move(self, step: float) -> None:
        if step and len(self.often):
            self.booster.add_to_scores(self.often, self.label, step)


class _ChainSearch(_Search):
    """Of two labels in a row, a first or a last label."""

    def __init__(self, booster: Booster, k: int) -> None:
        super().__init__(booster, k, np.flatnonzero(booster.awake))
        self.place = k - booster.pattern.n_weights

    def slope_now(self) -> float:
        return float(self.booster.q[self.chosen] @ self.booster.chain_residuals[self.chosen, self.place])

    def slope(self, step: float) -> float:
        _, chain_residuals = self._pass(step, with_chain=True)
        return float(self.factors[self.chosen] @ chain_residuals[self.chosen, self.place])

    def _move(self, step: float) -> None:
        self.booster.weights[self.k] += step
