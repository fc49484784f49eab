"""The worst labellings and hinge losses against enumeration of all labellings."""

from __future__ import annotations

import numpy as np
import pytest
from oracle import all_labellings, random_lattice, scorer

from tagwright.arrays import padded
from tagwright.chain.lattice import Lattice
from tagwright.chain.viterbi import Steps
from tagwright.hmsvm.worst_labelling import search_sentences, worst_labelling
from tagwright.optim.online import DecodingWork


def by_enumeration(lattice: Lattice, gold: tuple[int, ...], *, hamming: bool) -> tuple[tuple[int, ...] | None, float]:
    """The wrong labelling with the largest Δ + F(y) − F(y_i)."""
    right = scorer(lattice)(gold)
    best: tuple[int, ...] | None = None
    most = -np.inf
    for labels, score in all_labellings(lattice):
        wrong = sum(a != b for a, b in zip(labels, gold, strict=True))
        value = (wrong if hamming else 1) + score - right
        if wrong and value > most:
            best, most = labels, value
    return best, most


@pytest.mark.parametrize("hamming", [False, True])
@pytest.mark.parametrize("favour", [0.0, 3.0])  # 3: the right labelling is often the best, so that it must be left
def test_equals_enumeration(hamming: bool, favour: float) -> None:
    rng = np.random.default_rng(7)
    for _ in range(60):
        T, Y = int(rng.integers(1, 6)), int(rng.integers(1, 4))
        lattice = random_lattice(rng, T=T, Y=Y, scale=1.0, forbid=0.0)
        gold = rng.integers(0, Y, T).astype(np.int32)
        emission = lattice.emission.copy()
        emission[np.arange(T), gold] += favour
        lattice = Lattice(emission, lattice.transition, lattice.start, lattice.stop)
        rows = np.zeros((T, padded(Y)))
        rows[:, :Y] = emission
        steps = Steps.build(lattice.transition, lattice.start, lattice.stop, np.float64)
        work, labels = DecodingWork.build(np.array([0, T]), Y, np.float64), np.empty(T, np.int32)
        found = worst_labelling(rows, gold, steps, hamming, work.delta, work.survivors, labels)
        expected, value = by_enumeration(lattice, tuple(gold.tolist()), hamming=hamming)
        if expected is None:
            assert found == -np.inf
            np.testing.assert_array_equal(labels, gold)
        else:
            assert found == pytest.approx(value)
            assert tuple(labels.tolist()) == expected
        np.testing.assert_allclose(rows[:, :Y], emission)  # as it was


@pytest.mark.parametrize("hamming", [False, True])
def test_losses_and_slacks_of_a_run(hamming: bool) -> None:
    rng = np.random.default_rng(1)
    lattices = [random_lattice(rng, T=T, Y=3, scale=1.0, forbid=0.0) for T in (3, 1, 4)]
    chain = (lattices[0].transition, lattices[0].start, lattices[0].stop)
    offsets = np.array([0, 3, 4, 8])
    rows = np.zeros((8, 16))
    rows[:, :3] = np.concatenate([lattice.emission for lattice in lattices])
    gold = rng.integers(0, 3, 8).astype(np.int32)
    kept, sizes = rng.integers(0, 3, (2, 8)).astype(np.int32), np.array([2, 0, 1])
    losses, slacks = np.empty((2, 3))
    work = DecodingWork.build(offsets, 3, np.float64)
    search_sentences(rows, offsets, gold, Steps.build(*chain, np.float64), hamming, kept, sizes, work, losses, slacks)
    for i, lattice in enumerate(lattices):
        begin, end = offsets[i : i + 2]
        own = Lattice(lattice.emission, *chain)
        assert losses[i] == pytest.approx(max(by_enumeration(own, tuple(gold[begin:end]), hamming=hamming)[1], 0.0))
        score = scorer(own)
        margins = (kept[:, begin:end] != gold[begin:end]).sum(axis=1) if hamming else [1, 1]
        excess = [
            margins[k] + score(tuple(kept[k, begin:end])) - score(tuple(gold[begin:end])) for k in range(sizes[i])
        ]
        assert slacks[i] == pytest.approx(max(0.0, *excess) if excess else 0.0)
