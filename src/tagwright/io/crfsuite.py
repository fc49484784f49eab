"""CRFsuite's text format: ready-made attributes, one item per line, a blank line between sequences.

    B-NP    w=Confidence    pos=NN    length:10
    B-PP    w=in            url=http\\://x

Fields are separated by tabs (a run of tabs is one). The first is the label, the others are attributes, each with
a weight after a colon, 1 if none; `\\:` and `\\\\` stand for a colon and a backslash. An attribute given twice has the
sum of its weights, which scores the same. An item is a dict {attribute: weight}. `@weight` lines are refused.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence

from tagwright.errors import DataError
from tagwright.io.format import Format, Sample
from tagwright.io.layout import ColumnChoice, Layout
from tagwright.io.lines import Lines, read_blocks
from tagwright.sequence import Sentence

ESCAPED = re.compile(r"\\([:\\])")
FIELD = re.compile(r"((?:[^:\\]|\\[:\\]?)*)(?::(.*))?", re.DOTALL)  # name, weight
HEAD = 32  # lines to look at
MAX_REMEMBERED = 1 << 20
LAYOUT = Layout("crfsuite", 0, (1,))


class CrfsuiteFormat(Format):
    """Ready-made attributes. It looks like columns: the file's name or the user must say what it is."""

    name = "crfsuite"
    description = "one item per line, its label and then its attributes"
    endings = (".crfsuite",)
    has_attributes = True

    def detect(self, sample: Sample) -> float:
        return 0.0

    def find_layout(self, lines: Lines, choice: ColumnChoice) -> Layout:
        super().find_layout(lines, choice)
        head = [line for line in lines.peek(HEAD) if line]
        if choice.trained and head and not any("\t" in line for line in head):
            raise DataError(
                f"found no attributes in {head[0][:60]!r}, nor in the lines after it, expected lines with a label and "
                "ready-made attributes, tabs between, as CRFsuite has them",
                location=lines.name,
            )
        return LAYOUT

    def read(self, lines: Lines, layout: Layout, *, labelled: bool) -> Iterator[Sentence]:
        """The sequences. Without labels (tagging), the first field may be empty."""
        known = _Attributes()
        for number, lead, block in read_blocks(lines):
            items: list[dict[str, float]] = []
            labels: list[str] = []
            for i in range(lead, len(block) - 1):
                label, *fields = block[i].split("\t")
                try:
                    items.append(_read_item(fields, known))
                    if labelled:
                        labels.append(_read_label(label))
                except DataError as error:
                    raise DataError(str(error), location=lines.location(number + i)) from None
            location = lines.location(number + lead)
            words = range(lead, len(block) - 1)
            yield Sentence(items, labels if labelled else None, location, block, words, self.name, lines.newline)

    def write(
        self, sentence: Sentence, labels: Sequence[str], layout: Layout, values: Sequence[str] | None
    ) -> list[str]:
        """One label (or label:value) on each line and a blank line, as `crfsuite tag` prints them."""
        rows = labels if values is None else [f"{label}:{value}" for label, value in zip(labels, values)]
        return [*rows, ""]


class _Attributes(dict[str, tuple[str, float]]):
    """Fields already read: attributes repeat, and a lookup is cheaper than parsing one again."""

    def __missing__(self, field: str) -> tuple[str, float]:
        if len(self) > MAX_REMEMBERED:
            self.clear()
        self[field] = read_attribute(field)
        return self[field]


def read_attribute(field: str) -> tuple[str, float]:
    """The name and weight of `name`, `name:` or `name:weight`."""
    match = FIELD.fullmatch(field)
    assert match is not None  # the pattern matches every string
    name = ESCAPED.sub(r"\1", match[1])
    try:
        weight = float(match[2]) if match[2] else 1.0
    except ValueError:
        weight = math.nan
    if not name or not math.isfinite(weight):
        raise DataError(
            f"found the attribute {field[:60]!r}, expected name or name:weight with a finite number; write a colon in "
            "a name as \\:"
        )
    return name, weight


def _read_item(fields: list[str], known: _Attributes) -> dict[str, float]:
    if "" in fields:
        fields = [field for field in fields if field]
    item = dict(map(known.__getitem__, fields))
    if len(item) != len(fields):  # an attribute twice
        item = {}
        for field in fields:
            name, weight = known[field]
            item[name] = item.get(name, 0.0) + weight
    return item


def _read_label(field: str) -> str:
    if not field:
        raise DataError("the first field is empty, expected a label; write one before the first tab")
    if field.startswith("@"):
        raise DataError(
            f"found the declaration {field[:40]!r}, which is not supported, expected a label; delete the line"
        )
    match = FIELD.fullmatch(field)
    assert match is not None
    if match[2] is not None:
        raise DataError(f"found a colon in the label {field[:40]!r}, expected a label; write the colon as \\:")
    return ESCAPED.sub(r"\1", match[1])


def write_items(items: Sequence[Mapping[str, float]], labels: Sequence[str]) -> list[str]:
    """A labelled sequence in CRFsuite's format, ready to train on, and a blank line."""
    lines = []
    for item, label in zip(items, labels):
        if label.startswith("@"):
            raise DataError(
                f"the label {label[:60]!r} begins with '@', which CRFsuite reads as a declaration; rename it"
            )
        fields = [_escape(label)]
        for name, weight in item.items():
            fields.append(_escape(name) if weight == 1.0 else f"{_escape(name)}:{float(weight)!r}")
        lines.append("\t".join(fields))
    return [*lines, ""]


def _escape(name: str) -> str:
    if not name.strip(" ") or any(c in name for c in "\t\n\r\0"):
        raise DataError(
            f"the name {name[:60]!r} is empty or holds a tab or a line end; CRFsuite's format cannot hold it"
        )
    return name.replace("\\", "\\\\").replace(":", "\\:")
