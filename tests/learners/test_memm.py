"""The MEMM: a probability over labellings, a CRF where sentences have one word, and its threads."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from toy import toy_words

from tagwright import CRF, MEMM, load
from tagwright.encode.text import Text
from tagwright.errors import ParameterError


def test_probabilities_of_all_labellings_sum_to_one() -> None:
    model = MEMM("pos", dtype="float64").fit(*toy_words(80))
    X = [sentence[:4] for sentence in toy_words(10, seed=4)[0]]
    for sentence, options in zip(X, model.predict_nbest(X, k=81), strict=True):
        assert len(options) == 3 ** len(sentence)
        assert sum(np.exp([score for _, score in options])) == pytest.approx(1, abs=1e-9)
    log_z = model.decoder_.marginals(model.encoder_.encode(Text.build(X)))[1]
    np.testing.assert_allclose(log_z, 0, atol=1e-9)


def test_prediction_is_the_product_of_its_classifiers() -> None:
    """Every labelling's probability again, from the weights alone: emission of each word, then softmax by softmax."""
    model = MEMM("word @ 0", dtype="float64").fit(*toy_words(80))
    transition, start, stop = model.decoder_.chain_scores
    assert not stop.any()
    X = [sentence[:3] for sentence in toy_words(20, seed=0)[0] if len(sentence) >= 3]
    for sentence, options in zip(X, model.predict_nbest(X, k=100), strict=True):
        data = model.encoder_.encode(Text.build([sentence]))
        rows = np.empty((3, model.decoder_.scores.width))
        model.decoder_.scores.rows(data).emission(0, 1, rows)
        truth = {}
        for labels in itertools.product(range(3), repeat=3):
            total = 0.0
            for t, y in enumerate(labels):
                scores = rows[t, :3] + (transition[labels[t - 1]] if t else start)
                total += scores[y] - np.log(np.exp(scores).sum())
            truth[tuple(model.labels_[y] for y in labels)] = total
        assert {tuple(labels): pytest.approx(score, abs=1e-9) for labels, score in options} == truth
        assert tuple(model.predict([sentence])[0]) == max(truth, key=truth.__getitem__)


def test_sentences_of_one_word_make_it_a_crf() -> None:
    X, y = toy_words(150)
    X, y = [[w] for s in X for w in s], [[label] for s in y for label in s]
    models = [learner("pos", dtype="float64", boundaries=False, tolerance=1e-10).fit(X, y) for learner in (CRF, MEMM)]
    assert models[0].objective_ == pytest.approx(models[1].objective_, rel=1e-9)
    np.testing.assert_allclose(*(model.decoder_.scores.weights.values for model in models), atol=1e-4)


def test_threads_do_not_change_a_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tagwright.learners._objective.BLOCK_BYTES", 25600)
    monkeypatch.setattr("tagwright.learners._objective.RUN_BYTES", 6400)
    monkeypatch.setattr("tagwright.learners._objective.RUN_TOKENS_A_LABEL", 1)
    X, y = toy_words(150)
    models = [MEMM("ner", n_jobs=n_jobs).fit(X, y) for n_jobs in (1, 3)]
    np.testing.assert_array_equal(*(model.decoder_.scores.weights.values for model in models))
    for mine, yours in zip(models[0].decoder_.chain_scores, models[1].decoder_.chain_scores, strict=True):
        np.testing.assert_array_equal(mine, yours)


def test_a_loaded_model_normalises_too(tmp_path: object) -> None:
    X, y = toy_words(60)
    model = MEMM("pos").fit(X, y)
    model.save(tmp_path / "m.tw")
    again = load(tmp_path / "m.tw")
    assert isinstance(again, MEMM)
    assert again.predict_marginals(X) == model.predict_marginals(X)


def test_gold_transitions_only_and_warm_start() -> None:
    X, y = toy_words(60)
    model = MEMM("pos", all_possible_transitions=False, warm_start=True, tolerance=1e-7).fit(X, y)
    cold = model.n_iter_
    assert model.fit(X, y).n_iter_ < cold
    with pytest.raises(ParameterError, match="no parameter 'loss'"):
        model.set_params(loss="sequence_log")


def test_weights_of_sentences_and_labels_count() -> None:
    """A weight of 2 is the sentence twice; a label of weight 0 is not learned from."""
    X, y = toy_words(60)
    options = {"dtype": "float64", "tolerance": 1e-9}
    twice = MEMM("s2", **options).fit(X + X[:20], y + y[:20])
    weighted = MEMM("s2", **options).fit(X, y, sample_weight=[2.0] * 20 + [1.0] * 40)
    assert weighted.objective_ == pytest.approx(twice.objective_, rel=1e-6)
    without = MEMM("pos", label_weights={"A": 0.0}).fit(X, y)
    assert "A" not in {label for labels in without.predict(X) for label in labels}
