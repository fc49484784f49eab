"""The exact step: the Δ at which the risk R itself is least along one weight (LM-POS 3.2, BOOST section 5).

Three ways to the same Δ:

by counts      The distribution of the feature's count over all labellings (count_distribution.py: the papers' way)
               gives R^exp for any Δ. One pass for each count: good for the power 1 and few occurrences in a sentence.
by marginals   Where an attribute with the value v stands once in a sentence, its marginal m says all:
               1/p(Δ) = 1/p · (1 + m(e^{vΔ} − 1)) · e^{−vΔ[gold]}. No pass.
by search      The zero of R's slope, one forward-backward pass of the other sentences for each step that is tried.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tagwright._jit import tight_kernel
from tagwright.arrays import Doubles, Ints, Longs
from tagwright.boosting.bounds import Bounds, best_step
from tagwright.boosting.count_distribution import CountedFeature, CountWorkspace, add_sentences
from tagwright.boosting.expectations import SentenceExpectations
from tagwright.boosting.feature_classes import FeatureClasses
from tagwright.boosting.occurrences import Occurrences
from tagwright.boosting.sentence_weights import SentenceWeights
from tagwright.boosting.training_scores import TrainingScores
from tagwright.boosting.training_set import TrainingSet

FEW = 6
"""Up to so many occurrences in a sentence, counting is quicker than searching."""

SEARCH_STEPS = 30
SLOPE_PRECISION = 1e-3


def exact_step(scores: TrainingScores, sentences: SentenceWeights, k: int, guess: float, max_step: float) -> float:
    """The Δ of feature k that minimises R, within ±max_step; `guess`: the tight bound's. Scores are left as they were,
    but for rounding."""
    search = StepSearch(scores, sentences, k)
    if len(search.passed) and sentences.power == 1 and has_few_counts(scores.training, k):
        return step_by_counts(scores, sentences, k, max_step)
    return search.step(guess, max_step)


# ---- by counts ----


def has_few_counts(training: TrainingSet, k: int) -> bool:
    """Whether a feature's values are counts, and small ones."""
    classes = slice(training.classes.pointers[k], training.classes.pointers[k + 1])
    few = (training.classes.U[classes] - training.classes.L[classes]).max() <= FEW
    return bool(few) and training.binary


def step_by_counts(scores: TrainingScores, sentences: SentenceWeights, k: int, max_step: float) -> float:
    """Δ from the counts of feature k in all labellings; for the power 1."""
    t = scores.training
    chosen, classes = t.sentences_of(k), t.classes_of(k)
    active = sentences.active[chosen]
    low, high = (ends[classes[active]].astype(np.int64) for ends in (t.classes.L, t.classes.U))
    counts = np.arange(low.min(initial=0), high.max(initial=0) + 1)
    log_masses = np.full(len(counts), -np.inf)
    work = CountWorkspace.build(int((high - low).max(initial=0)) + 1, t.n_labels)
    add_sentences(
        chosen[active], t.data.offsets, scores.tokens.x, scores.chain(), mark_occurrences(t, k),
        sentences.power * sentences.losses - sentences.reference, low - counts[0], high - low + 1, work, log_masses,
    )  # fmt: skip
    return minimise_masses(counts.astype(np.float64), log_masses, max_step)


