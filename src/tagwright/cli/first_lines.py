"""Whether the first sentence of a file looks like what a model was trained on: where the format was guessed, so that
plain text is not taken for columns, or columns for others.

Words may be new. But a column of tags in which no value is known, or ready-made attributes of which none is, belong to
another file: labels would be given all the same, and be wrong.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from itertools import islice
from typing import Any

from tagwright.encode.text import Text
from tagwright.errors import DataError
from tagwright.io import FORMATS, Layout
from tagwright.io.formats import HEAD
from tagwright.io.lines import Lines
from tagwright.learners import SequenceTagger

MOST_TAGS = 1000
"""Distinct values of a column of tags. A column with more (lemmas, say) may well have new ones only."""


def check_first_lines(model: SequenceTagger, layout: Layout, lines: Lines) -> None:
    """Refuse a file that begins with nothing the model knows."""
    encoder = model.encoder_
    if encoder.width == 1 or layout.n_inputs != max(1, encoder.width):
        return
    items = _read_items(layout, lines)
    if not items:
        return
    if encoder.width == 0:
        if not len(encoder.encode(Text.build([items])).attributes):
            names = dict.fromkeys(name for item in items for name in item)
            raise DataError(
                f"found {_some(names)}, expected attributes that the model knows, and none of the "
                "first sentence is; give the attributes of training, or say that this is what they are "
                f"(--format {layout.format})",
                location=lines.name,
            )
        return
    for forms in encoder.columns:
        values = dict.fromkeys(item[forms.column] for item in items)
        if forms.column > 0 and len(forms.values) <= MOST_TAGS and values.keys().isdisjoint(forms.values):
            name = layout.names[forms.column] if layout.names else ""
            which = f"{layout.inputs[forms.column]} {name}".rstrip()
            raise DataError(
                f"column {which} begins with {_some(values)}, expected values as in training, such as "
                f"{_some(forms.values)}; choose the input columns (--inputs), or say that these "
                f"are they (--format {layout.format})",
                location=lines.name,
            )


def _read_items(layout: Layout, lines: Lines) -> list[Any]:
    """The items of the first sentence, as far as it has been looked at; none where anything is wrong."""
    text = "\n".join([*lines.peek(HEAD), ""])
    with suppress(DataError):
        for sentence in FORMATS[layout.format].read(Lines.of_chunks([text.encode()], ""), layout, labelled=False):
            return sentence.items
    return []


def _some(values: Iterable[str]) -> str:
    """Some values, for a message."""
    return ", ".join([repr(value[:20]) for value in islice(values, 3)]) or "none"
