"""CoNLL-style columns: one word per line, its columns separated by tabs or spaces, a blank line between sentences.

    EU      NNP  B-ORG
    rejects VBZ  O

A line that has a tab is split at tabs alone, another at runs of spaces. The label is the last column unless another
is asked for; the inputs are the columns left of it. Line 1 may name the columns (CoNLL-U Plus):

    # global.columns = WORD POS ENTITY

No other comment is known, since "#" is a word in many corpora. "-DOCSTART- -X- O" lines are sentences like others.
Every line must have as many columns as the first. A field that is asked for may not be empty. A model takes the columns
that it was trained on: those with the same names where the file names them, else those with the same numbers.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from tagwright.errors import DataError, DataWarning, warn
from tagwright.io.format import Format, FormatRules, Sample, item_rows, read_header
from tagwright.io.layout import Column, ColumnChoice, Layout, choose_columns
from tagwright.io.lines import HEADER, Lines, read_blocks
from tagwright.sequence import Sentence

NAMES_OF_WORDS = {"word", "words", "token", "tokens", "form", "text"}
NAMES_OF_LABELS = {"label", "labels", "tag", "tags", "upos", "xpos", "entity", "iob"} | {
    name + ending for name in ("pos", "chunk", "ner") for ending in ("", "_tag", "_tags")
}


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
        if rows and ("\t" in rows[0].lstrip(" \t") or rows[0].startswith("-DOCSTART-")):
            return 0.7
        if sample.labelled:
            return 0.5
        width = even_width(rows)
        if width == 0:
            return 0.0
        n, trained = sample.n_inputs or 1, sample.trained
        usual = {n, trained.width if trained and trained.width else n + 1}
        if n > 1:
            return 0.5 if width in usual or has_label_column(rows, sample.labels) else 0.0
        if width > 1 and has_label_column(rows, sample.labels):
            return 0.5
        whole = len(rows) > 1 and sample.head[-1] == ""
        return 0.4 if width == 1 or (whole and width in {2, *usual}) else 0.0

    def find_layout(self, lines: Lines, choice: ColumnChoice) -> Layout:
        """From the header and the first line. The label is the last column unless another is chosen."""
        head = lines.peek(2)
        names = read_header(head)
        rows = [line for line in head[1 if names else 0 :] if line]
        if not rows:
            return Layout(self.name, None, tuple(range(choice.n_inputs or 1)))
        width = len(split_line(rows[0]))
        location = lines.location(lines.first_number(rows[0]))
        if choice.trained is not None:
            choice = like_training(choice, choice.trained, names, rows[0], location)
        if width == 1 and choice.label is not None:
            raise DataError(
                f"no input columns are left of the label's column: found 1 column in {rows[0][:60]!r}, expected a word "
                f"and then its label; {_cure_of_width(rows[0])}",
                location=location,
            )
        if choice.label == "auto":
            choice = choice._replace(label=-1)
        if names and choice.label is not None and len(names) != width:
            raise DataError(
                f"found {width} columns, expected {len(names)}: line 1 names {' '.join(names)}; correct one of the "
                "lines",
                location=location,
            )
        target, chosen = choose_columns(choice, width, names, location)
        if target is not None and choice.labelled and not names:
            refuse_names([split_line(row) for row in rows], chosen, target, location)
        input_names = tuple(names[i] for i in chosen) if len(names) > max(chosen) else ()
        label_name = names[target] if target is not None and len(names) > target else ""
        return Layout(self.name, target, chosen, input_names, width, label_name)

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


def like_training(choice: ColumnChoice, trained: Layout, names: Sequence[str], row: str, location: str) -> ColumnChoice:
    """The columns that the model was trained on, where the user asks for no others; a file that lacks one is refused.

    They are found by name where both files have names and these are known, else by number: as in training if that was a
    file of columns too, else from the left.
    """
    inputs, label, width = choice.inputs, choice.label, len(split_line(row))
    if inputs is None:
        inputs = inputs_like_training(trained, names, row, location)
        if trained.format == "columns" and not names and width > trained.width > 0:
            warn(
                f"{location}: found {count_columns(width)}, the training file had {trained.width}; the inputs are "
                f"taken from {' and '.join(map(str, inputs))} (--inputs)",
                DataWarning,
            )
    if label == "auto" and trained.format == "columns" and trained.label is not None:
        named = choice.inputs is None and is_among(trained.label_name, names)
        label = trained.label_name if named else trained.label
        if isinstance(label, int) and label >= width:
            raise DataError(
                f"found {count_columns(width)} in {row[:60]!r}, expected {trained.width} as in training, with the "
                f"label in column {label}; add it, or say which column it is (--column)",
                location=location,
            )
    return choice._replace(inputs=inputs, label=label)


def inputs_like_training(trained: Layout, names: Sequence[str], row: str, location: str) -> Sequence[Column]:
    """The input columns of a file that begins with this line, in which columns may have names."""
    missing = [name for name in trained.names if not is_among(name, names)]
    if trained.names and not missing:
        return trained.names
    if len(missing) < len(trained.names):
        raise DataError(
            f"found the columns {' '.join(names)}, expected {' and '.join(trained.names)} as in training: "
            f"{' and '.join(missing)} missing; add it, or say which columns are the inputs (--inputs)",
            location=location,
        )
    same, width = trained.format == "columns", len(split_line(row))
    inputs = trained.inputs if same else tuple(range(trained.n_inputs))
    if max(inputs) >= width:
        expected = trained.describe_inputs() if same else f"{trained.n_inputs}, words first"
        raise DataError(
            f"found {count_columns(width)} in {row[:60]!r}, expected the input columns of training ({expected}): "
            f"column {width} is missing; add it, or say which columns are the inputs (--inputs)",
            location=location,
        )
    return inputs


def refuse_names(rows: Sequence[Sequence[str]], inputs: Sequence[int], label: int, location: str) -> None:
    """Refuse a first line that names the columns in another way than this format does: it would be a word with its
    label. The second line is unlike it."""
    first = rows[0]
    words = [first[i] for i in inputs if first[i].casefold() in NAMES_OF_WORDS]
    again = len(rows) < 2 or first[label] in rows[1]
    if words and first[label].casefold() in NAMES_OF_LABELS and not again:
        raise DataError(
            f"found what look like names of columns, {words[0]!r} and {first[label]!r}, expected a word and its label; "
            f"delete the line, or write it as: # global.columns = {' '.join(first)}",
            location=location,
        )


def is_among(name: str, names: Sequence[str]) -> bool:
    """Whether a column has this name; names are compared without regard to case."""
    return name.casefold() in [other.casefold() for other in names]


def even_width(rows: Sequence[str]) -> int:
    """How many fields every one of some lines has; 0 where they differ."""
    widths = {len(split_line(line)) for line in rows}
    return widths.pop() if len(widths) == 1 else 0


def has_label_column(rows: Sequence[str], labels: Collection[str]) -> bool:
    """Whether one column of some lines, as wide as each other, holds nothing but labels, as a labelled file does. Signs
    prove little, since sentences end with them, and many tag sets have the tag "."."""
    if len(rows) < 2 or not labels:
        return False
    for column in list(zip(*map(split_line, rows), strict=True))[1:]:
        spelled = sum(any(character.isalnum() for character in field) for field in column)
        if 2 * spelled > len(rows) and all(field in labels for field in column):
            return True
    return False


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
                f"{_cure_of_width(line)}",
                location=location,
            )
        if len(fields) < needed:
            raise DataError(
                f"found {count_columns(len(fields))} in {line[:60]!r}, expected at least {needed}; add what is "
                "missing, or choose other input columns",
                location=location,
            )
        if "" in fields:
            cure = _cure_of_tags(line) or "write one (often '_' or 'O') between the tabs"
            refuse_empty(fields, sorted(used), layout, cure, location)
        table.append(fields)
    return table


def _cure_of_width(line: str) -> str:
    """What may be wrong with a line that has another number of fields."""
    mark = next((mark for mark in ",;" if len(line.split()) == 1 and mark in line.strip(mark)), None)
    if mark is not None:
        return f"columns are separated by tabs or spaces: write tabs, for example with: tr {mark!r} '\\t'"
    cure = _cure_of_tags(line)
    if cure:
        return cure
    if len(line.split()) == 1:
        return "add what is missing, or name the format (--format)"
    return "correct the line (a line between sentences must be blank; a field cannot hold the separator)"


def _cure_of_tags(line: str) -> str:
    """What to do if this is a line of words with tags; nothing if it is not."""
    tokens = line.split()
    for mark in "/_|":
        if all(0 < token.rfind(mark) < len(token) - 1 for token in tokens):
            return f"if these are words with their tags, say what stands between: --separator {mark!r}"
    return ""


def refuse_empty(fields: Sequence[str], used: Iterable[int], layout: Layout, cure: str, location: str) -> None:
    """Refuse a line if a column that is used is empty in it."""
    for column in used:
        if not fields[column]:
            what = "label" if column == layout.label else "field"
            raise DataError(f"column {column} is empty, expected a {what}; {cure}", location=location)


def count_columns(n: int) -> str:
    """How many columns a line has, in words."""
    return "1 column" if n == 1 else f"{n} columns"
