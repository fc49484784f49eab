"""Ctrl-C during long work: the first one asks for a good end, the second one is Python's own."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from tagwright.optim.progress import Progress


class Stop:
    """Whether the user asked for an end; a callback that ends a training if so. `message` is what the user is told."""

    def __init__(self, message: str) -> None:
        self.asked = False
        self._message = f"\ntagwright: note: {message}; Ctrl-C again stops at once\n".encode()

    def __call__(self, progress: Progress) -> bool:
        return self.asked

    @contextmanager
    def on_interrupt(self) -> Iterator[None]:
        """While this lasts, the first Ctrl-C asks for an end; the next one is Python's own."""

        def ask(number: int, frame: FrameType | None) -> None:
            self.asked = True
            signal.signal(signal.SIGINT, signal.default_int_handler)
            os.write(sys.__stderr__.fileno() if sys.__stderr__ else 2, self._message)

        before = signal.signal(signal.SIGINT, ask)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)
