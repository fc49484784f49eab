"""The definition against the enumeration of all labellings: every semiring, every reference function."""

from __future__ import annotations

import itertools
import math

import numpy as np
import oracle
import pytest

from tagwright.chain import recursion
from tagwright.chain.lattice import Lattice
from tagwright.errors import DataError, ParameterError

SEEDS = range(40)
SHAPES = {"emission": (3, 2), "transition": (2, 2), "start": (2,), "stop": (2,)}


def lattice_of(seed: int, **options: object) -> Lattice:
    return oracle.random_lattice(np.random.default_rng(seed), **options)


def arrays(**changed: np.ndarray) -> dict[str, np.ndarray]:
    return {name: changed.get(name, np.zeros(shape)) for name, shape in SHAPES.items()}


@pytest.mark.parametrize("seed", SEEDS)
def test_log_partition(seed):
    lattice = lattice_of(seed)
    assert recursion.log_partition(lattice) == pytest.approx(oracle.log_partition(lattice), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_node_marginals(seed):
    lattice = lattice_of(seed)
    np.testing.assert_allclose(recursion.node_marginals(lattice), oracle.node_marginals(lattice), rtol=0, atol=1e-11)


@pytest.mark.parametrize("seed", SEEDS)
def test_edge_marginals(seed):
    lattice = lattice_of(seed)
    found, expected = recursion.edge_marginals(lattice), oracle.edge_marginals(lattice)
    assert found.shape == (lattice.n_positions - 1, lattice.n_labels, lattice.n_labels)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-11)


@pytest.mark.parametrize("seed", SEEDS)
def test_best_path(seed):
    lattice = lattice_of(seed)
    labels, score = recursion.best_path(lattice)
    expected_labels, expected_score = oracle.best_path(lattice)
    assert labels.tolist() == expected_labels.tolist()
    assert score == pytest.approx(expected_score, rel=1e-12, abs=1e-12)
    assert recursion.best_score(lattice) == score == lattice.score(labels)


@pytest.mark.parametrize("seed", SEEDS)
def test_best_path_takes_the_smallest_label_in_a_tie(seed):
    lattice = lattice_of(seed, whole=True)
    labels, score = recursion.best_path(lattice)
    expected_labels, expected_score = oracle.best_path(lattice)
    assert labels.tolist() == expected_labels.tolist()
    assert score == expected_score


