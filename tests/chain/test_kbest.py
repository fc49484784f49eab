"""k-best against sorted enumeration, ties included; against the semiring KMax where enumeration is too long."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import oracle
import pytest

from tagwright.chain import recursion
from tagwright.chain.kbest import k_best
from tagwright.chain.lattice import Lattice
from tagwright.errors import DataError, ParameterError

SEEDS = range(40)
KS = [1, 2, 5, 17, 100, 5000]


def lattice_of(seed: int, **options: object) -> Lattice:
    return oracle.random_lattice(np.random.default_rng(seed), **options)


def k_best_of(lattice: Lattice, k: int) -> tuple[np.ndarray, np.ndarray]:
    return k_best(lattice.emission, lattice.transition, lattice.start, lattice.stop, k)


def free(T: int, Y: int) -> Lattice:
    return Lattice(np.zeros((T, Y)), np.zeros((Y, Y)), np.zeros(Y), np.zeros(Y))


def answers() -> list[list[object]]:
    """What the kernels say about many lattices, with all bits of the scores."""
    found = []
    for seed in SEEDS:
        for whole in (True, False):
            paths, scores = k_best_of(lattice_of(seed, whole=whole), 40)
            found.append([paths.tolist(), [score.hex() for score in scores.tolist()]])
    return found


@pytest.mark.parametrize("seed", SEEDS)
def test_scores_are_those_of_enumeration(seed):
    lattice = lattice_of(seed)
    _, expected = oracle.k_best(lattice, max(KS))
    for k in KS:
        paths, scores = k_best_of(lattice, k)
        np.testing.assert_allclose(scores, expected[:k], rtol=1e-12, atol=1e-11)
        np.testing.assert_allclose([lattice.score(path) for path in paths], scores, rtol=1e-12, atol=1e-11)
        assert len({tuple(path) for path in paths.tolist()}) == len(scores)
        assert np.all(np.diff(scores) <= 0)


@pytest.mark.parametrize("seed", SEEDS)
def test_ties_come_in_the_order_of_labels_read_from_the_end(seed):
    lattice = lattice_of(seed, whole=True)
    expected_paths, expected_scores = oracle.k_best(lattice, max(KS))
    for k in KS:
        paths, scores = k_best_of(lattice, k)
        assert paths.tolist() == expected_paths[:k].tolist()
        assert scores.tolist() == expected_scores[:k].tolist()


def test_all_labellings_tied():
    lattice = free(6, 4)
    paths, scores = k_best_of(lattice, 4**6)
    assert paths.tolist() == oracle.k_best(lattice, 4**6)[0].tolist()
    assert not scores.any()


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("whole", [True, False])
def test_longer_sentences_against_the_semiring(seed, whole):
    lattice = lattice_of(seed, T=30, Y=6, scale=1.0, forbid=0.2, whole=whole)
    paths, scores = k_best_of(lattice, 20)
    expected = recursion.total(lattice, recursion.KMax(20))
    np.testing.assert_allclose(scores, expected[expected > -np.inf], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose([lattice.score(path) for path in paths], scores, rtol=1e-12, atol=1e-12)
    assert len({tuple(path) for path in paths.tolist()}) == len(scores)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("whole", [True, False])
def test_the_first_is_the_best_path_and_fewer_are_a_prefix(seed, whole):
    lattice = lattice_of(seed, T=20, Y=5, whole=whole, forbid=0.1)
    paths, scores = k_best_of(lattice, 30)
    labels, score = recursion.best_path(lattice)
    assert paths[0].tolist() == labels.tolist()
    assert scores[0] == score
    fewer_paths, fewer_scores = k_best_of(lattice, 7)
    assert fewer_paths.tolist() == paths[:7].tolist()
    assert fewer_scores.tolist() == scores[:7].tolist()


@pytest.mark.parametrize("seed", SEEDS)
def test_no_labelling_is_possible(seed):
    lattice = lattice_of(seed, feasible=False)
    paths, scores = k_best_of(lattice, 5)
    assert paths.shape == (0, lattice.n_positions)
    assert scores.shape == (0,)


def test_one_position():
    lattice = Lattice([[1.0, 5.0, -np.inf, 3.0]], np.zeros((4, 4)), [0.0, 0.0, 0.0, 2.0], [0.0, -1.0, 0.0, 0.0])
    paths, scores = k_best_of(lattice, 10)
    assert paths.tolist() == [[3], [1], [0]]
    assert scores.tolist() == [5.0, 4.0, 1.0]


def test_one_label():
    paths, scores = k_best_of(Lattice([[1.0], [2.0]], [[3.0]], [4.0], [5.0]), 10)
    assert paths.tolist() == [[0, 0]]
    assert scores.tolist() == [15.0]


@pytest.mark.parametrize("tied", [False, True])
def test_a_very_long_sentence(tied):
    rng = np.random.default_rng(0)
    lattice = free(5000, 45) if tied else oracle.random_lattice(rng, T=5000, Y=45, scale=1.0, forbid=0.1)
    paths, scores = k_best_of(lattice, 100)
    labels, score = recursion.best_path(lattice)
    assert paths[0].tolist() == labels.tolist()
    assert scores[0] == score
    assert len(np.unique(paths, axis=0)) == 100
    assert np.all(np.diff(scores) <= 0)
    np.testing.assert_allclose([lattice.score(path) for path in paths[::9]], scores[::9], rtol=1e-12)


def test_float32_and_transposed_arrays():
    lattice = lattice_of(3, T=5, Y=4, whole=True, forbid=0.2)
    expected, _ = k_best_of(lattice, 20)
    turned = np.asfortranarray(lattice.emission.astype(np.float32))
    paths, scores = k_best(turned, np.asfortranarray(lattice.transition), lattice.start, lattice.stop, 20)
    assert paths.tolist() == expected.tolist()
    assert scores.dtype == np.float64


def test_inputs_are_left_alone():
    lattice = lattice_of(5, T=4, Y=3)
    before = [array.copy() for array in vars(lattice).values()]
    for array in vars(lattice).values():
        array.flags.writeable = False
    k_best_of(lattice, 20)
    for array, copy in zip(vars(lattice).values(), before, strict=True):
        np.testing.assert_array_equal(array, copy)


def test_wrong_arguments():
    with pytest.raises(ParameterError, match="k: found 0"):
        k_best_of(free(2, 2), 0)
    with pytest.raises(ParameterError, match="transition"):
        k_best(np.zeros((2, 2)), np.zeros((3, 2)), np.zeros(2), np.zeros(2), 1)
    with pytest.raises(DataError, match=r"stop\[1\]"):
        k_best(np.zeros((2, 2)), np.zeros((2, 2)), np.zeros(2), [0.0, np.nan], 1)


def test_plain_python_gives_the_same_bits():
    tests = Path(__file__).parents[1]
    code = (
        "import json; from tagwright._jit import JIT; assert not JIT; from chain.test_kbest import answers; "
        "print(json.dumps(answers()))"
    )
    environment = {**os.environ, "TAGWRIGHT_NO_JIT": "1", "PYTHONPATH": os.pathsep.join([str(tests), *sys.path])}
    command = [sys.executable, "-W", "error", "-c", code]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout) == answers()
