"""The benchmark of a server's threads counts what every thread tags, and shows how much more that is than one does."""

from __future__ import annotations

import threading
import time
from typing import Any, cast

import pytest

from benchmarks.threads import in_threads, show, tag_in_turn
from tagwright import Tagger

TEXT = [[str(i)] for i in range(40)]


class Counted:
    """Instead of a tagger: who asked for which sentence."""

    def __init__(self) -> None:
        self.calls: list[tuple[int, str]] = []

    def tag(self, sentence: list[str]) -> None:
        time.sleep(0.001)
        self.calls.append((threading.get_ident(), sentence[0]))

    def tag_sentences(self, sentences: list[list[str]]) -> None:
        for sentence in sentences:
            self.tag(sentence)


@pytest.mark.parametrize(("threads", "size"), [(1, 1), (3, 1), (2, 4)])
def test_the_second_core_of_a_server_is_measured(threads: int, size: int) -> None:
    tagger = Counted()
    began = time.perf_counter()
    rate, cores = in_threads(cast(Tagger, tagger), TEXT, threads, size, 0.05)
    took = time.perf_counter() - began
    assert len({thread for thread, _ in tagger.calls}) == threads
    assert len(tagger.calls) / took <= rate <= len(tagger.calls) / 0.05
    assert 0 <= cores <= threads
    first = dict(reversed(tagger.calls))
    assert len({*first.values()}) == threads  # each has text of its own


def test_a_text_begins_anew_where_it_ends() -> None:
    tagger = Counted()
    n = tag_in_turn(cast(Tagger, tagger), TEXT[:3], 1, 0.02, 1)
    assert n == len(tagger.calls)
    assert [word for _, word in tagger.calls][:5] == ["1", "2", "0", "1", "2"]


def test_threads_are_compared_with_one(capsys: pytest.CaptureFixture[str]) -> None:
    rows: list[dict[str, Any]] = [
        {"sentences": size, "threads": n, "rate": 100.0 * n * size, "cores": 1.0} for size in (1, 8) for n in (1, 2)
    ]
    show(rows, [{"processes": 1, "rate": 50.0}, {"processes": 2, "rate": 75.0}])
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines[2][:4] == ["1", "2", "200", "2.00"]
    assert lines[4][:4] == ["8", "2", "1,600", "2.00"]
    assert lines[-1] == ["2", "75", "1.50"]
