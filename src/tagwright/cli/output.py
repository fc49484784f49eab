"""Where results go: files that are written whole or not at all, and standard output, in UTF-8 whatever the locale. A
name that ends in .gz, .bz2 or .xz asks for a packed file."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

from tagwright.atomic_file import atomic_file
from tagwright.errors import DataError
from tagwright.io.packing import packed_stream


def check_target(path: str) -> None:
    """Refuse a file that cannot be written, before any work is done for it."""
    folder = os.path.dirname(path) or "."
    if not path or os.path.isdir(path) or path.endswith(os.sep):
        raise DataError("found a folder, expected a file to write; name a file in it", location=path or "''")
    if not os.path.isdir(folder):
        raise DataError(f"the folder {folder!r} does not exist; make it first (mkdir -p)", location=path)
    if os.path.exists(path) and not os.path.isfile(path):
        raise DataError("found a device or a pipe, expected a file to write; name a file", location=path)
    target = path if os.path.exists(path) else folder
    if not os.access(folder, os.W_OK | os.X_OK) or not os.access(target, os.W_OK):
        raise DataError("no permission to write here; choose another place", location=path)


@contextmanager
def open_output(path: str | None) -> Iterator[Output]:
    """Standard output, or a file that takes its name when all is written. A device or a pipe is written as it is."""
    if path is None and sys.stdout is None:
        raise DataError("it is closed; give -o FILE", location="standard output")
    if path is None:
        yield Output(getattr(sys.stdout, "buffer", None))
        return
    if os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path):
        with open(path, "wb") as device, packed_output(path, device) as output:
            yield output
        return
    check_target(path)
    with atomic_file(path) as file, packed_output(path, file) as output:
        yield output


@contextmanager
def packed_output(path: str, file: BinaryIO) -> Iterator[Output]:
    """Output into a file, packed if its name says so."""
    packed = packed_stream(path, file)
    if packed is None:
        yield Output(file)
        return
    with packed:
        yield Output(packed, sends=False)


def write_text(path: str, text: str) -> None:
    """Write a whole file, such as a page."""
    with open_output(path) as output:
        output.write(text)
        output.flush()


class Output:
    """Text or bytes out, in UTF-8, line ends as they are. `flush` sends what has been written; a packed file `sends`
    all of it at its end, and is so much smaller."""

    def __init__(self, stream: BinaryIO | None, *, sends: bool = True) -> None:
        self._stream = stream
        self._sends = sends

    def write(self, text: str, /) -> None:
        self.write_bytes(text.encode("utf-8"))

    def write_bytes(self, data: bytes | memoryview, /) -> None:
        if self._stream is None:  # a standard output that somebody replaced by a stream of text
            sys.stdout.write(bytes(data).decode("utf-8"))
        else:
            self._stream.write(data)

    def flush(self) -> None:
        if self._stream is not None and self._sends:
            self._stream.flush()
