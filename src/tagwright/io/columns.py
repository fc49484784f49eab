"""CoNLL-style columns: one word per line, its columns separated by tabs or spaces, a blank line between sentences.

    EU      NNP  B-ORG
    rejects VBZ  O

A line that has a tab is split at tabs alone, another at runs of spaces. The label is the last column unless another
is asked for; the inputs are the columns left of it. Line 1 may name the columns (CoNLL-U Plus):

    # global.columns = WORD POS ENTITY

No other comment is known, since "#" is a word in many corpora. "-DOCSTART- -X- O" lines are sentences like others.
With labels, every line must have as many columns as the first. Without (tagging), a line needs the input columns and
may have more. A field that is asked for may not be empty.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from tagwright.errors import DataError
from tagwright.io.format import Format, FormatRules, Sample, item_rows, read_header
from tagwright.io.layout import ColumnChoice, Layout, choose_columns
from tagwright.io.lines import HEADER, Lines, read_blocks
from tagwright.sequence import Sentence


class ColumnsFormat(Format):
    """One word per line, its columns separated by tabs or spaces."""

    name = "columns"
    description = "one word per line with its columns, as in CoNLL files"
    rules = FormatRules(has_header=True, not_in_labels="\t\n\r")
    has_columns = True

    def detect(self, sample: Sample) -> float:
        rows = sample.rows
        if read_header(rows):
            return 0.9
        if rows and ("\t" in rows[0] or rows[0].startswith("-DOCSTART-")):
            return 0.7
        if sample.labelled or (rows and (sample.n_inputs or 1) > 1):
            return 0.5
        widths = {len(split_line(line)) for line in rows}
        labels_last = widths == {2} and len(rows) > 1 and sample.head[-1] == ""
        return 0.4 if widths == {1} or labels_last else 0.0

    def find_layout(self, lines: Lines, choice: ColumnChoice) -> Layout:
        """From the header and the first line. The label is the last column unless another is chosen."""
        if choice.label == "auto":
            choice = choice._replace(label=-1)
        head = lines.peek(2)
        names = read_header(head)
        rows = [line for line in head[1 if names else 0 :] if line]
        if not rows:
            return Layout(self.name, None, tuple(range(choice.n_inputs or 1)))
        width = len(split_line(rows[0]))
        location = lines.location(lines.first_number(rows[0]))
        if names and choice.label is not None and len(names) != width:
            raise DataError(
                f"found {width} columns, expected {len(names)}: line 1 names {' '.join(names)}; correct one of the "
                "lines",
                location=location,
            )
        target, chosen = choose_columns(choice, width, names, location)
        input_names = tuple(names[i] for i in chosen) if len(names) > max(chosen) else ()
        return Layout(self.name, target, chosen, input_names, width if target is not None else 0)

    def read(self, lines: Lines, layout: Layout, *, labelled: bool) -> Iterator[Sentence]:
        """The sentences, with labels where `layout.label` is a column."""
        name, newline = lines.name, lines.newline
        has_header = lines.first == 1 and bool(read_header(lines.peek(1)))
        held: list[str] = []
        for number, lead, block in read_blocks(lines):
            if has_header:
                has_header = False
                lead += 1
                if lead == len(block) - 1:  # a blank line stands between the header and the first sentence
                    held = block
                    continue
            fields, step = _split_block(block[lead:-1], lines, number + lead, layout)
            items, labels = take_columns(fields, step, layout.inputs, layout.label)
            location = f"{name}:{number + lead}"
            if held:
                lead += len(held)
                block, held = held + block, []
            yield Sentence(items, labels, location, block, range(lead, len(block) - 1), self.name, newline)

    def write(
        self, sentence: Sentence, labels: Sequence[str], layout: Layout, values: Sequence[str] | None
    ) -> list[str]:
        """The sentence's lines as they were, each with its label (and value) as a further column; a blank line last.

        The separator is a tab if the line has a tab or one column, else a space. A header gets the further names.
        """
        added = labels if values is None else [f"{label}\t{value}" for label, value in zip(labels, values)]
        if sentence.format != self.name:
            return ["\t".join((*row, label)) for row, label in zip(item_rows(sentence, "\t\n\r"), added)] + [""]
        lines = list(sentence.lines)
        for i in range(sentence.words[0]):
            if HEADER.match(lines[i]):
                lines[i] += " PREDICTED" if values is None else " PREDICTED PROBABILITY"
        first, last = sentence.words[0], sentence.words[-1] + 1
        if last - first == len(added) and " " not in "".join(lines[first:last]):
            lines[first:last] = map("\t".join, zip(lines[first:last], added))
            return lines
        for i, label in zip(sentence.words, added):
            line = lines[i]
            if "\t" in line or " " not in line:
                lines[i] = f"{line}\t{label}"
            else:
                lines[i] = f"{line} {label}".replace("\t", " ")
        return lines


def split_line(line: str) -> list[str]:
    """The fields of one line."""
    return line.split("\t") if "\t" in line else [part for part in line.split(" ") if part]


def split_evenly(rows: list[str], separator: str, width: int) -> list[str] | None:
    """The fields of all lines in one list, "\\n" after each line's: column i is `fields[i :: width + 1]`.

    None if some line does not have `width` fields. One split for a sentence is faster than one for a line, and no field
    can be "\\n", so that a line too short and one too long do not go unseen.
    """
    fields = f"{separator}\n{separator}".join(rows).split(separator)
    if len(fields) != len(rows) * (width + 1) - 1 or fields[width :: width + 1].count("\n") != len(rows) - 1:
        return None
    return fields


def take_columns(
    fields: list[str], step: int, inputs: Sequence[int], label: int | None
) -> tuple[list[str] | list[tuple[str, ...]], list[str] | None]:
    """Items and labels out of the fields of a sentence, in which a column's fields are `step` apart."""
    columns = [fields[i::step] for i in inputs]
    items = columns[0] if len(columns) == 1 else list(zip(*columns))
    return items, None if label is None else fields[label::step]


