"""Means, standard errors and p-values of made-up runs against their plain definitions."""

from __future__ import annotations

import numpy as np
import pytest

from tagwright import HMM
from tagwright.arrays import Doubles
from tagwright.comparison.plan import Job, Plan, Run
from tagwright.comparison.splits import Split
from tagwright.comparison.summary import paired_p_value, ratio_error, score_runs, summarise
from tagwright.sequence import Labelled
from tagwright.significance import approximate_randomisation, count_per_sentence

GOLD = [["A", "B", "A", "B"][: 2 + i % 3] for i in range(30)]


def make_run(
    counts: Doubles, test: range, *, system: int = 0, draw: int = 0, fold: int | None = 0, size: int = 9
) -> Run:
    split = Split(draw, fold, np.arange(size), np.array(test))
    return Run(Job(system, split, size), {"accuracy": counts}, "s1", 2.0, 2.0, 0.5, 1000, 7)


def corrupt(seed: int, rate: float) -> list[list[str]]:
    generator = np.random.default_rng(seed)
    return [["C" if generator.random() < rate else label for label in labels] for labels in GOLD]


def counts_of(predicted: list[list[str]]) -> Doubles:
    return count_per_sentence(GOLD, predicted, "accuracy")


def test_the_error_over_folds() -> None:
    runs = [make_run(np.array([[2.0 * right, 20.0]]), range(1), fold=f) for f, right in enumerate((5, 7, 9))]
    score = score_runs(runs, "accuracy")
    assert (score.mean, score.over, score.repetitions) == (pytest.approx(70), "folds", [50, 70, 90])
    assert score.error == pytest.approx(20 / np.sqrt(3))


def test_a_draw_counts_once() -> None:
    rights = {(0, 0): 5, (0, 1): 7, (1, 0): 8, (1, 1): 8}
    runs = [make_run(np.array([[2.0 * n, 20.0]]), range(1), draw=d, fold=f) for (d, f), n in rights.items()]
    score = score_runs(runs, "accuracy")
    assert (score.mean, score.over, score.repetitions) == (pytest.approx(70), "draws", [60, 80])
    assert score.error == pytest.approx(10)


def test_the_error_of_one_run() -> None:
    even = np.column_stack([[2.0, 4.0, 6.0, 4.0], [8.0] * 4])  # equal lengths: the error of a plain mean
    assert ratio_error(even) == pytest.approx(100 * np.std(even[:, 0] / 8, ddof=1) / 2)
    uneven = counts_of(corrupt(3, 0.3))
    ratios = [100 * np.delete(uneven, i, 0).sum(0)[0] / np.delete(uneven, i, 0).sum(0)[1] for i in range(len(uneven))]
    n = len(uneven)
    jackknife = np.sqrt((n - 1) / n * np.square(np.array(ratios) - np.mean(ratios)).sum())
    assert ratio_error(uneven) == pytest.approx(jackknife, rel=0.05)
    assert ratio_error(uneven[:1]) is None


def test_folds_are_tested_as_one() -> None:
    a, b = corrupt(1, 0.1), corrupt(2, 0.25)
    expected = approximate_randomisation(GOLD, a, b).p_value
    parts = [range(20, 30), range(0, 9), range(9, 20)]
    sides = []
    for labels in (a, b):
        counts = counts_of(labels)
        sides.append([make_run(counts[list(part)], part, fold=fold) for fold, part in enumerate(parts)])
    assert 0.001 < expected < 0.3
    assert paired_p_value(*sides, "accuracy") == expected
    assert paired_p_value(sides[0], sides[1][::-1], "accuracy") == expected
    assert paired_p_value(sides[0][:1], sides[1][1:], "accuracy") is None


def test_a_sentence_is_swapped_in_all_draws_at_once() -> None:
    """The same draw twice tells nothing new: p stays. Swapped each by itself, it would fall."""
    a, b = counts_of(corrupt(1, 0.1)), counts_of(corrupt(2, 0.25))
    once = paired_p_value([make_run(a, range(30))], [make_run(b, range(30))], "accuracy")
    twice = paired_p_value(
        [make_run(a, range(30), draw=d) for d in (0, 1)], [make_run(b, range(30), draw=d) for d in (0, 1)], "accuracy"
    )
    assert twice == once


def test_rows_stand_best_first_with_their_distances() -> None:
    splits = [Split(0, None, np.arange(9), np.arange(30))]
    plan = Plan(["bad", "good"], [HMM(), HMM()], Labelled([], GOLD), None, None, splits, [], "accuracy")
    bad, good = counts_of(corrupt(2, 0.5)), counts_of(corrupt(1, 0.1))
    found = summarise(plan, [make_run(bad, range(30), system=0), make_run(good, range(30), system=1)])
    assert [row.name for row in found.rows] == ["good", "bad"]
    first, second = found.rows
    assert (first.difference, first.p_value, second.difference) == (
        0, None, pytest.approx(second.accuracy.mean - first.accuracy.mean),
    )  # fmt: skip
    assert second.p_value is not None
    assert second.p_value < 0.05
    assert second.tokens_per_second == sum(map(len, GOLD)) / 0.5
    assert found.complete
    assert not summarise(plan, [make_run(bad, range(30))]).complete
