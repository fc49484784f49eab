"""A comparison and its runs: who is compared on what. All that can be refused is refused here, before training.

The second step of a comparison. A run is one system on one split: clone ─► fit ─► predict ─► counts. Labels are let go;
the counts are all that scores and tests need (see significance.count_per_sentence). Runs come split by split, then size
by size, then system by system: wherever the work is stopped, all systems have had the same splits but for the last one.

The first training of a process loads its kernels, and compiles them if it is the first on a machine. `warm_up` has that
done before any time is taken, on the few sentences that bring all labels.
"""

from __future__ import annotations

import os
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

from tagwright.arrays import Doubles
from tagwright.chunks import align, has_span_labels
from tagwright.comparison.splits import Split, check_sizes, make_splits
from tagwright.errors import DataError, ParameterError
from tagwright.learners import SequenceTagger
from tagwright.sequence import Labelled
from tagwright.significance import Metric, count_per_sentence

Systems = Mapping[str, SequenceTagger] | Sequence[tuple[str, SequenceTagger]]


class Job(NamedTuple):
    """A run to come."""

    system: int
    split: Split
    size: int  # training sentences


@dataclass(frozen=True, slots=True)
class Run:
    """What one system did on one split."""

    job: Job
    counts: dict[Metric, Doubles]  # [N, 2] what scores are made of, a row for each sentence of `job.split.test`
    features: str
    train_seconds: float
    train_cpu_seconds: float
    tag_seconds: float
    model_bytes: int
    parameters: int


@dataclass(frozen=True)
class Plan:
    """Systems (untrained), sentences, and the splits that all systems share."""

    names: list[str]
    models: list[SequenceTagger]
    data: Labelled
    dev: Labelled | None
    test: Labelled | None
    splits: list[Split]
    sizes: list[int]  # training sentences; empty: all of a split
    metric: Metric

    @property
    def jobs(self) -> list[Job]:
        """All runs to come, in order."""
        return [
            Job(system, split, size)
            for split in self.splits
            for size in self.sizes or [len(split.train)]
            for system in range(len(self.models))
        ]

    def run(
        self, *, begin: Callable[[Job], None] | None = None, stop: Callable[[], bool] | None = None
    ) -> Iterator[Run]:
        """Run after run. `begin` is called before each; where `stop` says True, the run under way is thrown away."""
        warm: set[int] = set()
        for job in self.jobs:
            if begin is not None:
                begin(job)
            train = self.data.take(job.split.train[: job.size].tolist())
            if job.system not in warm:
                warm_up(self.models[job.system], train)
                warm.add(job.system)
            if stop is not None and stop():
                return
            run = self._train_and_tag(job, train)
            if stop is not None and stop():
                return
            yield run

    def _train_and_tag(self, job: Job, train: Labelled) -> Run:
        test = (self.data if self.test is None else self.test).take(job.split.test.tolist())
        fitted = clone(self.models[job.system])
        began, began_cpu = time.perf_counter(), time.process_time()
        fitted.fit(train.X, train.y, *(() if self.dev is None else (self.dev.X, self.dev.y)))
        train_seconds, train_cpu_seconds = time.perf_counter() - began, time.process_time() - began_cpu
        began = time.perf_counter()
        predicted = fitted.predict(test.X)
        tag_seconds = time.perf_counter() - began
        metrics: set[Metric] = {"accuracy", self.metric}
        features = fitted.encoder_.features
        return Run(
            job=job,
            counts={metric: count_per_sentence(test.y, predicted, metric) for metric in metrics},
            features="ready-made" if features is None else features.name,
            train_seconds=train_seconds,
            train_cpu_seconds=train_cpu_seconds,
            tag_seconds=tag_seconds,
            model_bytes=_stored_size(fitted),
            parameters=fitted.n_parameters_,
        )


def make_plan(
    systems: Systems,
    data: Labelled,
    *,
    folds: int = 5,
    draws: int = 1,
    size: int | None = None,
    sizes: Sequence[int] = (),
    dev: Labelled | None = None,
    test: Labelled | None = None,
    random_state: int | None = 0,
) -> Plan:
    """Check everything and split."""
    pairs = list(systems.items() if isinstance(systems, Mapping) else systems)
    if not pairs:
        raise ParameterError("there is nothing to compare; give at least one system")
    for _, model in pairs:
        model.check_params()
    gold = [labels for part in (data, test) if part is not None for labels in part.y]
    _check_labels(data)
    metric: Metric = "f1" if has_span_labels(align(gold, gold)) else "accuracy"
    n_test = None if test is None else len(test.X)
    splits = make_splits(len(data.X), n_test=n_test, folds=folds, draws=draws, size=size, random_state=random_state)
    sizes = sorted(set(sizes))
    check_sizes(sizes, splits)
    if metric == "f1":
        _check_spans(splits, data if test is None else test)
    names = [name for name, _ in pairs]
    return Plan(names, [model for _, model in pairs], data, dev, test, splits, sizes, metric)


def _check_labels(data: Labelled) -> None:
    """Refuse data in which there is nothing to learn."""
    if len(data.X) != len(data.y):
        raise DataError(f"{len(data.X)} sentences but {len(data.y)} label lists; give every sentence one", location="y")
    labels = set(chain.from_iterable(data.y))
    if not labels:
        raise DataError("there are no sentences to compare on", location="X")
    if len(labels) == 1:
        raise DataError(
            f"every token has the label {labels.pop()!r}, so all systems are right; is this the right column?",
            location="y",
        )


def _check_spans(splits: Sequence[Split], tested: Labelled) -> None:
    """Refuse a test part without spans: it has no F1."""
    for split in splits:
        if all(label == "O" for i in split.test.tolist() for label in tested.y[i]):
            where = "the test set" if split.fold is None else f"fold {split.fold + 1} of draw {split.draw + 1}"
            raise DataError(f"{where} has no spans, so no F1; take fewer folds or more sentences", location="y")


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


def _stored_size(model: SequenceTagger) -> int:
    """The bytes of the model's file."""
    with tempfile.TemporaryDirectory(prefix="tagwright-") as folder:
        path = os.path.join(folder, "model.tw")
        model.save(path)
        return os.path.getsize(path)
