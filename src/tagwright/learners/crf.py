"""Conditional random fields: a linear chain trained on the probability of whole labellings.

    p(y | x) = exp F(x, y; w) / Z(x)                        F: chain/lattice.py
    minimise   loss(w) + c1 ‖w‖₁ + c2 ‖w‖²                  c1, c2 as CRFsuite has them

Lafferty, McCallum and Pereira 2001; LOSS section 3. Loss: losses/. Solvers: _solvers.py and optim/. These and
objective/ are imported when a training begins: a model that only tags starts without them.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Self

import numpy as np

from tagwright.arrays import Bools, Doubles, Floats, Longs, Workers, count_jobs, zero_rows
from tagwright.chain.trigrams import Trigrams, check_size, trigram_keys
from tagwright.encode.batch import Batch
from tagwright.encode.encoder import Encoder
from tagwright.encode.text import Sentences
from tagwright.errors import ParameterError
from tagwright.learners._base import SequenceTagger
from tagwright.learners._checkpoint import Checkpoint, digest_of, lasting_parameters
from tagwright.learners._decoder import Decoder
from tagwright.learners._estimator import (
    FILE,
    FLAG,
    NATURAL,
    NONE,
    NOT_NEGATIVE,
    WHOLE,
    Range,
    fitted,
    is_whole,
    one_of,
    parameter,
)
from tagwright.learners._importance import LABEL_WEIGHTS, SampleWeight, token_weights
from tagwright.learners._labels import Labels, PartialLabels, learn_dictionary, read_training_labels
from tagwright.learners._watch import DevSet, Watch, all_callbacks, warn_of_end
from tagwright.losses import LOSSES
from tagwright.scores.linear import LinearMap
from tagwright.scores.pattern import Pattern, find_pattern

if TYPE_CHECKING:
    from tagwright.losses.run import Loss
    from tagwright.objective.problem import TrainingProblem

SOLVERS = ("auto", "lbfgs", "owlqn", "cg", "sgd")
TOLERANCES = {"lbfgs": 1e-3, "owlqn": 1e-4, "cg": 1e-5, "sgd": 0.1}
"""By default. On four dev sets, L-BFGS with 1e-3 and with 1e-5 differ by 0.03 points at most, by 0.01 on average, and
1e-5 takes twice as many iterations (docs/solvers.md)."""
ORDER = Range(lambda value: is_whole(value, 1) and value <= 2, "1 or 2")


class LinearChain(SequenceTagger):
    """What CRF and MEMM share: parameters, solvers, checkpoints."""

    probabilistic = True

    label_weights: Mapping[str, float] | None = parameter(
        LABEL_WEIGHTS,
        'how much tokens count by their gold label, as {"B-PER": 2.0}; 1 for labels not named',
        default=None,
    )
    solver: str = parameter(
        one_of(*SOLVERS),
        '"lbfgs"; "owlqn", the one for c1 > 0; "cg" (conjugate gradients); "sgd" (averaged AdaGrad: seconds, near the '
        'minimum); "auto" is owlqn where c1 > 0, else lbfgs. See docs/solvers.md',
        default="auto",
    )
    c1: float = parameter(NOT_NEGATIVE, "strength of the L1 penalty c1·‖w‖₁, for small models", default=0.0)
    c2: float = parameter(
        NOT_NEGATIVE, "strength of the L2 penalty c2·‖w‖² (0.6 was best or next to best on four dev sets)", default=0.6
    )
    min_count: int = parameter(WHOLE, "attributes that fewer training tokens have get no weight", default=1)
    min_conjunction: int = parameter(WHOLE, "the same for conjunctions of attributes", default=1)
    all_possible_states: bool = parameter(
        FLAG, "give weights to (attribute, label) pairs that training did not see together, too", default=False
    )
    all_possible_transitions: bool = parameter(FLAG, "the same for label pairs", default=True)
    boundaries: bool = parameter(FLAG, "give weights to first and last labels", default=True)
    max_iterations: int = parameter(WHOLE, "stop after so many (sgd: epochs), with a warning", default=1000)
    tolerance: float | None = parameter(
        NONE | NOT_NEGATIVE,
        "stop when the objective improves by less, relatively: over 10 iterations (None: 1e-3, OWL-QN 1e-4, conjugate "
        "gradients 1e-5; with 1e-5, L-BFGS ends 0.001 % above the minimum), sgd over one epoch (None: 0.1)",
        default=None,
    )
    patience: int = parameter(
        WHOLE,
        "with a dev set, stop after so many iterations without a better dev score, once the objective hardly falls",
        default=10,
    )
    dtype: str = parameter(one_of("float32", "float64"), '"float32" (fast) or "float64"', default="float32")
    warm_start: bool = parameter(
        FLAG, "begin from the weights of the model as it is, if it was fitted before", default=False
    )
    checkpoint: str | os.PathLike[str] | None = parameter(
        FILE,
        "a file for the state of the training, written every half minute and when it is stopped (by Ctrl-C, a callback "
        "or max_iterations); `fit` with the same data and parameters goes on from it, to the same bits. It is deleted "
        "when the training has converged",
        default=None,
    )

    objective_: float = fitted()
    objective_curve_: list[float] = fitted()
    dev_curve_: list[float] = fitted()
    converged_: bool = fitted()

    def check_params(self) -> None:
        """Refuse parameters outside their ranges, or that contradict each other."""
        super().check_params()
        solver = self._choose_solver()
        if self.c1 > 0 and solver != "owlqn":
            raise ParameterError(
                f"solver={solver!r} cannot minimise an L1 penalty, found c1={self.c1!r}; "
                'use solver="owlqn" or "auto", or leave c1 at 0'
            )
        if solver == "sgd" and not self._choose_loss().is_sum:
            raise ParameterError(
                "solver='sgd' needs a loss that is a sum over sentences, which the exp losses are not; "
                'use loss="sequence_log" or "pointwise_log", or solver="lbfgs" or "cg"'
            )

    def fit(  # type: ignore[override]  # the options are named
        self,
        X: Sentences,
        y: PartialLabels,
        X_dev: Sentences | None = None,
        y_dev: Labels | None = None,
        *,
        sample_weight: SampleWeight | None = None,
    ) -> Self:
        """Train by the solver. Ctrl-C once stops and keeps the model so far. sample_weight: one number a sentence.

        With the loss "sequence_log" a label in y may also be None (unknown) or a collection of labels (one of these).
        """
        return super().fit(X, y, X_dev, y_dev, sample_weight=sample_weight)

    def _fit(
        self,
        X: Sentences,
        y: PartialLabels,
        X_dev: Sentences | None,
        y_dev: Labels | None,
        before: Self | None,
        sample_weight: SampleWeight | None = None,
    ) -> None:
        from tagwright.learners._weights import transfer_weights
        from tagwright.losses.partial_log import PartialLog
        from tagwright.losses.run import Loss, sum_of_terms
        from tagwright.objective.problem import TrainingProblem
        from tagwright.objective.threads import ThreadedObjective

        text = self._read_text(X)
        given = read_training_labels(y, text, partial=self._takes_partial_labels())
        names, sets = given.names, given.sets
        features = self._choose_features(text, set(names))
        encoder, (data,) = Encoder.learn(features, [text], min_conjunction=self.min_conjunction)
        data = data._replace(labels=given.numbers)
        del text, given  # training needs their room
        given_weights = sample_weight is not None or self.label_weights
        weights = token_weights(data, names, sample_weight, self.label_weights) if given_weights else None
        pattern = find_pattern(
            encoder, data, len(names), all_states=self.all_possible_states, min_count=self.min_count, sets=sets
        )
        scores = tagging = LinearMap.build(encoder, pattern, len(names), np.dtype(self.dtype).type)
        if features is None and self._choose_solver() != "sgd":  # which goes from token to token
            with_sets, data = encoder.with_sets(data)
            scores = LinearMap.build(with_sets, pattern, len(names), np.dtype(self.dtype).type)
        dictionary = learn_dictionary(self._choose_dictionary(), encoder, data, len(names))
        keys = self._find_trigrams(data, len(names))
        start = np.zeros(pattern.n_weights + len(keys) + len(names) ** 2 + 2 * len(names))
        if before is not None:
            transfer_weights(before, encoder, pattern, names, start, keys)
        self.labels_, self.encoder_ = names, encoder
        workers = Workers(count_jobs(self.n_jobs))
        try:
            free = self._free_weights(start, data, sets)
            loss = Loss(PartialLog(sets), sum_of_terms) if len(sets) else self._choose_loss()
            trigrams = keys if self._choose_order() == 2 else None
            problem = TrainingProblem(
                scores, data, weights, loss, free, start, ThreadedObjective,
                c1=self.c1, c2=self.c2, dictionary=dictionary, keys=trigrams,
            )  # fmt: skip
            dev = DevSet.build(self, X_dev, y_dev)
            self._train(problem, tagging, dev, self._find_checkpoint(problem, dev, sets), workers)
        finally:
            workers.close()

    def _choose_solver(self) -> str:
        """What "auto" means."""
        if self.solver == "auto":
            return "owlqn" if self.c1 > 0 else "lbfgs"
        return self.solver

    def _choose_loss(self) -> Loss:
        """What is minimised where all labels are known."""
        raise NotImplementedError

    def _takes_partial_labels(self) -> bool:
        return False

    def _choose_order(self) -> int:
        return 1

    def _choose_dictionary(self) -> int:
        return 0

    def _find_trigrams(self, data: Batch, n_labels: int) -> Longs:
        """The label trigrams that get a weight: those of the training data; none of first order.

        Y³ weights would be too many to learn, and nearly all would say that a trigram is rare, as its pairs do.
        """
        if self._choose_order() == 1:
            return np.empty(0, np.int64)
        check_size(n_labels, np.dtype(self.dtype).type)
        return np.unique(trigram_keys(data.offsets, data.labels, n_labels))

    def _free_weights(self, vector: Doubles, data: Batch, label_sets: Bools) -> Bools:
        """Which weights may move: those of transitions and boundaries only where they are wanted."""
        from tagwright.losses.partial_log import possible_transitions
        from tagwright.objective.problem import WeightParts

        free = np.ones(len(vector), np.bool_)
        parts = WeightParts.split(free, len(self.labels_))  # type: ignore[arg-type]  # views of flags, not of numbers
        if not self.all_possible_transitions:
            parts.transition[:] = possible_transitions(data.labels, data.offsets, label_sets)
        if not self.boundaries:
            parts.start[:] = False
            parts.stop[:] = False
        return free

    def _train(
        self, problem: TrainingProblem, scores: LinearMap, dev: DevSet | None, checkpoint: Checkpoint | None,
        workers: Workers,
    ) -> None:  # fmt: skip
        """`scores`: what weights mean in tagging."""
        from tagwright.learners._solvers import Limits, solve

        def decode(w: Doubles, table: Floats | None = None) -> Decoder:
            Y, keys, weights = len(self.labels_), problem.keys, problem.split(w)
            chain = self._constrain(weights.transition, weights.start, weights.stop)
            trigrams = None if keys is None else Trigrams(Y, keys, weights.trigrams)
            linear = scores.at(weights.attributes, workers, table)
            return self.decoder_type(linear, *chain, dictionary=problem.dictionary, trigrams=trigrams)

        solver = self._choose_solver()
        limits = Limits(self.max_iterations, TOLERANCES[solver] if self.tolerance is None else self.tolerance)
        table = None if dev is None else zero_rows((scores.index.n_rows, scores.width), scores.dtype)  # for all rounds
        callbacks = all_callbacks(self.callbacks, self.verbose)
        watch = Watch(dev, self.patience, callbacks, partial(decode, table=table))
        found = solve(
            solver, problem, limits, watch=watch, checkpoint=checkpoint, seed=self.random_state, workers=workers
        )
        self.decoder_ = decode(watch.choose(found.weights).copy())
        self.n_iter_ = found.iterations
        self.objective_ = found.value
        self.objective_curve_ = found.curve
        self.dev_curve_ = watch.dev_curve
        self.converged_ = found.converged or found.reason == "callback"
        warn_of_end(found.reason, found.iterations)

    def _find_checkpoint(self, problem: TrainingProblem, dev: DevSet | None, label_sets: Bools) -> Checkpoint | None:
        """The file that `checkpoint` names, for this training alone."""
        if self.checkpoint is None:
            return None
        labels = [*self.labels_, *(chain.from_iterable(dev.gold) if dev else ())]
        numbers = [label_sets, problem.start, *([] if problem.weights is None else [problem.weights])]
        data = [problem.data, dev.data] if dev else [problem.data]
        return Checkpoint(self.checkpoint, lasting_parameters(self), digest_of(self.encoder_, labels, data, numbers))


class CRF(LinearChain):
    """A linear-chain conditional random field."""

    learner = "crf"

    loss: str = parameter(
        one_of(*LOSSES),
        'what is minimised: "sequence_log" (the usual CRF), "sequence_exp", "pointwise_log" or "pointwise_exp"',
        default="sequence_log",
    )
    order: int = parameter(
        ORDER,
        "1, or 2 for weights of label trigrams (those that training has) from the third position on, besides those of "
        "label pairs; exact, and with a tag dictionary not much slower. With a sequence loss",
        default=1,
    )
    tag_dictionary: int = parameter(
        NATURAL,
        "words that training has at least so many times may only have the labels they were seen with, rarer and "
        "unknown ones also those that many rarer words have; in training and in tagging. 0: off. With a sequence loss",
        default=0,
    )

    def check_params(self) -> None:
        """Refuse parameters outside their ranges, or that contradict each other."""
        super().check_params()
        if self.order > 1 or self.tag_dictionary:
            what = "order=2" if self.order > 1 else "a tag dictionary"
            if self.loss.startswith("pointwise"):
                raise ParameterError(
                    f"loss={self.loss!r} cannot go with {what}; use a sequence loss, or leave that out"
                )
            if self.solver == "sgd" and self.order > 1:
                raise ParameterError("solver='sgd' cannot go with order=2; use another solver, or leave that out")

    def _choose_loss(self) -> Loss:
        return LOSSES[self.loss]

    def _takes_partial_labels(self) -> bool:
        return self.loss == "sequence_log" and self.order == 1 and not self.tag_dictionary

    def _choose_order(self) -> int:
        return self.order

    def _choose_dictionary(self) -> int:
        return self.tag_dictionary


def make_crf(encoder: Encoder, pattern: Pattern, weights: Floats, labels: list[str], transition: Doubles) -> CRF:
    """A fitted CRF of parts that were learned elsewhere, in float64; first and last labels have no weights."""
    crf = CRF(dtype="float64", boundaries=False)
    crf.labels_, crf.encoder_ = list(labels), encoder
    crf.info_, crf.span_calibration_ = {}, None
    scores = LinearMap.build(encoder, pattern, len(labels), np.float64).at(weights)
    crf.decoder_ = Decoder(scores, transition, np.zeros(len(labels)), np.zeros(len(labels)))
    crf.decoder_.make_ready()
    return crf
