"""The kernel perceptron (dual HM-Perceptron): decode, compare, correct, in the space of any kernel; averaged.

HMSVM algorithm 1, LM-POS section 4. The algorithm itself: optim/dual_online.py.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np

from tagwright.arrays import Doubles
from tagwright.encode.dataset import Dataset
from tagwright.encode.flat_text import Sentences
from tagwright.learners._base import SequenceTagger
from tagwright.learners._decoder import Scores
from tagwright.learners._estimator import FLAG, JOBS, SEED, WHOLE
from tagwright.learners._kernel import (
    KERNEL_RANGES,
    kernel_decoder,
    make_gram,
    restore_kernel,
    store_kernel,
    warn_of_single_tokens,
)
from tagwright.learners._labels import Labels
from tagwright.learners._watch import DevSet, Watch, all_callbacks, warn_of_end
from tagwright.optim.dual_online import DualPerceptron
from tagwright.optim.progress import Callback, Progress
from tagwright.scores.kernel import KernelScores
from tagwright.scores.kernels import Function

PORTION = 256
"""Sentences a kernel call: between calls Ctrl-C is heard."""


class KernelPerceptron(SequenceTagger):
    """An averaged perceptron over label sequences with a kernel between observations.

    features, min_conjunction, boundaries, well_formed: as for the CRF
    kernel: "poly", "rbf", "linear", or a function of inner products and squared lengths (tagwright.scores.kernels)
    degree, gamma, coef0: (gamma ⟨x, z⟩ + coef0)^degree; exp(−gamma ‖x − z‖²). gamma None: 1, for "rbf" 1 / mean ‖x‖²
    memory: MiB that the Gram matrix may take; past it, rows are computed when they are needed, and some are kept
    epochs: passes over the training data
    patience: with a dev set, stop after so many epochs without a better dev score; the best model is kept
    random_state: seed of the order of sentences
    """

    learner = "kernel-perceptron"
    ranges: ClassVar = {
        **KERNEL_RANGES, "epochs": WHOLE, "min_conjunction": WHOLE, "boundaries": FLAG, "patience": WHOLE,
        "well_formed": FLAG, "random_state": SEED, "n_jobs": JOBS,
    }  # fmt: skip

    def __init__(
        self,
        features: object = "auto",
        *,
        kernel: str | Function = "poly",
        degree: int = 2,
        gamma: float | None = None,
        coef0: float = 1.0,
        memory: float = 1024.0,
        epochs: int = 12,
        min_conjunction: int = 2,
        boundaries: bool = True,
        patience: int = 5,
        well_formed: bool = False,
        random_state: int | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callbacks: Sequence[Callback] | None = None,
    ) -> None:
        self.features = features
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.memory = memory
        self.epochs = epochs
        self.min_conjunction = min_conjunction
        self.boundaries = boundaries
        self.patience = patience
        self.well_formed = well_formed
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callbacks = callbacks

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
