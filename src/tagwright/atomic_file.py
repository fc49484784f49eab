"""Files that are written whole or not at all: models, tagged files, pages, corpora."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO


@contextmanager
def atomic_file(path: str) -> Iterator[BinaryIO]:
    """A temporary file in the folder of `path`, which takes that name in one step once all of it is on the disk.

    What stood there before stays until then, and for good after an error or Ctrl-C. A symbolic link stays a link; the
    mode follows the umask.
    """
    target = os.path.realpath(path)
    temporary = os.path.join(os.path.dirname(target), f".tagwright-{secrets.token_hex(8)}.tmp")
    try:
        with open(temporary, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:  # Ctrl-C too
        with suppress(OSError):
            os.unlink(temporary)
        raise
