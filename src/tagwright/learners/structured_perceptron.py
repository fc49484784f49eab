"""The structured perceptron (HM-Perceptron): decode, compare, correct; the averaged weights are kept.

LM-POS algorithm 1, LOSS algorithm 1; Collins 2002. The algorithm itself: optim/online.py.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Self

import numpy as np

from tagwright.arrays import Doubles, Longs, Workers, count_jobs
from tagwright.encode.batch import Batch
from tagwright.encode.text import Sentences
from tagwright.learners._base import SequenceTagger
from tagwright.learners._decoder import Decoder
from tagwright.learners._estimator import FLAG, NOT_NEGATIVE, WHOLE, fitted, parameter
from tagwright.learners._labels import Labels
from tagwright.learners._watch import DevSet, Watch, all_callbacks, warn_of_end
from tagwright.optim.progress import Progress
from tagwright.scores.linear import LinearMap
from tagwright.scores.pattern import Pattern, find_pattern

if TYPE_CHECKING:
    from tagwright.optim.online import AveragedPerceptron, PerceptronWeights

PORTION = 512
"""Sentences a kernel call: between calls Ctrl-C is heard."""


class StructuredPerceptron(SequenceTagger):
    """An averaged perceptron over label sequences."""

    learner = "perceptron"

    epochs: int = parameter(WHOLE, "passes over the training data", default=12)
    orders: int = parameter(
        WHOLE,
        "perceptrons that learn side by side, on a thread each, from differently ordered sentences; their average is "
        "the model (McDonald, Hall and Mann 2010). 1 is the perceptron of the papers; 2 was worth 0.2 points of F1 on "
        "Spanish names, in cross-validation",
        default=2,
    )
    margin: float = parameter(
        NOT_NEGATIVE,
        "how far the right labelling must be ahead of another, for each label in which they differ, to leave the "
        "weights alone; 0 is the perceptron of the papers (10 was better on the dev sets of three corpora)",
        default=10.0,
    )
    min_count: int = parameter(WHOLE, "attributes that fewer training tokens have get no weight", default=1)
    min_conjunction: int = parameter(WHOLE, "the same for conjunctions of attributes", default=1)
    all_possible_states: bool = parameter(
        FLAG,
        "give weights to (attribute, label) pairs that training did not see together, too; corrections of wrong "
        "guesses need them (on the dev set of Spanish names they are worth a point)",
        default=True,
    )
    boundaries: bool = parameter(FLAG, "give weights to first and last labels", default=True)
    patience: int = parameter(WHOLE, "with a dev set, stop after so many epochs without a better dev score", default=5)
    warm_start: bool = parameter(
        FLAG, "begin from the weights of the model as it is, if it was fitted before", default=False
    )

    objective_curve_: list[float] = fitted()
    dev_curve_: list[float] = fitted()
    converged_: bool = fitted()

    def _fit(self, X: Sentences, y: Labels, X_dev: Sentences | None, y_dev: Labels | None, before: Self | None) -> None:
        """Train online."""
        from tagwright.optim.online import AveragedPerceptron
        from tagwright.scores.expanded import LabelledTokens, expand_frequent
        from tagwright.scores.growing_weights import GrowingWeights

        _, names, encoder, data = self._read_training(X, y)
        self.labels_, self.encoder_ = names, encoder
        tokens = LabelledTokens(data.offsets, data.labels, expand_frequent(encoder, data, self.min_count))
        pattern, values, chain = self._begin(data, before)
        states = []
        for _ in range(self.orders):
            weights = GrowingWeights.build(
                pattern, values, len(names), grows=self.all_possible_states, dtype=np.float32, averaged=True
            )
            states.append(AveragedPerceptron(tokens, weights, boundaries=self.boundaries, margin=self.margin))
            states[-1].begin_from(chain)
        dev = DevSet.build(self, X_dev, y_dev)
        watch: Watch[PerceptronWeights] = Watch(
            dev, self.patience, all_callbacks(self.callbacks, self.verbose), self._decode
        )
        workers = Workers(min(count_jobs(self.n_jobs), self.orders))
        try:
            self._learn(states, watch, workers)
        finally:
            workers.close()

    def _begin(self, data: Batch, before: Self | None) -> tuple[Pattern, Doubles, Doubles]:
        """The weights of attributes and of the chain that there are at the beginning: those of the model before; with
        0, those of pairs that training has, where there are to be no others."""
        from tagwright.learners._weights import known_pattern, transfer_weights
        from tagwright.scores.growing_weights import LearnedWeights

        encoder, names, Y = self.encoder_, self.labels_, len(self.labels_)
        if not self.all_possible_states:
            pattern = find_pattern(encoder, data, Y, all_states=False, min_count=self.min_count)
        elif before is not None:
            pattern = known_pattern(before, encoder, names)
        else:
            pattern = LearnedWeights.none(encoder.n_attributes).pattern
        start = np.zeros(pattern.n_weights + Y * Y + 2 * Y)
        if before is not None:
            transfer_weights(before, encoder, pattern, names, start, np.empty(0, np.int64))
        return pattern, start[: pattern.n_weights], start[pattern.n_weights :]

    def _decode(self, weights: PerceptronWeights) -> Decoder:
        from tagwright.objective.problem import WeightParts

        parts = WeightParts.split(weights.chain, len(self.labels_))
        scores = LinearMap.build(self.encoder_, weights.attributes.pattern, len(self.labels_), np.float32)
        chain = self._constrain(parts.transition, parts.start, parts.stop)
        return Decoder(scores.at(weights.attributes.values), *chain)

    def _learn(
        self,
        states: list[AveragedPerceptron],
        watch: Watch[PerceptronWeights],
        workers: Workers,
    ) -> None:
        """All epochs."""
        from tagwright.optim.online import PerceptronWeights

        began = time.perf_counter()
        random = np.random.default_rng(self.random_state)
        N, wrong = states[0].data.n_sentences, np.zeros(len(states))

        def learn(k: int, order: Longs) -> None:
            wrong[k] += states[k].learn(order)

        def average() -> PerceptronWeights:
            total = PerceptronWeights.none(self.encoder_.n_attributes, len(self.labels_))
            for state in states:
                total = state.add_average(total, 1 / len(states))
            return total

        curve: list[float] = []
        reason = "epochs"
        try:
            for epoch in range(1, self.epochs + 1):
                orders = [random.permutation(N) for _ in states]
                wrong[:] = 0
                for first in range(0, N, PORTION):
                    workers.run(learn, [(k, order[first : first + PORTION]) for k, order in enumerate(orders)])
                curve.append(float(wrong.mean()))
                seconds = time.perf_counter() - began
                report = Progress(epoch, self.epochs, curve[-1], None, None, seconds, unit="epoch")
                if watch(report, average) or not wrong.any():
                    break
        except KeyboardInterrupt:
            reason = "interrupted"
        weights = watch.choose(average())
        states.clear()  # they are large, and the decoder needs room
        self.decoder_ = self._decode(weights)
        self.n_iter_ = len(curve)
        self.objective_curve_ = curve
        self.dev_curve_ = watch.dev_curve
        self.converged_ = True
        warn_of_end(reason, len(curve))
