"""HMSVM figures 1 to 3, LM-POS figure 2: 300 sentences, 5 folds, s3 features, a polynomial kernel of degree 2, C = 1.

The papers show bars without numbers and one draw of 300 sentences. Ours is the mean over several draws.
"""

from __future__ import annotations

import os
import signal
import threading
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from functools import partial

import numpy as np

from benchmarks.hmsvm import FOLDS, ORDER, SENTENCES, learners, run_fold, standard_error, take
from benchmarks.papers.corpora import Corpora, treebank
from benchmarks.papers.tables import Cell, Numbers, Run, Table
from tagwright import HMSVM
from tagwright.cli.support import format_sentence
from tagwright.errors import ConvergenceWarning

DRAWS = 5
MINUTES = {"HM-Perceptron": 0.5, "CRF": 1.5, "CRF-B": 1.0, "HM-SVM": 3.0}


def cross_validate(task: str, name: str, corpora: Corpora) -> Numbers:
    """The error of one learner on each draw; folds in processes of their own."""
    train = corpora.task(task).train
    size, draws = (60, 2) if corpora.quick else (SENTENCES, DRAWS)
    errors = []
    pool = ProcessPoolExecutor(corpora.threads, initializer=follow, initargs=(os.getpid(),))
    try:
        for draw in range(draws):
            text = take(train, np.random.default_rng(draw).choice(len(train[0]), size, replace=False))
            found = list(pool.map(run_fold, [name] * FOLDS, [text] * FOLDS, range(FOLDS)))
            errors.append(100 * sum(one.wrong for one in found) / sum(one.tokens for one in found))
    finally:
        pool.shutdown(cancel_futures=True)
    return {"error": float(np.mean(errors)), "spread": standard_error(errors), "errors": errors}


def follow(parent: int) -> None:
    """In a process of the pool: Ctrl-C, which reaches all, is the first one's; and this one ends with that."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    threading.Thread(target=watch, daemon=True).start()


def find_supports(corpora: Corpora) -> Numbers:
    """Support sequences of one HM-SVM: in how many labels they differ from the right ones, and an example."""
    train = corpora.task("ner").train
    X, y = take(
        train, np.random.default_rng(0).choice(len(train[0]), 60 if corpora.quick else SENTENCES, replace=False)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = learners()["HM-SVM"].fit(X, y)
    assert isinstance(model, HMSVM)
    support = model.support_sequences_
    differ = np.array(
        [sum(a != b for a, b in zip(one.labels, s.labels, strict=True)) for one in support for s in one.sequences]
    )
    example = max((one for one in support if len(one.tokens) <= 20), key=lambda one: len(one.sequences))
    return {
        "without": 100 * (1 - len(support) / len(X)), "one": 100 * float((differ == 1).mean()),
        "few": 100 * float((differ <= 3).mean()), "sequences": len(differ), "example": format_sentence(example),
    }  # fmt: skip


def compare(name: str, title: str, task: str) -> Table:
    """All learners on one task."""
    runs = tuple(
        Run(f"{task}/300/{learner}", partial(cross_validate, task, learner), MINUTES.get(learner, 0.1))
        for learner in learners()
    )
    cells = [Cell(learner, column, f"{task}/300/{learner}", number)
             for learner in learners() for column, number in (("error", "error"), ("±", "spread"))]  # fmt: skip
    return Table(name, title, "error %", tuple(cells), runs, higher=False)


def tables(*, ptb: bool = False) -> list[Table]:
    names = "HMSVM figure 1: label error of Spanish entities, 300 sentences"
    tags = "HMSVM figure 3, LM-POS figure 2: label error of POS tagging, 300 sentences"
    made = [compare("hmsvm-1", names, "ner"), compare("hmsvm-3", tags, treebank("lm-pos", ptb=ptb))]
    shares = {"differ in one label": "one", "differ in up to three": "few", "sentences without any": "without"}
    run = Run("ner/supports", find_supports, 0.5)
    cells = [Cell("share", column, run.key, number) for column, number in shares.items()]
    title = "HMSVM figure 2: support sequences of Spanish entities"
    made.insert(1, Table("hmsvm-2", title, "%", tuple(cells), (run,)))
    return made


assert set(ORDER) <= set(learners())
