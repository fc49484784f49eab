"""CoNLL-U, and CoNLL-U Plus: ten columns separated by tabs, or those that line 1 names.

    # text = He didn't.
    1       He      he      PRON    PRP     ...
    2-3     didn't  _       _       _       ...
    2       did     do      AUX     VBD     ...

Only words (an ID that is an integer) are items. Comments, multiword tokens (2-3), empty nodes (1.1), every other
column and blank lines are kept and written back byte for byte; the tagged column alone is replaced. What is not kept:
a byte order mark, blank lines at the end of the file, and a missing blank line after the last sentence is added.
Comments without words, then a blank line, are kept with the next sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from tagwright.errors import DataError
from tagwright.io.columns import count_columns, refuse_empty, split_evenly, take_columns
from tagwright.io.format import Format, FormatRules, Sample, item_rows, read_header
from tagwright.io.layout import ColumnChoice, Layout, choose_columns
from tagwright.io.lines import Lines, read_blocks
from tagwright.sequence import Sentence

NAMES = ("ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC")
UPOS, MISC = NAMES.index("UPOS"), NAMES.index("MISC")
RANGE_OR_EMPTY = re.compile(r"[0-9]+[-.][0-9]+")


class ConlluFormat(Format):
    """Words with ten columns, comments, multiword tokens and empty nodes."""

    name = "conllu"
    description = "CoNLL-U, as in Universal Dependencies"
    rules = FormatRules(numbered=True, not_in_labels="\t\n\r")
    endings = (".conllu",)
    has_columns = True
    fills_column = True

    def detect(self, sample: Sample) -> float:
        if {"ID", "FORM"} <= {name.upper() for name in read_header(sample.head)}:
            return 1.0
        first = next((line for line in sample.rows if not line.startswith("#")), "")
        fields = first.split("\t")
        numbered = fields[0].replace("-", "").replace(".", "").isdecimal()
        return 0.8 if numbered and len(fields) == len(NAMES) else 0.0

    def find_layout(self, lines: Lines, choice: ColumnChoice) -> Layout:
        """The input is FORM unless another is chosen, the column to fill UPOS."""
        names = read_header(lines.peek(1)) or NAMES
        if choice.label == "auto":
            same = choice.trained is not None and choice.trained.format == self.name
            choice = choice._replace(label=choice.trained.label if choice.trained and same else "UPOS")
        if choice.inputs is None:
            choice = choice._replace(inputs=_default_inputs(choice, names, lines.name))
        target, chosen = choose_columns(choice, len(names), names, lines.location(1))
        if target is not None and names[target] == "ID":
            raise DataError("column ID numbers the words, expected one for labels; choose another", location=lines.name)
        if target is None and "UPOS" in names and names.index("UPOS") not in chosen:
            target = names.index("UPOS")
        label_name = "" if target is None else names[target]
        return Layout(self.name, target, chosen, tuple(names[i] for i in chosen), len(names), label_name)

    def read(self, lines: Lines, layout: Layout, *, labelled: bool) -> Iterator[Sentence]:
        name, newline, width, inputs = lines.name, lines.newline, layout.width, layout.inputs
        label = layout.label if labelled else None
        used = [0, *inputs] if label is None else [0, *inputs, label]
        step = width + 1
        held: list[str] = []
        for number, lead, block in read_blocks(lines):
            while block[lead].startswith("#"):
                lead += 1
            if lead == len(block) - 1:
                held += block
                continue
            words: Sequence[int] = range(lead, len(block) - 1)
            fields = split_evenly(block[lead:-1], "\t", width)
            if fields is None or not "".join(fields[::step]).isdecimal() or any("" in fields[i::step] for i in used):
                # Multiword tokens, empty nodes, or an error: look again, line by line.
                words = _find_words(block, lead, lines, number, layout, used)
                fields = "\t\n\t".join([block[i] for i in words]).split("\t")
            items, labels = take_columns(fields, step, inputs, label)
            location = f"{name}:{number + words[0]}"
            if held:
                words = [i + len(held) for i in words]
                block, held = held + block, []
            yield Sentence(items, labels, location, block, words, self.name, newline)
        if held:
            comment = held[-2]
            raise DataError(
                f"found {comment[:60]!r} and no words after it, expected a sentence; get the whole file, or delete it",
                location=lines.location(number + len(block) - 2),
            )

    def write(
        self, sentence: Sentence, labels: Sequence[str], layout: Layout, values: Sequence[str] | None
    ) -> list[str]:
        """The sentence's lines with the labels in the tagged column; values go to MISC as `Probability=0.98`."""
        if layout.label is None and sentence.format == self.name:
            raise DataError("which column the labels go to is not known; name it", location=sentence.location)
        column = UPOS if layout.label is None else layout.label
        if sentence.format == self.name:
            lines = list(sentence.lines)
            words = sentence.words
        else:
            forms = [row[0] for row in item_rows(sentence, "\t\n\r")]
            lines = [f"{i}\t{form}" + "\t_" * (len(NAMES) - 2) for i, form in enumerate(forms, 1)] + [""]
            words = range(len(forms))
        for t, i in enumerate(words):
            fields = lines[i].split("\t")
            fields[column] = labels[t]
            if values is not None and len(fields) > MISC:
                value = f"Probability={values[t]}"
                fields[MISC] = value if fields[MISC] == "_" else f"{fields[MISC]}|{value}"
            lines[i] = "\t".join(fields)
        return lines


def _default_inputs(choice: ColumnChoice, names: Sequence[str], location: str) -> tuple[str | int, ...]:
    """The columns that the model was trained on, if it was trained on CoNLL-U or they have names that CoNLL-U has; else
    FORM."""
    trained, n = choice.trained, choice.n_inputs or 1
    if trained is not None and trained.names and {name.upper() for name in trained.names} <= {*names}:
        return trained.names
    if trained is not None and trained.format == ConlluFormat.name:
        if max(trained.inputs) < len(names):
            return trained.inputs
    elif n == 1:
        return ("FORM",)
    raise DataError(
        f"found CoNLL-U with the columns {', '.join(names)}, expected {n} input columns as in training"
        + (f" ({trained.describe_inputs()})" if trained else "")
        + "; say which they are (--inputs FORM,UPOS)",
        location=location,
    )


def _find_words(
    block: list[str], lead: int, lines: Lines, number: int, layout: Layout, used: Sequence[int]
) -> list[int]:
    """The indices of the word lines, or an error that names the first bad line."""
    words = []
    for i in range(lead, len(block) - 1):
        line = block[i]
        if line.startswith("#"):
            continue
        tabs = line.count("\t")
        if tabs + 1 != layout.width:
            raise DataError(
                f"found {count_columns(tabs + 1)} in {line[:60]!r}, expected {layout.width} separated by tabs "
                "(CoNLL-U); correct the line, or read the file as columns",
                location=lines.location(number + i),
            )
        identity = line[: line.index("\t")]
        if identity.isdecimal():
            words.append(i)
            if "\t\t" in line or line.endswith("\t"):
                refuse_empty(line.split("\t"), used, layout, "write '_' for none", lines.location(number + i))
        elif not RANGE_OR_EMPTY.fullmatch(identity):
            raise DataError(
                f"found the ID {identity!r}, expected a number such as 1, 1-2 or 1.1; correct it",
                location=lines.location(number + i),
            )
    if not words:
        raise DataError(
            "found a sentence of multiword tokens or empty nodes alone, expected words (lines with a whole number as "
            "ID); add them, or delete the sentence",
            location=lines.location(number + lead),
        )
    return words
