"""LOSS tables 1 to 3, BOOST tables 1 and 2, LM-POS table 2: four losses, the perceptron and boosting.

One run is one training. Spanish entities are scored on testb; c2 was chosen on testa, and so are boosting's rounds.
The exponential sequence loss begins from the weights of the log loss: from zero, where 1/p of a sentence is 9 to the
power of its length, it would spend hundreds of iterations on the few longest sentences.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from functools import partial

from benchmarks.papers.corpora import Corpora, treebank
from benchmarks.papers.tables import Cell, Numbers, Run, Table
from tagwright import CRF, SequenceAdaBoost, StructuredPerceptron
from tagwright.errors import ConvergenceWarning
from tagwright.learners import SequenceTagger
from tagwright.metrics import evaluate

C2 = {"sequence_log": 0.3, "sequence_exp": 0.03, "pointwise_log": 0.3, "pointwise_exp": 0.1}
C2_OF_WORDS = {"sequence_log": 0.03, "pointwise_log": 0.1}
"""With words alone (S1). Most words are rare, and each has its own weights alone to stand on: a prior that suits many
overlapping attributes pulls those to zero. On dev sets:

    entities   sequence_log  F1 63.95 with 0.03 against 54.95 with 0.3
               pointwise_log F1 62.10 with 0.1; 56.81 with 0.3, 51.04 with 0.03, 50.90 with 0.01. It is not convex
    POS        sequence_log  92.09 with 0.03 against 90.78 with 0.3; pointwise_log 92.12 against 90.57
