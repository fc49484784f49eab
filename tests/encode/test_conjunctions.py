"""Conjunctions against FeatureSet.explain, where they share a hash table and where they do not."""

from __future__ import annotations

import numpy as np
import pytest
from named import named_attributes
from toy import toy_words

from tagwright.attributes import resolve
from tagwright.encode.conjunctions import join_codes
from tagwright.encode.encoder import Encoder
from tagwright.encode.text import Text
from tagwright.errors import TemplateError

pytestmark = pytest.mark.bounds

TEMPLATES = {
    "one": ("word[-1] & word[0]", 1),
    "two that share": ("word[-1] & word[0] @ 0..1", 1),
    "four, two by two": ("word[-1] & word[0] @ -2, 0, 1, 3", 2),
    "an odd one left": ("word[0] & word[1] @ -1..1", 2),
    "other terms": ("word[0] & lower[1]\nlower[0] & word[1] @ 0..1", 2),
    "other distances": ("word[0] & word[1] @ 0..1\nword[0] & word[2] @ -3, 3", 2),
    "from right to left": ("word[1] & word[0] @ -1..0", 1),
    "some are absent": ("has_digit[0] & suffix(3)[1] @ -1..0\ncapitalised[0] & edge[-1]", 2),
    "three cells": ("word[-1] & word[0] & suffix(1)[1] @ -1..1", 2),
    "far beyond the edges": ("word[-9] & edge[9]\nword[-3] & word[-2] @ 0, 5", 2),
}


@pytest.mark.parametrize(("templates", "n_groups"), TEMPLATES.values(), ids=list(TEMPLATES))
def test_conjunctions_equal_what_explain_says(templates: str, n_groups: int) -> None:
    X, _ = toy_words(30)
    encoder, _ = Encoder.learn(resolve(f"word @ 0\n{templates}", 1), [Text.build(X)])
    assert len(encoder.conjunctions.plain[1][1]) - 1 == n_groups  # which share a hash table, two by two
    known, explain = set(encoder.attribute_names()), encoder.features.explain
    for text in (X, toy_words(30, seed=9)[0], [["a"]], [[f"w{k}"] for k in range(20)]):
        expected = [sorted(known & set(explain(s, t))) for s in text for t in range(len(s))]
        assert named_attributes(encoder, text) == expected


def test_a_pair_rare_in_one_conjunction_is_known_in_the_other() -> None:
    """min_conjunction counts each for itself: `a b` stands at the end twice, so that nothing follows it once."""
    features = resolve("word @ 0\nword[-1] & word[0] @ 0..1", 1)
    data = Text.build([["a", "b"], ["a", "b"], ["c", "a"]])
    encoder, _ = Encoder.learn(features, [data], min_conjunction=2)
    first, second = (set(member.table.keys.tolist()) for member in encoder.conjunctions.members)
    assert first != second
    known, explain = set(encoder.attribute_names()), encoder.features.explain
    text = [["a", "b"], ["c", "a"], ["b"]]
    expected = [sorted(known & set(explain(s, t))) for s in text for t in range(len(s))]
    assert named_attributes(encoder, text) == expected


def test_too_large_a_conjunction_is_refused() -> None:
    with pytest.raises(TemplateError, match="too large"):
        join_codes([np.zeros(1, np.int32)] * 3, [2**21, 2**21, 2**21])


def test_keys_are_numbers_of_mixed_radix() -> None:
    """Of one conjunction by hand: ((code_1 · n_2) + code_2) · n_3 + code_3, −1 where a cell is absent."""
    X = [["ab", "b", "cab"], ["b"], ["", "ab"]]
    encoder, (batch,) = Encoder.learn(resolve("word @ 0\nsuffix(2)[0] & word[1] & edge[2]", 1), [Text.build(X)])
    (cells,) = encoder.features.conjunctions
    sizes = [len(column.vocabularies[term]) for column, term in map(encoder.column_of, cells)]
    expected = []
    for sentence in X:
        for t in range(len(sentence)):
            key = 0
            for cell, size in zip(cells, sizes, strict=True):
                (column, term), value = encoder.column_of(cell), cell.value(sentence, t)
                code = -1 if value is None else column.vocabularies[term].index[value]
                key = -1 if min(key, code) < 0 else key * size + code
            expected.append(key)
    assert min(expected) == -1 < max(expected)
    assert encoder.find_keys(cells, batch).tolist() == expected
    member = encoder.conjunctions.members[0]
    np.testing.assert_array_equal(join_codes(member.split_keys(), member.sizes), member.table.keys)
