"""One training, one tagging, and what is kept of them: counts per sentence, times, sizes.

The second step of a comparison. A run is one system on one split: clone ─► fit ─► predict ─► counts. Labels are let go;
the counts are all that scores and tests need (see significance.count_per_sentence).

The first training of a process loads its kernels, and compiles them if it is the first on a machine. `warm_up` has that
done before any time is taken, on the few sentences that bring all labels.
"""

from __future__ import annotations

import os
import tempfile
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tagwright.comparison.splits import Split
from tagwright.learners import SequenceTagger
from tagwright.sequence import Labelled
from tagwright.significance import count_per_sentence

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Run:
    """What one system did on one split. Counts are [N, 2], a row for each sentence of `split.test`."""

    system: int
    split: Split
    size: int  # training sentences
    tokens: Floats  # counts for the accuracy
    spans: Floats | None  # counts for F1, where labels are spans
    features: str
    train_seconds: float
    train_cpu_seconds: float
    tag_seconds: float
    model_bytes: int
    parameters: int


def clone(model: SequenceTagger) -> SequenceTagger:
    """An untrained learner with the same parameters."""
    return type(model)(**model.get_params())


def warm_up(model: SequenceTagger, train: Labelled) -> None:
    """Train for one round and tag, on few sentences, so that the kernels are there."""
    few = train.take(_cover_labels(train.y))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        quick = clone(model).set_params(callbacks=[lambda progress: True])
        quick.fit(few.X, few.y).predict(few.X)


def _cover_labels(y: Sequence[Sequence[str]]) -> Iterator[int]:
    """Sentences that together have every label: each that brings a new one."""
    seen: set[str] = set()
    for i, labels in enumerate(y):
        if not seen.issuperset(labels):
            seen.update(labels)
            yield i


def train_and_tag(
    system: int, model: SequenceTagger, split: Split, train: Labelled, test: Labelled, dev: Labelled | None, spans: bool
) -> Run:
    """One run."""
    fitted = clone(model)
    began, began_cpu = time.perf_counter(), time.process_time()
    fitted.fit(train.X, train.y, *(() if dev is None else (dev.X, dev.y)))
    train_seconds, train_cpu_seconds = time.perf_counter() - began, time.process_time() - began_cpu
    began = time.perf_counter()
    predicted = fitted.predict(test.X)
    tag_seconds = time.perf_counter() - began
    features = fitted.encoder_.features
    return Run(
        system=system,
        split=split,
        size=len(train.X),
        tokens=count_per_sentence(test.y, predicted, "accuracy"),
        spans=count_per_sentence(test.y, predicted, "f1") if spans else None,
        features="ready-made" if features is None else features.name,
        train_seconds=train_seconds,
        train_cpu_seconds=train_cpu_seconds,
        tag_seconds=tag_seconds,
        model_bytes=_stored_size(fitted),
        parameters=fitted.n_parameters_,
    )


def _stored_size(model: SequenceTagger) -> int:
    """The bytes of the model's file."""
    with tempfile.TemporaryDirectory(prefix="tagwright-") as folder:
        path = os.path.join(folder, "model.tw")
        model.save(path)
        return os.path.getsize(path)
