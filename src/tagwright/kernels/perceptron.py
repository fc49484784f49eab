"""The learner KernelPerceptron (dual HM-Perceptron): decode, compare, correct, with any kernel; averaged.

HMSVM algorithm 1, LM-POS section 4. The algorithm itself: dual_perceptron.py.
"""

from __future__ import annotations

import time
from typing import Self

import numpy as np

from tagwright.arrays import Doubles
from tagwright.encode.text import Sentences
from tagwright.kernels.dual_perceptron import DualPerceptron
from tagwright.kernels.learner import KernelLearner
from tagwright.learners._estimator import WHOLE, parameter
from tagwright.learners._labels import Labels
from tagwright.learners._watch import DevSet, Watch, all_callbacks, warn_of_end
from tagwright.optim.progress import Progress

PORTION = 256
"""Sentences learned at once: between portions Ctrl-C is heard."""


class KernelPerceptron(KernelLearner):
    """An averaged perceptron over label sequences with a kernel between observations."""

    learner = "kernel-perceptron"

    epochs: int = parameter(WHOLE, "passes over the training data", default=12)

    def _fit(self, X: Sentences, y: Labels, X_dev: Sentences | None, y_dev: Labels | None, before: Self | None) -> None:
        """All epochs."""
        data = self._begin(X, y).data
        gram, of_token = self._make_gram(data)
        state = DualPerceptron(gram, data, of_token, len(self.labels_), boundaries=self.boundaries)
        watch: Watch[Doubles] = Watch(
            DevSet.build(self, X_dev, y_dev), self.patience, all_callbacks(self.callbacks, self.verbose),
            lambda vector: self._kernel_decoder(gram, vector),
        )  # fmt: skip
        self.objective_curve_, self.converged_ = [], True
        reason = "epochs"
        try:
            self._learn_epochs(state, data.n_sentences, watch)
        except KeyboardInterrupt:
            reason = "interrupted"
        self.decoder_ = watch.decode(watch.choose(state.average()))
        self.n_iter_ = len(self.objective_curve_)
        self.dev_curve_ = watch.dev_curve
        warn_of_end(reason, self.n_iter_)

    def _learn_epochs(self, state: DualPerceptron, n_sentences: int, watch: Watch[Doubles]) -> None:
        """Until no token is wrong, someone stops it, or `epochs` are over."""
        began = time.perf_counter()
        random = np.random.default_rng(self.random_state)
        for epoch in range(1, self.epochs + 1):
            order, cuts = random.permutation(n_sentences), range(PORTION, n_sentences, PORTION)
            wrong = sum(state.learn(some) for some in np.split(order, cuts))
            self.objective_curve_.append(float(wrong))
            report = Progress(epoch, self.epochs, wrong, None, None, time.perf_counter() - began, unit="epoch")
            if watch(report, state.average) or wrong == 0:
                return
