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

from tagwright.io.formats import read_sentences

Text = tuple[list[list[Any]], list[list[str]]]
FILES = {
    "ewt": ("ewt/en_ewt-ud-train.conllu", "ewt/en_ewt-ud-dev.conllu", "ewt/en_ewt-ud-test.conllu"),
    "wsj": ("wsj-sample/train.tsv", "wsj-sample/dev.tsv", "wsj-sample/test.tsv"),
    "ner": ("conll2002/esp.train", "conll2002/esp.testa", "conll2002/esp.testb"),
    "chunk": ("conll2000/train.txt", None, "conll2000/test.txt"),
}


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


def read_text(path: Path) -> Text:
    """Sentences and labels of one file."""
    options: dict[str, Any] = {"label": "xpos"} if path.suffix == ".conllu" else {}
    X, y = [], []
    for sentence in read_sentences(path, **options):
        X.append(list(sentence.items))
        y.append(list(sentence.labels or []))
    return X, y


def read_task(name: str, folder: Path) -> Task:
    """One of the four tasks."""
    train, dev, test = (None if file is None else read_text(folder / file) for file in FILES[name])
    assert train is not None
    assert test is not None
    if dev is None:
        cut = len(train[0]) * 9 // 10
        train, dev = (train[0][:cut], train[1][:cut]), (train[0][cut:], train[1][cut:])
    return Task(name, train, dev, test)


def add_data_option(parser: ArgumentParser) -> None:
    """--data DIR."""
    default = os.environ.get("TAGWRIGHT_DATA", "../shared/data")
    parser.add_argument("--data", type=Path, default=Path(default), help=f"folder of the corpora (default {default})")
