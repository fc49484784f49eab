"""Files in, sentences out, and back; spans and labels.

Start at sentences.py (`read_sentences`, `read_like`, `write_sentence`), format.py (what a format is), formats.py (the
list of them) and spans.py, which is imported when it is first used: it needs NumPy, and `--help` does not.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from tagwright.io.format import Format
from tagwright.io.formats import FORMATS, detect_format
from tagwright.io.layout import Layout
from tagwright.io.sentences import Sentences, read_like, read_sentences, write_nbest, write_sentence

if TYPE_CHECKING:
    from tagwright.io.spans import Span, allowed_transitions, convert, detect_scheme, read_spans, write_spans

__all__ = [
    "FORMATS", "Format", "Layout", "Sentences", "Span", "allowed_transitions", "convert", "detect_format",
    "detect_scheme", "read_like", "read_sentences", "read_spans", "write_nbest", "write_sentence", "write_spans",
]  # fmt: skip


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'tagwright.io' has no attribute {name!r}")
    return getattr(import_module("tagwright.io.spans"), name)
