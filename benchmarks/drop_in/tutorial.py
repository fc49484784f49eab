"""sklearn-crfsuite's tutorial from end to end: Spanish names of CoNLL-2002, its attributes, its parameters.

    python -m benchmarks.drop_in.tutorial [--turns 3] [--iterations 100] [--threads 1,2] [--data FOLDER] [--json FILE]

sklearn_crfsuite and tagwright.sklearn_crfsuite train on the same lists of dicts and tag the test set, all sentences in
one call and one at a time, by turns in one process. Ratios are medians of the turns: of the clock, and (those in the
second table) of processor time, which other work on the machine changes less.
"""

from __future__ import annotations

import gc
import json
import time
from argparse import ArgumentParser
from collections.abc import Callable
from importlib import import_module
from itertools import chain
from pathlib import Path
from statistics import mean, median
from typing import Any, NamedTuple

from benchmarks.corpora import add_data_option, read_task

Attributes = dict[str, Any]
TASKS = ("train", "tag all", "tag one by one")
PARAMETERS = {"algorithm": "lbfgs", "c1": 0.1, "c2": 0.1, "all_possible_transitions": True}


def describe(word: str, tag: str, position: str = "") -> Attributes:
    """Of a word, or of one of its neighbours."""
    return {
        f"{position}word.lower()": word.lower(),
        f"{position}word.istitle()": word.istitle(),
        f"{position}word.isupper()": word.isupper(),
        f"{position}postag": tag,
        f"{position}postag[:2]": tag[:2],
    }


def sentence_attributes(sentence: list[tuple[str, str]]) -> list[Attributes]:
    """The tutorial's: a word, its part of speech, both neighbours."""
    found = []
    for t, (word, tag) in enumerate(sentence):
        own = {"bias": 1.0, "word[-3:]": word[-3:], "word[-2:]": word[-2:], "word.isdigit()": word.isdigit()}
        own |= describe(word, tag)
        own |= describe(*sentence[t - 1], "-1:") if t else {"BOS": True}
        own |= describe(*sentence[t + 1], "+1:") if t + 1 < len(sentence) else {"EOS": True}
        found.append(own)
    return found


class Seconds(NamedTuple):
    """What a piece of work took."""

    clock: float
    processor: float


def clock(work: Callable[[], Any]) -> tuple[Seconds, Any]:
    gc.collect()
    began = time.perf_counter(), time.process_time()
    found = work()
    return Seconds(time.perf_counter() - began[0], time.process_time() - began[1]), found


def measure(kind: type, X: Any, y: Any, test: Any, **parameters: Any) -> dict[str, Any]:
    """Seconds of one training, and of tagging with what it has learned."""
    crf = kind(**PARAMETERS, **parameters)
    figures: dict[str, Any] = {"train": clock(lambda: crf.fit(X, y))[0]}
    crf.predict(test[:20])
    figures["tag all"], labels = clock(lambda: crf.predict(test))
    figures["tag one by one"], same = clock(lambda: [crf.predict_single(sentence) for sentence in test])
    assert [list(own) for own in labels] == [list(own) for own in same]
    figures["labels"] = [list(own) for own in labels]
    figures["iterations"] = len(crf.training_log_.iterations)
    figures["loss"] = crf.training_log_.last_iteration["loss"]
    return figures


def main() -> None:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--iterations", type=int, default=100)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--json", type=Path)
    add_data_option(parser)
    options = parser.parse_args()
    task = read_task("ner", options.data)
    X, test = ([sentence_attributes(sentence) for sentence in part[0]] for part in (task.train, task.test))
    original = import_module("sklearn_crfsuite").CRF
    ours = import_module("tagwright.sklearn_crfsuite").CRF
    ours(max_iterations=2).fit(X[:200], task.train[1][:200]).predict(test[:50])  # compiles
    ways: dict[str, Any] = {"sklearn_crfsuite": (original, {})}
    ways |= {f"ours, n_jobs={n}": (ours, {"n_jobs": int(n)}) for n in options.threads.split(",")}
    runs: dict[str, list[dict[str, Any]]] = {name: [] for name in ways}
    for turn in range(options.turns):
        for name, (kind, more) in ways.items():
            own = measure(kind, X, task.train[1], test, max_iterations=options.iterations, **more)
            runs[name].append(own)
            times = "   ".join(f"{task} {own[task].clock:.2f} s ({own[task].processor:.2f})" for task in TASKS)
            gold, found = chain.from_iterable(task.test[1]), chain.from_iterable(own["labels"])
            share = mean(a == b for a, b in zip(gold, found, strict=True))
            print(
                f"turn {turn + 1}  {name:18} {times}   {own['iterations']} iterations, loss {own['loss']:.2f}, "
                f"accuracy {100 * share:.3f}",
                flush=True,
            )
    report(runs, options.json)


def report(runs: dict[str, list[dict[str, Any]]], path: Path | None) -> None:
    """How many times as fast each way is as the first."""
    (first, baseline), *others = runs.items()
    table: dict[str, Any] = {}
    for kind in Seconds._fields:
        print(f"\n{kind + ', times as fast as ' + first:44}" + "".join(f"{task:>22}" for task in TASKS))
        for name, own in others:
            pairs = {task: zip([a[task] for a in baseline], [b[task] for b in own], strict=True) for task in TASKS}
            ratios = {t: sorted(getattr(a, kind) / getattr(b, kind) for a, b in p) for t, p in pairs.items()}
            table[f"{name}, {kind}"] = ratios
            cells = [f"{median(r):.2f} ({r[0]:.2f} to {r[-1]:.2f})" for r in ratios.values()]
            print(f"{name:44}" + "".join(f"{cell:>22}" for cell in cells))
    if path:
        seconds = {name: [{k: v for k, v in run.items() if k != "labels"} for run in own] for name, own in runs.items()}
        path.write_text(json.dumps({"runs": seconds, "ratios": table}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