@pytest.mark.parametrize("seed", SEEDS)
def test_k_max(seed):
    lattice = lattice_of(seed)
    _, expected = oracle.k_best(lattice, 50)
    padded = np.append(expected, np.full(50, -np.inf))
    for k in (1, 3, 50):
        np.testing.assert_allclose(recursion.total(lattice, recursion.KMax(k)), padded[:k], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_count_and_boolean(seed):
    lattice = lattice_of(seed)
    assert recursion.count_labellings(lattice) == len(oracle.all_labellings(lattice))
    assert bool(recursion.total(lattice, recursion.BOOLEAN)) is True


def test_count_is_exact_beyond_64_bits():
    lattice = Lattice(np.zeros((60, 3)), np.zeros((3, 3)), np.zeros(3), np.zeros(3))
    assert recursion.count_labellings(lattice) == 3**60


@pytest.mark.parametrize("seed", SEEDS)
def test_entropy(seed):
    lattice = lattice_of(seed)
    log_z, mean = recursion.total(lattice, recursion.ENTROPY)
    assert log_z == pytest.approx(oracle.log_partition(lattice), rel=1e-12, abs=1e-12)
    assert mean == pytest.approx(oracle.expectation(lattice, oracle.scorer(lattice)), rel=1e-11, abs=1e-11)
    assert recursion.entropy(lattice) == pytest.approx(oracle.entropy(lattice), abs=1e-9)


@pytest.mark.parametrize("semiring", [recursion.LOG, recursion.MAX, recursion.BOOLEAN, recursion.KMax(4)])
@pytest.mark.parametrize("seed", range(20))
def test_forward_and_backward_meet_at_every_position(seed, semiring):
    lattice = lattice_of(seed, scale=1.0)
    whole = recursion.total(lattice, semiring)
    met = semiring.times(recursion.forward(lattice, semiring), recursion.backward(lattice, semiring))
    for t in range(lattice.n_positions):
        np.testing.assert_allclose(semiring.plus(met[t], axis=0), whole, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_marginals_are_the_gradient_of_log_partition(seed):
    lattice = lattice_of(seed, scale=1.0, forbid=0.0)
    rest = (lattice.start, lattice.stop)
    by_emission = oracle.numerical_gradient(
        lambda emission: recursion.log_partition(Lattice(emission, lattice.transition, *rest)), lattice.emission
    )
    by_transition = oracle.numerical_gradient(
        lambda transition: recursion.log_partition(Lattice(lattice.emission, transition, *rest)), lattice.transition
    )
    np.testing.assert_allclose(recursion.node_marginals(lattice), by_emission, rtol=0, atol=1e-8)
    np.testing.assert_allclose(recursion.edge_marginals(lattice).sum(axis=0), by_transition, rtol=0, atol=1e-8)


@pytest.mark.parametrize("seed", SEEDS)
def test_expected_count_of_a_label_pair(seed):
    lattice = lattice_of(seed, scale=1.0)
    wanted = (0, lattice.n_labels - 1)
    counted = oracle.expectation(lattice, lambda y: sum(pair == wanted for pair in itertools.pairwise(y)))
    assert recursion.edge_marginals(lattice)[:, wanted[0], wanted[1]].sum() == pytest.approx(counted, abs=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_nothing_is_possible(seed):
    lattice = lattice_of(seed, feasible=False)
    assert recursion.log_partition(lattice) == -math.inf
    assert recursion.best_score(lattice) == -math.inf
    assert recursion.count_labellings(lattice) == 0
    assert not recursion.total(lattice, recursion.BOOLEAN)
    assert np.all(recursion.total(lattice, recursion.KMax(3)) == -np.inf)
    for function in (recursion.best_path, recursion.node_marginals, recursion.edge_marginals, recursion.entropy):
        with pytest.raises(DataError, match="no labelling is possible"):
            function(lattice)


def test_an_impossible_label_has_marginal_zero_exactly():
    emission = np.array([[0.0, 1.0], [-np.inf, 2.0], [3.0, -np.inf]])
    lattice = Lattice(emission, np.zeros((2, 2)), np.zeros(2), np.zeros(2))
    assert recursion.node_marginals(lattice)[1].tolist() == [0.0, 1.0]
    assert recursion.node_marginals(lattice)[2].tolist() == [1.0, 0.0]


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_scores_of_500_at_every_position(sign):
    lattice = Lattice(np.full((6, 3), 500.0 * sign), np.full((3, 3), 500.0), np.zeros(3), np.zeros(3))
    assert recursion.log_partition(lattice) == pytest.approx(3000 * sign + 2500 + 6 * math.log(3), rel=1e-14)
    np.testing.assert_allclose(recursion.node_marginals(lattice), 1 / 3, rtol=1e-11)
    assert recursion.entropy(lattice) == pytest.approx(6 * math.log(3), rel=1e-11)


@pytest.mark.parametrize("seed", SEEDS)
def test_score_of_a_labelling(seed):
    lattice = lattice_of(seed, T=1 + seed % 4)
    score = oracle.scorer(lattice)
    for labels in itertools.product(range(lattice.n_labels), repeat=lattice.n_positions):
        assert lattice.score(labels) == pytest.approx(score(labels), rel=1e-12, abs=1e-11)


def test_lattice_reads_lists_and_float32():
    lattice = Lattice([[1, 2]], np.zeros((2, 2), np.float32), [0, 0], [0, 1])
    assert {array.dtype for array in vars(lattice).values()} == {np.dtype(np.float64)}
    assert lattice.score([1]) == 3.0


@pytest.mark.parametrize("name", list(SHAPES))
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_lattice_refuses_what_is_not_a_score(name, bad):
    array = np.zeros(SHAPES[name])
    array.flat[array.size - 1] = bad
    array.flat[0] = -np.inf
    last = ", ".join(str(size - 1) for size in SHAPES[name])
    with pytest.raises(DataError) as caught:
        Lattice(**arrays(**{name: array}))
    assert caught.value.location == f"{name}[{last}]"


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("emission", (3,)),
        ("emission", (0, 2)),
        ("emission", (2, 0)),
        ("emission", (3, 3)),
        ("transition", (2, 3)),
        ("transition", (2,)),
        ("start", (3,)),
        ("stop", (2, 1)),
    ],
)
def test_lattice_refuses_wrong_shapes(name, shape):
    with pytest.raises(ParameterError, match="found shape"):
        Lattice(**arrays(**{name: np.zeros(shape)}))


@pytest.mark.parametrize("labels", [[0, 1], [0, 1, 2], [0, -1, 0], [0.0, 1.0, 0.0], [[0, 1, 0]], ["a", "b", "c"]])
def test_score_refuses_wrong_labels(labels):
    with pytest.raises(DataError, match="labels"):
        Lattice(**arrays()).score(labels)


def test_k_max_refuses_no_paths():
    with pytest.raises(ParameterError, match="at least 1"):
        recursion.KMax(0)
