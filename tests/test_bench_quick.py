"""The regression guard marks what moved, and nothing else."""

from __future__ import annotations

import pytest

from benchmarks.quick import MOVED, change_words, compare


def test_what_moved_is_marked() -> None:
    edge = 1 + MOVED
    before = {"same": 1.0, "a little": 1.0, "slower": 2.0, "faster": 2.0, "gone": 1.0}
    now = {"same": 1.0, "a little": edge - 0.01, "slower": 2 * edge + 0.1, "faster": 1.5, "new": 3.0}
    lines = {line[:28].strip(): line for line in compare(now, before)}
    assert lines["slower"].endswith("SLOWER")
    assert lines["faster"].endswith("faster")
    assert lines["new"].endswith("new")
    assert lines["gone"].endswith("not measured any more")
    for name in ("same", "a little"):
        assert lines[name].endswith("%")


@pytest.mark.parametrize("n", [0, 1, 30])
def test_every_twelfth_word_is_new(n: int) -> None:
    changed = change_words([["run"] * n])
    assert [len(words) for words in changed] == [n]
    assert changed[0].count("runly") == -(-n // 12)
