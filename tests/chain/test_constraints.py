"""Constraints against enumeration: what they forbid, whether anything is left, and what the error says."""

from __future__ import annotations

import itertools

import numpy as np
import oracle
import pytest

from tagwright.chain import recursion
from tagwright.chain.constraints import allow_labels, constrain, feasible, forbid, require_feasible
from tagwright.chain.kbest import k_best
from tagwright.chain.lattice import Lattice
from tagwright.errors import DataError, ParameterError

SEEDS = range(40)


def free(T: int, Y: int) -> Lattice:
    return Lattice(np.zeros((T, Y)), np.zeros((Y, Y)), np.zeros(Y), np.zeros(Y))


@pytest.mark.parametrize("seed", SEEDS)
def test_constrained_labellings_are_those_that_obey(seed):
    rng = np.random.default_rng(seed)
    lattice = oracle.random_lattice(rng, scale=1.0, forbid=0.0)
    T, Y = lattice.emission.shape
    allowed, pairs = rng.random((T, Y)) < 0.7, rng.random((Y, Y)) < 0.3
    first, last = rng.random(Y) < 0.3, rng.random(Y) < 0.3
    bound = constrain(lattice, allowed=allowed, forbidden_transition=pairs, forbidden_start=first, forbidden_stop=last)
    obey = {
        labels: score
        for labels, score in oracle.all_labellings(lattice)
        if all(allowed[t, y] for t, y in enumerate(labels))
        and not any(pairs[p, c] for p, c in itertools.pairwise(labels))
        and not first[labels[0]]
        and not last[labels[-1]]
    }
    assert dict(oracle.all_labellings(bound)) == obey
    assert feasible(bound) is bool(obey)
    found, _ = k_best(bound.emission, bound.transition, bound.start, bound.stop, 5000)
    assert {tuple(path) for path in found.tolist()} == set(obey)


def test_nothing_given_changes_nothing():
    lattice = oracle.random_lattice(np.random.default_rng(0))
    for before, after in zip(vars(lattice).values(), vars(constrain(lattice)).values(), strict=True):
        np.testing.assert_array_equal(before, after)


def test_scores_keep_their_type_and_the_input_its_values():
    emission = np.ones((2, 2), np.float32)
    allowed = np.array([[True, False], [True, True]])
    bound = allow_labels(emission, allowed)
    assert bound.dtype == np.float32
    assert bound.tolist() == [[1.0, -np.inf], [1.0, 1.0]]
    assert forbid(emission, allowed).tolist() == [[-np.inf, 1.0], [-np.inf, -np.inf]]
    assert forbid(emission, allowed).dtype == np.float32
    assert emission.tolist() == [[1.0, 1.0], [1.0, 1.0]]


@pytest.mark.parametrize("mask", [np.ones((2, 3), bool), np.ones(2, bool), np.zeros((2, 2)), np.ones((2, 2), int)])
def test_masks_of_another_shape_or_type_are_refused(mask):
    with pytest.raises(ParameterError, match=r"allowed: found .* expected booleans of shape"):
        allow_labels(np.zeros((2, 2)), mask)
    with pytest.raises(ParameterError, match=r"forbidden: found .* expected booleans of shape"):
        forbid(np.zeros((2, 2)), mask)


@pytest.mark.parametrize("seed", SEEDS)
def test_feasible_lattices_pass(seed):
    lattice = oracle.random_lattice(np.random.default_rng(seed), forbid=0.5)
    assert feasible(lattice) is True
    require_feasible(lattice)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_error_names_the_first_position_that_fails(seed):
    lattice = oracle.random_lattice(np.random.default_rng(seed), feasible=False)
    T = lattice.n_positions
    prefixes = [
        Lattice(lattice.emission[: t + 1], lattice.transition, lattice.start, np.zeros(lattice.n_labels))
        for t in range(T)
    ]
    expected = next((t for t in range(T) if not oracle.all_labellings(prefixes[t])), T - 1)
    assert feasible(lattice) is False
    with pytest.raises(DataError, match=rf"^X\[7\]: no labelling is possible: position {expected} ") as caught:
        require_feasible(lattice, location="X[7]")
    assert caught.value.location == "X[7]"


def test_reason_no_label_is_allowed():
    allowed = np.array([[True, True], [False, False], [True, True]])
    with pytest.raises(DataError, match=r"^no labelling is possible: position 1 allows no label"):
        require_feasible(constrain(free(3, 2), allowed=allowed))


def test_reason_start():
    allowed = np.array([[False, True], [True, True]])
    bound = constrain(free(2, 2), allowed=allowed, forbidden_start=np.array([False, True]))
    with pytest.raises(DataError, match="position 0 allows only I, which may not start"):
        require_feasible(bound, labels=["O", "I"])


def test_reason_transition():
    allowed = np.array([[True, False, False], [True, False, True], [False, True, False]])
    pairs = np.zeros((3, 3), bool)
    pairs[0, 1] = pairs[2, 1] = True
    bound = constrain(free(3, 3), allowed=allowed, forbidden_transition=pairs)
    expected = r"position 2 allows only I, which may not follow what is left at position 1 \(O, B\)"
    with pytest.raises(DataError, match=expected):
        require_feasible(bound, labels=["O", "I", "B"])


def test_reason_stop():
    bound = constrain(free(2, 2), forbidden_stop=np.array([True, True]))
    expected = r"position 1 is the last, and none of the labels left there \(0, 1\) may end"
    with pytest.raises(DataError, match=expected):
        require_feasible(bound)


def test_long_lists_of_labels_are_cut():
    bound = constrain(free(1, 20), forbidden_start=np.ones(20, bool))
    with pytest.raises(DataError, match="only 0, 1, 2, 3, 4, 5, 6, 7 and 12 more, which"):
        require_feasible(bound)


def test_an_iob_scheme_is_a_matrix():
    """O = 0, B = 1, I = 2: I may not start and may not follow O."""
    pairs = np.zeros((3, 3), bool)
    pairs[0, 2] = True
    emission = np.array([[0.0, 0.0, 9.0], [0.0, 0.0, 9.0]])
    lattice = Lattice(emission, np.zeros((3, 3)), np.zeros(3), np.zeros(3))
    bound = constrain(lattice, forbidden_transition=pairs, forbidden_start=np.array([False, False, True]))
    assert recursion.best_path(bound)[0].tolist() == [1, 2]
    assert recursion.node_marginals(bound)[0, 2] == 0.0
