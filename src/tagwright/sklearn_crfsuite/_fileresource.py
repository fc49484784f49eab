"""Where the model of a `CRF` is: in the user's file, or in memory.

In the original, each model is a temporary file. Here, a file is made only when somebody asks for its name, as those do
who copy `crf.modelfile.name`; it goes when the model goes. A pickle of either kind holds the bytes of the model.
"""

from __future__ import annotations

import os
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

BYTES = "__FILE_RESOURCE_DATA__"  # the name in pickles, those of the original too


class FileResource:
    """The bytes of a model."""

    def __init__(
        self, filename: str | None = None, keep_tempfiles: bool = False, suffix: str = "", prefix: str = ""
    ) -> None:
        self.filename = filename
        self.keep_tempfiles = keep_tempfiles
        self.suffix = suffix
        self.prefix = prefix
        self.data: bytes | None = None  # None: in the user's file, if anywhere
        self._file: str | None = None
        self._remover: weakref.finalize[[str], FileResource] | None = None

    @property
    def auto(self) -> bool:
        """Whether the user has named no file."""
        return self.filename is None

    @property
    def name(self) -> str | None:
        """The user's file; else a temporary one, None where there is no model."""
        if self.filename is not None:
            return os.fspath(self.filename)
        if self._file is None and self.data is not None:
            handle, self._file = tempfile.mkstemp(self.suffix, self.prefix)
            with open(handle, "wb") as file:
                file.write(self.data)
            if not self.keep_tempfiles:
                self._remover = weakref.finalize(self, _remove, self._file)
        return self._file

    def cleanup(self) -> None:
        """Remove the temporary file, unless files are kept. The model stays in memory."""
        if self._remover is not None:
            self._remover()
            self._file = self._remover = None

    @contextmanager
    def written(self) -> Iterator[str]:
        """A name to write the model to."""
        if self.filename is not None:
            yield os.fspath(self.filename)
            return
        with tempfile.TemporaryDirectory(prefix=self.prefix) as folder:
            path = Path(folder, f"model{self.suffix}")
            yield str(path)
            self.data = path.read_bytes()
        if self.keep_tempfiles:
            _ = self.name  # which writes it

    def read(self) -> bytes | None:
        """The bytes of the model, None where there is none."""
        if self.data is None and self.name is not None:
            with suppress(OSError):
                return Path(self.name).read_bytes()
        return self.data

    def __getstate__(self) -> dict[str, Any]:
        state = {name: getattr(self, name) for name in ("filename", "keep_tempfiles", "suffix", "prefix")}
        return {**state, BYTES: self.read()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        filename = state.get("filename", state.get("name"))  # which the original says
        FileResource.__init__(self, filename, state["keep_tempfiles"], state["suffix"], state["prefix"])
        self.data = state.get(BYTES)


def _remove(path: str) -> None:
    with suppress(OSError):
        os.unlink(path)
