"""Updates of the structured perceptron side by side: dev scores epoch by epoch, or test scores; seconds, weights.

    python -m benchmarks.updates [ewt wsj ner chunk] [--set update=arow,gamma=10 ...] [--orders 2] [--epochs 12]
                                 [--crfsuite pa arow] [--test] [--data DIR] [--json FILE]

Each --set is one learner; without any, the updates with their defaults. Settings were chosen by the dev scores; --test
trains without a dev set and scores the test set instead. Chunking then trains on the whole training file. Seconds are
processor time of `fit` on one thread, with the attributes, and without --test the dev scores. --crfsuite are algorithms
of python-crfsuite with their defaults, given the same attributes and as many epochs; its seconds are those of `train`.
"""

from __future__ import annotations

import json
import tempfile
import time
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.accuracy import FEATURES
from benchmarks.corpora import TASKS, Task, add_data_option, read_task
from tagwright import StructuredPerceptron
from tagwright.attributes.templates import resolve
from tagwright.encode.encoder import Encoder
from tagwright.encode.text import Text
from tagwright.metrics import evaluate
from tagwright.scores.expanded import expand

DEFAULTS = ("update=perceptron", "update=passive_aggressive", "update=arow")


def read_setting(text: str) -> dict[str, Any]:
    """`name=value,name=value` as parameters."""
    found: dict[str, Any] = {}
    for part in text.split(","):
        name, _, value = part.partition("=")
        found[name] = {"True": True, "False": False}.get(value, value)
        if isinstance(found[name], str) and value[0].isdigit():
            found[name] = float(value) if "." in value or "e" in value else int(value)
    return found


def measure(task: Task, setting: dict[str, Any], *, test: bool) -> dict[str, Any]:
    """One training."""
    given = {"random_state": 0, "n_jobs": 1, **setting}
    model = StructuredPerceptron(FEATURES[task.name], patience=1000, **given)
    train = task.everything if test and task.name == "chunk" else task.train
    began = time.process_time()
    model.fit(*train, *(() if test else task.dev))
    seconds = time.process_time() - began
    X, y = task.test if test else task.dev
    found = evaluate(y, model.predict(X))
    score = found.accuracy if found.f1 is None else found.f1
    curve = [round(score, 2) for score in model.dev_curve_]
    counts = {"epochs": model.n_iter_, "weights": model.n_parameters_}
    return {"task": task.name, "setting": setting, "score": score, "seconds": seconds, "curve": curve, **counts}


def write_out(encoder: Encoder, text: Text) -> list[list[list[str]]]:
    """The names of the attributes of every token."""
    names, tokens = np.array(encoder.attribute_names(), object), expand(encoder, encoder.encode(text))
    rows = [row.tolist() for row in np.split(names[tokens.attributes], tokens.pointers[1:-1])]
    return [rows[begin:end] for begin, end in zip(text.offsets[:-1], text.offsets[1:], strict=True)]


def measure_crfsuite(task: Task, algorithm: str, epochs: int, *, test: bool) -> dict[str, Any]:
    """One training of python-crfsuite."""
    import pycrfsuite

    X, y = task.everything if test and task.name == "chunk" else task.train
    text = Text.build(X)
    encoder, _ = Encoder.learn(resolve(FEATURES[task.name], text.width), [text])
    trainer = pycrfsuite.Trainer(algorithm, {"max_iterations": epochs}, verbose=False)
    for items, labels in zip(write_out(encoder, text), y, strict=True):
        trainer.append(items, labels)
    with tempfile.TemporaryDirectory() as folder:
        began = time.process_time()
        trainer.train(f"{folder}/model")
        seconds = time.process_time() - began
        tagger = pycrfsuite.Tagger()
        tagger.open(f"{folder}/model")
        X, y = task.test if test else task.dev
        found = evaluate(y, [tagger.tag(items) for items in write_out(encoder, Text.build(X))])
        weights = len(tagger.info().state_features) + len(tagger.info().transitions)
    score = found.accuracy if found.f1 is None else found.f1
    counts = {"epochs": epochs, "weights": weights, "curve": []}
    return {"task": task.name, "setting": f"python-crfsuite {algorithm}", "score": score, "seconds": seconds, **counts}


def show(name: str, row: dict[str, Any]) -> dict[str, Any]:
    """Print a row of the table."""
    curve = " ".join(f"{score:.2f}" for score in row["curve"])
    counts = f"{row['epochs']:8}{row['weights']:11,}"
    print(f"{row['task']:7}{row['score']:7.2f}{row['seconds']:9.1f}{counts}  {name}; {curve}", flush=True)
    return row


def main() -> None:
    parser = ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("tasks", nargs="*", default=list(TASKS), help=f"of {', '.join(TASKS)}")
    parser.add_argument("--set", nargs="+", default=list(DEFAULTS), dest="settings", metavar="NAME=VALUE,...")
    parser.add_argument("--crfsuite", nargs="*", default=[], metavar="ALGORITHM")
    parser.add_argument("--orders", type=int, default=2)
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--test", action="store_true")
    parser.add_argument("--json", type=Path)
    add_data_option(parser)
    options = parser.parse_args()
    rows: list[dict[str, Any]] = []
    print(f"{'task':7}{'score':>7}{'seconds':>9}{'epochs':>8}{'weights':>11}  setting; dev curve")
    for name in options.tasks:
        task = read_task(name, options.data)
        for text in options.settings:
            setting = {"orders": options.orders, "epochs": options.epochs, **read_setting(text)}
            rows.append(show(text, measure(task, setting, test=options.test)))
        for algorithm in options.crfsuite:
            row = measure_crfsuite(task, algorithm, options.epochs, test=options.test)
            rows.append(show(row["setting"], row))
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
