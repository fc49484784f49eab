"""Tagging attribute dicts in one kernel gives what their encoding, the emission and Viterbi give."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tagwright.chain.viterbi import Steps
from tagwright.encode.encoder import Encoder
from tagwright.encode.forms import Vocabulary
from tagwright.encode.text import Text
from tagwright.learners.crf import CRF, make_crf
from tagwright.scores import attribute_tagging
from tagwright.scores.pattern import Pattern

WORDS = ["a", "the", "antidisestablishment", "", "né", "a:b"]


def random_model(rng: np.random.Generator, n_labels: int, dtype: str) -> CRF:
    """Attributes with few labels and with many, and with none."""
    names = [*(f"w:{word}" for word in WORDS), *(f"tag:{k}" for k in range(9)), "size", "odd", "bias", *WORDS[1:]]
    sizes = rng.integers(0, n_labels + 1, len(names))
    labels = [np.sort(rng.permutation(n_labels)[:size]) for size in sizes]
    pattern = Pattern(np.concatenate([[0], np.cumsum(sizes)]), np.concatenate(labels).astype(np.int32))
    encoder = Encoder.build(None, 0, given=Vocabulary(names))
    weights, transition = rng.normal(size=pattern.n_weights), rng.normal(size=(n_labels, n_labels))
    crf = make_crf(encoder, pattern, weights, [f"L{y:02}" for y in range(n_labels)], transition)
    if dtype == "float32":
        scores = type(crf.decoder_.scores.map).build(encoder, pattern, n_labels, np.float32).at(weights)
        crf.decoder_ = type(crf.decoder_)(scores, *crf.decoder_.chain_scores)
    return crf


def random_sentence(rng: np.random.Generator) -> list[Any]:
    found: list[Any] = []
    for _ in range(rng.integers(1, 9)):
        item: Any = {"w": str(rng.choice(WORDS)), "tag": str(rng.integers(12)), "odd": bool(rng.integers(2))}
        kind = rng.integers(6)
        if kind == 0:
            item |= {"size": float(rng.normal()), "bias": 1.0}
        elif kind == 1:
            item = [str(word) for word in rng.choice(WORDS, rng.integers(0, 5))]
        elif kind == 2:
            item["tag"] = [str(k) for k in rng.integers(12, size=2)]
        found.append(item)
    return found


@pytest.mark.parametrize(("n_labels", "dtype"), [(1, "float64"), (3, "float64"), (9, "float32"), (40, "float32")])
def test_the_best_labels_and_their_scores(n_labels: int, dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attribute_tagging, "AT_ONCE", 11)
    rng = np.random.default_rng(n_labels)
    crf = random_model(rng, n_labels, dtype)
    decoder = crf.decoder_
    steps = Steps.build(*decoder.chain_scores, decoder.scores.dtype)
    for size in (1, 2, 30, 1):
        X = [random_sentence(rng) for _ in range(size)]
        text = Text.build(X, width=0)
        data = crf.encoder_.encode(text)
        rows = np.zeros((data.n_tokens, decoder.scores.width), decoder.scores.dtype)
        decoder.scores.rows(data).emission(0, data.n_sentences, rows)
        labels, scores = steps.best_paths(rows, data.offsets)
        found = decoder._ready_attribute_tagging().best_of_text(text)
        assert found is not None
        np.testing.assert_allclose(found[1], scores, rtol=1e-5 if dtype == "float32" else 1e-12, atol=1e-5)
        np.testing.assert_array_equal(found[0], labels)
        assert [y for labels in crf.predict(X) for y in labels] == [f"L{y:02}" for y in labels.tolist()]


def test_a_string_with_a_separator_in_it() -> None:
    rng = np.random.default_rng(0)
    crf = random_model(rng, 4, "float64")
    X = [random_sentence(rng) for _ in range(5)]
    X[2].append({"w": "a\0the", "tag": "1"})
    assert crf.predict(X) == [crf.predict([sentence])[0] for sentence in X]
    text = Text.build(X, width=0)
    assert crf.decoder_._ready_attribute_tagging().best_of_text(text) is None
    np.testing.assert_array_equal(crf.decoder_.tag(crf.encoder_, text), crf.decoder_.best(crf.encoder_.encode(text)))


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_threads_give_the_same(n_jobs: int | None) -> None:
    rng = np.random.default_rng(3)
    crf = random_model(rng, 5, "float64")
    X = [random_sentence(rng) for _ in range(3000)]
    assert crf.predict(X, n_jobs=n_jobs) == [crf.predict([sentence])[0] for sentence in X]
