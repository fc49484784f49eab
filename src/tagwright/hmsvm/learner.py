"""The learner HMSVM: the right labelling ahead of every other by a margin.

HMSVM sections 5 to 7, LM-POS section 4. The algorithm: algorithm.py. Linear: the weights are written out
(primal_weights.py), and full corpora are no problem. With a kernel: multipliers of the training contexts
(dual_weights.py), for thousands of sentences.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np

from tagwright.arrays import Workers, count_jobs
from tagwright.encode.batch import Batch
from tagwright.encode.text import Sentences
from tagwright.errors import ParameterError
from tagwright.hmsvm.algorithm import LearnedChain, PassReport, WeightVector, WorkingSetAlgorithm
from tagwright.hmsvm.dual_weights import DualWeights
from tagwright.hmsvm.objective import MarginObjective
from tagwright.hmsvm.primal_weights import PrimalWeights
from tagwright.hmsvm.support import SupportSentence, collect_support, restore_support, store_support
from tagwright.hmsvm.worst_labelling import MARGINS
from tagwright.kernels.functions import KernelFunction
from tagwright.kernels.learner import KERNEL, KernelLearner
from tagwright.learners._decoder import Decoder
from tagwright.learners._estimator import NONE, POSITIVE, WHOLE, fitted, one_of, parameter
from tagwright.learners._labels import Labels
from tagwright.learners._watch import DevSet, Watch, all_callbacks, warn_of_end
from tagwright.objective.problem import WeightParts
from tagwright.optim.progress import Progress
from tagwright.scores.expanded import expand_frequent
from tagwright.scores.linear import LinearMap

Decode = Callable[[LearnedChain], Decoder]


class HMSVM(KernelLearner):
    """A support vector machine over label sequences.

    passes_: primal, dual, gap and worst violation of every pass
    support_sequences_: the sentences that have support sequences after the last pass, in their order
    """

    learner = "hmsvm"

    kernel: str | KernelFunction = parameter(
        KERNEL,
        '"linear" (weights written out: any corpus), "poly", "rbf", or a function of inner products',
        default="linear",
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

    passes_: list[PassReport] = fitted()
    support_sequences_: list[SupportSentence] = fitted()
    objective_: float = fitted()
    gap_curve_: list[float] = fitted()

    def _fit(self, X: Sentences, y: Labels, X_dev: Sentences | None, y_dev: Labels | None, before: Self | None) -> None:
        """To `tol`."""
        text, names, _, data = self._begin(X, y)
        dev = DevSet.build(self, X_dev, y_dev)
        workers = Workers(count_jobs(self.n_jobs))
        try:
            weights, decode = (self._primal if self.kernel == "linear" else self._dual)(data)
            watch = Watch(dev, self.patience, all_callbacks(self.callbacks, self.verbose), decode)
            algorithm = WorkingSetAlgorithm(
                weights, data, len(names), MarginObjective(float(self.C), self.slack, self.margin == "hamming"),
                self.boundaries, workers, np.random.default_rng(self.random_state),
            )  # fmt: skip
            reason = self._solve(algorithm, watch)
            self.decoder_ = decode(watch.choose(algorithm.learned()))
        finally:
            workers.close()
        self.support_sequences_ = collect_support(algorithm.solution.sets, data, text, names)
        self.passes_, self.dev_curve_ = algorithm.passes, watch.dev_curve
        self.n_iter_, self.converged_ = len(self.passes_), reason == "converged"
        self.objective_curve_ = [one.primal for one in self.passes_]
        self.objective_ = self.objective_curve_[-1] if self.passes_ else 0.0
        self.gap_curve_ = [one.gap for one in self.passes_]
        warn_of_end(reason, self.n_iter_)

    def support_sentences(self) -> list[SupportSentence]:
        """The training sentences that have support sequences."""
        return self.support_sequences_

    def _primal(self, data: Batch) -> tuple[WeightVector, Decode]:
        """Weights of attributes, and how they become a running model."""
        encoder, Y = self.encoder_, len(self.labels_)

        def decode(learned: LearnedChain) -> Decoder:
            pattern, values = learned.weights
            chain = WeightParts.split(learned.edges, Y).chain
            return Decoder(LinearMap.build(encoder, pattern, Y, np.float32).at(values), *self._constrain(*chain))

        tokens = expand_frequent(encoder, data, self.min_count)
        return PrimalWeights(tokens, data, encoder.n_attributes, Y), decode

    def _dual(self, data: Batch) -> tuple[WeightVector, Decode]:
        """The same with a kernel."""
        if self.min_count > 1:
            raise ParameterError(
                f"min_count={self.min_count} needs kernel='linear': a kernel has no weights to leave out"
            )
        gram, of_token = self._make_gram(data)
        weights = DualWeights(gram, of_token, data, len(self.labels_))
        return weights, lambda learned: self._kernel_decoder(
            gram, np.concatenate([learned.weights.ravel(), learned.edges])
        )

    def _solve(self, algorithm: WorkingSetAlgorithm, watch: Watch[LearnedChain]) -> str:
        """Run the algorithm; why it ended."""
        most = self.max_iterations

        def tell(found: PassReport) -> bool:
            progress = Progress(found.number, most, found.primal, None, found.gap, found.seconds, unit="pass")
            return watch(progress, algorithm.learned)

        try:
            return algorithm.solve(
                tol=self.tol, most_violation=np.inf if self.max_violation is None else self.max_violation,
                most_passes=most, tell=tell,
            )  # fmt: skip
        except KeyboardInterrupt:
            return "interrupted"

    # ---- storing ----

    def _store_more(self, arrays: dict[str, Any], strings: dict[str, list[str]]) -> None:
        store_support(self.support_sequences_, self.labels_, arrays, strings)

    def _restore_more(self, arrays: dict[str, Any], strings: dict[str, list[str]]) -> None:
        self.support_sequences_ = restore_support(self.labels_, arrays, strings)
