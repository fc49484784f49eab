"""What a sweep keeps up to date as it goes, against what it is by definition."""

from __future__ import annotations

import numpy as np
import pytest
from toy import toy_words

from tagwright.arrays import Workers, padded
from tagwright.attributes.templates import resolve
from tagwright.encode.encoder import Encoder
from tagwright.encode.text import Text
from tagwright.hmsvm.algorithm import WeightVector, WorkingSetAlgorithm
from tagwright.hmsvm.dual_weights import DualWeights
from tagwright.hmsvm.objective import MarginObjective
from tagwright.hmsvm.primal_weights import PrimalWeights
from tagwright.kernels.functions import Kernel
from tagwright.kernels.gram import GramMatrix
from tagwright.kernels.vectors import find_contexts
from tagwright.learners._labels import number_labels
from tagwright.scores.expanded import expand

Y = 3


def build(kind: str, slack: str) -> WorkingSetAlgorithm:
    X, y = toy_words(20)
    text = Text.build(X)
    flat = [label for labels in y for label in labels]
    encoder, (data,) = Encoder.learn(resolve("s2", text.width), [text])
    data = data._replace(labels=number_labels(flat, ["A", "B", "C"]))
    workers = Workers(1)
    weights: WeightVector
    if kind == "linear":
        weights = PrimalWeights(expand(encoder, data), data, encoder.n_attributes, Y)
    else:
        contexts, of_token = find_contexts(expand(encoder, data), encoder.n_attributes)
        weights = DualWeights(GramMatrix(contexts, Kernel("poly"), 16.0), of_token, data, Y)
    objective = MarginObjective(0.5, slack, hamming=True)
    return WorkingSetAlgorithm(weights, data, Y, objective, True, workers, np.random.default_rng(0))


@pytest.mark.parametrize("slack", ["l1", "l2"])
@pytest.mark.parametrize("kind", ["linear", "kernel"])
def test_a_step_moves_the_scores_of_its_own_sentence(kind: str, slack: str) -> None:
    """Several searches in one step see the weights that the ones before them made."""
    state = build(kind, slack)
    for i in range(6):
        state._sweep(np.array([i]), 5)
        T = int(state.data.lengths[i])
        rows = np.empty((T, padded(Y)))
        state.weights.emission(i, i + 1, rows)
        assert state.solution.sets.alpha[i].any()
        np.testing.assert_allclose(state.solution.work.emission[:T, :Y], rows[:, :Y], atol=1e-9)
        (transition, start, stop), rows = state.solution.chain.split(), state.solution.chain.rows
        np.testing.assert_array_equal(rows.transition[:, :Y], transition)
        np.testing.assert_array_equal(rows.incoming[:, :Y], transition.T)
        np.testing.assert_array_equal([rows.start[:Y], rows.stop[:Y]], [start, stop])


@pytest.mark.parametrize("slack", ["l1", "l2"])
def test_the_primal_bound_is_the_least_over_lengths(slack: str) -> None:
    rng = np.random.default_rng(0)
    for C in (0.01, 0.1, 1.0, 30.0):
        losses = np.maximum(rng.normal(0.3, 0.4, 50), 0)
        lengths = np.linspace(1, 40, 200_001)[:, None]
        r = np.maximum(lengths * losses - (lengths - 1), 0)
        costs = r.sum(axis=1) if slack == "l1" else 0.5 * (r**2).sum(axis=1)
        expected = float((0.5 * lengths[:, 0] ** 2 * 3.0 + C * costs).min())
        assert MarginObjective(C, slack, hamming=True).primal(losses, 3.0) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("slack", ["none", "l2"])
def test_scaling_finds_the_best_length(slack: str) -> None:
    state = build("linear", slack)
    for _ in range(2):
        state._sweep(np.arange(20), 2)
    state._search_all()
    before = state._measure(1, 0.0)
    state._scale(before)
    after = state._measure(2, 0.0)
    assert after.dual >= before.dual
    for factor in (0.99, 1.01):
        state.weights.scale(factor)
        state.solution.chain.scale(factor)
        state.solution.sets.alpha[:] *= factor
        assert state._measure(3, 0.0).dual < after.dual
        state.weights.scale(1 / factor)
        state.solution.chain.scale(1 / factor)
        state.solution.sets.alpha[:] /= factor
