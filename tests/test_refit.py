"""A model that is fitted again while it is used: every answer is the old model's or the new one's."""

from __future__ import annotations

import pickle
from collections.abc import Callable

import pytest
from toy import toy_words

from tagwright.encode.encoder import Encoder
from tagwright.encode.text import Text
from tagwright.learners import LEARNERS
from tagwright.learners._base import SequenceTagger

QUESTIONS: dict[str, Callable[[SequenceTagger], object]] = {
    "predict": lambda model: model.predict(toy_words(20, seed=4)[0]),
    "posterior": lambda model: model.predict(toy_words(20, seed=4)[0], decoding="posterior"),
    "marginals": lambda model: model.predict_marginals(toy_words(5, seed=4)[0]),
    "nbest": lambda model: model.predict_nbest(toy_words(5, seed=4)[0], k=3),
}


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("name", sorted(LEARNERS))
def test_a_training_in_the_middle_of_a_prediction(name: str, question: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The model is fitted to less data, with fewer labels and words, when its text was read or encoded."""
    X, y = toy_words(60)
    model = LEARNERS[name](random_state=0).fit(X, y)
    if not (model.probabilistic if question in ("posterior", "marginals") else model.ranked or question == "predict"):
        return
    before = QUESTIONS[question](model)
    owner, step = (Text, "build") if question == "predict" else (Encoder, "encode")
    work, fitted = getattr(owner, step), []

    def work_then_fit(*given: object, **options: object) -> object:
        found = work(*given, **options)
        if not fitted:
            fitted.append(True)
            model.fit([["x", "y"]] * 4, [["B", "A"]] * 4)
        return found

    monkeypatch.setattr(owner, step, work_then_fit)
    assert QUESTIONS[question](model) == before
    assert fitted
    assert model.labels_ == ["A", "B"]


def test_a_pickle_in_the_middle_of_a_training(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = toy_words(60)
    model = LEARNERS["crf"]().fit(X, y)
    whole = pickle.dumps(model)
    store = type(model)._store_scores

    def fit_then_store(self: SequenceTagger, arrays: dict[str, object]) -> None:
        model.fit([["x", "y"]] * 4, [["B", "A"]] * 4)
        store(self, arrays)

    monkeypatch.setattr(type(model), "_store_scores", fit_then_store)
    assert pickle.dumps(model) == whole
