"""The structured perceptron (HM-Perceptron): decode, compare, correct; the averaged weights are kept.

LM-POS algorithm 1, LOSS algorithm 1; Collins 2002. The algorithm itself: optim/online.py. With other updates: passive-
aggressive (Crammer et al. 2006) or AROW (Crammer, Kulesza and Dredze 2009), optim/aggressive.py.
"""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Self

import numpy as np

from tagwright.arrays import Bools, Doubles, Longs, Workers, count_jobs
from tagwright.encode.batch import Batch
from tagwright.encode.text import Sentences
from tagwright.errors import DataError
from tagwright.learners._base import SequenceTagger
from tagwright.learners._decoder import Decoder
from tagwright.learners._estimator import (
    FLAG,
    MOST_ORDERS,
    NONE,
    NOT_NEGATIVE,
    POSITIVE,
    WHOLE,
    fitted,
    one_of,
    parameter,
    whole_up_to,
)
from tagwright.learners._labels import Labels
from tagwright.learners._watch import DevSet, Watch, all_callbacks, warn_of_end
from tagwright.optim.progress import Progress
from tagwright.scores.linear import LinearMap
from tagwright.scores.pattern import Pattern, find_pattern

if TYPE_CHECKING:
    from tagwright.optim.aggressive import UpdateRule
    from tagwright.optim.online import OnlineTraining, OnlineWeights

PORTION = 512
"""Sentences a kernel call: between calls Ctrl-C is heard."""
UPDATES = ("perceptron", "passive_aggressive", "arow")
COSTS = {"unit": 0.0, "sqrt": 0.5, "hamming": 1.0}
"""The cost of d wrong labels is d to this power."""
MARGINS = {"perceptron": 10.0, "passive_aggressive": 0.2, "arow": 0.2}
"""By default, chosen on the dev sets of four corpora (docs/perceptron.md)."""
NOT_FINITE = (
    "attribute values are too large for finite updates; bring them (with AROW, variance and gamma, too) nearer to 1"
)


