"""The structured perceptron (HM-Perceptron): decode, compare, correct; the averaged weights are kept.

LM-POS algorithm 1, LOSS algorithm 1; Collins 2002. The algorithm itself: optim/online.py.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import ClassVar, Self

import numpy as np

from tagwright.arrays import Doubles, Longs, Workers
from tagwright.encode.dataset import Dataset
from tagwright.encode.flat_text import Sentences
from tagwright.learners._base import SequenceTagger
from tagwright.learners._decoder import Decoder
from tagwright.learners._estimator import FLAG, JOBS, NOT_NEGATIVE, SEED, WHOLE
from tagwright.learners._labels import Labels
from tagwright.learners._objective import Weights
from tagwright.learners._watch import DevSet, Watch, all_callbacks, count_jobs, warn_of_end
from tagwright.learners._weights import transfer_weights
from tagwright.optim.online import AveragedPerceptron
from tagwright.optim.progress import Callback, Progress
from tagwright.scores.expanded import expand
from tagwright.scores.linear import LinearScores
from tagwright.scores.pattern import find_pattern
from tagwright.scores.wide_rows import TokenWeights, WidePattern

PORTION = 512
"""Sentences a kernel call: between calls Ctrl-C is heard."""


class StructuredPerceptron(SequenceTagger):
    """An averaged perceptron over label sequences.

    features, min_count, min_conjunction, boundaries, well_formed, warm_start: as for the CRF
    all_possible_states: give weights to (attribute, label) pairs that training did not see together, too; corrections
        of wrong guesses need them (on the dev set of Spanish names they are worth a point)
    epochs: passes over the training data
    orders: perceptrons that learn side by side, on a thread each, from differently ordered sentences; their average is
        the model (McDonald, Hall and Mann 2010). 1 is the perceptron of the papers; 2 was worth 0.2 points of F1 on
        Spanish names, in cross-validation
    margin: how far the right labelling must be ahead of another, for each label in which they differ, to leave the
        weights alone; 0 is the perceptron of the papers (10 was better on the dev sets of three corpora)
    patience: with a dev set, stop after so many epochs without a better dev score; the best model is kept
    random_state: seed of the order of sentences
    """

    learner = "perceptron"
    ranges: ClassVar = {
        "epochs": WHOLE, "orders": WHOLE, "margin": NOT_NEGATIVE, "min_count": WHOLE, "min_conjunction": WHOLE,
        "all_possible_states": FLAG, "boundaries": FLAG, "patience": WHOLE, "well_formed": FLAG, "warm_start": FLAG,
        "random_state": SEED, "n_jobs": JOBS,
    }  # fmt: skip

    def __init__(
        self,
        features: object = "auto",
        *,
        epochs: int = 12,
        orders: int = 2,
        margin: float = 10.0,
        min_count: int = 1,
        min_conjunction: int = 1,
        all_possible_states: bool = True,
        boundaries: bool = True,
        patience: int = 5,
        well_formed: bool = False,
        warm_start: bool = False,
        random_state: int | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callbacks: Sequence[Callback] | None = None,
    ) -> None:
        self.features = features
        self.epochs = epochs
        self.orders = orders
        self.margin = margin
        self.min_count = min_count
        self.min_conjunction = min_conjunction
        self.all_possible_states = all_possible_states
        self.boundaries = boundaries
        self.patience = patience
        self.well_formed = well_formed
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callbacks = callbacks

    def fit(self, X: Sentences, y: Labels, X_dev: Sentences | None = None, y_dev: Labels | None = None) -> Self:
        """Train online. Ctrl-C once stops and keeps the model so far."""
        _, names, encoder, data = self._read_training(X, y)
        pattern = find_pattern(encoder, data, len(names), all_states=self.all_possible_states, min_count=self.min_count)
        scores = LinearScores(encoder, pattern, len(names), np.float32)
        rows = WidePattern.build(pattern, len(names))
        states = [AveragedPerceptron(rows, scores.width, int(data.lengths.max())) for _ in range(self.orders)]
        if self.warm_start and self.__sklearn_is_fitted__():
            start = np.zeros(pattern.n_weights + len(names) ** 2 + 2 * len(names))
            transfer_weights(self, encoder, scores, names, start, np.empty(0, np.int64))
            for state in states:
                state.begin_from(start)
        self.labels_, self.encoder_ = names, encoder
        dev = DevSet.build(self, X_dev, y_dev)
        watch: Watch[Doubles] = Watch(
            dev, self.patience, all_callbacks(self.callbacks, self.verbose), lambda w: self._decode(scores, w)
        )
        workers = Workers(min(count_jobs(self.n_jobs), self.orders))
        try:
            self._learn(states, data, scores, watch, workers)
        finally:
            workers.close()
        return self

    def _decode(self, scores: LinearScores, vector: Doubles) -> Decoder:
        weights = Weights.split(vector, len(self.labels_))
        scores.set_weights(weights.attributes, Workers(1))
        return Decoder(scores, *self._constrain(weights.transition, weights.start, weights.stop))

    def _learn(
        self,
        states: list[AveragedPerceptron],
        data: Dataset,
        scores: LinearScores,
        watch: Watch[Doubles],
        workers: Workers,
    ) -> None:
        """All epochs."""
        began = time.perf_counter()
        random = np.random.default_rng(self.random_state)
        tokens = TokenWeights.build(expand(self.encoder_, data), states[0].pattern)
        wrong = np.zeros(len(states))

        def learn(k: int, order: Longs) -> None:
            wrong[k] += states[k].learn(
                order, data.offsets, data.labels, tokens, boundaries=self.boundaries, margin=self.margin
            )

        def average() -> Doubles:
            Y = len(self.labels_)
            total = np.zeros(scores.pattern.n_weights + Y * Y + 2 * Y)
            for state in states:
                state.add_average(total, 1 / len(states))
            return total

        curve: list[float] = []
        reason = "epochs"
        try:
            for epoch in range(1, self.epochs + 1):
                orders = [random.permutation(data.n_sentences) for _ in states]
                wrong[:] = 0
                for first in range(0, data.n_sentences, PORTION):
                    workers.run(learn, [(k, order[first : first + PORTION]) for k, order in enumerate(orders)])
                curve.append(float(wrong.mean()))
                seconds = time.perf_counter() - began
                report = Progress(epoch, self.epochs, curve[-1], None, None, seconds, unit="epoch")
                if watch(report, average) or not wrong.any():
                    break
        except KeyboardInterrupt:
            reason = "interrupted"
        weights = average() if watch.best_weights is None else watch.best_weights
        states.clear()  # they are large, and the decoder needs room
        self.decoder_ = self._decode(scores, weights)
        self.n_iter_ = len(curve)
        self.objective_curve_ = curve
        self.dev_curve_ = watch.dev_curve
        self.converged_ = True
        warn_of_end(reason, len(curve))
