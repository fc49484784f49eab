"""Conjunctions of two cells against FeatureSet.explain, where they share tables and where they do not."""

from __future__ import annotations

import pytest
from named import named_attributes
from toy import toy_words

from tagwright.attributes import resolve
from tagwright.encode.encoder import Encoder
from tagwright.encode.flat_text import FlatText

PAIRS = {
    "one": ("word[-1] & word[0]", 1),
    "two that share": ("word[-1] & word[0] @ 0..1", 1),
    "four, two by two": ("word[-1] & word[0] @ -2, 0, 1, 3", 2),
    "an odd one left": ("word[0] & word[1] @ -1..1", 2),
    "other terms": ("word[0] & lower[1]\nlower[0] & word[1] @ 0..1", 2),
    "other distances": ("word[0] & word[1] @ 0..1\nword[0] & word[2] @ -3, 3", 2),
    "from right to left": ("word[1] & word[0] @ -1..0", 1),
    "some are absent": ("has_digit[0] & suffix(3)[1] @ -1..0\ncapitalised[0] & edge[-1]", 2),
}


@pytest.mark.parametrize(("templates", "n_groups"), PAIRS.values(), ids=list(PAIRS))
def test_pairs_equal_what_explain_says(templates: str, n_groups: int) -> None:
    X, _ = toy_words(30)
    encoder = Encoder(resolve(f"word @ 0\n{templates}", 1))
    encoder.learn(FlatText.build(X))
    (pairs,), others = encoder.group_conjunctions()
    assert (len(pairs.groups), others) == (n_groups, {})
    known = set(encoder.attribute_names())
    for text in (X, toy_words(30, seed=9)[0], [["a"]], [[f"w{k}"] for k in range(20)]):
        expected = [sorted(known & set(encoder.features.explain(s, t))) for s in text for t in range(len(s))]
        assert named_attributes(encoder, text) == expected


def test_a_pair_rare_in_one_conjunction_is_known_in_the_other() -> None:
    """min_conjunction counts each for itself: `a b` stands at the end twice, so that nothing follows it once."""
    encoder = Encoder(resolve("word @ 0\nword[-1] & word[0] @ 0..1", 1), min_conjunction=2)
    encoder.learn(FlatText.build([["a", "b"], ["a", "b"], ["c", "a"]]))
    first, second = (set(table.table.keys.tolist()) for table in encoder.conjunctions)
    assert first != second
    known = set(encoder.attribute_names())
    text = [["a", "b"], ["c", "a"], ["b"]]
    expected = [sorted(known & set(encoder.features.explain(s, t))) for s in text for t in range(len(s))]
    assert named_attributes(encoder, text) == expected
