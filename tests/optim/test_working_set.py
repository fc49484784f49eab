"""What a sweep keeps up to date as it goes, against what it is by definition."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tagwright.encode.flat_text import FlatText
from toy import toy_words

from tagwright.arrays import Workers, padded
from tagwright.attributes.templates import resolve
from tagwright.encode.encoder import Encoder
from tagwright.learners._labels import number_labels
from tagwright.optim.kernel_space import KernelSpace
from tagwright.optim.linear_space import LinearSpace
from tagwright.optim.working_set import Space, WorkingSet, bound_primal
from tagwright.scores.contexts import find_contexts
from tagwright.scores.expanded import expand
from tagwright.scores.gram import Gram
from tagwright.scores.kernels import Kernel
from tagwright.scores.linear import LinearScores
from tagwright.scores.pattern import find_pattern

Y = 3


def build(kind: str, slack: str) -> WorkingSet:
    X, y = toy_words(20)
    text = FlatText.build(X)
    encoder = Encoder(resolve("s2", text.width))
    flat = [label for labels in y for label in labels]
    data = replace(encoder.learn(text), labels=number_labels(flat, ["A", "B", "C"]))
    workers = Workers(1)
    space: Space
    if kind == "linear":
        pattern = find_pattern(encoder, data, Y, all_states=True, min_count=1)
        space = LinearSpace(LinearScores(encoder, pattern, Y, np.float64), data, workers)
    else:
        contexts, of_token = find_contexts(expand(encoder, data), encoder.n_attributes)
        space = KernelSpace(Gram(contexts, Kernel("poly"), 16.0), of_token, data, Y)
    state = WorkingSet(space, data, Y, 0.5, slack, True, True, workers, np.random.default_rng(0))
    state._search.take_chain(state.chain)
    return state


@pytest.mark.parametrize("slack", ["l1", "l2"])
@pytest.mark.parametrize("kind", ["linear", "kernel"])
def test_a_visit_moves_the_scores_of_its_own_sentence(kind: str, slack: str) -> None:
    """Several searches in one visit see the weights that the ones before them made."""
    state = build(kind, slack)
    for i in range(6):
        state._sweep(np.array([i]), 5)
        state.space.refresh()
        T = int(state.data.lengths[i])
        rows = np.empty((T, padded(Y)))
        state.space.emission(i, i + 1, rows)
        assert state.planes.alpha[i].any()
        np.testing.assert_allclose(state._search.emission[:T, :Y], rows[:, :Y], atol=1e-9)
        np.testing.assert_allclose(state._search.transition[:, :Y].ravel(), state.chain[: Y * Y], atol=1e-12)
        np.testing.assert_allclose(state._search.incoming[:, :Y].T.ravel(), state.chain[: Y * Y], atol=1e-12)
        np.testing.assert_allclose(state._search.ends[:, :Y].ravel(), state.chain[Y * Y :], atol=1e-12)


@pytest.mark.parametrize("slack", ["l1", "l2"])
def test_the_primal_bound_is_the_least_over_lengths(slack: str) -> None:
    rng = np.random.default_rng(0)
    for C in (0.01, 0.1, 1.0, 30.0):
        losses = np.maximum(rng.normal(0.3, 0.4, 50), 0)
        lengths = np.linspace(1, 40, 200_001)[:, None]
        r = np.maximum(lengths * losses - (lengths - 1), 0)
        costs = r.sum(axis=1) if slack == "l1" else 0.5 * (r**2).sum(axis=1)
        expected = float((0.5 * lengths[:, 0] ** 2 * 3.0 + C * costs).min())
        assert bound_primal(losses, 3.0, C, slack) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("slack", ["none", "l2"])
def test_stretching_finds_the_best_length(slack: str) -> None:
    state = build("linear", slack)
    for _ in range(2):
        state._sweep(np.arange(20), 2)
    state._search_all()
    before = state._measure(1, 0.0)
    state._stretch(before)
    after = state._measure(2, 0.0)
    assert after.dual >= before.dual
    for factor in (0.99, 1.01):
        state.space.scale(factor)
        state.chain *= factor
        state.planes.alpha[:] *= factor
        assert state._measure(3, 0.0).dual < after.dual
        state.space.scale(1 / factor)
        state.chain /= factor
        state.planes.alpha[:] /= factor
