"""Kernels over candidate labels: equal to enumeration with −inf for what is no candidate, and to the dense kernels."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from oracle import best_path, edge_marginals, log_partition, node_marginals, random_lattice

from tagwright._jit import JIT
from tagwright.arrays import padded
from tagwright.chain import candidate_forward_backward, candidate_viterbi
from tagwright.chain import candidates as steps_of_candidates
from tagwright.chain.candidates import Candidates
from tagwright.chain.forward_backward import Chain
from tagwright.chain.label_chain import TermWeights
from tagwright.chain.lattice import Lattice
from tagwright.chain.viterbi import Steps

KERNELS = (steps_of_candidates, candidate_forward_backward, candidate_viterbi)

TOLERANCE = {np.float32: 2e-5, np.float64: 1e-10}


def random_candidates(rng: np.random.Generator, n: int, Y: int) -> Candidates:
    """Lists of one to Y labels, all of them among the lists; a list for each of n tokens."""
    masks = rng.random((6, Y)) < rng.choice([0.2, 0.5])
    masks[np.arange(6), rng.integers(0, Y, 6)] = True
    masks[0] = True
    pointers = np.concatenate([[0], np.cumsum(masks.sum(axis=1))]).astype(np.int64)
    return Candidates(rng.integers(0, 6, n).astype(np.int32), pointers, np.nonzero(masks)[1].astype(np.uint16))


def make_run(
    rng: np.random.Generator, dtype: type, **options: object
) -> tuple[np.ndarray, np.ndarray, Candidates, list[Lattice]]:
    """One to four sentences: rows [n, P], offsets, candidates, and for the oracle their lattices under constraints."""
    first = random_lattice(rng, **options)
    Y, lengths = first.n_labels, [first.n_positions, *rng.integers(1, 7, int(rng.integers(0, 4))).tolist()]
    emission = np.concatenate(
        [first.emission, *[random_lattice(rng, T=T, Y=Y, **options).emission for T in lengths[1:]]]
    )
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    rows = np.zeros((len(emission), padded(Y)), dtype)
    rows[:, :Y] = emission
    candidates = random_candidates(rng, len(rows), Y)
    constrained = np.where(candidates.mask(Y), rows[:, :Y].astype(np.float64), -np.inf)
    lattices = [
        Lattice(constrained[b:e], first.transition, first.start, first.stop) for b, e in itertools.pairwise(offsets)
    ]
    return rows, offsets, candidates, lattices


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("scale", [0.1, 1.0, 10.0, 500.0])
def test_expectations_equal_enumeration(dtype: type, scale: float) -> None:
    rng = np.random.default_rng(int(scale * 10))
    possible = impossible = 0
    for _ in range(60):
        rows, offsets, candidates, lattices = make_run(rng, dtype, scale=scale)
        chain = Chain.build(lattices[0].transition, lattices[0].start, lattices[0].stop, dtype)
        found = chain.expect(rows, offsets, candidates=candidates)
        edges = np.zeros((chain.n_labels, chain.n_labels))
        for i, lattice in enumerate(lattices):
            truth = log_partition(lattice)
            if truth == -np.inf:
                impossible += 1
                assert found.log_z[i] == -np.inf
                continue
            possible += 1
            assert found.log_z[i] == pytest.approx(truth, rel=TOLERANCE[dtype], abs=TOLERANCE[dtype] * 10)
            gamma = found.marginals[offsets[i] : offsets[i + 1], : chain.n_labels]
            np.testing.assert_allclose(gamma, node_marginals(lattice), atol=TOLERANCE[dtype] * 10)
            edges += edge_marginals(lattice).sum(axis=0)
        np.testing.assert_allclose(found.transitions, edges, atol=TOLERANCE[dtype] * 50)
    assert possible > 60
    assert impossible > 5


@pytest.mark.parametrize("whole", [False, True])
def test_best_paths_equal_enumeration(whole: bool) -> None:
    """With whole scores most labellings are tied: the smallest label must win."""
    rng = np.random.default_rng(13 + whole)
    for _ in range(100):
        rows, offsets, candidates, lattices = make_run(rng, np.float64, whole=whole)
        steps = Steps.build(lattices[0].transition, lattices[0].start, lattices[0].stop, np.float64)
        labels, scores = steps.best_paths(rows, offsets, candidates)
        for lattice, score, b, e in zip(lattices, scores, offsets[:-1], offsets[1:], strict=True):
            if log_partition(lattice) == -np.inf:
                assert score == -np.inf
                continue
            truth, best = best_path(lattice)
            assert score == pytest.approx(best, rel=1e-12, abs=1e-9)
            if whole:
                np.testing.assert_array_equal(labels[b:e], truth)
            else:
                assert lattice.score(labels[b:e]) == pytest.approx(best, rel=1e-12, abs=1e-9)


@pytest.mark.parametrize("everything", [False, True])
def test_equal_to_the_dense_kernels(everything: bool) -> None:
    """Fifty labels, long and short sentences, float32; all labels everywhere, or lists."""
    rng = np.random.default_rng(2)
    Y, offsets = 50, np.cumsum([0, 300, 1, 2, 40])
    n = int(offsets[-1])
    candidates = Candidates.everything(n, Y) if everything else random_candidates(rng, n, Y)
    rows = np.zeros((n, padded(Y)), np.float32)
    rows[:, :Y] = rng.normal(size=(n, Y)) * 3
    masked = rows.copy()
    masked[:, :Y][~candidates.mask(Y)] = -np.inf
    scores = rng.normal(size=(Y, Y)), rng.normal(size=Y), rng.normal(size=Y)
    steps = Steps.build(*scores, np.float32)
    mine, yours = steps.best_paths(rows, offsets, candidates), steps.best_paths(masked, offsets)
    np.testing.assert_array_equal(mine[0], yours[0])
    np.testing.assert_allclose(mine[1], yours[1], rtol=1e-6)
    chain = Chain.build(*scores, np.float32)
    found, dense = chain.expect(rows, offsets, candidates=candidates, out=rows), chain.expect(masked, offsets)
    np.testing.assert_allclose(found.log_z, dense.log_z, rtol=1e-6)
    np.testing.assert_allclose(rows[:, :Y], dense.marginals[:, :Y], atol=1e-5)
    np.testing.assert_allclose(found.transitions, dense.transitions, atol=1e-3)


def test_underflow_goes_to_log_space_not_to_a_wrong_number() -> None:
    """Label 0 would be best by 200 but leads nowhere; label 2 is no candidate at all."""
    rows = np.zeros((2, padded(3)), np.float32)
    rows[:, :3] = [[0.0, -200.0, 500.0], [0.0, 0.0, 500.0]]
    transition = np.array([[-np.inf, -np.inf, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    lists = Candidates(np.zeros(2, np.int32), np.array([0, 2]), np.array([0, 1], np.uint16))
    chain = Chain.build(transition, np.zeros(3), np.zeros(3), np.float32)
    given = TermWeights(np.array([3.0]), np.array([-200.0]), 1.0)
    found = chain.expect(rows, np.array([0, 2]), given, candidates=lists)
    assert found.log_z[0] == pytest.approx(-200.0 + np.log(2.0))
    assert found.weights[0] == pytest.approx(6.0, rel=1e-5)  # 3 · exp(log Z + 200)
    np.testing.assert_allclose(found.marginals[:, :3], [[0.0, 1.0, 0.0], [0.5, 0.5, 0.0]], atol=1e-6)
    np.testing.assert_allclose(found.transitions[:2, :2], [[0.0, 0.0], [3.0, 3.0]], atol=1e-5)
    assert not found.transitions[2].any()


@pytest.mark.skipif(not JIT, reason="plain Python already")
def test_kernel_equals_plain_python(monkeypatch: pytest.MonkeyPatch) -> None:
    def run() -> list[np.ndarray]:
        rng = np.random.default_rng(6)
        rows, offsets, candidates, lattices = make_run(rng, np.float64, scale=1.0, forbid=0.0)
        lattice = lattices[0]
        steps = Steps.build(lattice.transition, lattice.start, lattice.stop, np.float64)
        best = steps.best_paths(rows, offsets, candidates)
        chain = Chain.build(lattice.transition, lattice.start, lattice.stop, np.float64)
        found = chain.expect(rows, offsets, candidates=candidates)
        return [found.marginals, found.log_z, found.transitions, *best]

    compiled = run()
    use_plain_python(monkeypatch)
    for mine, yours in zip(compiled, run(), strict=True):
        np.testing.assert_allclose(mine, yours, rtol=1e-12, atol=1e-300)


def use_plain_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernels over candidates as plain Python."""
    for module in KERNELS:
        for name in [name for name, value in vars(module).items() if hasattr(value, "py_func")]:
            monkeypatch.setattr(module, name, getattr(module, name).py_func)
