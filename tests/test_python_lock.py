"""Who may run while a kernel does: one sentence is over sooner than Python's lock changes hands, a long text is not."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from itertools import chain
from threading import Thread

import pytest
from toy import toy_words

from tagwright import StructuredPerceptron, _jit
from tagwright.compat import numba
from tagwright.encode.text import Text

pytestmark = pytest.mark.skipif(
    not _jit.JIT or numba.config.BOUNDSCHECK, reason="without machine code, or with checks, the lock is not given up"
)
CALLS = 3000


@pytest.fixture
def unhurried() -> Iterator[None]:
    """Python takes the lock from nobody who computes."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    yield
    sys.setswitchinterval(before)


def turns(work: Callable[[], object], calls: int) -> int:
    """In how many calls another thread, which is always ready, came to run."""
    met, done = 0, False

    def run() -> None:
        nonlocal met
        while not done:
            met += 1
            time.sleep(0)

    thread = Thread(target=run)
    thread.start()
    while not met:
        time.sleep(1e-4)
    found = 0
    for _ in range(calls):
        before = met
        work()
        found += met != before
    done = True
    thread.join()
    return found


@pytest.mark.usefixtures("unhurried")
def test_threads_that_tag_a_sentence_each_do_not_hand_the_lock_over() -> None:
    X, y = toy_words(30)
    model = StructuredPerceptron("pos", epochs=2).fit(X, y)
    model.predict(X)
    assert turns(lambda: model.predict(X[:1]), CALLS) == 0
    long = Text.build([[*chain.from_iterable(X * 20)]])
    assert turns(lambda: model._tag_text(long), 300) > 0