def mark_occurrences(training: TrainingSet, k: int) -> CountedFeature:
    """Where feature k can occur."""
    Y, offsets, K = training.n_labels, training.data.offsets, training.pattern.n_weights
    targets: Ints = np.full(training.data.n_tokens, -1, np.int32)
    c = k - K
    if k < K:
        targets[training.occurrences.positions_of(training.occurrences_of(k))] = training.pattern.labels[k]
    elif c < Y * Y:
        targets[:] = c % Y
        targets[offsets[:-1]] = -1
    else:
        targets[offsets[:-1] if c < Y * Y + Y else offsets[1:] - 1] = (c - Y * Y) % Y
    return CountedFeature(targets, c // Y if 0 <= c < Y * Y else -1)


def minimise_masses(counts: Doubles, logs: Doubles, max_step: float) -> float:
    """The Δ within ±max_step at which Σ_u exp(logs[u] + Δ·counts[u]) is least.

    That is the tight bound of a feature with a class for each count u, of the range 0 to u: A = e^logs[u], B = u·A.
    """
    u, A = counts, np.exp(logs - logs.max())
    classes = FeatureClasses(np.array([0, len(u)]), np.minimum(u, 0.0), np.maximum(u, 0.0))
    return best_step(Bounds.build(classes, A, u * A, max_step), 0)


# ---- by marginals and by search ----


class StepSearch:
    """dR/dΔ of feature k for any Δ.

    `once`: its occurrences with one position. `passed`: the sentences of which the slope takes a forward-backward pass,
    those of its other occurrences, `often`; for a feature of the chain, all sentences.
    """

    def __init__(self, scores: TrainingScores, sentences: SentenceWeights, k: int) -> None:
        t = scores.training
        self.scores, self.sentences, self.k = scores, sentences, k
        self.at = 0.0  # the step that the scores have now
        self.q = np.zeros(len(sentences.q))
        self.of_chain = k >= t.pattern.n_weights
        self.occurrences = o = t.occurrences
        own = np.empty(0, np.int64) if self.of_chain else t.occurrences_of(k)
        own = own[sentences.active[o.sentences[own]]]
        single = o.pointers[own + 1] - o.pointers[own] == 1
        self.once, self.often = own[single], own[~single]
        if self.of_chain:
            self.column, self.passed = k - t.pattern.n_weights, np.flatnonzero(sentences.active)
        else:
            self.column, self.passed = int(t.pattern.labels[k]), o.sentences[self.often].astype(np.int64)
        positions, self.values = o.positions[o.pointers[self.once]], o.values[o.pointers[self.once]]
        self.gold = (t.data.labels[positions] == self.column).astype(np.float64)
        residuals = sentences.expectations.residuals[positions, self.column] if len(positions) else np.empty(0)
        self.marginals = np.clip(residuals + self.gold, 0.0, 1.0)

    def step(self, guess: float, max_step: float) -> float:
        """Where the slope is 0."""
        falling = self.slope(0.0)
        step = find_zero(self.slope, falling, guess, max_step) if falling else 0.0
        self._move(-self.at)
        return step

    def slope(self, step: float) -> float:
        """At Δ = step."""
        total = self._slope_of_once(step)
        if len(self.passed):
            total += self._slope_of_passed(
                *(self._pass(step) if step else (self.sentences.q, self.sentences.expectations))
            )
        return total

    def _slope_of_once(self, step: float) -> float:
        m, change = self.marginals, step * self.values
        growth = 1 + m * np.expm1(change)  # of e^F, summed over all labellings
        q = self.sentences.q[self.occurrences.sentences[self.once]]
        q = q * (growth * np.exp(-change * self.gold)) ** self.sentences.power
        return float(np.sum(q * self.values * (m * np.exp(change) / growth - self.gold)))

    def _slope_of_passed(self, q: Doubles, expectations: SentenceExpectations) -> float:
        if self.of_chain:
            return float(np.sum(q[self.passed] * expectations.chain_residuals[self.passed, self.column]))
        return slope_of_feature(self.often, self.occurrences, self.column, q, expectations.residuals)

    def _pass(self, step: float) -> tuple[Doubles, SentenceExpectations]:
        """Forward-backward at Δ = step: q and expectations of the sentences passed."""
        self._move(step - self.at)
        self.at = step
        out = self.scores.trial
        self.scores.expect(self.passed, out if self.of_chain else out._replace(chain_residuals=out.chain_residuals[:0]))
        self.q[self.passed] = np.exp(self.sentences.power * out.losses[self.passed] - self.sentences.reference)
        return self.q, out

    def _move(self, step: float) -> None:
        """Change the scores by one more `step`."""
        if self.of_chain:
            self.scores.w[self.k] += step
        elif step and len(self.often):
            self.scores.add(self.often, self.column, step)


@tight_kernel
def slope_of_feature(chosen: Longs, occurrences: Occurrences, label: int, q: Doubles, residuals: Doubles) -> float:
    """Σ q_i · v · residuals[p, label] over the positions of an attribute's chosen occurrences."""
    total = 0.0
    for n in range(chosen.shape[0]):
        r = chosen[n]
        factor = q[occurrences.sentences[r]]
        if factor != 0:
            for e in range(occurrences.pointers[r], occurrences.pointers[r + 1]):
                total += factor * occurrences.values[e] * residuals[occurrences.positions[e], label]
    return total


def find_zero(slope: Callable[[float], float], falling: float, guess: float, max_step: float) -> float:
    """Where the rising function `slope`, `falling` at 0, is 0 to SLOPE_PRECISION · |falling|; at most ±max_step.

    For slopes that are costly: secants from `guess`, stretched until the zero is bracketed; then regula falsi, and the
    middle of the bracket wherever that did not halve it.
    """
    end = max_step if falling < 0 else -max_step
    near, at_near, far, at_far = 0.0, falling, np.inf * end, np.nan
    step = guess if 0 < guess / end < 1 else end
    width = np.inf
    for _ in range(SEARCH_STEPS):
        here = slope(step)
        if abs(here) <= SLOPE_PRECISION * abs(falling) or (step == end and here * falling > 0):
            break
        before, at_before = near, at_near
        if here * falling > 0:
            near, at_near = step, here
        else:
            far, at_far = step, here
        if np.isinf(far):  # stretch, up to four times as far
            secant = step - here * (step - before) / (here - at_before) if here != at_before else end
            step = min(max(min(secant / step, 4.0), 1.5) * step / end, 1.0) * end
        else:
            halved, width = abs(far - near) <= 0.5 * width, abs(far - near)
            share = at_near / (at_near - at_far) if halved and np.isfinite(at_far) else 0.5
            step = near + share * (far - near)
    return step
