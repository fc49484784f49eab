"""What KernelPerceptron and HMSVM share: the parameters of kernels, `fit`, the Gram matrix, the model file.

In the file: the support contexts (attributes and values), their coefficients without zeros, the kernel's numbers.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from tagwright.arrays import Doubles, Longs
from tagwright.encode.batch import Batch
from tagwright.encode.text import Sentences, Text
from tagwright.errors import DataWarning, ModelFileError, ParameterError, warn
from tagwright.kernels.functions import KERNELS, Kernel, KernelFunction, make_kernel
from tagwright.kernels.gram import GramMatrix
from tagwright.kernels.scores import KernelScores
from tagwright.kernels.vectors import ContextVectors, find_contexts
from tagwright.learners._base import SequenceTagger, TrainingData
from tagwright.learners._decoder import Decoder, Scores
from tagwright.learners._estimator import (
    FLAG,
    NONE,
    NOT_NEGATIVE,
    POSITIVE,
    WHOLE,
    Range,
    fitted,
    parameter,
    whole_up_to,
)
from tagwright.learners._explanation import CONTEXT, Row, Rows
from tagwright.learners._labels import Labels
from tagwright.model_file import restore_pointers
from tagwright.scores.expanded import expand

KERNEL = Range(lambda value: callable(value) or value in KERNELS, f"one of {', '.join(KERNELS)}, or a callable")


LISTED = 10
"""Training tokens that an explanation names."""
CALLABLE = -1
MOST_DEGREE = 1000
"""Stands for a function of the user's, in a pickle."""


