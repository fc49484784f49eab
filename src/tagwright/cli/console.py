"""Notes for people on standard error, and JSON for machines on standard output."""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from threading import Lock
from typing import Any

from tagwright import _machine_code
from tagwright.compat import numba

WAITING = "waiting for another process that compiles kernels ..."
COMPILING = (
    "compiling kernels that this machine has not needed before; this takes some seconds, up to a minute "
    "(`tagwright warm-up` compiles all that there are) ..."
)


def note(message: str) -> None:
    """One line on standard error."""
    print(f"tagwright: note: {message}", file=sys.stderr, flush=True)


def print_json(content: Mapping[str, Any]) -> None:
    """One JSON object on one line, in ASCII."""
    print(json.dumps(content, allow_nan=False))


@contextmanager
def notes(*, quiet: bool) -> Iterator[None]:
    """While this lasts, warnings, the first compilation of kernels and the first wait for another process that compiles
    them are shown as notes, or not at all."""
    with warnings.catch_warnings(), _watched_compiler(quiet=quiet), _watched_wait(quiet=quiet):
        warnings.simplefilter("ignore" if quiet else "default", UserWarning)
        warnings.showwarning = lambda message, *_rest, **_more: note(str(message))
        yield


@contextmanager
def _watched_wait(*, quiet: bool) -> Iterator[None]:
    """While this lasts, say so once this process waits for another one's kernels."""
    before, first = _machine_code.on_wait, Lock()

    def announce() -> None:
        if not quiet and first.acquire(blocking=False):
            note(WAITING)

    _machine_code.on_wait = announce
    try:
        yield
    finally:
        _machine_code.on_wait = before


class Compiling:
    """The seconds that this process has spent compiling kernels, while `notes` lasted."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._depth, self._began = 0, 0.0

    def begin(self) -> None:
        """A kernel is compiled, perhaps as a part of another; Numba compiles for one thread at a time."""
        if self._depth == 0:
            self._began = time.perf_counter()
        self._depth += 1

    def end(self) -> None:
        self._depth -= 1
        if self._depth == 0:
            self.seconds += time.perf_counter() - self._began


compiling = Compiling()


def _watched_compiler(*, quiet: bool) -> AbstractContextManager[object]:
    """While this lasts, count the time of compiling, and say so once Numba begins: it does where a kernel is not in its
    cache."""
    if numba is None:
        return nullcontext()
    event: Any = numba.core.event
    first = Lock()

    class Announcer(event.Listener):  # type: ignore[misc]  # Numba is not typed
        def on_start(self, event: object) -> None:
            compiling.begin()
            if not quiet and first.acquire(blocking=False):
                note(COMPILING)

        def on_end(self, event: object) -> None:
            compiling.end()

    listener: AbstractContextManager[object] = event.install_listener("numba:compile", Announcer())
    return listener
