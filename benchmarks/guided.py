"""The tables of the guided-learning paper on our corpora, accuracy on test sets, and speed.

    python -m benchmarks.guided tables [ewt wsj] [--epochs 8]      dev error by features; by search, learning and beam
    python -m benchmarks.guided accuracy [ewt wsj]                 test accuracy, chosen epoch by the dev set
    python -m benchmarks.guided speed [ewt wsj]                    tagging and a training epoch
    python -m benchmarks.guided clusters [ewt wsj]                 word clusters, with few and many labelled sentences
                                                                   [--data DIR] [--json FILE]

Tables 2 and 3 of Shen, Satta and Joshi (2007): the perceptron of the paper (no margin, no dropout, one order), best of
the epochs on the dev set. Seconds and tokens a second are of processor time, one thread: other work on the machine
disturbs it less than the clock. Tagging is of the dev set by a model that has just been loaded, extraction included.
"""

from __future__ import annotations

import json
import tempfile
import time
from argparse import ArgumentParser
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

from tagwright.encode.flat_text import FlatText

from benchmarks.corpora import Task, add_data_option, read_task
from tagwright.attributes.clusters import WordClusters
from tagwright.learners import load
from tagwright.learners.guided_tagger import GuidedTagger

PAPER: dict[str, Any] = {"margin": 0.0, "dropout": 0.0, "orders": 1, "updates": 5}
SEARCHES: dict[str, dict[str, Any]] = {
    "left to right, not aggressive": {"direction": "left_to_right", "aggressive": False},
    "left to right, aggressive": {"direction": "left_to_right"},
    "right to left, aggressive": {"direction": "right_to_left"},
    "both, not aggressive": {"aggressive": False},
    "both, aggressive": {},
    "easiest first, not guided": {"guided": False},
}


def dev_error(task: Task, features: str, epochs: int, **params: Any) -> float:
    """The smallest of all epochs, in per cent."""
    settings = {**PAPER, "epochs": epochs, "patience": epochs, "random_state": 0, **params}
    model = GuidedTagger(features, **settings).fit(*task.train, *task.dev)
    return 100 - max(model.dev_curve_)


def make_tables(task: Task, epochs: int) -> dict[str, float]:
    """Both tables, a line as soon as it is known."""
    found: dict[str, float] = {}
    for name in "abcde":
        found[f"set {name}, beam 3"] = dev_error(task, name, epochs)
        print(f"{task.name}  set {name}, beam 3: {found[f'set {name}, beam 3']:.2f} % dev error", flush=True)
    for text, params in SEARCHES.items():
        for beam in (1, 3):
            key = f"{text}, beam {beam}"
            found[key] = dev_error(task, "e", epochs, beam=beam, **params)
            print(f"{task.name}  {key}: {found[key]:.2f} % dev error", flush=True)
    return found


def measure_accuracy(task: Task) -> dict[str, float]:
    """Sets e and best with the defaults of the learner; the dev set chooses the epoch."""
    found = {}
    for features in ("e", "best"):
        began = time.process_time()
        model = GuidedTagger(features, random_state=0, n_jobs=2).fit(*task.train, *task.dev)
        seconds = time.process_time() - began
        found[features] = 100 * model.score(*task.test)
        dev = max(model.dev_curve_)
        print(f"{task.name}  {features}: dev {dev:.2f} %, test {found[features]:.2f} %, {seconds:.0f} s", flush=True)
    return found


