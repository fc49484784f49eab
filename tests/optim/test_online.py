"""The pruning of a perceptron's Viterbi, whose transitions change, against Viterbi without pruning."""

from __future__ import annotations

import numpy as np

from tagwright.arrays import padded
from tagwright.optim.online import decode_sentence, fill_lead, raise_lead


def test_a_raised_lead_is_never_too_small_and_prunes_nothing_that_wins() -> None:
    rng = np.random.default_rng(1)
    Y, T = 9, 12
    P = padded(Y)
    transition = np.full((Y, P), -np.inf, np.float32)
    transition[:, :Y] = rng.integers(-3, 4, (Y, Y))
    incoming = np.full((Y, P), -np.inf, np.float32)
    incoming[:, :Y] = transition[:, :Y].T
    ends = np.zeros(P, np.float32)
    ends[Y:] = -np.inf
    lead, exact, none = np.empty((3, Y, P), np.float32)
    none[:] = np.inf
    fill_lead(transition, incoming, lead)
    raised = 0
    for _ in range(300):
        i, j = rng.integers(0, Y, 2)
        change = rng.choice([-1, 1])
        transition[i, j] += change
        incoming[j, i] += change
        before = lead.copy()
        raise_lead(transition, incoming, i, j, lead)
        raised += int((lead > before).sum())
        fill_lead(transition, incoming, exact)
        truth = (transition[None, :, :Y] - transition[:, None, :Y]).max(axis=2)
        np.testing.assert_allclose(exact[:, :Y], truth, atol=2e-3)
        assert (exact[:, :Y] >= truth).all()
        assert (lead >= exact).all()
        scores = rng.integers(-6, 7, (T, P)).astype(np.float32)
        paths = np.zeros((2, T), np.int32)
        for path, limit in zip(paths, (lead, none), strict=True):
            work = np.empty((T, P), np.float32), np.empty(Y, np.int64)
            decode_sentence(T, scores.copy(), transition, incoming, ends, ends, limit, *work, path)
        np.testing.assert_array_equal(paths[0], paths[1])
    assert raised > 100
