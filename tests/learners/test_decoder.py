"""Decoding by position against enumeration, on random lattices with forbidden labels and transitions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from oracle import all_labellings, node_marginals, random_lattice

from tagwright.arrays import padded
from tagwright.chain.lattice import Lattice
from tagwright.encode.batch import Batch
from tagwright.errors import DataError
from tagwright.learners._decoder import Decoder


class GivenScores:
    """Scores that are the emission of one lattice."""

    n_parameters = 0

    def __init__(self, emission: np.ndarray, dtype: type) -> None:
        self.given = emission
        self.n_labels = emission.shape[1]
        self.width = padded(self.n_labels)
        self.dtype = dtype

    def rows(self, batch: Batch) -> GivenScores:
        return self

    def emission(self, first: int, last: int, out: np.ndarray) -> None:
        out[:] = 0
        out[:, : self.n_labels] = self.given


def sentence_of(n: int) -> Batch:
    none = np.zeros(0, np.int32)
    pointers = np.zeros(n + 1, np.int64)
    return Batch(np.array([0, n]), np.zeros((0, n), np.int32), (), pointers, none, np.zeros(0), none)


def expected_accuracy(lattice: Lattice) -> dict[tuple[int, ...], float]:
    """For every possible labelling, how many of its labels can be expected to be right."""
    marginals, T = node_marginals(lattice), lattice.n_positions
    return {path: math.fsum(marginals[range(T), path]) for path, _ in all_labellings(lattice)}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("forbid", [0.0, 0.3])
def test_by_position_has_the_most_right_labels_expected(dtype: type, forbid: float) -> None:
    rng = np.random.default_rng(5)
    for _ in range(60):
        lattice = random_lattice(rng, scale=1.0, forbid=forbid)
        emission = np.where(lattice.emission == -np.inf, 9.0, lattice.emission)
        allowed = lattice.emission > -np.inf
        decoder = Decoder(GivenScores(emission, dtype), lattice.transition, lattice.start, lattice.stop)
        found = tuple(decoder.best_by_position(sentence_of(lattice.n_positions), allowed).tolist())
        expected = expected_accuracy(lattice)
        assert expected[found] == pytest.approx(max(expected.values()), abs=1e-5)


def test_the_best_label_of_each_position_may_be_forbidden_together() -> None:
    """O, B, I: with I only after B or I, the most probable labels are often no labelling."""
    rng = np.random.default_rng(6)
    together = 0
    for _ in range(150):
        lattice = random_lattice(rng, T=5, Y=3, scale=0.3, forbid=0.0)
        transition, start = lattice.transition.copy(), lattice.start.copy()
        transition[1, 2] += 2.0
        lattice.emission[:, 1] -= 3.0
        transition[0, 2] = start[2] = -np.inf
        lattice = Lattice(lattice.emission, transition, start, lattice.stop)
        decoder = Decoder(GivenScores(lattice.emission, np.float64), transition, start, lattice.stop)
        found = tuple(decoder.best_by_position(sentence_of(5)).tolist())
        expected = expected_accuracy(lattice)
        assert expected[found] == pytest.approx(max(expected.values()), abs=1e-9)
        together += tuple(node_marginals(lattice).argmax(axis=1).tolist()) in expected
    assert 0 < together < 140


def test_scores_that_are_not_finite() -> None:
    """−inf means that there is no labelling, where something is forbidden; else numbers were too large."""
    for start, impossible in ([0.0, 0.0], "not finite"), ([0.0, -np.inf], "no labelling is possible"):
        chain = np.zeros((2, 2)), np.array(start), np.zeros(2)
        decoder = Decoder(None, *chain)  # type: ignore[arg-type]  # scores are not asked
        decoder._check_possible(np.array([-1e300, 0.0]), 0)
        decoder._check_possible(np.array([1.7e308, 1.7e308]), 0)
        for bad, message in (-np.inf, impossible), (np.inf, "not finite"), (np.nan, "not finite"):
            with pytest.raises(DataError, match=message) as caught:
                decoder._check_possible(np.array([0.0, bad, 1.0]), 3)
            assert caught.value.location == "X[4]"
