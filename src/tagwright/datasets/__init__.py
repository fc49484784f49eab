"""The embedded sample, and public corpora by name.

    X, y = datasets.sample()                        words and part-of-speech tags
    X, y = datasets.sample(column="entity")         (word, tag, chunk) tuples and IOB2 entities
    X, y = datasets.load("conll2002", "train")      downloaded once, checked, kept in the cache
    datasets.CORPORA                                what there is: title, licence, size, address

The sample is an English corpus in the public domain, for first steps, examples and tests. Its columns are WORD, POS
(Penn Treebank), CHUNK and ENTITY (both IOB2); docs/sample.md tells how it was made. The corpora are in corpora.py.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

from tagwright.datasets.corpora import CORPORA, Corpus
from tagwright.datasets.fetching import find_corpus, find_files
from tagwright.errors import ParameterError
from tagwright.io import read_sentences
from tagwright.sequence import Item

XY = tuple[list[list[Item]], list[list[str]]]

COLUMNS = ("pos", "chunk", "entity")
DEFAULT_COLUMN = "pos"


def sample(column: str = DEFAULT_COLUMN, *, inputs: Sequence[str] | None = None) -> XY:
    """The sample as (X, y): its labels from `column`, its items from the columns left of that.

    An item is a string where there is one input column (column="pos", or inputs=["word"]), else a tuple.
    """
    if column.casefold() not in COLUMNS:
        raise ParameterError(f"the sample has the label columns {', '.join(COLUMNS)}, found column={column!r}")
    return read_sentences(sample_path(), label=column, inputs=inputs).collect()


def sample_path() -> Path:
    """The sample's file."""
    return Path(str(files(__name__).joinpath("sample.conll")))


def load(
    name: str, part: str = "train", *, column: str | int | None = None, folder: str | os.PathLike[str] | None = None
) -> XY:
    """A part ("train", "dev" or "test") of a public corpus as (X, y).

    name: one of CORPORA. column: of the labels, if not the corpus's own (EWT: "upos"). folder: where the corpora are,
    one folder each; without it the folder TAGWRIGHT_DATA; without that the user's cache, where they are downloaded to.
    Checksums are verified. A corpus without a dev file gives the last tenth of its training file.
    """
    corpus = find_corpus(name)
    if part not in ("train", "dev", "test"):
        raise ParameterError(f"part must be one of 'train', 'dev', 'test', found {part!r}")
    paths = find_files(corpus, folder)
    label = corpus.label if column is None else column
    if part in paths and (part == "test" or "dev" in paths):
        return read_sentences(paths[part], label=label).collect()
    X, y = read_sentences(paths["train"], label=label).collect()
    cut = len(X) * 9 // 10
    return (X[:cut], y[:cut]) if part == "train" else (X[cut:], y[cut:])


__all__ = ["CORPORA", "Corpus", "find_files", "load", "sample", "sample_path"]
