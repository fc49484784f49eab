"""One training: data and parameters ─► features ─► one of our solvers ─► a CRFsuite model; and the report of it.

lbfgs    L-BFGS, or OWL-QN where c1 > 0: optim/lbfgs.py, optim/owlqn.py         descents.py
l2sgd    as CRFsuite does it                                                        l2sgd.py
averaged-perceptron, passive-aggressive, arow: optim/online.py                  online.py
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from tagwright.arrays import Doubles
from tagwright.crfsuite.binary import CrfsuiteModel, drop_zeros, write_model
from tagwright.encode.batch import Batch
from tagwright.encode.encoder import Encoder
from tagwright.encode.forms import Vocabulary
from tagwright.objective.problem import WeightParts
from tagwright.pycrfsuite.descents import train_lbfgs
from tagwright.pycrfsuite.features import Features
from tagwright.pycrfsuite.l2sgd import train_l2sgd
from tagwright.pycrfsuite.online import ONLINE, train_online
from tagwright.pycrfsuite.parameters import Parameters
from tagwright.pycrfsuite.report import Report
from tagwright.pycrfsuite.training import Algorithm, Training
from tagwright.pycrfsuite.training_data import TrainingData
from tagwright.scores.pattern import LabelWeights, Pattern

NO_GROUP = -1
"""For `holdout`: nothing is held out."""
ALGORITHMS: dict[str, Algorithm] = {
    "lbfgs": train_lbfgs,
    "l2sgd": train_l2sgd,
    **{name: partial(train_online, kind) for name, kind in ONLINE.items()},
}


def train(
    data: TrainingData,
    parameters: Parameters,
    path: str,
    holdout: int,
    write: Callable[[str], None],
    n_jobs: int | None,
) -> None:
    """Train, and write the model to a file unless that has no name."""
    report = Report(write)
    if holdout >= 0:
        report.lines(f"Holdout group: {holdout + 1}", "")
    groups = data.groups()
    encoder = replace(Encoder.build(None, 0, given=Vocabulary(data.attributes)), keys=data.keys())
    labels, batch = list(data.labels), data.batch(groups != holdout)
    held_out = data.batch(groups == holdout) if holdout != NO_GROUP else None
    features = find_features(encoder, batch, len(labels), parameters.values, report)
    training = Training(batch, held_out, encoder, labels, features, parameters.values, report, n_jobs)
    pattern, weights = ALGORITHMS[parameters.algorithm](training)
    if path:
        store(path, pattern, weights, training)


def find_features(encoder: Encoder, data: Batch, n_labels: int, values: dict[str, Any], report: Report) -> Features:
    """The weights there are to be."""
    began = time.perf_counter()
    report.lines("Feature generation", "type: CRF1d")
    report.fields({name: value for name, value in values.items() if name.startswith("feature.")})
    report.progress()
    found = Features.find(
        encoder,
        data,
        n_labels,
        minfreq=values["feature.minfreq"],
        all_states=bool(values["feature.possible_states"]),
        all_transitions=bool(values["feature.possible_transitions"]),
    )
    report.lines(f"Number of features: {found.n}", f"Seconds required: {time.perf_counter() - began:.3f}", "")
    return found


def store(path: str, pattern: Pattern, weights: Doubles, training: Training) -> None:
    """Write the model."""
    began, report, Y = time.perf_counter(), training.report, len(training.labels)
    report.lines("Storing the model")
    parts = WeightParts.split(weights, Y)
    pairs = LabelWeights(np.arange(Y + 1) * Y, np.tile(np.arange(Y, dtype=np.int32), Y), parts.transition.ravel())
    states = LabelWeights(pattern.pointers, pattern.labels, parts.attributes)
    model = drop_zeros(CrfsuiteModel(training.labels, training.encoder.given.values, pairs, states))
    write_model(path, model)
    n = len(model.states.values) + len(model.transitions.values)
    report.lines(
        f"Number of active features: {n} ({training.features.n})",
        f"Number of active attributes: {len(model.attributes)} ({training.encoder.n_attributes})",
        f"Number of active labels: {Y} ({Y})",
        "Writing labels",
        "Writing attributes",
        "Writing feature references for transitions",
        "Writing feature references for attributes",
        f"Seconds required: {time.perf_counter() - began:.3f}",
        "",
    )
