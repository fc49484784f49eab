"""The formats there are, and which of them a file is in.

A name that ends in one of a format's endings (.gz, .bz2 and .xz aside) decides. Otherwise the most confident format does:

    1.0   conllu    line 1 is `# global.columns = ...` with ID and FORM
    0.9   columns   line 1 is `# global.columns = ...`
    0.8   conllu    after comments, ten fields separated by tabs, the first one a number
    0.7   columns   the first line has a tab, or is -DOCSTART-
    0.6   slashed   labels are wanted, and every token of the first line is word/TAG
    0.5   columns   labels are wanted, or the model has two input columns or more
    0.4   columns   one token on every line, or two fields on every line, two lines or more, then a blank line
    0.1   plain     labels are not wanted

"Every line" means the first sentence: up to 32 lines, up to the first blank line. So text with a sentence on each line
is plain, text with a word on each line is columns, and a labelled file can be tagged as it is (its labels are ignored).
What the rules cannot know must be said (`format="plain"`): lines of one word that are sentences; text of two-word lines
in paragraphs. From a terminal or a slow pipe, detection waits for the first blank line, 32 lines or the end of input;
with a format given, nothing waits.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from tagwright.errors import DataError
from tagwright.io.columns import ColumnsFormat
from tagwright.io.conllu import ConlluFormat
from tagwright.io.crfsuite import CrfsuiteFormat
from tagwright.io.format import Format, Sample
from tagwright.io.packing import strip_packing
from tagwright.io.plain import PlainFormat
from tagwright.io.slashed import SlashedFormat

FORMATS: dict[str, Format] = {
    format.name: format
    for format in (
        ColumnsFormat(),
        ConlluFormat(),
        SlashedFormat(),
        PlainFormat(),
        CrfsuiteFormat(),
    )
}
HEAD = 32  # lines to look at


def find_format(name: str) -> Format:
    """The format of this name."""
    if name not in FORMATS:
        raise DataError(f"found {name!r}, expected auto or one of {', '.join(FORMATS)}", location="format")
    return FORMATS[name]


def detect_format(head: Sequence[str], name: str = "", *, labelled: bool = True, n_inputs: int | None = None) -> str:
    """The name of a file's format; `head` ends in "" where a blank line ended the first sentence."""
    ending = os.path.splitext(strip_packing(name.lower()))[1]
    for format in FORMATS.values():
        if ending in format.endings:
            return format.name
    sample = Sample(head, labelled, n_inputs)
    return max(FORMATS.values(), key=lambda format: format.detect(sample)).name