def measure_speed(task: Task) -> dict[str, float]:
    """One training of set e, with beam 3; tagging with both beams."""
    began: list[float] = []
    model = GuidedTagger(
        "e", orders=1, epochs=6, random_state=0, callbacks=[lambda _: began.append(time.process_time())]
    )
    model.fit(*task.train)
    epochs = [b - a for a, b in pairwise(began)]
    found = {"epoch": max(epochs)}
    print(f"{task.name}  an epoch: {found['epoch']:.1f} s at most, {median(epochs):.1f} s the median", flush=True)
    tokens = sum(map(len, task.dev[0]))
    with tempfile.TemporaryDirectory() as folder:
        for beam in (1, 3):
            path = Path(folder) / f"{beam}.tw"
            model.set_params(beam=beam).save(path)
            seconds = []
            for _ in range(5):
                fresh = load(path)
                fresh.predict(task.dev[0][:10])
                start = time.process_time()
                fresh.predict(task.dev[0])
                seconds.append(time.process_time() - start)
            found[f"beam {beam}"] = tokens / median(seconds)
            print(f"{task.name}  tagging, beam {beam}: {found[f'beam {beam}']:,.0f} tokens a second", flush=True)
            for part, seconds_of in split_time(load(path), task.dev[0]).items():
                found[f"beam {beam}, {part}"] = 1e6 * seconds_of / tokens
                print(f"{task.name}      {part}: {1e6 * seconds_of / tokens:.2f} µs a token", flush=True)
    return found


def split_time(model: Any, sentences: list[list[str]]) -> dict[str, float]:
    """Seconds of the parts of tagging: medians of 5."""
    parts: dict[str, list[float]] = {}
    decoder = model.decoder_
    for _ in range(5):
        clock = [time.process_time()]
        data = model.encode_text(FlatText.build(sentences, width=1))
        clock.append(time.process_time())
        decoder.lexical(data)
        clock.append(time.process_time())
        for _rows in decoder._runs(data, None):
            pass
        clock.append(time.process_time())
        decoder.best(data)
        clock.append(time.process_time())
        encode, lexical, rows, whole = [b - a for a, b in pairwise(clock)]
        times = {
            "attributes": encode,
            "lexical parts": lexical,
            "rows of words": rows,
            "search": whole - rows - lexical,
        }
        for name, seconds in times.items():
            parts.setdefault(name, []).append(seconds)
    return {name: median(seconds) for name, seconds in parts.items()}


def measure_clusters(task: Task) -> dict[str, float]:
    """Dev accuracy with 10, 25 and 100 % of the training labels, with clusters of the whole training text and without.

    One order and 8 epochs, the best of which counts; in brackets, words that the labelled sentences do not have.
    """
    X, y = task.train
    began = time.process_time()
    clusters = WordClusters.learn(X)
    print(f"{task.name}  {clusters}: {time.process_time() - began:.1f} s", flush=True)
    found = {}
    for step in (10, 4, 1):
        known = {word for sentence in X[::step] for word in sentence}
        for name, features in (("best", "best"), ("best and clusters", ("best", clusters))):
            model = GuidedTagger(features, orders=1, epochs=8, patience=8, random_state=0)
            model.fit(X[::step], y[::step], *task.dev)
            pairs = zip(model.predict(task.dev[0]), *task.dev, strict=True)
            right = [a == b for p, x, g in pairs for a, b, word in zip(p, g, x, strict=True) if word not in known]
            key = f"{100 // step} % of the labels, {name}"
            found[key] = max(model.dev_curve_)
            print(f"{task.name}  {key}: {found[key]:.2f} % ({100 * sum(right) / len(right):.2f})", flush=True)
    return found


def main() -> None:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=["tables", "accuracy", "speed", "clusters"])
    parser.add_argument("tasks", nargs="*", default=["ewt", "wsj"])
    parser.add_argument("--epochs", type=int, default=8, help="of the tables")
    parser.add_argument("--json", type=Path)
    add_data_option(parser)
    arguments = parser.parse_args()
    found = {}
    for name in arguments.tasks:
        task = read_task(name, arguments.data)
        if arguments.part == "tables":
            found[name] = make_tables(task, arguments.epochs)
        else:
            measures = {"accuracy": measure_accuracy, "speed": measure_speed, "clusters": measure_clusters}
            found[name] = measures[arguments.part](task)
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
