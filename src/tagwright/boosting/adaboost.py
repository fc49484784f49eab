"""Sequence AdaBoost: in each round, the feature that lowers the exponential risk most (LM-POS algorithm 2, BOOST 5).

    R^exp(w) = Σ_i Σ_{y ≠ y_i} exp[F(x_i, y) − F(x_i, y_i)] = Σ_i (1/p(y_i|x_i) − 1)
    Z_k(Δ)   = R^exp(w + Δ e_k) / R^exp(w) = Σ_i D(i) Σ_{y ≠ y_i} π_i(y) exp[Δ u_k(x_i, y)]

    D(i) ∝ 1/p(y_i|x_i) − 1      π_i(y) = p(y|x_i) / (1 − p(y_i|x_i))      u_k(x_i, y) = Φ_k(x_i, y) − Φ_k(x_i, y_i)

A round
    choose      k, whose bound on Z_k has the least minimum           bounds.py
    step        Δ, where that bound or Z_k itself is least            bounds.py, exact_step.py
    reweight    w_k += Δ; forward-backward of the sentences that can have feature k gives their new D(i) and, with
                these, the sums from which all bounds are made        training_scores.py, sentence_weights.py, sums.py

Ours: the risk has a power (sentence_weights.py), and a round may add several features that share no sentence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tagwright.arrays import Doubles, Longs, Workers
from tagwright.boosting.bounds import Bounds, best_feature, best_step, compute_gains, limit_gains
from tagwright.boosting.exact_step import exact_step
from tagwright.boosting.sentence_weights import SentenceWeights
from tagwright.boosting.sums import BoostingSums
from tagwright.boosting.training_scores import TrainingScores
from tagwright.boosting.training_set import TrainingSet

ROUNDING = 1e-12
"""A gain below this share of the risk is rounding error."""

CANDIDATES = 20
"""Features that are looked at for each one that a round may add."""

REFRESH = 9.0
"""Sums are made anew when Σ d has fallen by a factor of e^REFRESH: what was taken away from them could leave rounding
errors of the size of what is left."""

REFRESH_ROUNDS = 2000
"""And after so many rounds."""


@dataclass(frozen=True, slots=True)
class Options:
    """The parameters of SequenceAdaBoost that a round needs."""

    exact: bool = False  # minimise Z_k itself, not its bound
    power: float = 1.0  # of the risk
    max_step: float = 1.0
    features_per_round: int = 1
    max_features: float = 1.0  # the share of features that may be chosen
    tolerance: float = 0.0  # the least gain, as a share of the risk


class AdaBoost:
    """The state of boosting between two rounds: w, D and the sums."""

    def __init__(
        self, training: TrainingSet, options: Options, workers: Workers, weights: Doubles | None = None
    ) -> None:
        """`weights`: to go on from; 0 without."""
        self.training, self.options = training, options
        self.scores = TrainingScores(training, workers, weights)
        self.sums = BoostingSums(training, workers)
        self.bounds = Bounds.build(training.classes, self.sums.A, self.sums.B, options.max_step)
        everyone = np.arange(training.data.n_sentences)
        expectations = self.scores.empty_expectations()
        self.scores.rescore(everyone)
        self.scores.expect(everyone, expectations)
        self.sentences = SentenceWeights(expectations, options.power)
        self._refresh()

    @property
    def w(self) -> Doubles:
        """[K + C]: the weights of the pattern's features, then of the chain's."""
        return self.scores.w

    @property
    def log_risk(self) -> float:
        """log R; −inf when every right labelling is certain."""
        return self.sentences.log_risk

    # ---- a round ----

    def round(self) -> list[int] | str:
        """LM-POS algorithm 2, lines 4 to 8. The features that were added, or why there is none to add."""
        R = self.sentences.relative_risk
        if R == 0:
            return "certain"
        n = self._limit_features()
        k = self.choose()
        gain = self.bounds.gains[k] / R if k >= 0 else 0.0  # 1 − (the bound on Z_k)
        if not gain > ROUNDING:
            return "no weak learner improves"
        if gain < self.options.tolerance:
            return "tolerance"
        features = self.choose_more(k, n)
        self.reweight(features, [self.step(k) for k in features])
        return features

    def choose(self) -> int:
        """The feature k whose bound on Z_k has the least minimum."""
        limit_gains(self.bounds, self.sums.fold(self.sentences), self.training.feature_pointers)
        return best_feature(self.bounds)

    def step(self, k: int) -> float:
        """The Δ that minimises Z_k, or its bound."""
        step = best_step(self.bounds, k)
        return exact_step(self.scores, self.sentences, k, step, self.options.max_step) if self.options.exact else step

    def reweight(self, features: Sequence[int], steps: Sequence[float]) -> None:
        """w_k += Δ for each feature; D and the sums follow."""
        passed = self._change_weights(features, steps)
        before = self.sums.remember(passed, self.sentences)
        self.scores.expect(passed, self.sentences.expectations)
        self.sentences.update(passed)
        self.sums.update(passed, self.sentences, before)
        self._rounds += 1
        if self.sentences.log_total < self._refreshed_at - REFRESH or self._rounds >= REFRESH_ROUNDS:
            self._refresh()

    # ---- choosing ----

    def _limit_features(self) -> int:
        """How many features this round may add. Once max_features have weights, no others may be chosen."""
        most = max(1, int(self.options.max_features * len(self.w)))
        left = most - int(np.count_nonzero(self.w))
        if left <= 0 and self.bounds.eligible.all():
            self.bounds.eligible[:] = self.w != 0
        return min(self.options.features_per_round, left if left > 0 else most)

    def choose_more(self, best: int, n: int) -> list[int]:
        """`best` and up to n − 1 further features, by falling gain, no two of which share a sentence."""
        K, bounds = self.training.pattern.n_weights, self.bounds
        if n == 1 or best >= K:
            return [best]
        limits = np.where(bounds.eligible[:K], bounds.gains[:K], -np.inf)
        at_most = min(CANDIDATES * n, K)
        likely = np.sort(np.argpartition(-limits, at_most - 1)[:at_most])
        likely = likely[bounds.eligible[likely]]
        gains = np.empty(len(likely))
        compute_gains(bounds, likely, gains)
        order = np.argsort(-gains, kind="stable")
        chosen = [best]
        taken = np.zeros(self.training.data.n_sentences, np.bool_)
        taken[self.training.sentences_of(best)] = True
        for k in likely[order[gains[order] > 0]].tolist():
            if len(chosen) == n:
                break
            sentences = self.training.sentences_of(k)
            if not taken[sentences].any():
                chosen.append(k)
                taken[sentences] = True
        return chosen

    # ---- reweighting ----

    def _change_weights(self, features: Sequence[int], steps: Sequence[float]) -> Longs:
        """w and the scores; the sentences whose probabilities that changes, but for inactive ones."""
        t, sentences = self.training, self.sentences
        affected = np.zeros(t.data.n_sentences, np.bool_)
        for k, step in zip(features, steps, strict=True):
            self.w[k] += step
            if k < t.pattern.n_weights:
                own = t.occurrences_of(k)
                self.scores.add(own[sentences.active[t.occurrences.sentences[own]]], int(t.pattern.labels[k]), step)
            chosen, classes = t.sentences_of(k), t.classes_of(k)
            affected[chosen] = True
            sentences.loss_bounds[chosen] += np.maximum(step * t.classes.L[classes], step * t.classes.U[classes])
        activated = sentences.not_negligible()
        if activated.any():
            self.scores.rescore(np.flatnonzero(activated))
        return np.flatnonzero((affected & sentences.active) | activated)

    def _refresh(self) -> None:
        """All weights of sentences and all sums from nothing, relative to the largest loss of now."""
        self.sentences.rescale()
        self.sums.make_anew(self.sentences)
        self._refreshed_at, self._rounds = self.sentences.log_total, 0
