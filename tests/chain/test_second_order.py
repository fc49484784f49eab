"""Second order against enumeration, and against the first-order definition over label pairs."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from chain.test_candidates import random_candidates, use_plain_python
from oracle import (
    TrigramLattice,
    all_labellings,
    best_path,
    edge_marginals,
    expectation,
    k_best,
    log_partition,
    node_marginals,
    random_lattice,
)

from tagwright._jit import JIT
from tagwright.arrays import padded
from tagwright.chain import recursion
from tagwright.chain.candidates import Candidates
from tagwright.chain.forward_backward import Chain
from tagwright.chain.lattice import Lattice
from tagwright.chain.second_order import SecondOrderChain, SecondOrderSteps
from tagwright.chain.trigrams import Trigrams, check_size
from tagwright.errors import ParameterError

TOLERANCE = {np.float32: 2e-5, np.float64: 1e-10}


class Run:
    """One to four sentences with candidates: rows [n, P] and a chain; for the oracle, their lattices."""

    def __init__(self, rng: np.random.Generator, dtype: type = np.float64, *, everything: bool, **options: object):
        first = random_lattice(rng, **options)
        Y, lengths = first.n_labels, [first.n_positions, *rng.integers(1, 7, int(rng.integers(0, 4))).tolist()]
        more = [random_lattice(rng, T=T, Y=Y, **options).emission for T in lengths[1:]]
        emission = np.concatenate([first.emission, *more])
        self.offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        self.rows = np.zeros((len(emission), padded(Y)), dtype)
        self.rows[:, :Y] = emission
        n = len(emission)
        self.candidates = Candidates.everything(n, Y) if everything else random_candidates(rng, n, Y)
        keys = np.flatnonzero(rng.random(Y**3) < 0.6)
        weights = rng.integers(-1, 2, len(keys)) if options.get("whole") else rng.normal(size=len(keys))
        scale = 1.0 if options.get("whole") else float(np.abs(first.start[np.isfinite(first.start)]).max(initial=0.1))
        self.trigrams = Trigrams(Y, keys, weights * scale)
        trigram = np.zeros(Y**3)
        trigram[keys] = self.trigrams.weights
        self.chain_scores = first.transition, first.start, first.stop
        constrained = np.where(self.candidates.mask(Y), self.rows[:, :Y].astype(np.float64), -np.inf)
        self.lattices = [
            TrigramLattice(constrained[b:e], *self.chain_scores, trigram.reshape(Y, Y, Y))
            for b, e in itertools.pairwise(self.offsets)
        ]

    def chain(self, dtype: type) -> SecondOrderChain:
        return SecondOrderChain.build(Chain.build(*self.chain_scores, dtype), self.trigrams, dtype)

    def steps(self) -> SecondOrderSteps:
        return SecondOrderSteps.build(self.chain_scores, self.trigrams, np.float64)


@pytest.mark.parametrize("everything", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("scale", [0.1, 1.0, 10.0, 500.0])
def test_expectations_equal_enumeration(dtype: type, scale: float, everything: bool) -> None:
    rng = np.random.default_rng(int(scale * 10) + everything)
    possible = 0
    for _ in range(30):
        run = Run(rng, dtype, everything=everything, scale=scale)
        Y = run.trigrams.n_labels
        found = run.chain(dtype).expect(run.rows, run.offsets, candidates=run.candidates)
        transitions, trigrams = np.zeros((Y, Y)), np.zeros((Y, Y, Y))
        for i, lattice in enumerate(run.lattices):
            truth = log_partition(lattice)
            if truth == -np.inf:
                assert found.log_z[i] == -np.inf
                continue
            possible += 1
            assert found.log_z[i] == pytest.approx(truth, rel=TOLERANCE[dtype], abs=TOLERANCE[dtype] * 10)
            gamma = found.marginals[run.offsets[i] : run.offsets[i + 1], :Y]
            np.testing.assert_allclose(gamma, node_marginals(lattice), atol=TOLERANCE[dtype] * 50)
            transitions += edge_marginals(lattice).sum(axis=0)
            for labels, p in [(y, np.exp(s - truth)) for y, s in all_labellings(lattice)]:
                for triple in zip(labels, labels[1:], labels[2:], strict=False):
                    trigrams[triple] += p
        np.testing.assert_allclose(found.transitions, transitions, atol=TOLERANCE[dtype] * 100)
        np.testing.assert_allclose(found.trigrams, trigrams.ravel()[run.trigrams.keys], atol=TOLERANCE[dtype] * 100)
    assert possible > 20


def test_the_oracle_counts_trigrams_from_the_third_position_on() -> None:
    """By hand: two labels, a weight for 0 1 0 alone."""
    trigram = np.zeros((2, 2, 2))
    trigram[0, 1, 0] = np.log(3.0)
    nothing = np.zeros((4, 2)), np.zeros((2, 2)), np.zeros(2), np.zeros(2)
    lattice = TrigramLattice(*nothing, trigram)
    assert log_partition(lattice) == pytest.approx(np.log(12 + 4 * 3.0))  # 010y and y010 never both
    assert log_partition(TrigramLattice(nothing[0][:2], *nothing[1:], trigram)) == pytest.approx(np.log(4.0))
    assert expectation(lattice, lambda y: float(y[:3] == (0, 1, 0))) == pytest.approx(6 / 24)


@pytest.mark.parametrize("everything", [False, True])
@pytest.mark.parametrize("whole", [False, True])
def test_best_paths_equal_enumeration(whole: bool, everything: bool) -> None:
    """With whole scores most labellings are tied: the order of ties is part of the answer."""
    rng = np.random.default_rng(17 + whole)
    for _ in range(60):
        run = Run(rng, everything=everything, whole=whole)
        labels, scores = run.steps().best_paths(run.rows, run.offsets, run.candidates)
        for i, (lattice, b, e) in enumerate(zip(run.lattices, run.offsets[:-1], run.offsets[1:], strict=True)):
            paths, values = run.steps().k_best(run.rows[b:e], 9, run.candidates.part(b, e))
            true_paths, true_values = k_best(lattice, 9)
            np.testing.assert_allclose(values, true_values, rtol=1e-12, atol=1e-9)
            if not len(true_values):
                assert scores[i] == -np.inf
                continue
            assert scores[i] == pytest.approx(best_path(lattice)[1], rel=1e-12, abs=1e-9)
            if whole:
                np.testing.assert_array_equal(paths, true_paths)
                np.testing.assert_array_equal(labels[b:e], true_paths[0])
            else:
                assert len({tuple(path) for path in paths.tolist()}) == len(paths)


def pair_lattice(emission: np.ndarray, scores: tuple, trigram: np.ndarray) -> Lattice:
    """The first-order lattice over pairs (q, c), q = Y standing for nothing: pair number q · Y + c."""
    transition, start, stop = scores
    Y = len(start)
    inner = np.full(((Y + 1) * Y, (Y + 1) * Y), -np.inf)
    for p, q, c in itertools.product(range(Y + 1), range(Y), range(Y)):
        inner[p * Y + q, q * Y + c] = transition[q, c] + (trigram[p, q, c] if p < Y else 0.0)
    first = np.full((Y + 1) * Y, -np.inf)
    first[Y * Y :] = start
    return Lattice(np.tile(emission, Y + 1), inner, first, np.tile(stop, Y + 1))


def test_long_sentence_equals_the_definition_over_pairs() -> None:
    rng = np.random.default_rng(5)
    Y, T = 6, 60
    emission, trigram = rng.normal(size=(T, Y)) * 2, rng.normal(size=(Y, Y, Y))
    scores = rng.normal(size=(Y, Y)), rng.normal(size=Y), rng.normal(size=Y)
    trigrams = Trigrams(Y, np.arange(Y**3), trigram.ravel())
    truth = pair_lattice(emission, scores, trigram)
    for dtype in (np.float64, np.float32):
        rows = np.zeros((T, padded(Y)), dtype)
        rows[:, :Y] = emission
        chain = SecondOrderChain.build(Chain.build(*scores, dtype), trigrams, dtype)
        found = chain.expect(rows, np.array([0, T]), out=rows)
        assert found.log_z[0] == pytest.approx(recursion.log_partition(truth), rel=1e-6)
        nodes = recursion.node_marginals(truth).reshape(T, Y + 1, Y).sum(axis=1)
        np.testing.assert_allclose(rows[:, :Y], nodes, atol=TOLERANCE[dtype])
        assert found.trigrams.sum() == pytest.approx(T - 2, rel=1e-5)
        assert found.transitions.sum() == pytest.approx(T - 1, rel=1e-5)
    labels, best = SecondOrderSteps.build(scores, trigrams, np.float64).best_paths(emission, np.array([0, T]))
    pairs, score = recursion.best_path(truth)
    np.testing.assert_array_equal(labels, pairs % Y)
    assert best[0] == pytest.approx(score)


def test_underflow_goes_to_log_space_not_to_a_wrong_number() -> None:
    """The only path passes a label 200 below the best one."""
    rows = np.zeros((3, padded(2)), np.float32)
    rows[0, :2] = [0.0, -200.0]
    transition = np.array([[-np.inf, -np.inf], [0.0, 0.0]])
    first = Chain.build(transition, np.zeros(2), np.zeros(2), np.float32)
    trigrams = Trigrams(2, np.array([6]), np.array([np.log(3.0)]))  # 1 1 0
    found = SecondOrderChain.build(first, trigrams, np.float32).expect(rows, np.array([0, 3]))
    assert found.log_z[0] == pytest.approx(-200.0 + np.log(4.0))  # 110 weighs 3, 111 weighs 1
    np.testing.assert_allclose(found.marginals[:, :2], [[0.0, 1.0], [0.0, 1.0], [0.75, 0.25]], atol=1e-6)
    np.testing.assert_allclose(found.transitions, [[0.0, 0.0], [0.75, 1.25]], atol=1e-6)
    np.testing.assert_allclose(found.trigrams, [0.75], atol=1e-6)


def test_a_table_that_is_too_large_is_refused() -> None:
    check_size(645, np.float32)
    with pytest.raises(ParameterError, match=r"order=2 with 646 labels needs .* 1\.0 GiB .* use order=1"):
        check_size(646, np.float32)
    with pytest.raises(ParameterError, match="order=2 with 600 labels"):
        Trigrams(600, np.empty(0, np.int64), np.empty(0)).table(np.zeros((600, 600)), np.float64)


@pytest.mark.skipif(not JIT, reason="plain Python already")
def test_kernel_equals_plain_python(monkeypatch: pytest.MonkeyPatch) -> None:
    def results() -> list[np.ndarray]:
        run = Run(np.random.default_rng(8), everything=False, scale=1.0, forbid=0.0)
        b, e = run.offsets[:2]
        best = run.steps().best_paths(run.rows, run.offsets, run.candidates)
        more = run.steps().k_best(run.rows[b:e], 5, run.candidates.part(b, e))
        found = run.chain(np.float64).expect(run.rows, run.offsets, candidates=run.candidates)
        return [found.marginals, found.log_z, found.transitions, found.trigrams, *best, *more]

    compiled = results()
    use_plain_python(monkeypatch)
    for mine, yours in zip(compiled, results(), strict=True):
        np.testing.assert_allclose(mine, yours, rtol=1e-12, atol=1e-300)


def test_float32_loses_little_over_many_tokens() -> None:
    """An optimiser compares values of the objective: an error that every token repeats would drown its last steps."""
    rng = np.random.default_rng(3)
    Y, n = 6, 20_000
    emission = rng.normal(size=(n, padded(Y))).astype(np.float32)
    trigrams = Trigrams(Y, np.arange(Y**3), rng.normal(size=Y**3) * 4)
    scores = rng.normal(size=(Y, Y)) * 4, np.zeros(Y), np.zeros(Y)
    sums = []
    for dtype in (np.float32, np.float64):
        chain = SecondOrderChain.build(Chain.build(*scores, dtype), trigrams, dtype)
        offsets = np.arange(0, n + 1, 20)
        found = chain.expect(emission.astype(dtype), offsets)
        sums.append(found.log_z.sum())
    assert sums[0] == pytest.approx(sums[1], abs=2e-3)
