"""NLTK's CRFTagger, with python-crfsuite and with ours in its place: training and tagging the sample of the WSJ.

    python -m benchmarks.drop_in.nltk_tagger [--iterations 100] [--data FOLDER]

It needs NLTK and python-crfsuite. Both runs are processes of their own; seconds are processor time.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser
from importlib import import_module
from itertools import chain
from pathlib import Path
from statistics import mean
from typing import Any

from benchmarks.corpora import add_data_option, read_task, words_alone

WAYS: dict[str, list[str]] = {"python-crfsuite": [], "ours": ["-m", "tagwright.as_crfsuite"]}


def run_program(folder: Path) -> None:
    """The program that runs both ways: it knows NLTK alone."""
    order = json.loads((folder / "order.json").read_text(encoding="utf-8"))
    train = [[tuple(pair) for pair in sentence] for sentence in order["train"]]
    tagger = import_module("nltk.tag").CRFTagger(training_opt={"max_iterations": order["iterations"]})
    tagger.train(train[:20], str(folder / "warm-up.crfsuite"))
    tagger.tag_sents(order["test"][:20])
    began = time.process_time()
    tagger.train(train, str(folder / "model.crfsuite"))
    trained = time.process_time()
    found = tagger.tag_sents(order["test"])
    figures: dict[str, Any] = {"train": trained - began, "tag": time.process_time() - trained}
    figures["labels"] = [[tag for _, tag in sentence] for sentence in found]
    figures["module"] = sys.modules["pycrfsuite"].__name__
    print(json.dumps(figures))


def main() -> None:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--program", type=Path, help="run as the program, in this folder")
    parser.add_argument("--iterations", type=int, default=100)
    add_data_option(parser)
    options = parser.parse_args()
    if options.program:
        run_program(options.program)
        return
    task = read_task("wsj", options.data)
    (X, y), (test, gold) = words_alone(task.train), words_alone(task.test)
    tagged = [list(zip(words, tags, strict=True)) for words, tags in zip(X, y, strict=True)]
    with tempfile.TemporaryDirectory() as name:
        order = {"train": tagged, "test": test, "iterations": options.iterations}
        Path(name, "order.json").write_text(json.dumps(order), encoding="utf-8")
        for way, arguments in WAYS.items():
            command = [sys.executable, *arguments, "-m", "benchmarks.drop_in.nltk_tagger", "--program", name]
            environment = os.environ | {"NLTK_DATA": name}  # NLTK writes models nowhere else
            out = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment).stdout
            found = json.loads(out.splitlines()[-1])
            pairs = zip(chain.from_iterable(gold), chain.from_iterable(found["labels"]), strict=True)
            times = f"train {found['train']:6.2f} s   tag {found['tag']:5.2f} s"
            right = 100 * mean(a == b for a, b in pairs)
            print(f"{way:16} {found['module']:22} {times}   {right:.2f} %")


if __name__ == "__main__":
    main()
