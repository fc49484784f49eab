"""Whether the first sentence of a file looks like what a model was trained on: where the format was guessed, so that
plain text is not taken for columns, or columns for others.

Words may be new. But a column of tags in which no value is known, or ready-made attributes of which none is, belong to
another file: labels would be given all the same, and be wrong. Where there is no column of tags to tell by (a model may
look at words alone), a line or two are not enough.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any

from tagwright.cli.corpus import MOST_TAGS
from tagwright.encode.forms import ColumnForms
from tagwright.encode.text import Text
from tagwright.errors import DataError
from tagwright.io import FORMATS, Layout
from tagwright.io.columns import ColumnsFormat
from tagwright.io.format import read_header
from tagwright.io.formats import HEAD
from tagwright.io.lines import Lines
from tagwright.learners import SequenceTagger


def check_first_lines(
    model: SequenceTagger, trained: Layout, layout: Layout, lines: Lines, *, labelled: bool = False
) -> None:
    """Refuse a file that begins with nothing the model knows; `trained`: how its training file was read. A labelled
    file is no plain text, and one token of it proves nothing: it may be -DOCSTART-."""
    if model.encoder_.width == 1 and not _begins_with_tags(trained):
        return
    items = _read_items(layout, lines)
    if len(items) > labelled:
        check_items(model, trained, layout, items, lines.name)
        if labelled:
            return
        if layout.format == ColumnsFormat.name and model.encoder_.width > 1 and not _columns_of_tags(model, trained):
            _refuse_short(lines, model.encoder_.width)


def check_items(model: SequenceTagger, trained: Layout, layout: Layout, items: Sequence[Any], name: str) -> None:
    """Refuse the first sentence of a file where the model knows nothing of it."""
    encoder = model.encoder_
    if layout.n_inputs != max(1, encoder.width):
        return
    if encoder.width == 0:
        if not len(encoder.encode(Text.build([items])).attributes):
            names = dict.fromkeys(name for item in items for name in item)
            raise DataError(
                f"found {_some(names)}, expected attributes that the model knows, and none of the "
                "first sentence is; give the attributes of training, or say that this is what they are "
                f"(--format {layout.format})",
                location=name,
            )
        return
    for forms in _columns_of_tags(model, trained):
        values = dict.fromkeys(item if isinstance(item, str) else item[forms.column] for item in items)
        if values.keys().isdisjoint(forms.values):
            own = layout.names[forms.column] if layout.names else ""
            which = f"column {layout.inputs[forms.column]} {own}".rstrip() if layout.width else "it"
            raise DataError(
                f"{which} begins with {_some(values)}, expected values as in training, such as "
                f"{_some(forms.values)}; choose the input columns (--inputs), or say that these "
                f"are they (--format {layout.format})",
                location=name,
            )


def _begins_with_tags(trained: Layout) -> bool:
    """Whether the first input of the model is not the first column, which has the words."""
    return trained.format == ColumnsFormat.name and trained.inputs[:1] != (0,)


def _columns_of_tags(model: SequenceTagger, trained: Layout) -> list[ColumnForms]:
    """The input columns that the model looks at and that have few values."""
    first = 0 if _begins_with_tags(trained) else 1
    return [forms for forms in model.encoder_.columns if forms.column >= first and len(forms.values) <= MOST_TAGS]


def _refuse_short(lines: Lines, width: int) -> None:
    """Refuse a line or two with spaces that may as well be sentences of so many words."""
    head = lines.peek(HEAD)
    whole = len(head) > 2 and head[-1] == ""
    if not whole and "\t" not in head[0] and not read_header(head):
        raise DataError(
            f"found {head[0][:40]!r}, expected {width} columns for each word, as in training, and a blank line after a "
            "sentence; this may be a word with its columns, or a sentence: if the former, say so (--format columns)",
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
