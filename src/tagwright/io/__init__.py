"""Files in, sentences out, and back: columns, CoNLL-U, CRFsuite's text, slashed and plain text; spans and labels.

Start at formats.py (`read_sentences`, `read_like`, `write_sentence`) and spans.py.
"""

from __future__ import annotations

from tagwright.io.detect import detect_format
from tagwright.io.formats import Sentences, read_like, read_sentences, write_nbest, write_sentence
from tagwright.io.layout import Layout
from tagwright.io.spans import Span, allowed_transitions, convert, detect_scheme, read_spans, write_spans

__all__ = [
    "Layout",
    "Sentences",
    "Span",
    "allowed_transitions",
    "convert",
    "detect_format",
    "detect_scheme",
    "read_like",
    "read_sentences",
    "read_spans",
    "write_nbest",
    "write_sentence",
    "write_spans",
]
