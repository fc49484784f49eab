"""The randomisation test against enumeration of all swaps, and its p-values where there is and is no difference."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from tagwright import significance
from tagwright.errors import DataError, ParameterError
from tagwright.metrics import evaluate
from tagwright.significance import Metric, approximate_randomisation

Labels = list[list[str]]
METRICS: tuple[Metric, ...] = ("accuracy", "f1")


def make_gold(generator: np.random.Generator, n: int) -> Labels:
    return [generator.choice(["O", "B-X", "I-X", "B-Y"], size=generator.integers(3, 9)).tolist() for _ in range(n)]


def corrupt(generator: np.random.Generator, gold: Labels, rate: float) -> Labels:
    """A system that replaces each label by O, or O by I-X, with the given probability."""
    return [
        [("I-X" if label == "O" else "O") if bad else label for label, bad in zip(sentence, draws)]
        for sentence in gold
        for draws in [generator.random(len(sentence)) < rate]
    ]


def score(gold: Labels, predicted: Labels, metric: Metric) -> float:
    value = getattr(evaluate(gold, predicted), metric)
    assert value is not None
    return float(value)


def exact_p(gold: Labels, a: Labels, b: Labels, metric: Metric) -> float:
    """The share of all 2^n swaps that give a difference as large as the one observed."""
    observed = abs(score(gold, a, metric) - score(gold, b, metric))
    extreme = []
    for swaps in product((False, True), repeat=len(gold)):
        left = [y if swap else x for x, y, swap in zip(a, b, swaps)]
        right = [x if swap else y for x, y, swap in zip(a, b, swaps)]
        extreme.append(abs(score(gold, left, metric) - score(gold, right, metric)) >= observed - 1e-9)
    return float(np.mean(extreme))


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("seed", range(5))
def test_agrees_with_all_swaps(metric: Metric, seed: int) -> None:
    generator = np.random.default_rng(seed)
    gold = make_gold(generator, 7)
    a, b = corrupt(generator, gold, 0.1), corrupt(generator, gold, 0.5)
    expected = exact_p(gold, a, b, metric)
    rounds = 40_000
    result = approximate_randomisation(gold, a, b, metric=metric, rounds=rounds, random_state=seed)
    assert abs(result.p_value - expected) < 4 * np.sqrt(expected * (1 - expected) / rounds) + 1 / rounds
    assert result.difference == pytest.approx(score(gold, a, metric) - score(gold, b, metric))
    assert result.rounds == rounds


@pytest.mark.parametrize("metric", METRICS)
def test_with_every_swap_once_the_p_value_is_exact(metric: Metric, monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(3)
    gold = make_gold(generator, 6)
    a, b = corrupt(generator, gold, 0.0), corrupt(generator, gold, 0.6)
    every = np.array(list(product((0.0, 1.0), repeat=6)))

    def draw(_: np.random.Generator, rounds: int, n: int) -> np.ndarray:
        assert (rounds, n) == every.shape
        return every

    monkeypatch.setattr(significance, "_draw_swaps", draw)
    result = approximate_randomisation(gold, a, b, metric=metric, rounds=64)
    expected = exact_p(gold, a, b, metric)
    assert expected < 1
    assert result.p_value == pytest.approx((64 * expected + 1) / 65)


@pytest.mark.parametrize("metric", METRICS)
def test_identical_systems(metric: Metric, monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(0)
    gold = make_gold(generator, 5)
    a = corrupt(generator, gold, 0.3)
    result = approximate_randomisation(gold, a, a, metric=metric)
    assert (result.difference, result.p_value, result.rounds) == (0.0, 1.0, 10_000)
    # Equal scores by different errors: every swap counts, in however many blocks they are drawn.
    monkeypatch.setattr(significance, "_BLOCK", 7)
    mirrored = approximate_randomisation(gold + gold, gold + a, a + gold, metric=metric, rounds=101)
    assert (mirrored.difference, mirrored.p_value) == (0.0, 1.0)


def test_swaps_are_fair_and_independent() -> None:
    swaps = significance._draw_swaps(np.random.default_rng(0), 20_000, 13)
    assert swaps.shape == (20_000, 13)
    assert set(np.unique(swaps)) == {0.0, 1.0}
    assert np.abs(swaps.mean(axis=0) - 0.5).max() < 0.015
    assert np.abs(np.corrcoef(swaps, rowvar=False) - np.eye(13)).max() < 0.03


@pytest.mark.parametrize("metric", METRICS)
def test_p_values_are_uniform_when_systems_are_equal(metric: Metric) -> None:
    generator = np.random.default_rng(1)
    gold = make_gold(generator, 200)
    p_values = []
    for _ in range(300):
        a, b = corrupt(generator, gold, 0.2), corrupt(generator, gold, 0.2)
        p_values.append(
            approximate_randomisation(gold, a, b, metric=metric, rounds=200, random_state=generator).p_value
        )
    shares = [np.mean(np.array(p_values) <= level) for level in (0.1, 0.25, 0.5, 0.75)]
    # Four standard errors of a share of 300, and ties, which push p up.
    assert shares == pytest.approx([0.1, 0.25, 0.5, 0.75], abs=0.1), shares
    assert 0.03 < shares[0] < 0.17


@pytest.mark.parametrize("metric", METRICS)
def test_a_real_difference_is_found(metric: Metric) -> None:
    generator = np.random.default_rng(2)
    gold = make_gold(generator, 300)
    better, worse = corrupt(generator, gold, 0.05), corrupt(generator, gold, 0.15)
    result = approximate_randomisation(gold, better, worse, metric=metric)
    assert result.difference > 5
    assert result.p_value == pytest.approx(1 / 10_001)
    mirrored = approximate_randomisation(gold, worse, better, metric=metric)
    assert (mirrored.difference, mirrored.p_value) == (-result.difference, result.p_value)


def test_seed_decides() -> None:
    generator = np.random.default_rng(4)
    gold = make_gold(generator, 30)
    a, b = corrupt(generator, gold, 0.2), corrupt(generator, gold, 0.25)
    results = [approximate_randomisation(gold, a, b, rounds=500, random_state=seed) for seed in (5, 5, 6)]
    assert results[0] == results[1]
    assert results[0] != results[2]


def test_bilou_labels_are_read_as_evaluate_reads_them() -> None:
    gold, a, b = [["U-X", "U-X", "O"]], [["U-X", "U-X", "O"]], [["U-X", "O", "O"]]
    result = approximate_randomisation(gold, a, b, metric="f1", rounds=10)
    assert result.difference == pytest.approx(100 - 200 / 3)


def test_errors() -> None:
    with pytest.raises(ParameterError, match="metric is 'recall'"):
        approximate_randomisation([["O"]], [["O"]], [["O"]], metric="recall")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="rounds is 0"):
        approximate_randomisation([["O"]], [["O"]], [["O"]], rounds=0)
    with pytest.raises(ParameterError, match="needs span labels"):
        approximate_randomisation([["N"]], [["N"]], [["N"]], metric="f1")
    with pytest.raises(DataError, match=r"^b\[0\]: found 2 labels; expected 1"):
        approximate_randomisation([["O"]], [["O"]], [["O", "O"]])
    with pytest.raises(DataError, match="gold: no labels"):
        approximate_randomisation([], [], [])
