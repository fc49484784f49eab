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
from tagwright.optim.online import AveragedPerceptron
from tagwright.scores.expanded import expand
from tagwright.scores.pattern import find_pattern
from tagwright.scores.wide_rows import TokenData


@pytest.mark.parametrize("boundaries", [True, False])
def test_every_update_is_the_primal_one(boundaries: bool) -> None:
    X, y = toy_words(40)
    text, flat = Text.build(X), [label for labels in y for label in labels]
    Y = 3
    encoder, (data,) = Encoder.learn(resolve("s3", text.width), [text])
    data = data._replace(labels=number_labels(flat, ["A", "B", "C"]))
    tokens = expand(encoder, data)
    pattern = find_pattern(encoder, data, Y, all_states=True, min_count=1)
    primal = AveragedPerceptron(TokenData.build(encoder, data, pattern, Y), boundaries=boundaries, margin=0.0)
    contexts, of_token = find_contexts(tokens, encoder.n_attributes)
    gram = GramMatrix(contexts, Kernel("linear"), 16.0)
    dual = DualPerceptron(gram, data, of_token, Y, boundaries=boundaries)
    updates = 0
    for i in np.random.default_rng(0).permutation(np.repeat(np.arange(40), 3)):
        one = np.array([i])
        wrong = primal.learn(one)
        assert dual.learn(one) == wrong
        updates += wrong > 0
        np.testing.assert_array_equal(dual.state.chain.edges, primal.state.chain.weights())
        p = int(data.offsets[i])
        firsts = pattern.pointers[tokens.attributes[tokens.pointers[p] : tokens.pointers[p + 1]]]
        expected = [primal.state.weights[firsts + y].sum() for y in range(Y)]  # an attribute has weights for all labels
        np.testing.assert_array_equal(dual.state.scores[:, of_token[p]], expected)
    assert 20 < updates < 120
    average = np.zeros(pattern.n_weights + 15)
    primal.add_average(average, 1.0)
    np.testing.assert_allclose(dual.average()[-15:], average[-15:], atol=1e-12)
