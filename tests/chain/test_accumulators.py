"""The distribution of a feature's count against enumeration, also where counts differ by more than a float holds."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from oracle import distribution, random_lattice

from tagwright.arrays import padded
from tagwright.chain.accumulators import count_distribution
from tagwright.chain.forward_backward import Chain
from tagwright.chain.lattice import Lattice


def found_by_us(lattice: Lattice, targets: np.ndarray, source: int, most: int) -> np.ndarray:
    chain = Chain.build(lattice.transition, lattice.start, lattice.stop, np.float64)
    rows = np.zeros((lattice.n_positions, padded(lattice.n_labels)))
    rows[:, : lattice.n_labels] = lattice.emission
    return count_distribution(rows, chain, targets.astype(np.int32), source, most)


def found_by_oracle(lattice: Lattice, count: Callable[[tuple[int, ...]], int], most: int) -> np.ndarray:
    masses = np.zeros(most + 1)
    for labels, probability in distribution(lattice):
        masses[count(labels)] += probability
    with np.errstate(divide="ignore"):
        return np.log(masses)


@pytest.mark.parametrize("seed", range(60))
def test_counts_equal_enumeration(seed: int) -> None:
    rng = np.random.default_rng(seed)
    lattice = random_lattice(rng, scale=float(rng.choice([0.1, 1, 5])))
    T, Y = lattice.emission.shape
    label, source = int(rng.integers(Y)), int(rng.integers(-1, Y))
    targets = np.where(rng.random(T) < 0.7, label, -1)
    most = int((targets >= 0).sum())

    def count(labels: tuple[int, ...]) -> int:
        pairs = enumerate(zip((None, *labels), labels, strict=False))
        return sum(targets[t] == y and source in (-1, previous) for t, (previous, y) in pairs)

    expected = found_by_oracle(lattice, count, most)
    np.testing.assert_allclose(found_by_us(lattice, targets, source, most), expected, atol=1e-9)


def test_counts_of_vanishing_probability_are_there() -> None:
    """200 occurrences of log odds −10 each: p(200) is e^−2000, far below the smallest float."""
    T = 200
    lattice = Lattice(np.tile([0.0, -10.0], (T, 1)), np.zeros((2, 2)), np.zeros(2), np.zeros(2))
    found = found_by_us(lattice, np.ones(T), -1, T)
    log_z = np.log1p(np.exp(-10.0))
    choose = np.cumsum(np.concatenate([[0.0], np.log(np.arange(T, 0, -1) / np.arange(1, T + 1))]))
    np.testing.assert_allclose(found, choose - 10.0 * np.arange(T + 1) - T * log_z, rtol=1e-10, atol=1e-9)