class StructuredPerceptron(SequenceTagger):
    """An averaged perceptron over label sequences, or one of its relatives (`update`)."""

    learner = "perceptron"

    update: str = parameter(
        one_of(*UPDATES),
        'how a wrong labelling is corrected: "perceptron" (by 1), "passive_aggressive" (just as far as it takes to '
        'have the right one ahead by `cost`), or "arow" (that, and further in weights that were changed seldom). See '
        "docs/perceptron.md",
        default="perceptron",
    )
    epochs: int = parameter(WHOLE, "passes over the training data", default=12)
    orders: int = parameter(
        whole_up_to(MOST_ORDERS),
        "perceptrons that learn side by side, on a thread each, from differently ordered sentences; their average is "
        "the model (McDonald, Hall and Mann 2010). 1 is the perceptron of the papers; 2 was worth 0.2 points of F1 on "
        "Spanish names, in cross-validation",
        default=2,
    )
    margin: float | None = parameter(
        NONE | NOT_NEGATIVE,
        "how far the right labelling must be ahead of another, for each label in which they differ, to leave the "
        "weights alone; 0 is the algorithm of the papers. None: 10 for the perceptron, 0.2 for the other updates, "
        "whose weights are smaller (better on four dev sets)",
        default=None,
    )
    cost: str = parameter(
        one_of(*COSTS),
        "passive-aggressive and AROW: by how much a correction wants the right labelling ahead of one with d wrong "
        'labels: "unit" (1), "sqrt" (√d) or "hamming" (d)',
        default="sqrt",
    )
    C: float = parameter(
        POSITIVE, "passive-aggressive: the aggressiveness; more means longer steps. CRFsuite has 1", default=0.01
    )
    slack: str = parameter(
        one_of("l1", "l2", "none"),
        'passive-aggressive: "l1" (PA-I: no step beyond C), "l2" (PA-II: steps shortened by 1/(2C)) or "none" (C does '
        "not matter)",
        default="l1",
    )
    variance: float = parameter(
        POSITIVE, "AROW: of every weight at the beginning; only variance / gamma matters", default=1.0
    )
    gamma: float = parameter(
        POSITIVE,
        "AROW: more means shorter steps, and variances that stay large for longer. CRFsuite has 1",
        default=300.0,
    )
    average: bool = parameter(
        FLAG, "keep the average of the weights over all steps; False keeps the last weights", default=True
    )
    min_count: int = parameter(WHOLE, "attributes that fewer training tokens have get no weight", default=1)
    min_conjunction: int = parameter(WHOLE, "the same for conjunctions of attributes", default=1)
    all_possible_states: bool = parameter(
        FLAG,
        "give weights to (attribute, label) pairs that training did not see together, too; corrections of wrong "
        "guesses need them (on the dev set of Spanish names they are worth a point)",
        default=True,
    )
    all_possible_transitions: bool = parameter(FLAG, "the same for label pairs", default=True)
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
        from tagwright.optim.online import OnlineTraining
        from tagwright.scores.expanded import LabelledTokens, expand_frequent
        from tagwright.scores.growing_weights import GrowingWeights

        _, names, encoder, data = self._read_training(X, y)
        self.labels_, self.encoder_ = names, encoder
        tokens = LabelledTokens(data.offsets, data.labels, expand_frequent(encoder, data, self.min_count))
        pattern, values, chain = self._begin(data, before)
        free, rule = self._free_chain(data), self._rule()
        margin = MARGINS[self.update] if self.margin is None else self.margin
        states = []
        for _ in range(self.orders):
            weights = GrowingWeights.build(
                pattern, values, len(names), grows=self.all_possible_states, dtype=np.float32, averaged=self.average,
                adaptive=self.update == "arow",
            )  # fmt: skip
            states.append(OnlineTraining(tokens, weights, free=free, margin=margin, rule=rule))
            states[-1].begin_from(chain)
        dev = DevSet.build(self, X_dev, y_dev)
        watch: Watch[OnlineWeights] = Watch(
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

    def _free_chain(self, data: Batch) -> Bools:
        """Which weights of the chain may change [Y·Y + 2 Y]."""
        Y, labels, starts = len(self.labels_), data.labels, data.offsets[:-1]
        transition = np.full((Y, Y), self.all_possible_transitions)
        inner = np.delete(np.arange(len(labels)), starts)
        transition[labels[inner - 1], labels[inner]] = True
        return np.concatenate([transition.ravel(), np.full(2 * Y, self.boundaries)])

    def _rule(self) -> UpdateRule | None:
        from tagwright.optim.aggressive import UpdateRule

        if self.update == "passive_aggressive":
            return UpdateRule.passive_aggressive(COSTS[self.cost], self.slack, self.C)
        if self.update == "arow":
            return UpdateRule.arow(COSTS[self.cost], self.variance, self.gamma)
        return None

    def _decode(self, weights: OnlineWeights) -> Decoder:
        from tagwright.objective.problem import WeightParts

        parts = WeightParts.split(weights.chain, len(self.labels_))
        scores = LinearMap.build(self.encoder_, weights.attributes.pattern, len(self.labels_), np.float32)
        chain = self._constrain(parts.transition, parts.start, parts.stop)
        return Decoder(scores.at(weights.attributes.values), *chain)

    def _learn(
        self,
        states: list[OnlineTraining],
        watch: Watch[OnlineWeights],
        workers: Workers,
    ) -> None:
        """All epochs."""
        from tagwright.optim.online import OnlineWeights

        began = time.perf_counter()
        random = np.random.default_rng(self.random_state)
        N, counts = states[0].data.n_sentences, np.zeros((len(states), 2))

        def learn(k: int, order: Longs) -> None:
            counts[k] += states[k].learn(order)

        def average() -> OnlineWeights:
            total = OnlineWeights.none(self.encoder_.n_attributes, len(self.labels_))
            for state in states:
                total = state.add_average(total, 1 / len(states))
            return total

        curve: list[float] = []
        reason = "epochs"
        try:
            for epoch in range(1, self.epochs + 1):
                orders = [random.permutation(N) for _ in states]
                counts[:] = 0
                for first in range(0, N, PORTION):
                    workers.run(learn, [(k, order[first : first + PORTION]) for k, order in enumerate(orders)])
                wrong, losses = counts.mean(axis=0).tolist()
                if not math.isfinite(losses):
                    raise DataError(NOT_FINITE, location="X")
                curve.append(losses)
                seconds = time.perf_counter() - began
                report = Progress(epoch, self.epochs, curve[-1], None, None, seconds, unit="epoch")
                if watch(report, average) or not wrong:
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
