"""What all losses have in common: a run of sentences in, terms and a gradient with respect to the lattice out.

A loss is made of terms −log p: one a sentence (sequence losses) or one a token (pointwise losses). Two ways to add
them up give the four losses of LOSS section 3.3, with term weights a and W = Σ a:

    log     Σ a · (−log p)           = W · mean of log 1/p
    exp     W · log( Σ a/p / W )     = W · log of the mean 1/p

The papers' exp losses are Σ 1/p. Their logarithm is minimised here: it is least where the sum is least, and it is of
the size of the log loss (equal to it where all p are equal, near it where all p are near 1), so that a penalty c2‖w‖²
means the same for all four. The gradient is Σ_i D_i · d(−log p_i), D_i = W · (a_i/p_i) / Σ a/p. Nothing overflows:
−log p comes as a logarithm, and each pass computes D_i relative to a reference, the largest term of an earlier pass
(`Total.fits` says whether that was near enough; if not, the pass is repeated with the right one).

Weights: a token has the weight a_t = (its sentence's weight) · (the weight of its gold label). It multiplies the
token's term in a pointwise loss. A sentence's term has the mean of its tokens' weights.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol, cast

import numpy as np

from tagwright._jit import tight_kernel
from tagwright.arrays import Doubles, Floats, Ints, Longs
from tagwright.chain.candidates import Candidates
from tagwright.chain.forward_backward import Chain
from tagwright.chain.label_chain import HIGHEST, LabelChain
from tagwright.errors import ParameterError


@dataclass(frozen=True, slots=True)
class SentenceRun:
    """Sentences that one call of a loss takes in, end to end."""

    emission: Floats  # [n, P]
    offsets: Longs  # [N + 1], from 0
    labels: Ints  # [n], gold
    weights: Doubles  # [n], of tokens
    candidates: Candidates | None = None  # labels that tokens may have, the gold ones among them; None: all

    @property
    def sentence_weights(self) -> Doubles:
        """[N]: the mean weight of each sentence's tokens."""
        sums: Doubles = np.add.reduceat(self.weights, self.offsets[:-1])
        return sums / (self.offsets[1:] - self.offsets[:-1])


@dataclass(frozen=True, slots=True)
class RunLoss:
    """The terms of a run, and the gradient of its part of the loss.

    A term of inf: the gold labels are impossible; then the gradient means nothing.
    """

    terms: Doubles  # −log p [N] or [n]
    weights: Doubles  # of the terms
    emission: Floats  # [n, P]
    transition: Doubles  # [Y, Y]
    start: Doubles  # [Y]
    stop: Doubles  # [Y]
    trigrams: Doubles = field(default_factory=lambda: np.empty(0))  # [K], of a SecondOrderChain


@dataclass(frozen=True, slots=True)
class Total:
    """The whole loss: its value, and what the sum of all gradients must be multiplied by."""

    value: float
    factor: float = 1.0
    reference: float = 0.0  # for the next pass
    fits: bool = True  # whether the reference of this pass was near enough


class LossOfRun(Protocol):
    """Terms and gradient of a run, relative to the reference of the pass (of use to the exp losses alone).

    `out` [n, P]: for the gradient of the emission; it may be the run's own emission, which is then overwritten.
    """

    def __call__(
        self, run: SentenceRun, chain: LabelChain, reference: float = 0.0, out: Floats | None = None
    ) -> RunLoss: ...


@dataclass(frozen=True, slots=True)
class Loss:
    """One of the four: what it makes of a run, and how terms add up."""

    of_run: LossOfRun
    add_up: Callable[[Doubles, Doubles, float], Total]  # terms, their weights, the reference of the pass
    rate: float | None = None  # of a sequence loss (chain/label_chain.py), for objective/sequence_pass.py

    @property
    def is_sum(self) -> bool:
        """Whether it is a sum over sentences."""
        return self.add_up is sum_of_terms


def first_order(run: SentenceRun, chain: LabelChain) -> Chain:
    """The chain of a loss that knows neither trigrams nor candidate labels."""
    if chain.order != 1 or run.candidates is not None:
        raise ParameterError("this loss goes with order=1 and without a tag dictionary only")
    return cast(Chain, chain)


def sum_of_terms(terms: Doubles, weights: Doubles, reference: float) -> Total:
    """Σ a · term."""
    used = weights > 0
    return Total(float(np.sum(weights[used] * terms[used])))


def log_of_mean(terms: Doubles, weights: Doubles, reference: float) -> Total:
    """W log( Σ a e^term / W ), and its factor W / Σ a e^(term − reference)."""
    used = weights > 0
    terms, weights = terms[used], weights[used]
    total, peak = float(np.sum(weights)), float(np.max(terms))
    if not np.isfinite(peak):
        return Total(peak)
    log_mean = peak + float(np.log(np.sum(weights * np.exp(terms - peak)) / total))
    fits = abs(peak - reference) < HIGHEST
    return Total(total * log_mean, float(np.exp(reference - log_mean)) if fits else 1.0, peak, fits)


@tight_kernel
def add_ends(gradient: Floats, offsets: Longs, start: Doubles, stop: Doubles) -> None:
    """start, stop [Y] += the gradient rows of first and last tokens: their scores enter where these emissions do."""
    for i in range(offsets.shape[0] - 1):
        first, last = offsets[i], offsets[i + 1] - 1
        for y in range(start.shape[0]):
            start[y] += gradient[first, y]
            stop[y] += gradient[last, y]


def sum_ends(gradient: Floats, offsets: Longs, n_labels: int) -> tuple[Doubles, Doubles]:
    """The gradient of start and stop [Y] from that of the emission [n, P]."""
    start, stop = np.zeros(n_labels), np.zeros(n_labels)
    add_ends(gradient, offsets, start, stop)
    return start, stop
