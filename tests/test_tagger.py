"""The Tagger: one sentence or many, from a file or a model, from several threads."""

from __future__ import annotations

import copy
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tagwright import CRF, HMM, Tagger, datasets
from tagwright.errors import DataError, ModelFileError, NotFittedError, ParameterError
from tagwright.io import Span
from tagwright.scores import tagging


@pytest.fixture(scope="module")
def model() -> HMM:
    X, y = datasets.sample()
    return HMM().fit(X, y)


def test_a_sentence_a_text_many(model: HMM) -> None:
    tagger = Tagger(model)
    tokens = ["The", "dog", "barked", "."]
    labels = tagger.tag(tokens)
    assert labels == model.predict([tokens])[0]
    assert labels[0] == "DT"
    assert tagger.tag_text("The dog  barked .") == list(zip(tokens, labels))
    assert tagger.tag_sentences([tokens, tokens[:1]]) == [labels, model.predict([tokens[:1]])[0]]
    assert tagger.tag([]) == []
    assert tagger.tag_text("") == []


def test_from_a_file(model: HMM, tmp_path: Path) -> None:
    model.save(tmp_path / "m.tw")
    for path in (tmp_path / "m.tw", str(tmp_path / "m.tw")):
        tagger = Tagger(path)
        assert tagger.labels == model.labels_
        assert tagger.tag(["The", "dog"]) == model.predict([["The", "dog"]])[0]
    assert repr(tagger) == f"Tagger(HMM(), {len(model.labels_)} labels)"


def test_labels_are_a_copy(model: HMM) -> None:
    tagger = Tagger(model)
    tagger.labels.append("X")
    assert "X" not in tagger.labels


def test_spans() -> None:
    X, y = datasets.sample("entity", inputs=["word"])
    tagger = Tagger(HMM().fit(X, y))
    i = next(i for i, labels in enumerate(y) if "B-PER" in labels)
    spans = tagger.find_spans(X[i])
    assert spans
    assert all(isinstance(span, Span) for span in spans)
    labels = tagger.tag(X[i])
    assert [labels[span.start] for span in spans] == [f"B-{span.type}" for span in spans]
    with pytest.raises(DataError, match="these labels are not"):
        Tagger(HMM().fit([["a", "b"]], [["X", "Y"]])).find_spans(["a"])


@pytest.mark.parametrize("learner", [HMM(), CRF(tolerance=0.5)], ids=repr)
def test_threads_agree(learner: HMM | CRF) -> None:
    X, y = datasets.sample()
    model = learner.fit(X[:60], y[:60])
    tagger = Tagger(model)
    sentences = [[f"{word}{i % 7}" for word in words] for i, words in enumerate(X[:120])]  # unknown words
    expected = tagger.tag_sentences(sentences)
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(Tagger(model).tag, sentences)) == expected
        several = [Tagger(model).tag, Tagger(copy.copy(model)).tag] * 60  # a shallow copy shares encoder and tables
        assert list(pool.map(lambda tag, words: tag(words), several, sentences)) == expected


def test_refusals(tmp_path: Path) -> None:
    with pytest.raises(NotFittedError, match="not trained yet"):
        Tagger(CRF())
    with pytest.raises(ModelFileError, match="no such file"):
        Tagger(tmp_path / "none.tw")
    with pytest.raises(ParameterError, match="expected a model file or a trained learner, found dict"):
        Tagger({})  # type: ignore[arg-type]


def test_a_string_is_not_a_sentence(model: HMM) -> None:
    with pytest.raises(DataError, match="tokens: expected a list, found the string 'The dog'; use tag_text"):
        Tagger(model).tag("The dog")


def test_ctrl_c_in_the_middle_of_a_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """Or memory that is short: nothing of it stays in the model."""
    X, y = datasets.sample()
    model = CRF(tolerance=0.5).fit(X[:60], y[:60])
    new = [[f"{word}ing" for word in words] for words in X[60:80]]
    expected = model.predict(new)

    def interrupt(*arguments: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(tagging, "tag_text", interrupt)
        with pytest.raises(KeyboardInterrupt):
            model.predict(new)
    assert model.predict(new) == expected
