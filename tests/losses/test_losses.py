"""The four losses against enumeration and numerical differentiation; their weights; long sentences; extreme scores."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from oracle import distribution, log_partition, node_marginals, numerical_gradient, random_lattice

from tagwright._jit import JIT
from tagwright.arrays import padded
from tagwright.chain import log_space as slow
from tagwright.chain import marginal_adjoint as fast
from tagwright.chain.forward_backward import Chain
from tagwright.chain.label_chain import TokenTerms
from tagwright.chain.lattice import Lattice
from tagwright.losses import LOSSES
from tagwright.losses.run import SentenceRun, Total, log_of_mean, sum_of_terms

TOLERANCE = {np.float32: 3e-5, np.float64: 2e-7}


def split(vector: np.ndarray, lengths: np.ndarray, Y: int) -> list[Lattice]:
    """The lattices of a run from one vector of all their scores: emissions, transition, start, stop."""
    n = int(lengths.sum())
    emission, transition, start, stop = np.split(vector, np.cumsum([n * Y, Y * Y, Y]))
    rows = np.split(emission.reshape(n, Y), np.cumsum(lengths)[:-1])
    return [Lattice(part, transition.reshape(Y, Y), start, stop) for part in rows]


def define(name: str, lattices: list[Lattice], golds: list[np.ndarray], weights: list[np.ndarray]) -> float:
    """The loss as losses/run.py defines it, with every probability by enumeration."""
    if name.startswith("sequence"):
        p = [np.exp(one.score(gold) - log_partition(one)) for one, gold in zip(lattices, golds, strict=True)]
        a = [float(np.mean(one)) for one in weights]
    else:
        p = [node_marginals(one)[t, y] for one, gold in zip(lattices, golds, strict=True) for t, y in enumerate(gold)]
        a = [float(one) for part in weights for one in part]
    if name.endswith("log"):
        return -sum(w * np.log(q) for w, q in zip(a, p, strict=True))
    return sum(a) * np.log(sum(w / q for w, q in zip(a, p, strict=True)) / sum(a))


def evaluate(
    name: str, vector: np.ndarray, golds: list[np.ndarray], weights: list[np.ndarray], Y: int, dtype: type
) -> tuple[Total, np.ndarray]:
    """Our value and gradient, with a second pass where the reference does not fit."""
    lengths = np.array([len(gold) for gold in golds])
    lattices = split(vector, lengths, Y)
    chain = Chain.build(lattices[0].transition, lattices[0].start, lattices[0].stop, dtype)
    reference = 0.0
    for _ in range(2):
        rows = np.zeros((lengths.sum(), padded(Y)), dtype)
        rows[:, :Y] = np.concatenate([one.emission for one in lattices])
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        run = SentenceRun(rows, offsets, np.concatenate(golds).astype(np.int32), np.concatenate(weights))
        found = LOSSES[name].of_run(run, chain, reference, out=rows if len(golds) % 2 else None)
        total = LOSSES[name].add_up(found.terms, found.weights, reference)
        reference = total.reference
        if total.fits:
            break
    assert total.fits
    assert not found.emission[:, Y:].any()
    parts = (found.emission[:, :Y].astype(np.float64), found.transition, found.start, found.stop)
    return total, np.concatenate([part.ravel() for part in parts]) * total.factor


def random_run(
    rng: np.random.Generator, scale: float, forbid: float
) -> tuple[np.ndarray, list[np.ndarray], list[np.ndarray], int]:
    """One to three sentences with a common chain, possible gold labels and random weights, some of them zero."""
    first = random_lattice(rng, scale=scale, forbid=forbid)
    Y = first.n_labels
    emissions = [first.emission]
    emissions += [rng.normal(scale=scale, size=(int(rng.integers(1, 5)), Y)) for _ in range(int(rng.integers(0, 3)))]
    lattices = [Lattice(one, first.transition, first.start, first.stop) for one in emissions]
    options = [[labels for labels, p in distribution(one) if p > 1e-9] for one in lattices]
    kept = [k for k, possible in enumerate(options) if possible]  # constraints may leave a later sentence nothing
    golds = [np.array(options[k][int(rng.integers(len(options[k])))]) for k in kept]
    weights = [rng.choice([0.0, 0.5, 1.0, 2.5], len(gold), p=[0.1, 0.3, 0.3, 0.3]) for gold in golds]
    weights[0][0] = 1.5
    rows = np.concatenate([emissions[k].ravel() for k in kept])
    return np.concatenate([rows, first.transition.ravel(), first.start, first.stop]), golds, weights, Y


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("forbid", [0.0, 0.3])
@pytest.mark.parametrize("name", LOSSES)
def test_value_and_gradient(name: str, forbid: float, dtype: type) -> None:
    rng = np.random.default_rng(11)
    for _ in range(25):
        vector, golds, weights, Y = random_run(rng, scale=float(rng.choice([0.3, 1.0, 2.0])), forbid=forbid)
        vector = vector.astype(dtype).astype(np.float64)
        lengths = np.array([len(gold) for gold in golds])
        finite = np.isfinite(vector)

        def value(part: np.ndarray) -> float:
            whole = vector.copy()  # noqa: B023
            whole[finite] = part  # noqa: B023
            return define(name, split(whole, lengths, Y), golds, weights)  # noqa: B023

        total, gradient = evaluate(name, vector, golds, weights, Y, dtype)
        truth = numerical_gradient(value, vector[finite])
        size = max(1.0, float(np.abs(truth).max()))
        assert total.value == pytest.approx(value(vector[finite]), rel=TOLERANCE[dtype], abs=TOLERANCE[dtype])
        np.testing.assert_allclose(gradient[finite] / size, truth / size, atol=TOLERANCE[dtype])
        assert not gradient[~finite].any()


@pytest.mark.parametrize("kind", ["log", "exp"])
def test_pointwise_equals_sequence_for_one_token(kind: str) -> None:
    rng = np.random.default_rng(3)
    Y, golds = 4, [np.array([y]) for y in (1, 3, 0)]
    weights = [rng.random(1) for _ in golds]
    vector = rng.normal(size=3 * Y + Y * Y + 2 * Y)
    (a, one), (b, two) = (
        evaluate(f"{n}_{kind}", vector, golds, weights, Y, np.float64) for n in ("sequence", "pointwise")
    )
    assert a.value == pytest.approx(b.value, rel=1e-12)
    np.testing.assert_allclose(one, two, atol=1e-12)


@pytest.mark.parametrize("name", LOSSES)
def test_a_thousand_tokens_with_45_labels(name: str) -> None:
    """From w = 0, where 1/p of the sentence is 45^1000, and with scores; float32 beside log space in float64."""
    rng = np.random.default_rng(0)
    Y, T = 45, 1000
    golds, weights = [rng.integers(0, Y, T), rng.integers(0, Y, 7)], [np.ones(T), np.ones(7)]
    total, gradient = evaluate(name, np.zeros((T + 7) * Y + Y * Y + 2 * Y), golds, weights, Y, np.float32)
    expected = {
        "sequence_log": (T + 7) * np.log(Y),
        "sequence_exp": 2 * (T * np.log(Y) - np.log(2)),
        "pointwise_log": (T + 7) * np.log(Y),
        "pointwise_exp": (T + 7) * np.log(Y),
    }
    assert total.value == pytest.approx(expected[name], rel=1e-6)
    share = 2.0 if name == "sequence_exp" else 1.0
    truth = np.full((T, Y), share / Y)
    truth[np.arange(T), golds[0]] -= share
    np.testing.assert_allclose(gradient[: T * Y].reshape(T, Y), truth, atol=1e-5)
    vector = rng.normal(size=len(gradient))
    single, double = (evaluate(name, vector, golds, weights, Y, dtype) for dtype in (np.float32, np.float64))
    assert single[0].value == pytest.approx(double[0].value, rel=1e-5)
    size = np.abs(double[1]).max()
    np.testing.assert_allclose(single[1] / size, double[1] / size, atol=2e-5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_scaled_adjoint_equals_log_space(dtype: type) -> None:
    """On 400 tokens, where an error that does not fade would show."""
    rng = np.random.default_rng(2)
    Y, T = 6, 400
    transition, start, stop = rng.normal(size=(Y, Y)) * 2, rng.normal(size=Y), rng.normal(size=Y)
    rows = np.zeros((T, padded(Y)), dtype)
    rows[:, :Y] = rng.normal(size=(T, Y)) * 2
    labels, weights = rng.integers(0, Y, T).astype(np.int32), rng.random(T)
    truth, terms, counts = rows.astype(np.float64), np.empty(T), np.zeros((Y, Y))
    given = TokenTerms(labels, weights, 0.1, 1.0)
    slow.log_marginal_adjoint(truth, (transition, start, stop), given, terms, counts, truth)
    chain = Chain.build(transition, start, stop, dtype)
    found = fast.differentiate_marginals(rows, np.array([0, T]), chain, given)
    tolerance = 2e-5 if dtype == np.float32 else 1e-10
    np.testing.assert_allclose(found.terms, terms, rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(found.emission[:, :Y], truth[:, :Y], atol=tolerance * 10)
    np.testing.assert_allclose(found.transitions, counts, atol=tolerance * 100)


def test_rounding_errors_do_not_pile_up() -> None:
    """5,000 tokens in float32: without the drift taken out, errors are ten times as large."""
    rng = np.random.default_rng(2)
    Y, T = 6, 5000
    chains = [rng.normal(size=(Y, Y)) * 2, rng.normal(size=Y), rng.normal(size=Y)]
    emission = (rng.normal(size=(T, Y)) * 2).astype(np.float32)
    noise = rng.integers(0, Y, T)
    labels = np.where(rng.random(T) < 0.9, emission.argmax(axis=1), noise).astype(np.int32)
    found = []
    for dtype in (np.float32, np.float64):
        rows = np.zeros((T, padded(Y)), dtype)
        rows[:, :Y] = emission
        chain = Chain.build(*chains, dtype)
        given = TokenTerms(labels, np.ones(T))
        found.append(fast.differentiate_marginals(rows, np.array([0, T]), chain, given).emission)
    np.testing.assert_allclose(found[0], found[1], atol=2e-6)


@pytest.mark.parametrize("name", LOSSES)
def test_underflow_goes_to_log_space_not_to_a_wrong_number(name: str) -> None:
    """Gold labels 200 below the others: scaled float32 does not hold their probability, log space does."""
    Y, golds, weights = 2, [np.array([1, 1]), np.array([0, 0, 1])], [np.array([0.25, 0.5]), np.array([2.0, 1.0, 0.5])]
    emission = np.array([[0.0, -200.0], [0.0, 0.0], [0.5, 0.0], [0.0, 1.0], [0.0, 0.0]])
    vector = np.concatenate([emission.ravel(), [0.0, -1.0, 0.5, 0.0], np.zeros(4)])
    value = lambda v: define(name, split(v, np.array([2, 3]), Y), golds, weights)  # noqa: E731
    total, gradient = evaluate(name, vector, golds, weights, Y, np.float32)
    assert total.value == pytest.approx(value(vector), rel=1e-5)
    np.testing.assert_allclose(gradient, numerical_gradient(value, vector), atol=1e-4)


@pytest.mark.parametrize("name", ["pointwise_log", "pointwise_exp"])
def test_probabilities_below_the_smallest_float64(name: str) -> None:
    Y, golds, weights = 2, [np.array([1, 0])], [np.ones(2)]
    vector = np.concatenate([[0.0, -900.0, 0.0, 0.0], [0.0, -1.0, 0.5, 0.0], np.zeros(4)])
    total, gradient = evaluate(name, vector, golds, weights, Y, np.float64)
    assert np.isfinite(total.value)
    assert total.value > 899
    assert np.isfinite(gradient).all()
    share = 2.0 if name == "pointwise_exp" else 1.0
    assert gradient[1] == pytest.approx(-share, abs=1e-9)


@pytest.mark.parametrize("name", LOSSES)
def test_impossible_gold_labels_have_an_infinite_loss(name: str) -> None:
    Y, weights = 2, [np.ones(2), np.ones(1)]
    vector = np.concatenate([[0.0, -np.inf, 0.0, 0.0, 0.0, 0.0], np.zeros(8)])
    total, _ = evaluate(name, vector, [np.array([1, 0]), np.array([1])], weights, Y, np.float64)
    assert total.value == np.inf
    total, gradient = evaluate(
        name, vector, [np.array([1, 0]), np.array([1])], [np.zeros(2), np.ones(1)], Y, np.float64
    )
    assert total.value == pytest.approx(np.log(2))
    assert np.isfinite(gradient).all()


def test_exp_totals_lie_above_log_totals_and_meet_them() -> None:
    """Jensen: the log of a mean is at least the mean of logs; equal where all terms are."""
    rng = np.random.default_rng(0)
    terms, weights = rng.exponential(size=50), rng.random(50)
    assert log_of_mean(terms, weights, 0.0).value > sum_of_terms(terms, weights, 0.0).value
    same = np.full(50, 3.0)
    assert log_of_mean(same, weights, 0.0).value == pytest.approx(sum_of_terms(same, weights, 0.0).value)
    near = terms * 1e-4
    assert log_of_mean(near, weights, 0.0).value == pytest.approx(sum_of_terms(near, weights, 0.0).value, rel=1e-3)


def test_a_reference_out_of_range_asks_for_another_pass() -> None:
    terms, weights = np.array([3000.0, 10.0]), np.ones(2)
    first = log_of_mean(terms, weights, 0.0)
    assert not first.fits
    again = log_of_mean(terms, weights, first.reference)
    assert again.fits
    assert again.value == first.value == pytest.approx(2 * (3000 - np.log(2)))
    assert log_of_mean(terms, weights, 2990.0).factor == pytest.approx(again.factor * np.exp(-10))


@pytest.mark.skipif(not JIT, reason="plain Python already")
def test_kernels_equal_plain_python(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    Y, lengths = 5, [4, 3, 1]
    golds, weights = [rng.integers(0, Y, T) for T in lengths], [rng.random(T) for T in lengths]
    vector = rng.normal(size=sum(lengths) * Y + Y * Y + 2 * Y)
    names = ["pointwise_log", "pointwise_exp"]
    compiled = [evaluate(name, vector, golds, weights, Y, np.float64) for name in names]
    for name in ("step_back", "walk_back", "step_again", "walk_again", "marginal_adjoint"):
        monkeypatch.setattr(fast, name, getattr(fast, name).py_func)
    for name, (total, gradient) in zip(names, compiled, strict=True):
        plain, slopes = evaluate(name, vector, golds, weights, Y, np.float64)
        assert plain.value == pytest.approx(total.value, rel=1e-12)
        np.testing.assert_allclose(slopes, gradient, atol=1e-11)


def test_sentence_weights_are_means() -> None:
    run = SentenceRun(
        np.zeros((5, 16)), np.array([0, 2, 5]), np.zeros(5, np.int32), np.array([1.0, 2.0, 0.0, 3.0, 3.0])
    )
    assert run.sentence_weights.tolist() == [1.5, 2.0]
    assert [e - b for b, e in pairwise(run.offsets.tolist())] == [2, 3]
