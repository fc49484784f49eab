"""What is learned from parts of the data and merged is what is learned from the whole, bit for bit."""

from __future__ import annotations

from dataclasses import fields
from itertools import pairwise

import numpy as np
import pytest
from toy import LABELS, toy_columns, toy_dicts, toy_words

from tagwright.attributes import resolve
from tagwright.encode.batch import Batch
from tagwright.encode.encoder import Encoder, count_keys, merge_keys
from tagwright.encode.forms import distinct_values
from tagwright.encode.text import Text
from tagwright.scores.pattern import count_occurrences, find_pattern
from tagwright.text.strings import join

pytestmark = pytest.mark.bounds

TEMPLATES = "word lower suffix(1..2) shape @ -1..1\nword[-1] & word[0] @ 0..1\nsuffix(1)[-1] & suffix(1)[0] & shape[1]"
CUTS = {"one": [0, 90], "two": [0, 30, 90], "many": [0, 1, 2, 40, 41, 89, 90]}
KINDS = {
    "words": (toy_words, TEMPLATES, 1),
    "columns": (toy_columns, TEMPLATES + "\nword:1 @ -2..2\nword:1[0] & word[0]", 2),
    "dicts": (toy_dicts, None, 0),
}


def cut(X: list, cuts: list[int]) -> list[Text]:
    return [Text.build(X[first:last]) for first, last in pairwise(cuts)]


def learn(kind: str, cuts: list[int], min_conjunction: int = 1) -> tuple[Encoder, list[Batch], list[list[str]]]:
    make, templates, width = KINDS[kind]
    X, y = make(90)
    features = None if templates is None else resolve(templates, width)
    encoder, batches = Encoder.learn(features, cut(X, cuts), min_conjunction=min_conjunction)
    numbered = []
    for batch, (first, last) in zip(batches, pairwise(cuts), strict=True):
        labels = [LABELS.index(label) for sentence in y[first:last] for label in sentence]
        numbered.append(batch._replace(labels=np.array(labels, np.int32)))
    return encoder, numbered, y


def assert_same_encoder(a: Encoder, b: Encoder) -> None:
    assert {field.name for field in fields(Encoder)} == {
        "features", "width", "columns", "conjunctions", "given", "slots", "n_attributes", "keys", "sets",
    }  # fmt: skip
    assert (a.width, a.slots, a.n_attributes, a.sets) == (b.width, b.slots, b.n_attributes, b.sets)
    np.testing.assert_array_equal(a.keys, b.keys)
    assert a.given.values == b.given.values
    for mine, yours in zip(a.columns, b.columns, strict=True):
        assert mine.values == yours.values
        np.testing.assert_array_equal(mine.codes, yours.codes)
        np.testing.assert_array_equal(mine.table.slots, yours.table.slots)
        assert [v.values for v in mine.vocabularies] == [v.values for v in yours.vocabularies]
    for mine, yours in zip(a.conjunctions.members, b.conjunctions.members, strict=True):
        np.testing.assert_array_equal(mine.table.keys, yours.table.keys)
    assert a.attribute_names() == b.attribute_names()


@pytest.mark.parametrize("min_conjunction", [1, 3])
@pytest.mark.parametrize("cuts", CUTS.values(), ids=list(CUTS))
@pytest.mark.parametrize("kind", KINDS)
def test_an_encoder_of_parts_is_that_of_the_whole(kind: str, cuts: list[int], min_conjunction: int) -> None:
    whole, (data,), _ = learn(kind, [0, 90], min_conjunction)
    encoder, batches, _ = learn(kind, cuts, min_conjunction)
    assert_same_encoder(encoder, whole)
    np.testing.assert_array_equal(np.concatenate([batch.forms for batch in batches], axis=1), data.forms)
    for name in ("attributes", "values", "labels"):
        np.testing.assert_array_equal(np.concatenate([getattr(b, name) for b in batches]), getattr(data, name))
    assert all(batch.unknown.words.n == len(batch.unknown.codes) == 0 for batch in batches)


@pytest.mark.parametrize("cuts", CUTS.values(), ids=list(CUTS))
def test_distinct_values_of_parts_joined_are_those_of_the_whole(cuts: list[int]) -> None:
    """Also where every part gives its own distinct values only, as a shard elsewhere would."""
    X, _ = toy_words(90)
    parts = [distinct_values(text.columns[0]) for text in cut(X, cuts)]
    whole = distinct_values(Text.build(X).columns[0])
    assert distinct_values(join(parts)).decode() == whole.decode() == list(dict.fromkeys(w for s in X for w in s))


@pytest.mark.parametrize("least", [1, 2, 5])
@pytest.mark.parametrize("cuts", CUTS.values(), ids=list(CUTS))
def test_keys_of_parts_merged_are_those_of_the_whole(cuts: list[int], least: int) -> None:
    X, _ = toy_words(90)
    encoder, (whole,) = Encoder.learn(resolve(TEMPLATES, 1), [Text.build(X)])
    for cells in encoder.features.conjunctions:
        parts = [count_keys(encoder, cells, encoder.encode(text)) for text in cut(X, cuts)]
        keys = encoder.find_keys(cells, whole)
        distinct, counts = np.unique(keys[keys >= 0], return_counts=True)
        assert counts.min() == 1 < counts.max()
        np.testing.assert_array_equal(merge_keys(parts, least), distinct[counts >= least])


@pytest.mark.parametrize("min_count", [1, 4])
@pytest.mark.parametrize("all_states", [False, True])
@pytest.mark.parametrize("cuts", CUTS.values(), ids=list(CUTS))
@pytest.mark.parametrize("kind", KINDS)
def test_a_pattern_of_parts_is_that_of_the_whole(kind: str, cuts: list[int], all_states: bool, min_count: int) -> None:
    encoder, (data,), _ = learn(kind, [0, 90])
    _, batches, _ = learn(kind, cuts)
    total, *others = [count_occurrences(encoder, batch, 3) for batch in batches]
    for part in others:
        total = total.merge(part)
    found = total.pattern(all_states=all_states, min_count=min_count)
    expected = find_pattern(encoder, data, 3, all_states=all_states, min_count=min_count)
    assert found.n_weights == expected.n_weights > 0
    np.testing.assert_array_equal(found.pointers, expected.pointers)
    np.testing.assert_array_equal(found.labels, expected.labels)
