"""predict_spans and calibrate_spans of every learner with probabilities; posterior decoding."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from toy import toy_words

from tagwright import CRF, HMM, MEMM, StructuredPerceptron, load
from tagwright.calibration import Platt
from tagwright.errors import DataError, NotFittedError, ParameterError
from tagwright.io.spans import read_spans
from tagwright.learners import SequenceTagger

X = [["xa", "yb", "zc"], ["zc", "xa", "yb"], ["zc", "zc"], ["xa", "zc"], ["xa", "xa", "yb", "zc"], ["qd", "zc"]] * 4
Y = [["B-P", "I-P", "O"], ["O", "B-P", "I-P"], ["O", "O"], ["B-P", "O"], ["B-P", "B-P", "I-P", "O"], ["B-Q", "O"]] * 4
FRESH = [["xa", "yb", "yb"], ["qd"], ["zc", "yb", "xa"], ["uu", "vv", "xa", "qd"]]


@pytest.fixture(scope="module", params=[CRF, HMM, MEMM])
def model(request: pytest.FixtureRequest) -> SequenceTagger:
    return request.param().fit(X, Y)


def enumerate_labellings(
    model: SequenceTagger, sentence: list[str], **options: object
) -> list[tuple[list[str], float]]:
    """All labellings with their probabilities, by way of k-best (at most 100)."""
    (found,) = model.predict_nbest([sentence], k=100, **options)
    return [(labels, float(np.exp(score))) for labels, score in found]


def test_probability_is_that_of_all_labellings_with_the_span(model: SequenceTagger) -> None:
    sentences = [sentence[:3] for sentence in FRESH]
    seen = 0
    for sentence, spans in zip(sentences, model.predict_spans(sentences), strict=True):
        assert [span.span for span in spans] == read_spans(model.predict([sentence])[0])
        options = enumerate_labellings(model, sentence)
        for span in spans:
            truth = sum(p for labels, p in options if span.span in read_spans(labels))
            assert span.probability == pytest.approx(truth, abs=1e-4)
            seen += 1
    assert seen > 2


def test_allowed_labels_are_known(model: SequenceTagger) -> None:
    allowed = [[["B-P"], ["I-P", "O"], ["O"]]]
    ((span,),) = model.predict_spans([FRESH[0]], allowed=allowed)
    options = enumerate_labellings(model, FRESH[0], allowed=allowed)
    truth = sum(p for labels, p in options if span.span in read_spans(labels))
    assert span.probability == pytest.approx(truth, abs=1e-4)
    certain = [["B-P", "I-P", "O"]]
    assert model.predict_spans([FRESH[0]], allowed=certain)[0][0].probability == pytest.approx(1, abs=1e-6)


def test_empty_sentences_and_batches(model: SequenceTagger, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = model.predict_spans([[], *FRESH, []])
    assert whole[0] == whole[-1] == []
    monkeypatch.setattr("tagwright.learners._batches.BATCH_TOKENS", 3)
    assert model.predict_spans([[], *FRESH, []]) == whole


def test_calibration_is_applied_stored_and_forgotten(model: SequenceTagger, tmp_path: object) -> None:
    wrong = [["B-P", "O", "O"], ["O"], ["O", "O", "B-P"], ["O", "O", "B-P", "B-Q"]]
    raw = model.predict_spans(FRESH)
    assert model.calibrate_spans(FRESH, wrong) is model
    found = model.predict_spans(FRESH)
    assert found != raw
    assert model.predict_spans(FRESH, calibrated=False) == raw
    flat, better = ([s.probability for spans in side for s in spans] for side in (raw, found))
    np.testing.assert_allclose(model.span_calibration_(flat), better)
    model.save(tmp_path / "m.tw")
    again = load(tmp_path / "m.tw")
    assert again.span_calibration_ == model.span_calibration_
    assert again.predict_spans(FRESH) == found
    again.set_params(verbose=0).fit(X, Y)
    assert again.span_calibration_ is None
    model.span_calibration_ = None


def test_calibration_learns_from_what_is_right() -> None:
    model = CRF().fit(X, Y)
    assert model.calibrate_spans(X, Y).span_calibration_(0.8) > 0.8
    none = [["O" for _ in sentence] for sentence in X]
    assert model.calibrate_spans(X, none).span_calibration_(0.8) < 0.2
    with pytest.raises(DataError, match="no spans"):
        model.calibrate_spans([["zc"]], [["O"]])
    with pytest.raises(DataError, match="1 sentences but 2"):
        model.calibrate_spans([["zc"]], [["O"], ["O"]])


def test_a_calibration_that_is_none_is_refused(tmp_path: object) -> None:
    model = CRF().fit(X, Y)
    model.span_calibration_ = Platt("steep", 0.0)
    model.save(tmp_path / "m.tw")
    with pytest.raises(ValueError, match="span_calibration"):
        load(tmp_path / "m.tw")


def test_who_has_no_spans_says_so() -> None:
    with pytest.raises(ParameterError, match="no probabilities, so no predict_spans"):
        StructuredPerceptron().fit(X, Y).predict_spans(FRESH)
    with pytest.raises(ParameterError, match="not spans: A, B, C"):
        CRF().fit(*toy_words(20)).predict_spans(FRESH)
    with pytest.raises(NotFittedError):
        CRF().predict_spans(FRESH)


# ---- posterior decoding ----


@pytest.mark.parametrize("well_formed", [False, True])
@pytest.mark.parametrize("learner", [CRF, HMM, MEMM])
def test_posterior_has_the_most_right_labels_expected(learner: type[SequenceTagger], well_formed: bool) -> None:
    rng = np.random.default_rng(0)
    model = learner(well_formed=well_formed).fit(X, Y)
    model.decoder_.chain_scores[0][:] += rng.normal(scale=2.5, size=(4, 4))
    differ = 0
    words = ["uu", "vv", "ww", *sorted({word for sentence in X for word in sentence})]
    for k in range(40):
        sentence = rng.choice(words, int(rng.integers(1, 4))).tolist()
        allowed = None
        if k % 2:
            allowed = [[None if rng.random() < 0.5 else {"O", "B-P", *rng.choice(model.labels_, 2)} for _ in sentence]]
        options = enumerate_labellings(model, sentence, allowed=allowed)
        rows = model.predict_marginals([sentence], allowed=allowed)[0]
        expected = {tuple(ls): sum(row[y] for row, y in zip(rows, ls, strict=True)) for ls, _ in options}
        found = tuple(model.predict([sentence], allowed=allowed, decoding="posterior")[0])
        assert expected[found] == pytest.approx(max(expected.values()), abs=1e-5)
        differ += list(found) != model.predict([sentence], allowed=allowed)[0]
        if well_formed:
            assert all(b != "I-P" or a in ("B-P", "I-P") for a, b in itertools.pairwise(["O", *found]))
    assert differ > 0


def test_posterior_of_a_long_sentence_is_exact() -> None:
    """Forbidden transitions make it a Viterbi over thousands of marginals: sums must not lose the small differences."""
    model = CRF(well_formed=True).fit(X, Y)
    sentence = [word for words in X for word in words] * 40
    labels = model.predict([sentence], decoding="posterior")[0]
    rows = model.predict_marginals([sentence])[0]
    best = [max(row, key=row.__getitem__) for row in rows]
    assert sum(a == b for a, b in zip(labels, best, strict=True)) == len(best)


def test_decoding_that_does_not_exist() -> None:
    with pytest.raises(ParameterError, match="'viterbi', 'posterior', found 'greedy'"):
        CRF().fit(X, Y).predict(FRESH, decoding="greedy")
    with pytest.raises(ParameterError, match="no probabilities, so no posterior decoding"):
        StructuredPerceptron().fit(X, Y).predict(FRESH, decoding="posterior")
