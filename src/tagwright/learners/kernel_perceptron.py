"""The kernel perceptron (dual HM-Perceptron): decode, compare, correct, in the space of any kernel; averaged.

HMSVM algorithm 1, LM-POS section 4. The algorithm itself: optim/dual_online.py.
"""

from __future__ import annotations

import time
from typing import Any, Self

import numpy as np

from tagwright.arrays import Doubles
from tagwright.encode.dataset import Dataset
from tagwright.encode.flat_text import Sentences
from tagwright.learners._base import SequenceTagger
from tagwright.learners._decoder import Scores
from tagwright.learners._estimator import FLAG, NONE, NOT_NEGATIVE, POSITIVE, WHOLE, fitted, parameter
from tagwright.learners._kernel import (
    KERNEL,
    kernel_decoder,
    make_gram,
    restore_kernel,
    store_kernel,
    warn_of_single_tokens,
)
from tagwright.learners._labels import Labels
from tagwright.learners._watch import DevSet, Watch, all_callbacks, warn_of_end
from tagwright.optim.dual_online import DualPerceptron
from tagwright.optim.progress import Progress
from tagwright.scores.kernel import KernelScores
from tagwright.scores.kernels import Function

PORTION = 256
"""Sentences a kernel call: between calls Ctrl-C is heard."""


class KernelPerceptron(SequenceTagger):
    """An averaged perceptron over label sequences with a kernel between observations."""

    learner = "kernel-perceptron"

    kernel: str | Function = parameter(
        KERNEL, '"poly", "rbf", "linear", or a function of inner products and squared lengths', default="poly"
    )
    degree: int = parameter(WHOLE, "of the polynomial kernel (gamma ⟨x, z⟩ + coef0)^degree", default=2)
    gamma: float | None = parameter(
        NONE | POSITIVE,
        'of both kernels; exp(−gamma ‖x − z‖²) is "rbf". None: 1, for "rbf" 1 / mean ‖x‖²',
        default=None,
    )
    coef0: float = parameter(NOT_NEGATIVE, "of the polynomial kernel", default=1.0)
    memory: float = parameter(
        POSITIVE,
        "MiB that the Gram matrix may take; past it, rows are computed when they are needed, and some are kept",
        default=1024.0,
    )
    epochs: int = parameter(WHOLE, "passes over the training data", default=12)
    min_conjunction: int = parameter(WHOLE, "conjunctions that training has less often are left out", default=2)
    boundaries: bool = parameter(FLAG, "give weights to first and last labels", default=True)
    patience: int = parameter(
        WHOLE, "with a dev set, stop after so many epochs without a better dev score; the best model is kept", default=5
    )

    objective_curve_: list[float] = fitted()
    dev_curve_: list[float] = fitted()
    converged_: bool = fitted()

    def fit(self, X: Sentences, y: Labels, X_dev: Sentences | None = None, y_dev: Labels | None = None) -> Self:
        """Train online. Ctrl-C once stops and keeps the model so far."""
        _, names, encoder, data = self._read_training(X, y)
        self.labels_, self.encoder_ = names, encoder
        self._constrain(*np.zeros((3, len(names), len(names))))  # refuse before the work, not after
        warn_of_single_tokens(data)
        gram, of_token = make_gram(
            encoder, data, self.kernel, degree=self.degree, gamma=self.gamma, coef0=self.coef0, memory=self.memory
        )
        state = DualPerceptron(gram, of_token, len(names), int(data.lengths.max()))
        watch: Watch[Doubles] = Watch(
            DevSet.build(self, X_dev, y_dev),
            self.patience,
            all_callbacks(self.callbacks, self.verbose),
            lambda vector: kernel_decoder(self, gram, vector),
        )
        self._learn(state, data, watch)
        return self

    def _learn(self, state: DualPerceptron, data: Dataset, watch: Watch[Doubles]) -> None:
        """All epochs."""
        began = time.perf_counter()
        random = np.random.default_rng(self.random_state)
        curve: list[float] = []
        reason = "epochs"
        try:
            for epoch in range(1, self.epochs + 1):
                order = random.permutation(data.n_sentences)
                wrong = 0
                for first in range(0, len(order), PORTION):
                    some = order[first : first + PORTION]
                    wrong += state.learn(some, data.offsets, data.labels, boundaries=self.boundaries)
                curve.append(float(wrong))
                seconds = time.perf_counter() - began
                report = Progress(epoch, self.epochs, wrong, None, None, seconds, unit="epoch")
                if watch(report, state.average) or wrong == 0:
                    break
        except KeyboardInterrupt:
            reason = "interrupted"
        self.decoder_ = watch.decode(state.average() if watch.best_weights is None else watch.best_weights)
        self.n_iter_ = len(curve)
        self.objective_curve_ = curve
        self.dev_curve_ = watch.dev_curve
        self.converged_ = True
        warn_of_end(reason, len(curve))

    def _store_scores(self, arrays: dict[str, Any]) -> None:
        assert isinstance(self.decoder_.scores, KernelScores)
        store_kernel(self.decoder_.scores, arrays)

    def _restore_scores(self, arrays: dict[str, Any]) -> Scores:
        return restore_kernel(self, arrays)
