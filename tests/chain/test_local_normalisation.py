"""The lattice of a locally normalised chain: its scores are log-probabilities of the product of classifiers."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from oracle import log_partition, random_lattice, scorer

from tagwright.arrays import padded
from tagwright.chain.lattice import Lattice
from tagwright.chain.local_normalisation import normalise_locally


def normalised(lattice: Lattice, dtype: type = np.float64) -> Lattice:
    """The lattice that `normalise_locally` makes; everybody may end."""
    T, Y = lattice.emission.shape
    rows = np.zeros((T, padded(Y)), dtype)
    rows[:, :Y] = lattice.emission
    normalise_locally(rows, np.array([0, T]), lattice.transition, lattice.start)
    assert not rows[:, Y:].any()
    return Lattice(rows[:, :Y], lattice.transition, lattice.start, np.zeros(Y))


def log_softmax(scores: np.ndarray) -> np.ndarray:
    peak = scores.max()
    return scores - (peak + math.log(math.fsum(math.exp(s - peak) for s in scores)))


@pytest.mark.parametrize("scale", [0.1, 1.0, 10.0, 500.0])
def test_scores_are_products_of_local_probabilities(scale: float) -> None:
    rng = np.random.default_rng(int(scale))
    for _ in range(30):
        lattice = random_lattice(rng, scale=scale, forbid=0.0, T=int(rng.integers(1, 5)))
        T, Y = lattice.emission.shape
        found = normalised(lattice)
        score = scorer(found)
        for labels in itertools.product(range(Y), repeat=T):
            truth = 0.0
            for t, y in enumerate(labels):
                before = lattice.transition[labels[t - 1]] if t else lattice.start
                truth += log_softmax(lattice.emission[t] + before)[y]
            assert score(labels) == pytest.approx(truth, rel=1e-9, abs=1e-9)
        assert log_partition(found) == pytest.approx(0, abs=1e-9)


def test_single_precision() -> None:
    rng = np.random.default_rng(1)
    for _ in range(30):
        assert log_partition(normalised(random_lattice(rng, scale=1.0, forbid=0.0), np.float32)) == pytest.approx(
            0, abs=1e-5
        )


def test_forbidden_transitions_have_no_probability() -> None:
    """All probability stays on allowed ways, dead ends excepted; nothing becomes NaN."""
    rng = np.random.default_rng(3)
    dead_ends = 0
    for _ in range(60):
        lattice = random_lattice(rng, scale=1.0, forbid=0.4)
        emission = np.where(lattice.emission == -np.inf, 0, lattice.emission)
        free = Lattice(emission, lattice.transition, lattice.start, lattice.stop)
        found = normalised(free)
        assert not np.isnan(found.emission).any()
        ends = (free.transition == -np.inf).all(axis=1).any() or (free.start == -np.inf).all()
        dead_ends += ends
        if not ends:
            assert log_partition(found) == pytest.approx(0, abs=1e-9)
        else:
            assert log_partition(found) < 1e-9
    assert 0 < dead_ends < 60
