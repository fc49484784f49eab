"""The learner SequenceAdaBoost: rounds of boosting (adaboost.py) with dev set, callbacks, warm start and model file.

Boosting adds few features, so that the model of the chosen ones is small: all others leave the encoder, too.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any, Self

import numpy as np

from tagwright.arrays import Doubles, Longs, Workers, count_jobs
from tagwright.boosting.adaboost import AdaBoost, Options
from tagwright.boosting.chosen import Chosen, ChosenFeature, Numbering, feature_numbers
from tagwright.boosting.training_set import TrainingSet, split_chain
from tagwright.encode.pruned import prune
from tagwright.encode.text import Sentences
from tagwright.errors import ConvergenceWarning, ParameterError, warn
from tagwright.learners._base import SequenceTagger, of_one_fit
from tagwright.learners._decoder import Decoder, Scores
from tagwright.learners._estimator import FLAG, NOT_NEGATIVE, WHOLE, Range, fitted, one_of, parameter
from tagwright.learners._labels import Labels
from tagwright.learners._stored import restore_linear
from tagwright.learners._watch import DevSet, Watch, all_callbacks, warn_of_end
from tagwright.optim.progress import Progress
from tagwright.scores.linear import LinearMap, LinearScores
from tagwright.scores.pattern import Pattern, find_pattern


class SequenceAdaBoost(SequenceTagger):
    """Boosting of label sequences; weak learners are (attribute, label) and (label, label) features.

    The defaults make the best taggers. The papers' algorithm: bound="loose" or "tight", power=1, features_per_round=1.

    """

    learner = "adaboost"
    probabilistic = True

    bound: str = parameter(
        one_of("loose", "tight", "exact"),
        'how a feature and its step are found. "loose": one range of values for all sentences, step in closed form; '
        '"tight": a range for each sentence; "exact": the feature by the tight bound, the step that minimises the risk',
        default="exact",
    )
    power: float = parameter(
        Range(lambda value: 0 <= value <= 1, "a number from 0 to 1"),
        "of the risk Σ ((1/p)^power − 1)/power. 1 is the papers' exponential risk, 0 the CRF's Σ −log p (ours: hard "
        "sentences count less, which makes better taggers of fewer rounds)",
        default=0.0,
    )
    rounds: int = parameter(
        WHOLE, "how many, at most; with a dev set, those up to the best dev score are kept", default=1000
    )
    max_step: float = parameter(
        Range(lambda value: 0 < value <= 100, "a number above 0, at most 100"),
        "no step is larger. A feature that never speaks against a right labelling has no best step: the larger, the "
        "better on the training data. So this is the learner's regulariser",
        default=1.0,
    )
    features_per_round: int = parameter(
        WHOLE,
        "add up to so many features at once, no two of which share a sentence (ours; the papers add one)",
        default=10,
    )
    max_features: float = parameter(
        Range(lambda value: 0 < value <= 1, "a number above 0, at most 1"),
        "the share of features that may be chosen. When it is reached, rounds improve the weights of these",
        default=1.0,
    )
    tolerance: float = parameter(
        NOT_NEGATIVE, "stop when the best feature lowers the risk by less than this share", default=1e-6
    )
    min_count: int = parameter(WHOLE, "attributes that fewer training tokens have get no weight", default=1)
    min_conjunction: int = parameter(WHOLE, "the same for conjunctions of attributes", default=2)
    all_possible_states: bool = parameter(
        FLAG, "give weights to (attribute, label) pairs that training did not see together, too", default=False
    )
    boundaries: bool = parameter(FLAG, "give weights to first and last labels", default=True)
    score_every: int = parameter(WHOLE, "rounds between two looks at the dev set", default=100)
    patience: int = parameter(
        WHOLE, "with a dev set, stop after so many rounds without a better dev score", default=2000
    )
    warm_start: bool = parameter(
        FLAG, "go on from the weights and choices of the model as it is, for `rounds` more rounds", default=False
    )

    chosen_: Chosen = fitted()
    objective_: float | None = fitted()  # log of the risk; None when every right labelling is certain: log 0
    objective_curve_: list[float] = fitted()
    dev_curve_: list[float] = fitted()
    converged_: bool = fitted()
    end_: str = fitted()
    n_features_: int = fitted()

    # ---- training ----

    def _fit(self, X: Sentences, y: Labels, X_dev: Sentences | None, y_dev: Labels | None, before: Self | None) -> None:
        """Add features, round by round; from nothing, or from the model `before`."""
        _, names, encoder, data = self._read_training(X, y)
        self.labels_, self.encoder_ = names, encoder
        Y, loose = len(names), self.bound == "loose"
        pattern = find_pattern(encoder, data, Y, all_states=self.all_possible_states, min_count=self.min_count)
        numbers = feature_numbers(pattern, Y, Y * Y + 2 * Y * self.boundaries)
        chosen, weights = Chosen(), None
        if before is not None:
            numbering = Numbering.between(before.encoder_, before.labels_, encoder, names)
            chosen, weights = before.chosen_.renumber(numbering), before._weights_of(numbers, numbering)
        options = Options(
            self.bound == "exact", self.power, self.max_step, self.features_per_round, self.max_features, self.tolerance
        )
        workers = Workers(count_jobs(self.n_jobs))
        try:
            training = TrainingSet.build(encoder, data, pattern, Y, loose=loose, boundaries=self.boundaries)
            booster = AdaBoost(training, options, workers, weights)
            best, chosen = self._boost(booster, chosen, numbers, DevSet.build(self, X_dev, y_dev))
        finally:
            workers.close()
        self._keep(pattern, best, chosen)

    def _boost(self, booster: AdaBoost, chosen: Chosen, numbers: Longs, dev: DevSet | None) -> tuple[Doubles, Chosen]:
        """All rounds; the weights to keep and the choices that made them."""
        scores = LinearMap.build(self.encoder_, booster.training.pattern, len(self.labels_), np.float64)
        watch: Watch[Doubles] = Watch(
            dev, self.patience, all_callbacks(self.callbacks, self.verbose), lambda w: self._decode(scores, w)
        )
        began, before = time.perf_counter(), chosen.n_rounds
        if dev is not None and before:  # warm start: more rounds must do better than the model as it was
            watch.best_weights = booster.w.copy()
            watch.best_score = dev.score(watch.decode(watch.best_weights))
        self.objective_curve_ = [booster.log_risk]
        reason = "rounds"
        number = 0
        try:
            for number in range(1, self.rounds + 1):
                added = booster.round()
                if isinstance(added, str):
                    reason, number = added, number - 1
                    break
                for k in added:
                    chosen.add(int(numbers[k]), before + number)
                self.objective_curve_.append(booster.log_risk)
                seconds = time.perf_counter() - began
                report = Progress(number, self.rounds, booster.log_risk, None, None, seconds, unit="round")
                if self._tell(watch, report, booster):
                    reason = "stopped"
                    break
        except KeyboardInterrupt:
            reason = "interrupted"
        if dev is not None and number and number % self.score_every and reason != "interrupted":
            watch(replace(report, iteration=number), lambda: booster.w)
        self._tell_end(watch, reason, number)
        if watch.best_weights is None:
            return booster.w, chosen
        return watch.best_weights, chosen.until(before + watch.best_round)

    def _tell(self, watch: Watch[Doubles], report: Progress, booster: AdaBoost) -> bool:
        """The dev set is scored every so many rounds, callbacks are told of all; True to stop."""
        if watch.dev is not None and report.iteration % self.score_every == 0:
            return watch(report, lambda: booster.w)
        stop = [callback(report) for callback in watch.callbacks]
        return any(stop)

    def _tell_end(self, watch: Watch[Doubles], reason: str, rounds: int) -> None:
        self.n_iter_ = rounds
        self.objective_ = self.objective_curve_[-1] if np.isfinite(self.objective_curve_[-1]) else None
        self.dev_curve_ = watch.dev_curve
        self.end_ = reason
        self.converged_ = reason != "interrupted"
        if reason == "no weak learner improves":
            message = (
                f"no weak learner lowers the risk after {rounds} rounds: features and labels have no more in common"
            )
            warn(message, ConvergenceWarning)
        warn_of_end(reason, rounds)

    def _decode(self, scores: LinearMap, weights: Doubles) -> Decoder:
        K, Y = scores.pattern.n_weights, len(self.labels_)
        return Decoder(scores.at(weights[:K]), *self._constrain(*split_chain(weights[K:], Y)))

    def _keep(self, pattern: Pattern, weights: Doubles, chosen: Chosen) -> None:
        """The model of the features that have weights, without all others."""
        K, Y, n_attributes = pattern.n_weights, len(self.labels_), self.encoder_.n_attributes
        used = weights[:K] != 0
        attribute = np.repeat(np.arange(n_attributes), np.diff(pattern.pointers))[used]
        self.n_features_ = len(weights)
        self.encoder_, new_number = prune(self.encoder_, np.bincount(attribute, minlength=n_attributes) > 0)
        counts = np.bincount(new_number[attribute], minlength=self.encoder_.n_attributes)
        order = np.argsort(new_number[attribute], kind="stable")
        pointers = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        scores = LinearMap.build(self.encoder_, Pattern(pointers, pattern.labels[used][order]), Y, np.float64)
        self.chosen_ = chosen.renumber(Numbering(new_number, np.arange(Y), self.encoder_.n_attributes, Y))
        self.decoder_ = self._decode(scores, np.concatenate([weights[:K][used][order], weights[K:]]))

    def choose_rounds(self, X: Sentences, y: Labels, *, folds: int = 5) -> int:
        """Set `rounds` by cross-validation: the number with the best mean dev score over `folds` trainings.

        Fold f is made of every folds-th sentence. Dev sets are looked at every `score_every` rounds; no patience.
        """
        if not 2 <= folds <= len(X):
            raise ParameterError(f"folds must be from 2 to the number of sentences ({len(X)}), found {folds!r}")
        curves = []
        for fold in range(folds):
            inside, outside = ([i for i in range(len(X)) if (i % folds == fold) == held] for held in (False, True))
            model = type(self)(**{**self.get_params(), "patience": self.rounds, "warm_start": False})
            model.fit([X[i] for i in inside], [y[i] for i in inside], [X[i] for i in outside], [y[i] for i in outside])
            n = max(1, -(-self.rounds // self.score_every))
            last = model.dev_curve_[-1] if model.dev_curve_ else 0.0  # a training that ended early stays as it is
            curves.append((model.dev_curve_ + [last] * n)[:n])
        best = int(np.argmax(np.mean(curves, axis=0))) + 1
        self.rounds = min(best * self.score_every, self.rounds)
        return self.rounds

    # ---- what was chosen ----

    @of_one_fit
    def chosen_features(self) -> list[ChosenFeature]:
        """The features in the order they were first chosen, with their weights and the rounds that chose them."""
        self._check_fitted()
        return self.chosen_.name(self.encoder_.attribute_names(), self.labels_, self._all_weights())

    def _all_weights(self) -> Doubles:
        """Weights by feature number."""
        scores = self.decoder_.scores
        assert isinstance(scores, LinearScores)
        Y = len(self.labels_)
        transition, start, stop = (np.where(np.isfinite(part), part, 0.0) for part in self.decoder_.chain_scores)
        weights = np.zeros((self.encoder_.n_attributes + Y + 2) * Y)
        weights[feature_numbers(scores.pattern, Y, 0)] = scores.weights.values
        weights[self.encoder_.n_attributes * Y :] = np.concatenate([transition.ravel(), start, stop])
        return weights

    def _weights_of(self, numbers: Longs, numbering: Numbering) -> Doubles:
        """The weights of features with new numbers; 0 where the model has none."""
        old = self._all_weights()
        weights = {numbering.find(number): old[number] for number in self.chosen_.rounds}
        return np.array([weights.get(number, 0.0) for number in numbers.tolist()])

    def _store_scores(self, arrays: dict[str, Any]) -> None:
        super()._store_scores(arrays)
        self.chosen_.store(arrays)

    def _restore_scores(self, arrays: dict[str, Any]) -> Scores:
        Y = len(self.labels_)
        self.chosen_ = Chosen.restore(arrays, (self.encoder_.n_attributes + Y + 2) * Y)
        return restore_linear(self, arrays)
