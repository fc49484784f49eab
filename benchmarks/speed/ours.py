"""Tagwright's job: the same orders as the rivals' (benchmarks/rivals/job.py), plus `passes`.

train       with the dev set; when each round ended and its dev score (attributes, encoding and dev scoring included;
            kernels loaded before)
passes      without a dev set: seconds of each loss-and-gradient pass (lbfgs) or epoch

`tagwright tag` itself reads files and starts up, so there is no job for these.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

from tagwright import CRF, StructuredPerceptron, Tagger
from tagwright.errors import ConvergenceWarning
from tagwright.learners import SequenceTagger, load
from tagwright.objective.threads import ThreadedObjective
from tagwright.optim.progress import Progress

Order = dict[str, Any]
LEARNERS: dict[str, Callable[..., SequenceTagger]] = {"crf": CRF, "perceptron": StructuredPerceptron}


def read(order: Order, part: str) -> tuple[list[list[Any]], list[list[str]]]:
    """Columns are tuples for us."""
    found = json.loads(Path(order["data"], f"{part}.json").read_text())
    X = [[item if isinstance(item, str) else tuple(item) for item in sentence] for sentence in found["X"]]
    return X, found.get("y")


def make(order: Order, **more: Any) -> SequenceTagger:
    settings = order["settings"]
    return LEARNERS[settings["learner"]](
        settings["features"], n_jobs=2, random_state=0, **settings["parameters"], **more
    )


def warm_up(order: Order) -> None:
    """Have kernels loaded (or compiled)."""
    X, y = read(order, "train")
    make(order, callbacks=[lambda p: p.iteration >= 2]).fit(X[:100], y[:100], X[:20], y[:20])


def train(order: Order) -> dict[str, Any]:
    warm_up(order)
    text, dev = read(order, "train"), read(order, "dev")
    curve: list[tuple[float, float]] = []
    began, spent = time.perf_counter(), time.process_time()

    def note(progress: Progress) -> None:
        curve.append((time.perf_counter() - began, progress.dev_score or 0.0))

    model = make(order, callbacks=[note]).fit(*text, *dev)
    seconds, cpu = time.perf_counter() - began, time.process_time() - spent
    model.save(order["model"])
    return {"seconds": seconds, "cpu": cpu, "curve": curve}


def time_passes(order: Order) -> dict[str, Any]:
    warm_up(order)
    text = read(order, "train")
    times: list[float] = []
    marks: list[float] = []
    original = ThreadedObjective.__call__

    def timed(self: ThreadedObjective, *given: Any) -> Any:
        began = time.perf_counter()
        result = original(self, *given)
        times.append(time.perf_counter() - began)
        return result

    def note(progress: Progress) -> bool:
        marks.append(progress.seconds)
        return progress.iteration >= int(order["rounds"])

    ThreadedObjective.__call__ = timed  # type: ignore[method-assign, assignment]
    make(order, callbacks=[note]).fit(*text)
    epochs = [after - before for before, after in pairwise(marks)]
    settings = order["settings"]
    online = settings["learner"] == "perceptron" or settings["parameters"].get("solver") == "sgd"
    return {"pass_seconds": epochs if online else times[2:]}


def predict(order: Order) -> dict[str, Any]:
    model = load(order["model"])
    labels = {part: model.predict(read(order, part)[0]) for part in ("dev", "test")}
    Path(order["output"]).write_text(json.dumps(labels))
    return {}


def tag(order: Order) -> dict[str, Any]:
    """One thread. A freshly loaded model knows no word that training did not have."""
    (text, _), (short, _) = read(order, "text"), read(order, "short")
    tokens = sum(map(len, text))
    load(order["model"]).predict(text[:50])  # kernels
    rates: list[float] = []
    again: list[float] = []
    for _ in range(order["repeat"]):
        model = load(order["model"])
        for found in (rates, again):
            began = time.perf_counter()
            model.predict(text)
            found.append(tokens / (time.perf_counter() - began))
    tagger = Tagger(load(order["model"]))
    for sentence in short[:20]:
        tagger.tag(sentence)
    latencies = []
    for sentence in short:
        began = time.perf_counter()
        tagger.tag(sentence)
        latencies.append(time.perf_counter() - began)
    return {"tokens_per_second": rates, "tokens_per_second_again": again, "latencies": latencies}


ACTIONS = {"train": train, "passes": time_passes, "predict": predict, "tag": tag}


def main() -> None:
    warnings.simplefilter("ignore", ConvergenceWarning)
    order = json.loads(Path(sys.argv[1]).read_text())
    print(json.dumps(ACTIONS[order["action"]](order)))


if __name__ == "__main__":
    main()
