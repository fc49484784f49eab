"""Scaled forward-backward against enumeration, against log space, and at the ends of the number line."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from oracle import edge_marginals, log_partition, node_marginals, random_lattice

from tagwright._jit import JIT
from tagwright.arrays import padded
from tagwright.chain import forward_backward as fast
from tagwright.chain import recursion
from tagwright.chain.candidates import Candidates, StepTable
from tagwright.chain.forward_backward import Chain, PairBuffers
from tagwright.chain.label_chain import TermWeights
from tagwright.chain.lattice import Lattice
from tagwright.chain.log_space import log_expectations
from tagwright.chain.scaling import RunSums, sum_logs

TOLERANCE = {np.float32: 2e-5, np.float64: 1e-10}


def lay_out(lattices: list[Lattice], dtype: type) -> tuple[np.ndarray, np.ndarray]:
    """Emission rows [n, P] and offsets of lattices that share a chain."""
    Y = lattices[0].n_labels
    rows = np.zeros((sum(one.n_positions for one in lattices), padded(Y)), dtype)
    offsets = np.concatenate([[0], np.cumsum([one.n_positions for one in lattices])]).astype(np.int64)
    for one, begin, end in zip(lattices, offsets[:-1], offsets[1:], strict=True):
        rows[begin:end, :Y] = one.emission
    return rows, offsets


def in_log_space(rows: np.ndarray, scores: tuple[np.ndarray, ...], gamma: np.ndarray, counts: np.ndarray) -> float:
    """One sentence in log space: log Z."""
    Y = len(scores[1])
    everything, steps = Candidates.everything(len(rows), Y), StepTable(1, Y, *scores)
    return log_expectations(rows, everything, steps, TermWeights.ones(1), gamma, counts)[0]


def family(rng: np.random.Generator, **options: object) -> list[Lattice]:
    """One to five lattices of different lengths with the same chain."""
    first = random_lattice(rng, **options)
    Y = first.n_labels
    more = [
        random_lattice(rng, T=int(rng.integers(1, 7)), Y=Y, **options).emission for _ in range(int(rng.integers(0, 5)))
    ]
    return [first, *(Lattice(emission, first.transition, first.start, first.stop) for emission in more)]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("scale", [0.1, 1.0, 10.0, 500.0])
def test_expect_equals_enumeration(dtype: type, scale: float) -> None:
    rng = np.random.default_rng(int(scale * 10))
    possible = 0
    for _ in range(40):
        lattices = family(rng, scale=scale)
        rows, offsets = lay_out(lattices, dtype)
        chain = Chain.build(lattices[0].transition, lattices[0].start, lattices[0].stop, dtype)
        lattices = [  # the oracle must see the rounded scores
            Lattice(rows[b:e, : chain.n_labels].astype(np.float64), *chain.scores)
            for b, e in itertools.pairwise(offsets)
        ]
        found = chain.expect(rows, offsets, out=rows if len(lattices) % 2 else None)
        edges = np.zeros((chain.n_labels, chain.n_labels))
        for i, lattice in enumerate(lattices):
            truth = log_partition(lattice)
            if truth == -np.inf:
                assert found.log_z[i] == -np.inf
                continue
            possible += 1
            assert found.log_z[i] == pytest.approx(truth, rel=TOLERANCE[dtype], abs=TOLERANCE[dtype] * 10)
            gamma = found.marginals[offsets[i] : offsets[i + 1], : chain.n_labels]
            np.testing.assert_allclose(gamma, node_marginals(lattice), atol=TOLERANCE[dtype] * 10)
            edges += edge_marginals(lattice).sum(axis=0)
        np.testing.assert_allclose(found.transitions, edges, atol=TOLERANCE[dtype] * 50)
        assert not found.marginals[:, chain.n_labels :].any()
    assert possible > 40


def test_long_sentence_and_fifty_labels_equal_log_space() -> None:
    rng = np.random.default_rng(0)
    Y, lengths = 50, [5000, 3, 17, 1]
    lattices = [Lattice(rng.normal(size=(T, Y)) * 3, np.zeros((Y, Y)), np.zeros(Y), np.zeros(Y)) for T in lengths]
    transition, start, stop = rng.normal(size=(Y, Y)), rng.normal(size=Y), rng.normal(size=Y)
    rows, offsets = lay_out(lattices, np.float32)
    found = Chain.build(transition, start, stop, np.float32).expect(rows, offsets)
    counts = np.zeros((Y, Y))
    for i, (b, e) in enumerate(itertools.pairwise(offsets)):
        gamma = np.empty((e - b, Y))
        log_z = in_log_space(rows[b:e], (transition, start, stop), gamma, counts)
        assert found.log_z[i] == pytest.approx(log_z, rel=1e-6)
        np.testing.assert_allclose(found.marginals[b:e, :Y], gamma, atol=1e-5)
    np.testing.assert_allclose(found.transitions, counts, atol=2e-2, rtol=1e-4)


def test_underflow_goes_to_log_space_not_to_a_wrong_number() -> None:
    """The only path passes a label 200 below the best one: scaled float32 holds neither, log space does."""
    emission = np.array([[0.0, -200.0], [0.0, 0.0]])
    transition = np.array([[-np.inf, -np.inf], [0.0, 0.0]])
    rows, offsets = lay_out([Lattice(emission, transition, np.zeros(2), np.zeros(2))], np.float32)
    found = Chain.build(transition, np.zeros(2), np.zeros(2), np.float32).expect(rows, offsets)
    assert found.log_z[0] == pytest.approx(-200.0 + np.log(2.0))
    np.testing.assert_allclose(found.marginals[:, :2], [[0.0, 1.0], [0.5, 0.5]], atol=1e-6)
    np.testing.assert_allclose(found.transitions, [[0.0, 0.0], [0.5, 0.5]], atol=1e-6)


@pytest.mark.parametrize("depth", [1.0, 200.0])
def test_weights_of_sentences_multiply_the_transitions(depth: float) -> None:
    """In scaled numbers and in log space: 3 · exp(log Z − pivot) = 6 of the same sentence."""
    transition = np.array([[-np.inf, -np.inf], [0.0, 0.0]])
    rows, offsets = lay_out([Lattice(np.array([[0.0, -depth], [0.0, 0.0]]), transition, *np.zeros((2, 2)))], np.float32)
    chain = Chain.build(transition, np.zeros(2), np.zeros(2), np.float32)
    found = chain.expect(rows, offsets, TermWeights(np.array([3.0]), np.array([-depth]), 1.0))
    assert found.weights[0] == pytest.approx(6.0, rel=1e-5)
    np.testing.assert_allclose(found.transitions, [[0.0, 0.0], [3.0, 3.0]], atol=1e-5)


def test_log_space_equals_the_definition() -> None:
    rng = np.random.default_rng(5)
    for _ in range(60):
        lattice = random_lattice(rng)
        gamma, counts = np.empty(lattice.emission.shape), np.zeros(lattice.transition.shape)
        scores = lattice.transition, lattice.start, lattice.stop
        log_z = in_log_space(lattice.emission, scores, gamma, counts)
        assert log_z == pytest.approx(recursion.log_partition(lattice), rel=1e-12, abs=1e-12)
        np.testing.assert_allclose(gamma, recursion.node_marginals(lattice), atol=1e-12)
        np.testing.assert_allclose(counts, recursion.edge_marginals(lattice).sum(axis=0), atol=1e-12)


def test_sum_of_logs_of_many_numbers() -> None:
    rng = np.random.default_rng(3)
    for scale in (-40.0, -1.0, 0.1, 30.0):
        c = np.exp(rng.normal(size=1000) + scale)
        assert sum_logs(c) == pytest.approx(np.log(c).sum(), rel=1e-13)


@pytest.mark.skipif(not JIT, reason="plain Python already")
def test_kernel_equals_plain_python() -> None:
    """The compiled kernel and the same function as plain Python, on one run of three sentences."""
    rng = np.random.default_rng(1)
    Y, offsets = 5, np.array([0, 4, 7, 8])
    chain = Chain.build(rng.normal(size=(Y, Y)), rng.normal(size=Y), rng.normal(size=Y), np.float64)
    scores = np.zeros((8, padded(Y)))
    scores[:, :Y] = rng.normal(size=(8, Y)) * 3

    def run(function: object) -> list[np.ndarray]:
        rows, P = np.empty_like(scores), padded(Y)
        given = TermWeights(np.array([1.0, 0.5, 2.0]), np.full(3, 2.0), 0.5)
        found = RunSums(np.zeros((P, P)), np.empty(3), np.empty(3), np.empty(3, np.bool_))
        function(scores, offsets, given, found, rows, chain, PairBuffers.build(4, P, np.float64))  # type: ignore[operator]
        return [rows, *found]

    for compiled, plain in zip(run(fast.forward_backward), run(fast.forward_backward.py_func), strict=True):
        np.testing.assert_allclose(compiled, plain, rtol=1e-12, atol=1e-300)
