"""The dual perceptron with the linear kernel against the primal one, update by update."""

from __future__ import annotations

import numpy as np
import pytest
from toy import toy_words

from tagwright.attributes.templates import resolve
from tagwright.encode.encoder import Encoder
from tagwright.encode.text import Text
from tagwright.kernels.dual_perceptron import DualPerceptron
from tagwright.kernels.functions import Kernel
from tagwright.kernels.gram import GramMatrix
from tagwright.kernels.vectors import find_contexts
from tagwright.learners._labels import number_labels
from tagwright.optim.online import OnlineTraining, OnlineWeights
from tagwright.scores.expanded import LabelledTokens, expand
from tagwright.scores.growing_weights import GrowingWeights, label_score


@pytest.mark.parametrize("boundaries", [True, False])
def test_every_update_is_the_primal_one(boundaries: bool) -> None:
    X, y = toy_words(40)
    text, flat = Text.build(X), [label for labels in y for label in labels]
    Y = 3
    encoder, (data,) = Encoder.learn(resolve("s3", text.width), [text])
    data = data._replace(labels=number_labels(flat, ["A", "B", "C"]))
    tokens = expand(encoder, data)
    labelled = LabelledTokens(data.offsets, data.labels, tokens)
    weights = GrowingWeights.empty(encoder.n_attributes, Y, dtype=np.float32, averaged=True)
    free = np.arange(Y * Y + 2 * Y) < (Y * Y + 2 * Y if boundaries else Y * Y)
    primal = OnlineTraining(labelled, weights, free=free, margin=0.0, rule=None)
    contexts, of_token = find_contexts(tokens, encoder.n_attributes)
    gram = GramMatrix(contexts, Kernel("linear"), 16.0)
    dual = DualPerceptron(gram, data, of_token, Y, boundaries=boundaries)
    updates = 0
    for i in np.random.default_rng(0).permutation(np.repeat(np.arange(40), 3)):
        one = np.array([i])
        wrong, _ = primal.learn(one)
        assert dual.learn(one) == wrong
        updates += wrong > 0
        np.testing.assert_array_equal(dual.state.chain.edges, primal.state.chain.weights())
        p = int(data.offsets[i])
        expected = [label_score(tokens, p, primal.state.weights, y) for y in range(Y)]
        np.testing.assert_array_equal(dual.state.scores[:, of_token[p]], expected)
    assert 20 < updates < 120
    average = primal.add_average(OnlineWeights.none(encoder.n_attributes, Y), 1.0)
    np.testing.assert_allclose(dual.average()[-15:], average.chain, atol=1e-12)
