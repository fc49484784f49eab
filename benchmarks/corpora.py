"""The four tasks of the benchmarks, read from a folder of corpora (--data, or TAGWRIGHT_DATA, or ../shared/data).

ewt     UD English EWT, Penn tags (XPOS)            wsj     the public sample of the Penn Treebank, tags
ner     CoNLL-2002 Spanish entities (word, POS)     chunk   CoNLL-2000 chunks (word, POS)
"""

from __future__ import annotations

import os
from argparse import ArgumentParser
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tagwright import datasets

Text = tuple[list[list[Any]], list[list[str]]]
TASKS = {"ewt": "ewt", "wsj": "wsj-sample", "ner": "conll2002", "chunk": "conll2000"}


@dataclass(frozen=True, slots=True)
class Task:
    """A corpus in three parts. Chunking has no dev file: the last tenth of its training file is taken."""

    name: str
    train: Text
    dev: Text
    test: Text

    @property
    def everything(self) -> Text:
        """Training and dev set together."""
        return self.train[0] + self.dev[0], self.train[1] + self.dev[1]


def read_task(name: str, folder: Path) -> Task:
    """One of the four tasks."""
    train, dev, test = (datasets.load(TASKS[name], part, folder=folder) for part in ("train", "dev", "test"))
    return Task(name, train, dev, test)


def words_alone(text: Text) -> Text:
    """Without further columns, as the papers have them."""
    return [[item if isinstance(item, str) else item[0] for item in sentence] for sentence in text[0]], text[1]


def add_data_option(parser: ArgumentParser) -> None:
    """--data DIR."""
    default = os.environ.get("TAGWRIGHT_DATA", "../shared/data")
    parser.add_argument("--data", type=Path, default=Path(default), help=f"folder of the corpora (default {default})")
