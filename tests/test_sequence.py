"""The forms of a sentence: NLTK's pairs both ways."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tagwright.errors import DataError
from tagwright.sequence import Sentence, from_pairs, pairs


@given(st.lists(st.lists(st.tuples(st.text(), st.text()))))
def test_pairs_there_and_back(tagged: list[list[tuple[str, str]]]) -> None:
    X, y = from_pairs(tagged)
    assert [[token for token, _ in sentence] for sentence in tagged] == X
    assert y == [[tag for _, tag in sentence] for sentence in tagged]
    assert pairs(X, y) == tagged


@pytest.mark.parametrize(
    ("X", "y", "location"),
    [
        ([["a"]], [], "y"),
        ([["a"], ["b", "c"]], [["A"], ["B"]], "y[1]"),
        (["ab"], [["A", "B"]], "X[0]"),
        ([["a", "b"]], ["AB"], "y[0]"),
    ],
)
def test_pairs_refuses(X: Any, y: Any, location: str) -> None:
    with pytest.raises(DataError) as caught:
        pairs(X, y)
    assert caught.value.location == location


@pytest.mark.parametrize(
    ("tagged", "location"),
    [
        ([("a", "A")], "tagged[0][0]"),
        ([[("a", "A"), ("b",)]], "tagged[0][1]"),
        ([[("a", "A")], [("b", None)]], "tagged[1][0]"),
        (["ab"], "tagged[0][0]"),
    ],
)
def test_from_pairs_refuses(tagged: Any, location: str) -> None:
    with pytest.raises(DataError) as caught:
        from_pairs(tagged)
    assert caught.value.location == location


def test_a_sentence_has_a_length() -> None:
    assert len(Sentence(["a", "b"])) == 2
