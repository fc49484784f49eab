"""Notes for people on standard error, and JSON for machines on standard output."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from threading import Lock
from typing import Any

from tagwright import _machine_code
from tagwright.compat import numba

COMPILING = "compiling kernels, once on this machine; this takes up to a minute ..."
WAITING = "waiting for another process that compiles kernels ..."


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


def _watched_compiler(*, quiet: bool) -> AbstractContextManager[object]:
    """While this lasts, say so once Numba begins to compile a kernel: it does where the kernel is not in its cache."""
    if numba is None or quiet:
        return nullcontext()
    event: Any = numba.core.event
    first = Lock()

    class Announcer(event.Listener):  # type: ignore[misc]  # Numba is not typed
        def on_start(self, event: object) -> None:
            if first.acquire(blocking=False):
                note(COMPILING)

        def on_end(self, event: object) -> None:
            pass

    listener: AbstractContextManager[object] = event.install_listener("numba:compile", Announcer())
    return listener
