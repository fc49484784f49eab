"""When a dev set ends a training, and which weights are kept: dev scores that are made up."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from toy import toy_columns, toy_words

from tagwright import CRF
from tagwright.learners._watch import DevSet, Watch
from tagwright.optim.progress import Progress


def watch(scores: list[float], *, patience: int = 3, n: int = 10_000, settled: bool = True) -> tuple[Watch, int]:
    """Round k has the weights [k]; after how many rounds the training ended."""
    chance = DevSet(None, [], [], None, n).is_worse  # type: ignore[arg-type]
    dev = SimpleNamespace(score=lambda weights: scores[int(weights[0])], is_worse=chance)
    found = Watch(dev, patience, [], np.copy)  # type: ignore[arg-type, var-annotated]
    for k in range(len(scores)):
        if found(Progress(k + 1, 99, 1.0, None, None, 0.0), lambda k=k: np.array([k]), settled=settled):
            return found, k + 1
    return found, len(scores)


def test_a_training_ends_after_so_many_rounds_without_a_better_score() -> None:
    assert watch([90, 91, 90.9, 90.9, 90.9, 99])[1] == 5
    assert watch([90, 91, 90.9, 90.9, 91.1, 91])[1] == 6


def test_while_the_objective_falls_only_a_score_that_is_much_worse_ends_it() -> None:
    """Two standard errors of 91 % of 10,000 are 0.57 points."""
    assert watch([90, 91, 90.5, 90.5, 90.5, 90.5], settled=False)[1] == 6
    assert watch([90, 91, 90.5, 90.5, 90.4, 90.5], settled=False)[1] == 5
    assert watch([90, 91, 90.4, 90.4, 90.5, 90.4], settled=False)[1] == 6


def test_the_last_weights_are_kept_unless_they_are_much_worse() -> None:
    last = np.array([77])
    assert watch([90, 91, 90.5])[0].choose(last).tolist() == [77]
    assert watch([90, 91, 90.4])[0].choose(last).tolist() == [1]
    assert watch([90, 91, 90.4], n=100)[0].choose(last).tolist() == [77]  # of a hundred, that is nothing
    assert watch([])[0].choose(last).tolist() == [77]


@pytest.mark.parametrize("spans", [False, True])
def test_chance_depends_on_how_many_tokens_or_spans_there_are(spans: bool) -> None:
    X, y = toy_words(40)
    y = [["B-X" if label == "A" else "O" for label in labels] for labels in y] if spans else y
    model = CRF("word @ 0", max_iterations=30).fit(X, y)
    dev = DevSet.build(model, X, y)
    assert dev is not None
    flat = [label for labels in y for label in labels]
    assert dev.n_counted == (flat.count("B-X") if spans else len(flat))
    error = 100 * (0.8 * 0.2 / dev.n_counted) ** 0.5
    assert not dev.is_worse(80 - 1.99 * error, 80)
    assert dev.is_worse(80 - 2.01 * error, 80)
    assert not dev.is_worse(100, 100)


def test_a_crf_goes_on_while_its_objective_falls() -> None:
    """The dev score does not move after the first iterations; without the rule the training would end there."""
    X, y = toy_columns(80)
    model = CRF("word word:1 @ 0", patience=1).fit(X, y, *toy_columns(40, seed=3))
    curve = model.objective_curve_
    assert np.argmax(model.dev_curve_) < model.n_iter_ - 2
    assert curve[-11] - curve[-1] <= 2e-3 * curve[-1] < curve[-12] - curve[-2]