def _split_block(rows: list[str], lines: Lines, number: int, layout: Layout) -> tuple[list[str], int]:
    """The fields of a sentence as in `split_evenly`, and the step from a field to the next of its column."""
    if layout.width <= 1 and layout.label is None and layout.inputs == (0,) and not _has_separator(rows):
        return rows, 1
    separator = "\t" if "\t" in rows[0] else " "
    width = layout.width or rows[0].count(separator) + 1
    fields = split_evenly(rows, separator, width)
    tabs_mixed = separator == " " and fields is not None and any("\t" in line for line in rows)
    if fields is None or "" in fields or tabs_mixed or width <= max(layout.inputs):
        # Runs of spaces, unlike lines, or an error: look again, line by line.
        table = _split_carefully(rows, lines, number, layout)
        width = min(map(len, table))
        fields = [field for row in table for field in (*row[:width], "\n")]
    return fields, width + 1


def _has_separator(rows: list[str]) -> bool:
    text = "".join(rows)
    return " " in text or "\t" in text


def _split_carefully(rows: list[str], lines: Lines, number: int, layout: Layout) -> list[list[str]]:
    """The fields of each line, or an error that names the first bad line."""
    used = {*layout.inputs} if layout.label is None else {*layout.inputs, layout.label}
    needed = max(used) + 1
    table = []
    for i, line in enumerate(rows):
        fields = split_line(line)
        location = lines.location(number + i)
        if layout.width and len(fields) != layout.width:
            raise DataError(
                f"found {count_columns(len(fields))} in {line[:60]!r}, expected {layout.width} as on the first line; "
                "correct the line (a line between sentences must be blank; a field cannot hold the separator)",
                location=location,
            )
        if len(fields) < needed:
            raise DataError(
                f"found {count_columns(len(fields))} in {line[:60]!r}, expected at least {needed}; add what is "
                "missing, or choose other input columns",
                location=location,
            )
        refuse_empty(fields, sorted(used), layout, "write one (often '_' or 'O') between the tabs", location)
        table.append(fields)
    return table


def refuse_empty(fields: Sequence[str], used: Iterable[int], layout: Layout, cure: str, location: str) -> None:
    """Refuse a line if a column that is used is empty in it."""
    for column in used:
        if not fields[column]:
            what = "label" if column == layout.label else "field"
            raise DataError(f"column {column} is empty, expected a {what}; {cure}", location=location)


def count_columns(n: int) -> str:
    """How many columns a line has, in words."""
    return "1 column" if n == 1 else f"{n} columns"
