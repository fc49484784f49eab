"""Shared rows against their definition, and tables of forms made with them against plain sums of weights."""

from __future__ import annotations

import numpy as np
import pytest

from tagwright.arrays import Workers
from tagwright.attributes import resolve
from tagwright.encode.batch import Batch
from tagwright.encode.encoder import Encoder
from tagwright.encode.text import Text
from tagwright.scores import row_index as module
from tagwright.scores.expanded import expand
from tagwright.scores.linear import LinearMap
from tagwright.scores.pattern import find_pattern
from tagwright.scores.row_index import FEW, NO_ROW

pytestmark = pytest.mark.bounds

RNG = np.random.default_rng(3)
N_LABELS = 11  # no multiple of a vector
WORDS = ["".join(RNG.choice(list("aeinst"), size=RNG.integers(1, 7))) for _ in range(400)]
X = [RNG.choice(WORDS, size=6).tolist() for _ in range(200)]
FRESH = [["neat", "sat", "Xenon", "", "tee", "ant5"], ["unseen", "neat"]]
FEATURES = "word lower prefix(1) suffix(1..3) shape capitalised @ -1..1\nsuffix(2) suffix(1) @ 2\nword[-1] & word[0]"


def prepare(dtype: type = np.float64) -> tuple[Encoder, Batch, LinearMap]:
    encoder, (batch,) = Encoder.learn(resolve(FEATURES, 1), [Text.build(X)])
    labels = RNG.integers(0, N_LABELS, size=sum(map(len, X))).astype(np.int32)
    data = batch._replace(labels=labels)
    pattern = find_pattern(encoder, data, N_LABELS, all_states=False, min_count=1)
    return encoder, data, LinearMap.build(encoder, pattern, N_LABELS, dtype)


def emission_by_definition(scores: LinearMap, data: Batch, weights: np.ndarray) -> np.ndarray:
    out = np.zeros((data.n_tokens, scores.width))
    tokens, pattern = expand(scores.encoder, data), scores.pattern
    for p in range(data.n_tokens):
        for a in tokens.attributes[tokens.pointers[p] : tokens.pointers[p + 1]]:
            for w in range(pattern.pointers[a], pattern.pointers[a + 1]):
                out[p, pattern.labels[w]] += weights[w]
    return out


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("few", [FEW, 1e-9, 1e9], ids=str)
def test_tables_are_sums_of_weights(few: float, dtype: type, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FEW", few)
    encoder, _, scores = prepare(dtype)
    assert (len(scores.shared.attributes) > 0) == (few < 1e9)
    table = None
    for seed in (0, 1):  # what the first weights left in the table must be gone
        weights = np.random.default_rng(seed).normal(size=scores.pattern.n_weights)
        linear = scores.at(weights, Workers(2), table)
        table = linear.table
        for text in (X, FRESH):
            now = encoder.encode(Text.build(text))
            out = np.empty((now.n_tokens, scores.width), dtype)
            linear.rows(now).emission(0, now.n_sentences, out)
            tolerance = {"atol": 1e-5} if dtype is np.float32 else {"atol": 1e-12}
            np.testing.assert_allclose(out, emission_by_definition(scores, now, weights), **tolerance)


def test_attributes_of_shared_terms_have_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    encoder, _, scores = prepare()
    weights = np.arange(1.0, scores.pattern.n_weights + 1)
    linear = scores.at(weights)
    shared, pattern, (column,) = scores.shared, scores.pattern, encoder.columns
    expected: list[int] = []
    for slot in encoder.slots[0]:
        for term, base in zip(slot.terms, slot.bases, strict=True):
            size = len(column.vocabularies[term])
            if FEW * size <= column.n_known:
                expected += range(base, base + size)
    assert len(expected) > 20
    assert shared.attributes.tolist() == expected
    for n, a in enumerate(expected):
        row = np.zeros(scores.width)
        part = slice(pattern.pointers[a], pattern.pointers[a + 1])
        row[pattern.labels[part]] = weights[part]
        np.testing.assert_array_equal(linear.shared[n], row)
    assert shared.bases[1].tolist() == [NO_ROW]  # of a conjunction each form has its own attribute
    monkeypatch.setattr(module, "WIDEST", scores.width - 1)
    assert len(prepare()[2].shared.attributes) == 0
