"""CRFsuite's "l2sgd": stochastic gradient descent on −log p(y | x) + c2 ‖w‖², a sentence at a time.

After Pegasos (Shalev-Shwartz, Singer and Srebro 2007), with λ = 2 c2 / N and step t of all:

    η_t = 1 / (λ (t_0 + t)),      w ← (1 − η_t λ) w + η_t (Φ(x, y) − E[Φ(x, Y)])

w is kept as `decay` · v: all weights shrink by one multiplication, and v changes by η_t / decay where a sentence has
attributes. t_0 = 1 / (λ η) for the rate η that does best on some sentences (calibration). The weights of the best epoch
are kept. Orders are CRFsuite's (shuffling.py), and so are all numbers, up to rounding.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tagwright._jit import tight_kernel
from tagwright.arrays import Bools, Doubles, Floats, Ints, Longs, Plain, padded
from tagwright.chain.forward_backward import Chain, PairBuffers, forward_backward
from tagwright.chain.label_chain import TermWeights
from tagwright.chain.scaling import RunSums
from tagwright.errors import ParameterError
from tagwright.pycrfsuite.errors import OVERFLOW, CRFSuiteError
from tagwright.pycrfsuite.shuffling import Shuffle
from tagwright.pycrfsuite.training import Training
from tagwright.scores.expanded import TokenAttributes, expand
from tagwright.scores.pattern import Pattern


@dataclass(slots=True)
class Point:
    """Weights of attributes [W] and of label pairs [Y, Y], divided by `decay`."""

    attributes: Doubles
    transition: Doubles
    decay: float = 1.0

    def settle(self) -> float:
        """Let decay be 1; ‖w‖²."""
        self.attributes *= self.decay
        self.transition *= self.decay
        self.decay = 1.0
        return float(self.attributes @ self.attributes + (self.transition**2).sum())


class SentenceWork(NamedTuple):
    """Memory for one sentence."""

    rows: Doubles  # [L, P]
    marginals: Floats  # [L, P]
    offsets: Longs  # [2]
    chain: Chain
    given: TermWeights
    found: RunSums
    buffers: PairBuffers

    @classmethod
    def build(cls, longest: int, n_labels: int) -> SentenceWork:
        P, edges = padded(n_labels), np.zeros(n_labels)
        chain = Chain.build(np.zeros((n_labels, n_labels)), edges, edges, np.float64)
        return cls(
            np.zeros((longest, P)), np.zeros((longest, P)), np.zeros(2, np.int64), chain, TermWeights.ones(1),
            RunSums.build(np.zeros((P, P)), 1), PairBuffers.build(longest, P, np.float64),
        )  # fmt: skip


class Descent:
    """One training: goes through sentences and changes a Point."""

    def __init__(self, training: Training) -> None:
        data, Y = training.data, len(training.labels)
        self.data, self.pattern, self.n_labels = data, training.features.pattern, Y
        self.tokens = expand(training.encoder, data)
        self.free = training.features.transitions
        self.decay = 2 * training.values["c2"] / data.n_sentences
        longest = int(data.lengths.max())
        self.rows, self.edges = np.zeros((longest, padded(Y))), np.zeros(Y)
        self.work = SentenceWork.build(longest, Y)

    def origin(self) -> Point:
        """All weights 0."""
        return Point(np.zeros(self.pattern.n_weights), np.zeros((self.n_labels, self.n_labels)))

    def learn(self, sentences: Longs, point: Point, t0: float, t: int) -> float:
        """Some sentences, from step t on; the sum of their losses, not finite if the last one's is not."""
        total = loss = 0.0
        done = 0
        while done < len(sentences):
            n, decay, own, last = learn_sentences(
                sentences[done:], self.data.offsets, self.data.labels, self.tokens, self.pattern, self.free,
                self.decay, t0 + t + done, point.decay, self.work, point.attributes, point.transition,
            )  # fmt: skip
            done, point.decay, total = done + n, decay, total + own
            loss = last if n else loss
            if done < len(sentences):  # scaled numbers cannot hold this one
                rate = 1 / (self.decay * (t0 + t + done))
                point.decay *= 1 - rate * self.decay
                loss = self.step(int(sentences[done]), point, rate / point.decay)
                total, done = total + loss, done + 1
        return total if math.isfinite(loss) else math.nan

    def step(self, i: int, point: Point, gain: float) -> float:
        """One sentence: its loss, and gain times its gradient into the weights."""
        begin, end = self.data.offsets[i], self.data.offsets[i + 1]
        rows, gold, plain = self.rows[: end - begin], self.data.labels[begin:end], tuple(self.tokens)
        score_tokens(begin, plain, tuple(self.pattern), point.attributes, point.decay, rows)
        chain = Chain.build(point.decay * point.transition, self.edges, self.edges, np.float64)
        offsets = np.array([0, len(rows)])
        score = chain.score_labels(rows, offsets, gold)[0]
        found = chain.expect(rows, offsets)
        if gain:
            learn_tokens(begin, plain, tuple(self.pattern), gold, found.marginals, gain, point.attributes)
            change = -found.transitions
            np.add.at(change, (gold[:-1], gold[1:]), 1)
            point.transition += gain * change * self.free
        return float(found.log_z[0] - score)


