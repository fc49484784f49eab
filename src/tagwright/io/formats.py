"""The formats there are, and which of them a file is in.

A name that ends in one of a format's endings (.gz, .bz2 and .xz aside) decides. Otherwise the most confident format
does:

    1.0   conllu    line 1 is `# global.columns = ...` with ID and FORM
    0.98  jsonl     the first line begins like an object of JSON, or is an array of lists or objects (which are refused)
    0.9   columns   line 1 is `# global.columns = ...`
    0.95  slashed   the user says what stands between word and tag, and most tokens have it, or labels are wanted
    0.8   conllu    after comments, ten fields separated by tabs, the first one a number
    0.7   columns   the first line has a tab (not in front), or is -DOCSTART-
    0.6   slashed   every token of the first line is word/TAG; where labels are not wanted: of all lines, and most tags
                    are labels of the model, or there is no model and there are ten tokens or more
    0.55  slashed   labels are wanted, and most tokens are word/TAG: the others are mistakes, to be named
    0.5   columns   labels are wanted; or as many fields on every line as the model's input columns, or as its training
                    file had; or one field of every line is a label of the model
    0.4   columns   one token on every line; or two fields, or as many as in training, on every line, two lines or more,
                    then a blank line
    0.1   plain     labels are not wanted

"Every line" means the first sentence: up to 32 lines, up to the first blank line. So text with a sentence on each line
is plain, text with a word on each line is columns, and a labelled file can be tagged as it is (its labels are ignored).
What looks like labelled text but has none of the model's labels, or where there is no model to know them, is not taken
for words: the user is asked (`ask_if_unclear`, `ask_if_tagged`). A format that the user gave in training is that of
other labelled files too.
What the rules cannot know must be said (`format="plain"`): lines of one word that are sentences; text of two-word lines
in paragraphs. From a terminal or a slow pipe, detection waits for the first blank line, 32 lines or the end of input;
with a format given, nothing waits.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence

from tagwright.errors import DataError
from tagwright.io.columns import ColumnsFormat, even_width
from tagwright.io.conllu import ConlluFormat
from tagwright.io.crfsuite import CrfsuiteFormat
from tagwright.io.format import Format, Sample
from tagwright.io.jsonl import JsonLinesFormat
from tagwright.io.layout import Layout
from tagwright.io.packing import strip_packing
from tagwright.io.plain import PlainFormat
from tagwright.io.slashed import ENOUGH, SlashedFormat, list_tokens, split_tokens

FORMATS: dict[str, Format] = {
    format.name: format
    for format in (
        ColumnsFormat(),
        ConlluFormat(),
        SlashedFormat(),
        PlainFormat(),
        JsonLinesFormat(),
        CrfsuiteFormat(),
    )
}
HEAD = 32  # lines to look at
MARKS = "/_|"
"""What often stands between words and tags."""


def find_format(name: str) -> Format:
    """The format of this name."""
    if name not in FORMATS:
        raise DataError(f"found {name!r}, expected auto or one of {', '.join(FORMATS)}", location="format")
    return FORMATS[name]


def format_of_ending(name: str) -> str | None:
    """The format of which files with such a name always are, if there is one."""
    ending = os.path.splitext(strip_packing(name.lower()))[1]
    return next((format.name for format in FORMATS.values() if ending in format.endings), None)


def detect_format(
    head: Sequence[str],
    name: str = "",
    *,
    labelled: bool = True,
    n_inputs: int | None = None,
    trained: Layout | None = None,
    labels: Collection[str] = (),
    separator: str | None = None,
) -> str:
    """The name of a file's format; `head` ends in "" where a blank line ended the first sentence. `trained`, `labels`:
    of the model that will read the file, if there is one."""
    known = format_of_ending(name)
    if known is not None:
        return known
    if labelled and trained is not None and trained.given and separator is None:
        return trained.format
    sample = Sample(head, labelled, n_inputs, trained, labels, separator)
    found = max(FORMATS.values(), key=lambda format: format.detect(sample)).name
    words_alone = found == PlainFormat.name or (found == ColumnsFormat.name and even_width(sample.rows) == 1)
    if words_alone and not labelled:
        if trained is None:
            ask_if_tagged(sample, name)
        elif trained.n_inputs == 1:
            ask_if_unclear(sample, name)
    return found


def looks_tagged(parts: Sequence[tuple[str, str]]) -> bool:
    """Whether all of a few tokens have a word and a tag, or most of many."""
    n = sum(word != "" and tag != "" for word, tag in parts)
    return n == len(parts) if len(parts) < ENOUGH else 2 * n > len(parts)


def ask_if_tagged(sample: Sample, name: str) -> None:
    """Refuse what should be words alone, without a model to tell, but looks like words with tags."""
    tokens = [token for line in sample.rows for token in list_tokens(line)]
    for mark in MARKS:
        if len(tokens) >= ENOUGH and looks_tagged(split_tokens(tokens, mark)):
            raise DataError(
                f"most tokens look like word{mark}TAG ({tokens[0][:40]!r}); say whether these are words with tags "
                f"(--format slashed --separator {mark!r}) or words alone (--format plain, or columns)",
                location=name,
            )


def ask_if_unclear(sample: Sample, name: str) -> None:
    """Refuse what could be plain text but looks like words with tags, or like columns."""
    tokens = [token for line in sample.rows for token in list_tokens(line)]
    for mark in dict.fromkeys((sample.mark, *MARKS)):
        parts = split_tokens(tokens, mark)
        known = 2 * sum(tag in sample.labels for _, tag in parts) >= len(parts)
        sure = known or mark == sample.mark or len(tokens) >= ENOUGH
        if len(tokens) > 1 and sure and looks_tagged(parts):
            raise DataError(
                f"{'every token looks' if all(map(all, parts)) else 'most tokens look'} like word{mark}TAG "
                f"({tokens[0][:40]!r}), "
                + (
                    f"with a separator that is not {sample.mark!r}"
                    if known
                    else "but hardly a tag is a label of the model"
                )
                + f"; say whether these are words with tags (--format slashed --separator {mark!r}) or words alone "
                "(--format plain)",
                location=name,
            )
    width = even_width(sample.rows)
    if width > 2 and len(sample.rows) > 2 and sample.head[-1] == "":
        raise DataError(
            f"every line up to the first blank one has {width} fields ({sample.rows[0][:40]!r}), which may be columns "
            "or sentences; say which (--format columns or plain)",
            location=name,
        )
