"""The error that python-crfsuite raises where CRFsuite itself gives up, with CRFsuite's codes."""

from __future__ import annotations

from typing import ClassVar

from tagwright.errors import TagwrightError

UNKNOWN = -(1 << 31)
"""The first code; the others follow it."""
MEANINGS = (
    "Unknown error occurred",
    "Insufficient memory",
    "Unsupported operation",
    "Incompatible data",
    "Internal error",
    "Overflow",
    "Not implemented",
)
OVERFLOW = UNKNOWN + MEANINGS.index("Overflow")


class CRFSuiteError(TagwrightError):
    """A training that could not be finished. `code` is CRFsuite's number for the reason."""

    _messages: ClassVar = {UNKNOWN + k: meaning for k, meaning in enumerate(MEANINGS)}

    def __init__(self, code: int) -> None:
        self.code = code
        super().__init__(self._messages.get(code, "Unexpected error"))