@tight_kernel
def learn_sentences(
    sentences: Longs, offsets: Longs, labels: Ints, tokens: TokenAttributes, pattern: Pattern, free: Bools,
    decay_rate: float, t: float, decay: float, work: SentenceWork, weights: Doubles, transition: Doubles,
) -> tuple[int, float, float, float]:  # fmt: skip
    """Descent.step for some sentences, the first one at t_0 + t = `t`, as far as scaled numbers hold them; returns how
    many were done, decay, the sum of their losses and the loss of the last one."""
    total, loss, n = 0.0, 0.0, 0
    for i in sentences:
        rate = 1 / (decay_rate * (t + n))
        scale = decay * (1 - rate * decay_rate)
        gain, begin, end = rate / scale, offsets[i], offsets[i + 1]
        rows, gold = work.rows[: end - begin], labels[begin:end]
        score_tokens(begin, tuple(tokens), tuple(pattern), weights, scale, rows)
        shift = fill_chain(transition, scale, work.chain)
        work.found.counts[:] = 0
        work.offsets[1] = end - begin
        forward_backward(rows, work.offsets, work.given, work.found, work.marginals, work.chain, work.buffers)
        if not work.found.done[0]:
            break
        loss = work.found.log_z[0] + shift * (end - begin - 1) - score_of(gold, rows, transition, scale)
        learn_tokens(begin, tuple(tokens), tuple(pattern), gold, work.marginals, gain, weights)
        learn_pairs(gold, work.found.counts, work.chain.matrix, free, gain, transition)
        decay, total, n = scale, total + loss, n + 1
    return n, decay, total, loss


@tight_kernel
def fill_chain(transition: Doubles, scale: float, chain: Chain) -> float:
    """exp(scale · transition − the largest of these) into the matrices of a chain; the largest."""
    Y, peak = transition.shape[0], -np.inf
    for i in range(Y):
        for j in range(Y):
            peak = max(peak, scale * transition[i, j])
    for i in range(Y):
        for j in range(Y):
            chain.matrix[i, j] = chain.transposed[j, i] = np.exp(scale * transition[i, j] - peak)
    return peak


@tight_kernel
def score_of(gold: Ints, rows: Doubles, transition: Doubles, scale: float) -> float:
    """F of the gold labels."""
    score = rows[0, gold[0]]
    for t in range(1, gold.shape[0]):
        score += rows[t, gold[t]] + scale * transition[gold[t - 1], gold[t]]
    return float(score)


@tight_kernel
def learn_pairs(
    gold: Ints, counts: Floats, matrix: Floats, free: Bools, gain: float, transition: Doubles
) -> None:  # fmt: skip
    """transition += gain · (observed − expected) label pairs, where it is free; counts lack the matrix."""
    for i in range(transition.shape[0]):
        for j in range(transition.shape[0]):
            if free[i, j]:
                transition[i, j] -= gain * counts[i, j] * matrix[i, j]
    for t in range(1, gold.shape[0]):
        transition[gold[t - 1], gold[t]] += gain if free[gold[t - 1], gold[t]] else 0.0


@tight_kernel
def score_tokens(
    begin: int, of_tokens: Plain, of_pattern: Plain, weights: Doubles, scale: float,
    rows: Doubles,
) -> None:  # fmt: skip
    """The scores [T, P] of the tokens from `begin` on: scale · the sums of their attributes' weights."""
    tokens, pattern = TokenAttributes(*of_tokens), Pattern(*of_pattern)
    for t in range(rows.shape[0]):
        rows[t, :] = 0
        for e in range(tokens.pointers[begin + t], tokens.pointers[begin + t + 1]):
            a, value = tokens.attributes[e], tokens.values[e] * scale
            for k in range(pattern.pointers[a], pattern.pointers[a + 1]):
                rows[t, pattern.labels[k]] += weights[k] * value


@tight_kernel
def learn_tokens(
    begin: int, of_tokens: Plain, of_pattern: Plain, gold: Ints, marginals: Floats,
    gain: float, weights: Doubles,
) -> None:  # fmt: skip
    """weights += gain · (observed − expected) attributes of these tokens."""
    tokens, pattern = TokenAttributes(*of_tokens), Pattern(*of_pattern)
    for t in range(gold.shape[0]):
        for e in range(tokens.pointers[begin + t], tokens.pointers[begin + t + 1]):
            a, amount = tokens.attributes[e], tokens.values[e] * gain
            for k in range(pattern.pointers[a], pattern.pointers[a + 1]):
                y = pattern.labels[k]
                weights[k] += amount * ((y == gold[t]) - marginals[t, y])


