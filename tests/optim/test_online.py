"""The pruning of a perceptron's Viterbi, whose transitions change, against Viterbi without pruning."""

from __future__ import annotations

import numpy as np

from tagwright.arrays import padded
from tagwright.chain.viterbi import best_path
from tagwright.optim.online import OnlineChain, fill_bounds, raise_bounds


def test_a_raised_bound_is_never_too_low_and_prunes_nothing_that_wins() -> None:
    rng = np.random.default_rng(1)
    Y, T = 9, 12
    P = padded(Y)
    chain = OnlineChain.build(Y, np.float32)
    chain.set_weights(np.concatenate([rng.integers(-3, 4, Y * Y), np.zeros(2 * Y)]))
    exact = chain._replace(bounds=np.empty((Y, P), np.float32))
    unpruned = chain._replace(bounds=np.full((Y, P), np.inf, np.float32))
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
