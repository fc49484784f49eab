"""The distribution of a feature's count against enumeration, also where counts differ by more than a float holds."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from oracle import distribution, random_lattice

from tagwright.arrays import padded
from tagwright.boosting.count_distribution import (
    CountedFeature,
    CountWorkspace,
    add_sentences,
    count_labellings,
)
from tagwright.chain.forward_backward import Chain
from tagwright.chain.lattice import Lattice


def found_by_us(lattice: Lattice, targets: np.ndarray, source: int, most: int) -> np.ndarray:
    work = CountWorkspace.build(most + 1, lattice.n_labels)
    count_labellings(*factors(lattice), targets.astype(np.int32), source, most + 1, work)
    return work.log_counts - np.logaddexp.reduce(work.log_counts)


def factors(lattice: Lattice) -> tuple[np.ndarray, Chain]:
    """Exponentials of the emission and of the chain."""
    x = np.full((lattice.n_positions, padded(lattice.n_labels)), 9.0)  # padding is never looked at
    x[:, : lattice.n_labels] = np.exp(lattice.emission - lattice.emission.max(axis=1, keepdims=True))
    return x, Chain.build(lattice.transition, lattice.start, lattice.stop, np.float64)


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


def test_masses_of_several_sentences_equal_enumeration() -> None:
    """Σ_i e^{weight_i} p_i(count), counts relative to gold ones; sentences that are not chosen add nothing."""
    rng = np.random.default_rng(5)
    base = random_lattice(rng, scale=1.0, forbid=0.0)
    Y, lengths, label = base.n_labels, (3, 1, 4), 1
    lattices = [Lattice(rng.normal(size=(T, Y)), base.transition, base.start, base.stop) for T in lengths]
    offsets = np.array([0, 3, 4, 8])
    targets = np.where(rng.random(8) < 0.7, label, -1).astype(np.int32)
    n_targets = [int((targets[offsets[i] : offsets[i + 1]] >= 0).sum()) for i in range(3)]
    chosen, gold, weights = np.array([0, 2]), np.array([1, 0]), np.array([0.3, 9.0, -1.2])
    low, high = -gold, np.array([n_targets[0], n_targets[2]]) - gold
    lowest = int(low.min())
    log_masses = np.full(int(high.max()) - lowest + 1, -np.inf)
    x = np.concatenate([factors(lattice)[0] for lattice in lattices])
    chain, work = factors(base)[1], CountWorkspace.build(int((high - low).max()) + 1, Y)
    feature, firsts, n_counts = CountedFeature(targets, -1), low - lowest, high - low + 1
    add_sentences(chosen, offsets, x, chain, feature, weights, firsts, n_counts, work, log_masses)
    expected = np.zeros(len(log_masses))
    for n, i in enumerate(chosen):
        own = targets[offsets[i] : offsets[i + 1]]
        for labels, probability in distribution(lattices[i]):
            count = sum(y == t for y, t in zip(labels, own.tolist(), strict=True)) - gold[n]
            expected[int(count - lowest)] += np.exp(weights[i]) * probability
    np.testing.assert_allclose(np.exp(log_masses), expected, rtol=1e-10)
