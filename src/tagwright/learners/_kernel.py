"""What the learners with kernels share: their parameters, the Gram matrix of a training set, and storing.

Stored are the support contexts (attributes and values), their coefficients without zeros, and the kernel's numbers.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from tagwright.arrays import Doubles, Longs
from tagwright.encode.dataset import Dataset
from tagwright.encode.encoder import Encoder
from tagwright.errors import DataWarning, ModelFileError, ParameterError
from tagwright.learners._decoder import Decoder
from tagwright.learners._estimator import Range
from tagwright.scores.contexts import Contexts, find_contexts
from tagwright.scores.expanded import expand
from tagwright.scores.gram import Gram
from tagwright.scores.kernel import KernelScores
from tagwright.scores.kernels import KERNELS, Function, Kernel, make_kernel

KERNEL = Range(lambda value: callable(value) or value in KERNELS, f"one of {', '.join(KERNELS)}, or a callable")


def make_gram(
    encoder: Encoder, data: Dataset, kernel: str | Function, *, degree: int, gamma: float | None, coef0: float,
    memory: float,
) -> tuple[Gram, Longs]:  # fmt: skip
    """The Gram matrix of the training data, and the context of every token."""
    contexts, of_token = find_contexts(expand(encoder, data), encoder.n_attributes)
    length = float(contexts.lengths.mean())
    made = make_kernel(kernel, degree=degree, gamma=gamma, coef0=coef0, length=length)
    return Gram(contexts, made, memory), of_token


def warn_of_single_tokens(data: Dataset) -> None:
    """Say so when there are no neighbours to learn from."""
    if data.lengths.max() == 1:
        message = (
            "X: no sentence is longer than one token, so nothing is learned about neighbouring labels: all transitions "
            "weigh 0; give whole sentences (a list of lists of tokens) if these are parts of them"
        )
        warnings.warn(message, DataWarning, stacklevel=3)


def store_kernel(scores: KernelScores, arrays: dict[str, Any]) -> None:
    """Support contexts, coefficients and the kernel."""
    kernel = scores.kernel
    if kernel.function is not None:
        raise ParameterError(
            f"kernel: a model with the callable kernel {kernel.name} cannot be saved: a model file holds no code; "
            f"use one of {', '.join(KERNELS)}"
        )
    rows, labels = np.nonzero(scores.coefficients)
    arrays["support.sizes"] = np.diff(scores.support.pointers).astype(np.uint32)
    arrays["support.attributes"] = scores.support.attributes
    arrays["support.values"] = scores.support.values
    arrays["support.counts"] = np.bincount(rows, minlength=len(scores.support)).astype(np.uint16)
    arrays["support.labels"] = labels.astype(np.uint16)
    arrays["support.coefficients"] = scores.coefficients[rows, labels]
    arrays["support.kernel"] = np.array([KERNELS.index(kernel.name), kernel.degree, kernel.gamma, kernel.coef0])


def restore_kernel(model: Any, arrays: dict[str, Any]) -> KernelScores:
    """The running scores of a stored model with a kernel."""
    sizes, counts = arrays["support.sizes"].astype(np.int64), arrays["support.counts"].astype(np.int64)
    attributes, values = arrays["support.attributes"].astype(np.int32), arrays["support.values"].astype(np.float64)
    labels, amounts = arrays["support.labels"].astype(np.int64), arrays["support.coefficients"].astype(np.float64)
    Y, A = len(model.labels_), model.encoder_.n_attributes
    fits = len(sizes) == len(counts) and sizes.sum() == len(attributes) == len(values)
    if not fits or counts.sum() != len(labels) or len(labels) != len(amounts) or (labels >= Y).any():
        raise ModelFileError("the support contexts do not fit together")
    if len(attributes) and not 0 <= attributes.min() <= attributes.max() < A:
        raise ModelFileError("the support contexts do not fit the attributes")
    number, degree, gamma, coef0 = arrays["support.kernel"].tolist()
    coefficients = np.zeros((len(sizes), Y))
    coefficients[np.repeat(np.arange(len(sizes)), counts), labels] = amounts
    pointers = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    kernel = Kernel(KERNELS[int(number)], int(degree), gamma, coef0)
    return KernelScores(model.encoder_, Contexts(A, pointers, attributes, values), coefficients, kernel)


def kernel_decoder(model: Any, gram: Gram, vector: Doubles) -> Decoder:
    """A running model from [β | transition | start | stop]."""
    Y = len(model.labels_)
    beta, chain = vector[: -(Y * Y + 2 * Y)].reshape(-1, Y), vector[-(Y * Y + 2 * Y) :]
    scores = KernelScores.build(model.encoder_, gram.contexts, beta, gram.kernel)
    ends = chain[Y * Y :].reshape(2, Y)
    return Decoder(scores, *model._constrain(chain[: Y * Y].reshape(Y, Y), ends[0], ends[1]))
