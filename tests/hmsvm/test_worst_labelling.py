"""The worst labellings and hinge losses against enumeration of all labellings."""

from __future__ import annotations

import numpy as np
import pytest
from oracle import all_labellings, random_lattice, scorer

from tagwright.arrays import padded
from tagwright.chain.lattice import Lattice
from tagwright.chain.viterbi import Steps
from tagwright.hmsvm.worst_labelling import worst_labellings


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
        kept = rng.integers(0, Y, (2, T)).astype(np.int32)
        labels, values, slacks = worst_labellings(
            rows, np.array([0, T]), gold, steps, kept, np.array([2]), hamming=hamming
        )
        expected, value = by_enumeration(lattice, tuple(gold.tolist()), hamming=hamming)
        if expected is None:
            assert values[0] == -np.inf
            np.testing.assert_array_equal(labels, gold)
        else:
            assert values[0] == pytest.approx(value)
            assert tuple(labels.tolist()) == expected
        score = scorer(lattice)
        margins = (kept != gold).sum(axis=1) if hamming else np.ones(2)
        excess = [margin + score(tuple(y)) - score(tuple(gold)) for margin, y in zip(margins, kept, strict=True)]
        assert slacks[0] == pytest.approx(max(0.0, *excess))


def test_many_sentences_in_one_run() -> None:
    rng = np.random.default_rng(1)
    lattices = [random_lattice(rng, T=T, Y=3, scale=1.0, forbid=0.0) for T in (3, 1, 4)]
    chain = (lattices[0].transition, lattices[0].start, lattices[0].stop)
    offsets = np.array([0, 3, 4, 8])
    rows = np.zeros((8, 16))
    rows[:, :3] = np.concatenate([lattice.emission for lattice in lattices])
    gold = rng.integers(0, 3, 8).astype(np.int32)
    steps, nothing = Steps.build(*chain, np.float64), np.zeros((0, 8), np.int32)
    labels, values, slacks = worst_labellings(rows, offsets, gold, steps, nothing, np.zeros(3, np.int64), hamming=True)
    assert not slacks.any()
    for i, lattice in enumerate(lattices):
        begin, end = offsets[i : i + 2]
        expected = by_enumeration(Lattice(lattice.emission, *chain), tuple(gold[begin:end].tolist()), hamming=True)
        assert tuple(labels[begin:end].tolist()) == expected[0]
        assert values[i] == pytest.approx(expected[1])
