"""The embedded sample: an English corpus in the public domain, for first steps, examples and tests.

    X, y = datasets.sample()                        words and part-of-speech tags
    X, y = datasets.sample(column="entity")         (word, tag, chunk) tuples and IOB2 entities

Its columns are WORD, POS (Penn Treebank), CHUNK and ENTITY (both IOB2); docs/sample.md tells how it was made.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

from tagwright.errors import ParameterError
from tagwright.io import read_sentences
from tagwright.sequence import Item

COLUMNS = ("pos", "chunk", "entity")
DEFAULT_COLUMN = "pos"


def sample(
    column: str = DEFAULT_COLUMN, *, inputs: Sequence[str] | None = None
) -> tuple[list[list[Item]], list[list[str]]]:
    """The sample as (X, y): its labels from `column`, its items from the columns left of that.

    An item is a string where there is one input column (column="pos", or inputs=["word"]), else a tuple.
    """
    if column.casefold() not in COLUMNS:
        raise ParameterError(f"the sample has the label columns {', '.join(COLUMNS)}, found column={column!r}")
    X: list[list[Item]] = []
    y: list[list[str]] = []
    for sentence in read_sentences(sample_path(), label=column, inputs=inputs):
        assert sentence.labels is not None  # they were asked for
        X.append(list(sentence.items))
        y.append(sentence.labels)
    return X, y


def sample_path() -> Path:
    """The sample's file."""
    return Path(str(files(__name__).joinpath("sample.conll")))


__all__ = ["sample", "sample_path"]