def train_l2sgd(training: Training) -> tuple[Pattern, Doubles]:
    """Calibration, then all epochs."""
    values, report, pattern = training.values, training.report, training.features.pattern
    report.lines("Stochastic Gradient Descent (SGD)")
    report.fields({name: values[name] for name in ("c2", "max_iterations", "period", "delta")})
    report.lines("")
    weights, loss, began = training.start, 0.0, time.perf_counter()
    if training.data.n_sentences and training.features.n:
        if not values["c2"] > 0:
            raise ParameterError(f"c2={values['c2']!r}: l2sgd needs a penalty, more than 0")
        descent, shuffle = Descent(training), Shuffle(training.data.n_sentences)
        rate = calibrate(descent, shuffle.next(), training)
        weights, loss = learn_epochs(descent, shuffle, 1 / (descent.decay * rate), training)
    report.lines(f"Loss: {loss:f}", f"Total seconds required for training: {time.perf_counter() - began:.3f}", "")
    return pattern, weights


def calibrate(descent: Descent, order: Longs, training: Training) -> float:
    """The best of some rates, by an epoch of some sentences with each: larger ones as long as they help, then smaller
    ones."""
    values, report, began = training.values, training.report, time.perf_counter()
    eta, factor, most = (values[f"calibration.{name}"] for name in ("eta", "rate", "max_trials"))
    some = order[: values["calibration.samples"]]
    left = values["calibration.candidates"]
    report.lines("Calibrating the learning rate (eta)")
    report.fields({"calibration.eta": eta, "calibration.rate": factor, "calibration.samples": len(some)})
    report.fields({"calibration.candidates": left, "calibration.max_trials": most})
    start = sum(descent.step(i, descent.origin(), 0.0) for i in some.tolist())
    report.lines(f"Initial loss: {start:f}")
    best, best_loss, shrinking, trial = eta, math.inf, False, 1
    while left > 0 or not shrinking:
        report.write(f"Trial #{trial} (eta = {eta:f}): ")
        point = descent.origin()
        loss = descent.learn(some, point, 1 / (descent.decay * eta), 0)
        loss += 0.5 * descent.decay * point.settle() * len(some)
        good = math.isfinite(loss) and loss < start
        report.lines(f"{loss:f}" if good else f"{loss:f} (worse)")
        left -= good
        if math.isfinite(loss) and loss < best_loss:
            best, best_loss = eta, loss
        if shrinking:
            eta /= factor
        elif good and left > 0:
            eta *= factor
        else:
            shrinking, left, eta = True, values["calibration.candidates"], values["calibration.eta"] / factor
        trial += 1
        if trial >= most:
            break
    report.lines(f"Best learning rate (eta): {best:f}", f"Seconds required: {time.perf_counter() - began:.3f}", "")
    return float(best)


def learn_epochs(descent: Descent, shuffle: Shuffle, t0: float, training: Training) -> tuple[Doubles, float]:
    """The weights of the best epoch, and its loss."""
    values, report, N = training.values, training.report, training.data.n_sentences
    point, curve, best_loss = descent.origin(), [], math.inf
    best, period, no_edges = training.start, max(1, values["period"]), np.zeros(2 * descent.n_labels)
    for epoch in range(1, values["max_iterations"] + 1):
        began, done = time.perf_counter(), (epoch - 1) * N
        report.lines(f"***** Epoch #{epoch} *****")
        loss = descent.learn(shuffle.next(), point, t0, done)
        square = point.settle()
        loss += 0.5 * descent.decay * square * N
        if not math.isfinite(loss):
            report.lines("ERROR: overflow loss")
            raise CRFSuiteError(OVERFLOW)
        weights = np.concatenate([point.attributes, point.transition.ravel(), no_edges])
        if loss < best_loss:
            best, best_loss = weights, loss
        curve.append(loss)
        report.lines(f"Loss: {loss:f}")
        improvement = values["delta"]
        if epoch > period:
            improvement = (curve[-1 - period] - loss) / loss
            report.lines(f"Improvement ratio: {improvement:f}")
        report.lines(
            f"Feature L2-norm: {math.sqrt(square):f}",
            f"Learning rate (eta): {1 / (descent.decay * (t0 + epoch * N - 1)):f}",
            f"Total number of feature updates: {epoch * N}",
            f"Seconds required for this iteration: {time.perf_counter() - began:.3f}",
        )
        training.evaluate(descent.pattern, weights)
        report.lines("")
        if improvement < values["delta"]:
            break
    stopped = len(curve) < values["max_iterations"]
    report.lines(f"SGD terminated with the {'stopping criteria' if stopped else 'maximum number of iterations'}")
    return best, best_loss
