"""Which format a file is in, from its name and its first lines.

The first rule that fits decides. `head` is the first sentence: up to 32 lines, up to the first blank line.

    1. the name ends in .conllu or .crfsuite (.gz aside)                     that format
    2. line 1 is `# global.columns = ...`                                    conllu with ID and FORM, else columns
    3. after comments, ten fields apart by tabs, the first one a number      conllu
    4. the first line has a tab, or is -DOCSTART-                            columns
    5. labels are wanted, and every token of the first line is word/TAG      slashed
    6. labels are wanted, or the model has two input columns or more         columns
    7. one token on every line                                               columns
    8. two fields on every line, two lines or more, then a blank line        columns (words and labels)
    9. anything else                                                         plain

So text with a sentence on each line is plain, text with a word on each line is columns, and a labelled file can be
tagged as it is (its labels are ignored, rule 8). What the rules cannot know must be said (`format="plain"`): lines of
one word that are sentences; text of two-word lines in paragraphs. From a terminal or a slow pipe, the rules wait for
the first blank line, 32 lines or the end of input; with a format given, nothing waits.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from tagwright.io.columns import read_header, split_line
from tagwright.io.conllu import NAMES

HEAD = 32  # lines to look at


def detect_format(head: Sequence[str], name: str = "", *, labelled: bool = True, n_inputs: int | None = None) -> str:
    """The format of a file by the rules above; `head` ends in "" where a blank line ended the first sentence."""
    ending = os.path.splitext(name.lower().removesuffix(".gz"))[1]
    if ending in (".conllu", ".crfsuite"):
        return ending[1:]
    names = {column.upper() for column in read_header(head)}
    if names:
        return "conllu" if {"ID", "FORM"} <= names else "columns"
    rows = [line for line in head if line]
    if _is_conllu(rows):
        return "conllu"
    if not rows:
        return "columns" if labelled else "plain"
    if "\t" in rows[0] or rows[0].startswith("-DOCSTART-"):
        return "columns"
    if labelled and all(_is_slashed(token) for token in split_line(rows[0])):
        return "slashed"
    if labelled or (n_inputs or 1) > 1:
        return "columns"
    widths = {len(split_line(line)) for line in rows}
    if widths == {1} or (widths == {2} and len(rows) > 1 and head[-1] == ""):
        return "columns"
    return "plain"


def _is_conllu(rows: Sequence[str]) -> bool:
    for line in rows:
        if not line.startswith("#"):
            fields = line.split("\t")
            return len(fields) == len(NAMES) and fields[0].replace("-", "").replace(".", "").isdecimal()
    return False


def _is_slashed(token: str) -> bool:
    word, _, tag = token.rpartition("/")
    return bool(word and tag)
