"""Marginals and counts of chosen sentences against enumeration, also where scaled numbers do not hold."""

from __future__ import annotations

import numpy as np
import pytest
from oracle import edge_marginals, log_partition, node_marginals, random_lattice

from tagwright.arrays import padded
from tagwright.boosting.expectations import (
    SentenceExpectations,
    TokenScores,
    expect_sentences,
    exponentiate_token,
)
from tagwright.chain.forward_backward import Chain, PairBuffers
from tagwright.chain.lattice import Lattice


@pytest.mark.parametrize("scale", [0.5, 5.0, 500.0])
@pytest.mark.parametrize("boundaries", [False, True])
def test_chosen_sentences_equal_enumeration(scale: float, boundaries: bool) -> None:
    rng = np.random.default_rng(int(scale) + boundaries)
    for _ in range(20):
        base = random_lattice(rng, scale=scale, forbid=0.0)
        Y, n = base.n_labels, int(rng.integers(1, 6))
        emissions = [rng.normal(scale=scale, size=(int(rng.integers(1, 6)), Y)) for _ in range(n)]
        lattices = [Lattice(rows, base.transition, base.start, base.stop) for rows in emissions]
        offsets = np.concatenate([[0], np.cumsum([len(rows) for rows in emissions])]).astype(np.int64)
        emission = np.zeros((offsets[-1], padded(Y)))
        emission[:, :Y] = np.concatenate(emissions)
        labels = rng.integers(0, Y, offsets[-1]).astype(np.int32)
        chosen = np.flatnonzero(rng.random(n) < 0.8).astype(np.int64)
        residuals, losses = np.full(emission.shape, 9.0), np.full(n, 9.0)
        counts = np.full((n, Y * Y + 2 * Y * boundaries), 9.0)
        chain = Chain.build(base.transition, base.start, base.stop, np.float64)
        work = PairBuffers.build(6, padded(Y), np.float64)
        scores = TokenScores.build(len(emission), padded(Y))
        scores.emission[:] = emission
        for t in range(len(emission)):
            exponentiate_token(t, Y, scores)
        out = SentenceExpectations(residuals, counts, losses)
        expect_sentences(chosen, scores, offsets, labels, chain, work, out)
        np.testing.assert_array_equal(scores.emission, emission)
        alone = SentenceExpectations(np.full(emission.shape, 9.0), np.empty((0, 0)), np.full(n, 9.0))
        expect_sentences(chosen, scores, offsets, labels, chain, work, alone)  # without the chain
        np.testing.assert_array_equal(alone.residuals, residuals)
        np.testing.assert_array_equal(alone.losses, losses)
        for i, lattice in enumerate(lattices):
            rows, gold = slice(offsets[i], offsets[i + 1]), labels[offsets[i] : offsets[i + 1]]
            if i not in chosen:
                assert (residuals[rows] == 9).all()
                assert (counts[i] == 9).all()
                continue
            expected = node_marginals(lattice) - np.eye(Y)[gold]
            np.testing.assert_allclose(residuals[rows, :Y], expected, atol=1e-9)
            pairs = edge_marginals(lattice).sum(axis=0)
            np.subtract.at(pairs, (gold[:-1], gold[1:]), 1)
            np.testing.assert_allclose(counts[i, : Y * Y].reshape(Y, Y), pairs, atol=1e-9)
            if boundaries:
                np.testing.assert_allclose(counts[i, Y * Y :], np.concatenate([expected[0], expected[-1]]), atol=1e-9)
            assert losses[i] == pytest.approx(log_partition(lattice) - lattice.score(gold), abs=1e-8 * max(scale, 1))
