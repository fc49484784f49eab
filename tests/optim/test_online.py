"""The pruning of a perceptron's Viterbi, whose transitions change, against Viterbi without pruning; its start."""

from __future__ import annotations

import numpy as np
import pytest

from tagwright.arrays import padded
from tagwright.chain.viterbi import PrunedSteps, best_path
from tagwright.optim.chain_updates import fill_bounds, raise_bounds
from tagwright.optim.online import OnlineTraining, OnlineWeights
from tagwright.scores.expanded import LabelledTokens, TokenAttributes
from tagwright.scores.growing_weights import GrowingWeights
from tagwright.scores.pattern import Pattern


def test_a_raised_bound_is_never_too_low_and_prunes_nothing_that_wins() -> None:
    rng = np.random.default_rng(1)
    Y, T = 9, 12
    P = padded(Y)
    chain = PrunedSteps.zeros(Y, np.float32)
    chain.set_weights(np.concatenate([rng.integers(-3, 4, Y * Y), np.zeros(2 * Y)]))
    exact = chain._replace(bounds=np.empty((Y, P), np.float32))
    unpruned = chain._replace(bounds=np.full((Y, P), 1e30, np.float32))
    fill_bounds(chain)
    raised = 0
    for _ in range(300):
        i, j = rng.integers(0, Y, 2)
        change = rng.choice([-1, 1])
        chain.transition[i, j] += change
        chain.incoming[j, i] += change
        before = chain.bounds.copy()
        raise_bounds(chain, i, j)
        raised += int((chain.bounds > before).sum())
        fill_bounds(exact)
        truth = (chain.transition[None, :, :Y] - chain.transition[:, None, :Y]).max(axis=2)
        np.testing.assert_allclose(exact.bounds[:, :Y], truth, atol=2e-3)
        assert (exact.bounds[:, :Y] >= truth).all()
        assert (chain.bounds >= exact.bounds).all()
        scores = rng.integers(-6, 7, (T, P)).astype(np.float32)
        paths = np.zeros((2, T), np.int32)
        for path, steps in zip(paths, (chain, unpruned), strict=True):
            best_path(scores.copy(), T, steps, np.empty((T, P), np.float32), np.empty(Y, np.int64), path)
        np.testing.assert_array_equal(paths[0], paths[1])
    assert raised > 100


@pytest.mark.parametrize("boundaries", [True, False])
def test_begins_from_weights_that_it_may_have(boundaries: bool) -> None:
    """Without weights of boundaries, those of an earlier model are left behind; all others come back as they were."""
    Y = 3
    pattern = Pattern(np.array([0, 2, 3]), np.array([0, 2, 1], np.int32))
    data = LabelledTokens(
        np.array([0, 1]),
        np.zeros(1, np.int32),
        TokenAttributes(np.array([0, 1]), np.array([1], np.int32), np.empty(0)),
    )
    given = np.random.default_rng(0).integers(1, 9, 3 + Y * Y + 2 * Y).astype(np.float64)
    weights = GrowingWeights.build(pattern, given[:3], Y, grows=True, dtype=np.float32, averaged=True)
    free = np.arange(Y * Y + 2 * Y) < (Y * Y + 2 * Y if boundaries else Y * Y)
    training = OnlineTraining(data, weights, free=free, margin=0.0, rule=None)
    training.begin_from(given[3:])
    np.testing.assert_array_equal(training.state.chain.incoming[:, :Y], given[3:12].reshape(Y, Y).T)
    if not boundaries:
        given[-2 * Y :] = 0
    found = training.add_average(OnlineWeights.none(2, Y), 1.0)
    np.testing.assert_array_equal(found.attributes.pattern.pointers, pattern.pointers)
    np.testing.assert_array_equal(found.attributes.pattern.labels, pattern.labels)
    np.testing.assert_array_equal(np.concatenate([found.attributes.values, found.chain]), given)
