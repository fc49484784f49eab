"""CRFsuite's perceptron, passive-aggressive and AROW algorithms by our online learner (optim/online.py)."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tagwright.arrays import Doubles
from tagwright.optim.aggressive import UpdateRule
from tagwright.optim.online import OnlineTraining, OnlineWeights
from tagwright.pycrfsuite.errors import OVERFLOW, CRFSuiteError
from tagwright.pycrfsuite.shuffling import Shuffle
from tagwright.pycrfsuite.training import Training
from tagwright.scores.expanded import LabelledTokens, expand
from tagwright.scores.growing_weights import GrowingWeights
from tagwright.scores.pattern import Pattern

PORTION = 512
"""Sentences a kernel call: between calls Ctrl-C is heard."""
SLACKS = {0: "none", 1: "l1", 2: "l2"}
SQUARE_ROOT, HAMMING = 0.5, 1.0
"""What the number of wrong labels is raised to for their cost."""


class Online(NamedTuple):
    """What is different between the three."""

    title: str
    shown: tuple[str, ...]
    rule: Callable[[dict[str, Any]], UpdateRule | None]  # None: the perceptron
    averaged: Callable[[dict[str, Any]], bool]
    adaptive: bool  # with a variance for every weight
    ends_at: Callable[[float, float], bool]  # given the mean loss and epsilon


def passive_aggressive(values: dict[str, Any]) -> UpdateRule:
    """Of CRFsuite's parameters."""
    power = SQUARE_ROOT if values["error_sensitive"] else 0.0
    return UpdateRule.passive_aggressive(power, SLACKS.get(values["type"], "none"), values["c"])


ONLINE = {
    "averaged-perceptron": Online(
        "Averaged perceptron", (), lambda values: None, lambda values: True, False, float.__lt__
    ),
    "passive-aggressive": Online(
        "Passive Aggressive", ("type", "c", "error_sensitive", "averaging"), passive_aggressive,
        lambda values: bool(values["averaging"]), False, float.__lt__,
    ),
    "arow": Online(
        "Adaptive Regularization of Weights (AROW)", ("variance", "gamma"),
        lambda values: UpdateRule.arow(HAMMING, values["variance"], values["gamma"]), lambda values: False, True,
        float.__le__,
    ),
}  # fmt: skip


def train_online(kind: Online, training: Training) -> tuple[Pattern, Doubles]:
    """All epochs."""
    values, report, began = training.values, training.report, time.perf_counter()
    report.lines(kind.title)
    report.fields({name: values[name] for name in (*kind.shown, "max_iterations", "epsilon")})
    report.lines("")
    pattern, weights = training.features.pattern, training.start
    if training.data.n_sentences:
        state = begin(kind, training)
        orders, N = Shuffle(training.data.n_sentences), training.data.n_sentences
        for epoch in range(1, values["max_iterations"] + 1):
            since = time.perf_counter()
            loss = learn_epoch(state, orders.next(), kind)
            if not math.isfinite(loss):
                raise CRFSuiteError(OVERFLOW)
            pattern, weights = weights_of(state, training)
            report.lines(
                f"***** Iteration #{epoch} *****",
                f"Loss: {loss:f}",
                f"Feature norm: {np.linalg.norm(weights):f}",
                f"Seconds required for this iteration: {time.perf_counter() - since:.3f}",
            )
            training.evaluate(pattern, weights)
            report.lines("")
            if kind.ends_at(loss / N, values["epsilon"]):
                report.lines("Terminated with the stopping criterion", "")
                break
    report.lines(f"Total seconds required for training: {time.perf_counter() - began:.3f}", "")
    return pattern, weights


def begin(kind: Online, training: Training) -> OnlineTraining:
    """With weights 0."""
    data, features = training.data, training.features
    weights = GrowingWeights.build(
        features.pattern, np.zeros(features.pattern.n_weights), len(training.labels), grows=False, dtype=np.float32,
        averaged=kind.averaged(training.values), adaptive=kind.adaptive,
    )  # fmt: skip
    tokens = LabelledTokens(data.offsets, data.labels, expand(training.encoder, data))
    return OnlineTraining(tokens, weights, free=features.free_chain, margin=0.0, rule=kind.rule(training.values))


def learn_epoch(state: OnlineTraining, order: Any, kind: Online) -> float:
    """Once through all sentences; the sum of their losses. A perceptron's is the share of wrong labels, as if all
    sentences were of the same length."""
    wrong, losses = 0, 0.0
    for first in range(0, len(order), PORTION):
        mistakes, loss = state.learn(order[first : first + PORTION])
        wrong, losses = wrong + mistakes, losses + loss
    plain = state.rule is None
    return wrong / len(state.data.gold) * len(order) if plain else losses


def weights_of(state: OnlineTraining, training: Training) -> tuple[Pattern, Doubles]:
    """What is learned so far."""
    none = OnlineWeights.none(training.encoder.n_attributes, len(training.labels))
    found = state.add_average(none, 1.0)
    return found.attributes.pattern, np.concatenate([found.attributes.values, found.chain])