class KernelLearner(SequenceTagger):
    """A learner that can have a kernel between observations."""

    kernel: str | KernelFunction = parameter(
        KERNEL, '"poly", "rbf", "linear", or a function of inner products and squared lengths', default="poly"
    )
    degree: int = parameter(
        whole_up_to(MOST_DEGREE), "of the polynomial kernel (gamma ⟨x, z⟩ + coef0)^degree", default=2
    )
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
    min_conjunction: int = parameter(WHOLE, "conjunctions that training has less often are left out", default=2)
    boundaries: bool = parameter(FLAG, "give weights to first and last labels", default=True)
    patience: int = parameter(WHOLE, "with a dev set, stop after so many rounds without a better dev score", default=5)

    objective_curve_: list[float] = fitted()
    dev_curve_: list[float] = fitted()
    converged_: bool = fitted()

    def _begin(self, X: Sentences, y: Labels) -> TrainingData:
        """Read and number the training data; refuse what cannot be trained before the work begins."""
        found = self._read_training(X, y)
        self.labels_, self.encoder_ = found.names, found.encoder
        self._constrain(*np.zeros((3, len(found.names), len(found.names))))
        if found.data.lengths.max() == 1:
            message = (
                "X: no sentence is longer than one token, so nothing is learned about neighbouring labels: all "
                "transitions weigh 0; give whole sentences (a list of lists of tokens) if these are parts of them"
            )
            warn(message, DataWarning)
        return found

    def _make_gram(self, data: Batch) -> tuple[GramMatrix, Longs]:
        """The Gram matrix of the training data, and the context of every token."""
        contexts, of_token = find_contexts(expand(self.encoder_, data), self.encoder_.n_attributes)
        length = float(contexts.lengths.mean())
        kernel = make_kernel(self.kernel, degree=self.degree, gamma=self.gamma, coef0=self.coef0, length=length)
        return GramMatrix(contexts, kernel, self.memory), of_token

    def _kernel_decoder(self, gram: GramMatrix, vector: Doubles) -> Decoder:
        """A running model from [β | transition | start | stop]."""
        Y = len(self.labels_)
        beta, transition, ends = np.split(vector, [-(Y * Y + 2 * Y), -2 * Y])
        scores = KernelScores.build(self.encoder_, gram.contexts, beta.reshape(-1, Y), gram.kernel)
        return Decoder(scores, *self._constrain(transition.reshape(Y, Y), ends[:Y], ends[Y:]))

    def _rows_of(self, text: Text, batch: Batch) -> Rows:
        """With a kernel, what support contexts add: β k(x, z) for the LISTED that matter most, and for the others."""
        scores = self.decoder_.scores
        if not isinstance(scores, KernelScores):
            return super()._rows_of(text, batch)
        similarity, names = scores.similarity(batch), self.encoder_.attribute_names()

        def rows(t: int) -> tuple[list[Row], list[str]]:
            added = similarity[t, :, None] * scores.coefficients
            order = np.argsort(-np.abs(added).max(axis=1), kind="stable")
            found = [(scores.name_context(m, names), CONTEXT, added[m]) for m in order[:LISTED].tolist()]
            rest = order[LISTED:]
            if len(rest):
                found.append((f"{len(rest):,} other training tokens", CONTEXT, added[rest].sum(axis=0)))
            return found, []

        return rows

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to one file (atomically, no pickle)."""
        if callable(self.kernel):
            raise ParameterError(
                f"kernel: a model with the callable kernel {getattr(self.kernel, '__name__', 'given')} cannot be "
                f"saved: a model file holds no code; use one of {', '.join(KERNELS)}"
            )
        super().save(path)

    def _store_scores(self, arrays: dict[str, Any]) -> None:
        if isinstance(self.decoder_.scores, KernelScores):
            store_kernel(self.decoder_.scores, arrays)
        else:
            super()._store_scores(arrays)

    def _restore_scores(self, arrays: dict[str, Any]) -> Scores:
        return restore_kernel(self, arrays) if "support.kernel" in arrays else super()._restore_scores(arrays)


def store_kernel(scores: KernelScores, arrays: dict[str, Any]) -> None:
    """Support contexts, coefficients and the kernel."""
    kernel = scores.kernel
    number = CALLABLE if kernel.function is not None else KERNELS.index(kernel.name)
    rows, labels = np.nonzero(scores.coefficients)
    arrays["support.sizes"] = np.diff(scores.support.pointers).astype(np.uint32)
    arrays["support.attributes"] = scores.support.attributes
    arrays["support.values"] = scores.support.values
    arrays["support.counts"] = np.bincount(rows, minlength=len(scores.support)).astype(np.uint16)
    arrays["support.labels"] = labels.astype(np.uint16)
    arrays["support.coefficients"] = scores.coefficients[rows, labels]
    arrays["support.kernel"] = np.array([number, kernel.degree, kernel.gamma, kernel.coef0])


def restore_kernel(model: KernelLearner, arrays: dict[str, Any]) -> KernelScores:
    """The running scores of a stored model with a kernel."""
    sizes, counts = arrays["support.sizes"].astype(np.int64), arrays["support.counts"].astype(np.int64)
    attributes, values = arrays["support.attributes"].astype(np.int32), arrays["support.values"].astype(np.float64)
    labels, amounts = arrays["support.labels"].astype(np.int64), arrays["support.coefficients"].astype(np.float64)
    Y, A = len(model.labels_), model.encoder_.n_attributes
    pointers = restore_pointers(sizes, len(attributes), "the support contexts do not fit together")
    restore_pointers(counts, len(labels), "the support contexts do not fit together")
    fits = len(sizes) == len(counts) and attributes.shape == values.shape and labels.shape == amounts.shape
    if not fits or not 0 <= labels.min(initial=0) <= labels.max(initial=0) < Y:
        raise ModelFileError("the support contexts do not fit together")
    if len(attributes) and not 0 <= attributes.min() <= attributes.max() < A:
        raise ModelFileError("the support contexts do not fit the attributes")
    coefficients = np.zeros((len(sizes), Y))
    coefficients[np.repeat(np.arange(len(sizes)), counts), labels] = amounts
    support = ContextVectors(A, pointers, attributes, values)
    return KernelScores(
        model.encoder_, support, coefficients, _restore_function(model.kernel, arrays["support.kernel"])
    )


def _restore_function(given: str | KernelFunction, numbers: Doubles) -> Kernel:
    """The kernel of a stored model, its numbers within the ranges of the parameters. A function comes with the
    parameters of a pickle, never with a file."""
    number, degree, gamma, coef0 = numbers.tolist()
    if number == CALLABLE and callable(given):
        return make_kernel(given, degree=1, gamma=None, coef0=0.0, length=1.0)
    known = number in range(len(KERNELS)) and degree in range(1, MOST_DEGREE + 1)
    if not known or not 0 < gamma < np.inf or not 0 <= coef0 < np.inf:
        raise ModelFileError(f"unknown kernel: {numbers.tolist()}")
    return Kernel(KERNELS[int(number)], int(degree), gamma, coef0)
