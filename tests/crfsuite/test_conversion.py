"""CRFsuite's models as ours: the tags, probabilities and marginals that CRFsuite gives, and back to the same bytes."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pycrfsuite
import pytest
from crfsuite.models import ALGORITHMS, random_data, train
from toy import toy_dicts, toy_words

from tagwright import CRF, HMM, MEMM, StructuredPerceptron, load
from tagwright.crfsuite import from_crf, pack_model, to_crf, unpack_model, write_model
from tagwright.errors import ModelFileError

pytestmark = pytest.mark.filterwarnings("ignore::tagwright.errors.ConvergenceWarning")


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_tags_probabilities_and_marginals_are_crfsuites(tmp_path: Path, algorithm: str) -> None:
    data = train(tmp_path / "a", *random_data(8), algorithm)
    to_crf(unpack_model(data)).save(tmp_path / "a.tw")
    model = load(tmp_path / "a.tw")
    X = random_data(99)[0] + [[{"never seen": 3.0}, {}, ["w1", "w1", "ü2"]]]
    predicted, marginals = model.predict(X), model.predict_marginals(X)
    best = model.predict_nbest(X, k=1)
    with pycrfsuite.Tagger().open(str(tmp_path / "a")) as tagger:
        for sentence, labels, rows, [(_, log_probability)] in zip(X, predicted, marginals, best, strict=True):
            assert tagger.tag(sentence) == labels
            if labels:
                assert math.exp(log_probability) == pytest.approx(tagger.probability(labels), abs=1e-5)
            for t, row in enumerate(rows):
                assert row == pytest.approx({label: tagger.marginal(label, t) for label in row}, abs=1e-4)
    assert pack_model(from_crf(model)) == data


def test_labels_that_score_the_same_are_chosen_as_crfsuite_chooses(tmp_path: Path) -> None:
    """Nothing is known of these items, so that all labels tie: the order of labels decides."""
    data = train(tmp_path / "a", [[["a"], ["b"]]], [["Z", "A"]], feature__minfreq=10.0)
    with pycrfsuite.Tagger().open(str(tmp_path / "a")) as tagger:
        assert to_crf(unpack_model(data)).predict([[["c"], ["c"]]]) == [tagger.tag([["c"], ["c"]])]


@pytest.mark.parametrize("learner", [CRF, StructuredPerceptron])
def test_crfsuite_opens_ours_and_tags_the_same(tmp_path: Path, learner: type[CRF]) -> None:
    X, y = toy_dicts(60)
    model = learner(random_state=0, boundaries=False).fit(X, y) if learner is CRF else learner(random_state=0).fit(X, y)
    if learner is not CRF:  # it has no such parameter
        _, start, stop = model.decoder_.chain_scores
        start[:], stop[:] = 0, 0
    write_model(tmp_path / "ours", from_crf(model))
    fresh, _ = toy_dicts(50, seed=9)
    with pycrfsuite.Tagger().open(str(tmp_path / "ours")) as tagger:
        assert sorted(tagger.labels()) == sorted(model.labels_)
        assert [tagger.tag(sentence) for sentence in fresh] == to_crf(from_crf(model)).predict(fresh)
        if learner is CRF:
            assert [tagger.tag(sentence) for sentence in fresh] == model.predict(fresh)


def test_what_crfsuite_cannot_express_is_refused_with_the_reason() -> None:
    X, y = toy_dicts(20)
    words, labels = toy_words(20)
    spans = [[{"A": "O", "B": "B-X", "C": "I-X"}[label] for label in sentence] for sentence in y]
    quick = {"max_iterations": 2}
    for model, reason in (
        (CRF(**quick).fit(X, y), "boundaries=False"),
        (CRF("s1", **quick).fit(words, labels), "made by templates"),
        (CRF(order=2, **quick).fit(X, y), "trigrams"),
        (CRF(well_formed=True, boundaries=False, **quick).fit(X, spans), "forbids transitions"),
        (MEMM(**quick).fit(X, y), "memm is no CRF"),
        (HMM().fit(words, labels), "hmm is no CRF"),
    ):
        with pytest.raises(ModelFileError, match=reason):
            from_crf(model)


def test_a_converted_model_can_be_asked_everything(tmp_path: Path) -> None:
    data = train(tmp_path / "a", *random_data(1))
    model = to_crf(unpack_model(data))
    X, y = random_data(2)
    assert model.labels_ == unpack_model(data).labels
    assert model.predict([[]]) == [[]]
    assert 0 <= model.score(X[1:], y[1:]) <= 1
    assert model.n_parameters_ == sum(
        np.count_nonzero(w.values) for w in (unpack_model(data).states, unpack_model(data).transitions)
    )