"""
COLUMNS = {"sequence_log": "F1", "sequence_exp": "F2", "pointwise_log": "F3", "pointwise_exp": "F4"}
"""As LOSS numbers them: F1, F2 are of sequences (BOOST's H log, H exp), F3, F4 of labels (BOOST's F log, F exp)."""
SPARSE = {"s1": 1.0, "s2": 0.15, "s3": 0.15}
"""The share of features that boosting may take. With words alone it needs most of them, as the papers saw."""

LOSS_2 = {
    "s1": (59.92, 59.68, 56.73, 58.26),
    "s2": (69.75, 67.30, 68.28, 69.51),
    "s3": (73.62, 72.11, 73.17, 73.82),
}
LOSS_3 = {"s1": (59.92, 59.77, 59.68, 48.23), "s2": (69.75, 69.29, 67.30, 66.11), "s3": (73.62, 72.97, 72.11, 71.07)}
LOSS_1 = {"s1": (94.91, 94.57, 94.90, 94.66), "s2": (95.68, 95.25, 95.71, 95.31)}
BOOST_1 = {
    "s1": (6.60, 6.95, 6.73, 7.33, 8.05),
    "s2": (6.72, 7.03, 6.67, 7.49, 6.93),
    "s3": (6.15, 5.84, 5.90, 5.10, 6.77),
}
BOOST_2 = {"s1": (4.69, 5.04, 4.88, 4.96, 10.58), "s2": (4.37, 4.74, 4.71, 4.90, 5.09)}
LM_POS_2 = {"s1": (94.91, 94.57, 89.42), "s2": (95.68, 95.25, 94.91)}


def choose_c2(features: str, loss: str) -> float:
    """The prior of a loss with these features."""
    return C2_OF_WORDS.get(loss, C2[loss]) if features == "s1" else C2[loss]


def train_loss(task: str, features: str, loss: str, corpora: Corpora) -> Numbers:
    """A CRF under one of the losses."""
    model = CRF(
        features,
        loss=loss,
        c2=choose_c2(features, loss),
        max_iterations=40 if corpora.quick else 500,
        n_jobs=corpora.threads,
    )
    train = corpora.task(task).train
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        if loss == "sequence_exp":
            model.set_params(loss="sequence_log", warm_start=True).fit(*train)
            model.set_params(loss=loss)
        model.fit(*train)
    return score(model, task, corpora)


def train_perceptron(task: str, features: str, corpora: Corpora) -> Numbers:
    """The averaged perceptron; the dev set chooses the epochs."""
    epochs = 12 if corpora.quick else 100  # words alone are learned slowly
    model = StructuredPerceptron(features, epochs=epochs, patience=15, random_state=0, n_jobs=corpora.threads)
    data = corpora.task(task)
    return score(model.fit(*data.train, *data.dev), task, corpora)


def train_boosting(task: str, features: str, corpora: Corpora) -> Numbers:
    """Boosting; the dev set chooses the rounds."""
    model = SequenceAdaBoost(
        features, rounds=60 if corpora.quick else 6000, patience=600, features_per_round=20,
        max_features=SPARSE[features],
        n_jobs=corpora.threads,
    )  # fmt: skip
    data = corpora.task(task)
    model.fit(*data.train, *data.dev)
    return {**score(model, task, corpora), "density": 100 * model.n_parameters_ / model.n_features_}


def score(model: SequenceTagger, task: str, corpora: Corpora) -> Numbers:
    """On the test set, and F1 on dev."""
    data = corpora.task(task)
    result, dev = (evaluate(y, model.predict(X)) for X, y in (data.test, data.dev))
    numbers = {"accuracy": result.accuracy, "error": 100 - result.accuracy, "dev_accuracy": dev.accuracy}
    if result.f1 is not None and dev.f1 is not None:
        numbers |= {"f1": result.f1, "dev_f1": dev.f1}
    return {**numbers, "parameters": model.n_parameters_, "iterations": model.n_iter_}


def runs(task: str, sets: tuple[str, ...]) -> tuple[Run, ...]:
    """All trainings on one task; its tables take those that they need."""
    made = []
    for features in sets:
        for loss in C2:
            work = partial(train_loss, task, features, loss)
            made.append(Run(f"{task}/{features}/{loss}", work, 3.0 if loss == "sequence_exp" else 1.5))
        made.append(Run(f"{task}/{features}/perceptron", partial(train_perceptron, task, features), 0.3))
        made.append(Run(f"{task}/{features}/boosting", partial(train_boosting, task, features), 5.0))
    return tuple(made)


def cells(task: str, paper: Mapping[str, tuple[float, ...]], methods: dict[str, str], number: str) -> tuple[Cell, ...]:
    """methods: run ─► column."""
    return tuple(
        Cell(features.upper(), column, f"{task}/{features}/{method}", number, figure)
        for features, figures in paper.items()
        for (method, column), figure in zip(methods.items(), figures, strict=True)
    )


def on_dev(methods: dict[str, str]) -> tuple[Cell, ...]:
    """F1 of Spanish entities on testa, for the reader who wonders which of the two the paper has."""
    return tuple(
        Cell(f"{features.upper()} on testa", column, f"ner/{features}/{method}", "dev_f1")
        for features in LOSS_2
        for method, column in methods.items()
    )


METHODS = {"sequence_log": "F1", "perceptron": "perceptron", "sequence_exp": "F2", "boosting": "boosting"}
RISKS = {"sequence_log": "R log", "sequence_exp": "R exp", "boosting": "boost"}
ERRORS = {
    "sequence_log": "H log", "sequence_exp": "H exp", "pointwise_log": "F log", "pointwise_exp": "F exp",
    "boosting": "boost",
}  # fmt: skip


def tables(*, ptb: bool = False) -> list[Table]:
    """In the order of the papers."""
    loss, lm_pos = treebank("loss", ptb=ptb), treebank("lm-pos", ptb=ptb)
    pos, names = "of POS tagging", "of Spanish entities"

    def table(name: str, title: str, own: tuple[Cell, ...], *more: Cell) -> Table:
        unit = {"f1": "F1"}.get(own[0].number, own[0].number)
        keys = {cell.run for cell in own}
        return Table(
            name, title, f"{unit} %", (*own, *more), tuple(r for r in all_runs if r.key in keys), unit != "error"
        )

    all_runs = runs("ner", ("s1", "s2", "s3")) + runs(loss, ("s1", "s2"))
    all_runs += () if lm_pos == loss else runs(lm_pos, ("s1", "s2"))
    return [
        table("loss-1", f"LOSS table 1: accuracy {pos}", cells(loss, LOSS_1, COLUMNS, "accuracy")),
        table("loss-2", f"LOSS table 2: F1 {names} by loss", cells("ner", LOSS_2, COLUMNS, "f1"), *on_dev(COLUMNS)),
        table("loss-3", f"LOSS table 3: F1 {names} by method", cells("ner", LOSS_3, METHODS, "f1"), *on_dev(METHODS)),
        table("boost-1", f"BOOST table 1: label error {names}", cells("ner", BOOST_1, ERRORS, "error")),
        table("boost-2", f"BOOST table 2: label error {pos}", cells(loss, BOOST_2, ERRORS, "error")),
        table("lm-pos-2", f"LM-POS table 2: accuracy {pos}", cells(lm_pos, LM_POS_2, RISKS, "accuracy")),
    ]
