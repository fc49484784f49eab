"""The dual perceptron with the linear kernel against the primal one, update by update."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tagwright.encode.flat_text import FlatText
from toy import toy_words

from tagwright.arrays import padded
from tagwright.attributes.templates import resolve
from tagwright.encode.encoder import Encoder
from tagwright.learners._labels import number_labels
from tagwright.optim.dual_online import DualPerceptron
from tagwright.optim.online import AveragedPerceptron
from tagwright.scores.contexts import find_contexts
from tagwright.scores.expanded import expand
from tagwright.scores.gram import Gram
from tagwright.scores.kernels import Kernel
from tagwright.scores.pattern import find_pattern
from tagwright.scores.wide_rows import TokenWeights, WidePattern


@pytest.mark.parametrize("boundaries", [True, False])
def test_every_update_is_the_primal_one(boundaries: bool) -> None:
    X, y = toy_words(40)
    text, flat = FlatText.build(X), [label for labels in y for label in labels]
    encoder, Y = Encoder(resolve("s3", text.width)), 3
    data = replace(encoder.learn(text), labels=number_labels(flat, ["A", "B", "C"]))
    tokens = expand(encoder, data)
    pattern = find_pattern(encoder, data, Y, all_states=True, min_count=1)
    longest = int(data.lengths.max())
    rows = WidePattern.build(pattern, Y)
    primal = AveragedPerceptron(rows, padded(Y), longest)
    contexts, of_token = find_contexts(tokens, encoder.n_attributes)
    dual = DualPerceptron(Gram(contexts, Kernel("linear"), 16.0), of_token, Y, longest)
    lists = TokenWeights.build(tokens, rows)
    updates = 0
    for i in np.random.default_rng(0).permutation(np.repeat(np.arange(40), 3)):
        one = np.array([i])
        wrong = primal.learn(one, data.offsets, data.labels, lists, boundaries=boundaries, margin=0.0)
        assert dual.learn(one, data.offsets, data.labels, boundaries=boundaries) == wrong
        updates += wrong > 0
        np.testing.assert_array_equal(dual.transition[:, :Y], primal.transition[:, :Y])
        np.testing.assert_array_equal(dual.ends[:, :Y], primal.ends[:, :Y])
        p = int(data.offsets[i])
        firsts = pattern.pointers[tokens.attributes[tokens.pointers[p] : tokens.pointers[p + 1]]]
        expected = [primal.weights[firsts + y].sum() for y in range(Y)]  # an attribute has weights for all labels
        np.testing.assert_array_equal(dual.scores[:, of_token[p]], expected)
    assert 20 < updates < 120
    average = np.zeros(pattern.n_weights + 15)
    primal.add_average(average, 1.0)
    np.testing.assert_allclose(dual.average()[-15:], average[-15:], atol=1e-12)
