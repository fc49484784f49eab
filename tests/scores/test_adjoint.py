"""Lists of entries by owner, against their definition."""

from __future__ import annotations

import numpy as np
import pytest

from tagwright.scores.adjoint import Lists

pytestmark = pytest.mark.bounds


@pytest.mark.parametrize("n", [0, 1, 50, 4000])
def test_lists_hold_the_entries_of_every_owner(n: int) -> None:
    random = np.random.default_rng(n)
    counts = np.zeros(1000, np.int64)
    for kind in (np.int32, np.int64):
        owner = random.integers(-1, 999, n).astype(kind)
        lists = Lists.collect(owner, counts)
        expected = {int(k): np.flatnonzero(owner == k).tolist() for k in np.unique(owner[owner >= 0])}
        bounds = zip(lists.pointers[:-1], lists.pointers[1:], strict=True)
        found = [lists.entries[first:last].tolist() for first, last in bounds]
        assert dict(zip(lists.keys.tolist(), found, strict=True)) == expected
        assert lists.keys.tolist() == sorted(expected)
        assert not counts.any()
        assert [cut for pair in lists.cuts for cut in pair][:: max(1, 2 * len(lists.cuts) - 1)] in (
            [0, len(expected)],
            [],
        )
