"""The loss and its lattice gradient against enumeration and numerical differentiation."""

from __future__ import annotations

import numpy as np
import pytest
from oracle import log_partition, numerical_gradient, random_lattice

from tagwright.arrays import padded
from tagwright.chain.forward_backward import Chain
from tagwright.chain.lattice import Lattice
from tagwright.losses.sequence_log import sequence_log


def test_value_and_gradient() -> None:
    rng = np.random.default_rng(11)
    for _ in range(25):
        lattice = random_lattice(rng, scale=1.0, forbid=0.0)
        T, Y = lattice.emission.shape
        gold = rng.integers(0, Y, T).astype(np.int32)

        def value(vector: np.ndarray, T: int = T, Y: int = Y, gold: np.ndarray = gold) -> float:
            parts = np.split(vector, np.cumsum([T * Y, Y * Y, Y]))
            one = Lattice(parts[0].reshape(T, Y), parts[1].reshape(Y, Y), parts[2], parts[3])
            return log_partition(one) - one.score(gold)

        vector = np.concatenate([lattice.emission.ravel(), lattice.transition.ravel(), lattice.start, lattice.stop])
        rows = np.zeros((T, padded(Y)))
        rows[:, :Y] = lattice.emission
        chain = Chain.build(lattice.transition, lattice.start, lattice.stop, np.float64)
        found = sequence_log(rows, np.array([0, T]), gold, chain)
        transition, start, stop = found.transition, found.start, found.stop
        np.subtract.at(transition, (gold[:-1], gold[1:]), 1)
        start[gold[0]] -= 1
        stop[gold[-1]] -= 1
        assert found.values[0] == pytest.approx(value(vector), abs=1e-10)
        gradient = np.concatenate([rows[:, :Y].ravel(), transition.ravel(), start, stop])
        np.testing.assert_allclose(gradient, numerical_gradient(value, vector), atol=1e-6)
