"""Folds, draws and sizes: every sentence is tested once a draw, nothing is trained on and tested."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tagwright.comparison.splits import Split, check_sizes, make_splits
from tagwright.errors import TagwrightError


def split(n: int, **changes: Any) -> list[Split]:
    options: dict[str, Any] = {"n_test": None, "folds": 3, "draws": 1, "size": None, "random_state": 0}
    return make_splits(n, **(options | changes))


def test_folds_part_the_sentences() -> None:
    splits = split(11)
    assert [one.key for one in splits] == [(0, 0), (0, 1), (0, 2)]
    assert sorted(np.concatenate([one.test for one in splits]).tolist()) == list(range(11))
    assert {len(one.test) for one in splits} == {3, 4}
    for one in splits:
        assert sorted([*one.train.tolist(), *one.test.tolist()]) == list(range(11))


def test_draws_are_different_and_have_their_own_folds() -> None:
    splits = split(40, draws=4, size=10)
    drawn = []
    for draw in range(4):
        mine = [one for one in splits if one.key[0] == draw]
        tested = np.concatenate([one.test for one in mine])
        assert len(set(tested.tolist())) == 10
        assert all(set(one.train.tolist()) <= set(tested.tolist()) for one in mine)
        drawn.append(frozenset(tested.tolist()))
    assert len(set(drawn)) == 4


def test_a_seed_gives_the_same_splits() -> None:
    first, again, other = (split(30, random_state=seed) for seed in (1, 1, 2))
    assert all((a.train == b.train).all() and (a.test == b.test).all() for a, b in zip(first, again, strict=True))
    assert any((a.train != b.train).any() for a, b in zip(first, other, strict=True))


def test_a_test_set_leaves_all_for_training() -> None:
    (one,) = split(9, n_test=4)
    assert (sorted(one.train.tolist()), one.test.tolist(), one.key) == (list(range(9)), [0, 1, 2, 3], (0, None))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"folds": 12}, "folds: 11 sentences cannot be parted into 12 folds; take fewer folds or more"),
        ({"size": 2}, "folds: 2 sentences cannot be parted into 3 folds"),
        ({"size": 12}, "size: cannot draw 12 sentences: there are 11"),
        ({"folds": 1}, "folds must be at least 2, found 1"),
        ({"draws": 0}, "draws must be at least 1"),
        ({"n_test": 5, "draws": 2}, "would all be the same training; give the size of a draw"),
    ],
)
def test_what_cannot_be_split(options: dict[str, Any], message: str) -> None:
    with pytest.raises(TagwrightError, match=message):
        split(11, **options)


def test_sizes_that_a_split_does_not_have() -> None:
    splits = split(11)
    check_sizes([1, 7], splits)
    with pytest.raises(TagwrightError, match="cannot train on 8 sentences: the smallest training part has 7"):
        check_sizes([8], splits)
