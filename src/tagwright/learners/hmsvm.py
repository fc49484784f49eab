"""The hidden Markov support vector machine: the right labelling ahead of every other by a margin.

HMSVM sections 5 to 7, LM-POS section 4. The algorithm: optim/working_set.py. Linear: the weights are written out
(optim/linear_space.py), and full corpora are no problem. With a kernel: multipliers of the observations
(optim/kernel_space.py), for thousands of sentences.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np

from tagwright.arrays import Doubles, Workers
from tagwright.encode.dataset import Dataset
from tagwright.encode.flat_text import FlatText, Sentences
from tagwright.errors import ParameterError
from tagwright.learners._base import SequenceTagger
from tagwright.learners._decoder import Decoder, Scores
from tagwright.learners._estimator import FLAG, NONE, NOT_NEGATIVE, POSITIVE, WHOLE, fitted, one_of, parameter
from tagwright.learners._kernel import (
    KERNEL,
    kernel_decoder,
    make_gram,
    restore_kernel,
    store_kernel,
    warn_of_single_tokens,
)
from tagwright.learners._labels import Labels
from tagwright.learners._support import SupportSentence, collect_support, restore_support, store_support
from tagwright.learners._watch import DevSet, Watch, all_callbacks, count_jobs, warn_of_end
from tagwright.losses.hinge import MARGINS
from tagwright.objective.problem import Weights
from tagwright.optim.kernel_space import KernelSpace
from tagwright.optim.linear_space import LinearSpace
from tagwright.optim.progress import Progress
from tagwright.optim.working_set import Pass, Space, WorkingSet
from tagwright.scores.kernel import KernelScores
from tagwright.scores.kernels import Function
from tagwright.scores.linear import LinearScores
from tagwright.scores.pattern import find_pattern

Decode = Callable[[Doubles], Decoder]


class HMSVM(SequenceTagger):
    """A support vector machine over label sequences.

    passes_: primal, dual, gap and worst violation of every pass
    support_sequences_: the sentences that have support sequences after the last pass, in their order
    """

    learner = "hmsvm"

    kernel: str | Function = parameter(
        KERNEL,
        '"linear" (weights written out: any corpus), "poly", "rbf", or a function of inner products',
        default="linear",
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
    C: float = parameter(
        POSITIVE,
        "what a violated margin costs; more means less regularised (0.1 was best or next to best on dev sets; with a "
        "kernel the papers have 1)",
        default=0.1,
    )
    slack: str = parameter(
        one_of("l1", "l2", "none"),
        '"l1" (C Σ ξ), "l2" (C/2 Σ ξ²) or "none" (hard margin: the training data must be separable)',
        default="l1",
    )
    margin: str = parameter(
        one_of(*MARGINS),
        '"unit" (1 for every wrong labelling, as in the papers) or "hamming" (1 for every wrong label)',
        default="hamming",
    )
    tol: float = parameter(
        POSITIVE,
        "training ends when the duality gap is at most this share of the primal objective: no other weights can be "
        "better by more",
        default=0.01,
    )
    max_violation: float | None = parameter(
        NONE | POSITIVE,
        "and when no labelling violates its margin by more than this beyond the slack of its sentence, the papers' "
        "rule; None: the gap alone decides (the last sentences of a large corpus take several times as long)",
        default=None,
    )
    max_iterations: int = parameter(WHOLE, "passes over the training data, at most", default=200)
    min_count: int = parameter(
        WHOLE, "attributes that fewer training tokens have get no weight (linear kernel)", default=1
    )
    min_conjunction: int = parameter(WHOLE, "the same for conjunctions of attributes, with any kernel", default=2)
    boundaries: bool = parameter(FLAG, "give weights to first and last labels", default=True)
    patience: int = parameter(
        WHOLE, "with a dev set, stop after so many passes without a better dev score; the best model is kept", default=5
    )

    passes_: list[Pass] = fitted()
    support_sequences_: list[SupportSentence] = fitted()
    objective_: float = fitted()
    objective_curve_: list[float] = fitted()
    gap_curve_: list[float] = fitted()
    dev_curve_: list[float] = fitted()
    converged_: bool = fitted()

    def fit(self, X: Sentences, y: Labels, X_dev: Sentences | None = None, y_dev: Labels | None = None) -> Self:
        """Train to `tol`. Ctrl-C once stops and keeps the model so far."""
        text, names, encoder, data = self._read_training(X, y)
        self.labels_, self.encoder_ = names, encoder
        self._constrain(*np.zeros((3, len(names), len(names))))  # refuse before the work, not after
        warn_of_single_tokens(data)
        workers = Workers(count_jobs(self.n_jobs))
        try:
            self._learn(data, text, DevSet.build(self, X_dev, y_dev), workers)
        finally:
            workers.close()
        return self

    def _learn(self, data: Dataset, text: FlatText, dev: DevSet | None, workers: Workers) -> None:
        callbacks = all_callbacks(self.callbacks, self.verbose)
        make = self._linear_space if self.kernel == "linear" else self._kernel_space
        space, decode = make(data, workers)
        self._solve(space, data, text, Watch(dev, self.patience, callbacks, decode), workers)

    def _linear_space(self, data: Dataset, workers: Workers) -> tuple[Space, Decode]:
        Y = len(self.labels_)
        pattern = find_pattern(self.encoder_, data, Y, all_states=True, min_count=self.min_count)
        space = LinearSpace(LinearScores(self.encoder_, pattern, Y, np.float64), data, workers)
        final = LinearScores(self.encoder_, pattern, Y, np.float32)

        def decode(vector: Doubles) -> Decoder:
            weights = Weights.split(vector, Y)
            final.set_weights(weights.attributes, workers)
            return Decoder(final, *self._constrain(weights.transition, weights.start, weights.stop))

        return space, decode

    def _kernel_space(self, data: Dataset, workers: Workers) -> tuple[Space, Decode]:
        if self.min_count > 1:
            raise ParameterError(
                f"min_count={self.min_count} needs kernel='linear': a kernel has no weights to leave out"
            )
        gram, of_token = make_gram(
            self.encoder_, data, self.kernel, degree=self.degree, gamma=self.gamma, coef0=self.coef0, memory=self.memory
        )
        space = KernelSpace(gram, of_token, data, len(self.labels_))
        return space, lambda vector: kernel_decoder(self, gram, vector)

    def _solve(self, space: Space, data: Dataset, text: FlatText, watch: Watch[Doubles], workers: Workers) -> None:
        random = np.random.default_rng(self.random_state)
        problem = WorkingSet(
            space, data, len(self.labels_), self.C, self.slack, self.margin == "hamming", self.boundaries, workers,
            random,
        )  # fmt: skip

        def vector() -> Doubles:
            return np.concatenate([space.vector(), problem.chain])

        def tell(found: Pass) -> bool:
            most = self.max_iterations
            return watch(
                Progress(found.number, most, found.primal, None, found.gap, found.seconds, unit="pass"), vector
            )

        try:
            reason = problem.solve(
                tol=self.tol, most_violation=np.inf if self.max_violation is None else self.max_violation,
                most_passes=self.max_iterations, tell=tell,
            )  # fmt: skip
        except KeyboardInterrupt:
            reason = "interrupted"
        self.decoder_ = watch.decode(vector() if watch.best_weights is None else watch.best_weights)
        self.passes_ = problem.passes
        self.support_sequences_ = collect_support(problem.planes, data, text, self.labels_)
        self.n_iter_ = len(problem.passes)
        self.objective_ = problem.passes[-1].primal if problem.passes else 0.0
        self.objective_curve_ = [one.primal for one in problem.passes]
        self.gap_curve_ = [one.gap for one in problem.passes]
        self.dev_curve_ = watch.dev_curve
        self.converged_ = reason == "converged"
        warn_of_end(reason, self.n_iter_)

    # ---- storing ----

    def _store_scores(self, arrays: dict[str, Any]) -> None:
        scores = self.decoder_.scores
        if not isinstance(scores, KernelScores):
            return super()._store_scores(arrays)
        return store_kernel(scores, arrays)

    def _restore_scores(self, arrays: dict[str, Any]) -> Scores:
        return restore_kernel(self, arrays) if "support.kernel" in arrays else super()._restore_scores(arrays)

    def _store_more(self, arrays: dict[str, Any], strings: dict[str, list[str]]) -> None:
        store_support(self.support_sequences_, self.labels_, arrays, strings)

    def _restore_more(self, arrays: dict[str, Any], strings: dict[str, list[str]]) -> None:
        self.support_sequences_ = restore_support(self.labels_, arrays, strings)
