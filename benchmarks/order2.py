"""What a tag dictionary and second order cost and bring, on dev sets: a pass, a training, tagging, accuracy.

    python -m benchmarks.order2 [ewt wsj] [--settings "order=2, tag_dictionary=5" ...] [--iterations N] [--data DIR]

One training for each setting, to its end or for N iterations. Seconds are of processor time, all threads together,
which other work on the machine disturbs less than the clock. A pass is the median of all loss-and-gradient evaluations.
Tagging is of the dev set, by a model that has just been loaded, unknown words to be worked out. Ratios are to the first
setting. --json FILE writes the figures there.
"""

from __future__ import annotations

import json
import tempfile
import time
from argparse import ArgumentParser
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.accuracy import FEATURES
from benchmarks.corpora import Task, add_data_option, read_task
from tagwright.learners import load
from tagwright.learners.crf import CRF
from tagwright.metrics import evaluate
from tagwright.objective.threads import ThreadedObjective
from tagwright.optim.progress import Callback

SETTINGS = ("order=1", "tag_dictionary=5", "order=2, tag_dictionary=5")


def make(task: Task, text: str, callback: Callback) -> CRF:
    """The learner of one setting, written as keyword arguments."""
    given = eval(f"dict({text})")
    return CRF(**{"features": FEATURES[task.name], "random_state": 0, "n_jobs": 2, "callbacks": [callback], **given})


def train(task: Task, text: str, iterations: int) -> tuple[CRF, list[float], float]:
    """The model, the seconds of every pass but the first two, and of the whole training."""
    passes: list[float] = []
    original = ThreadedObjective.__call__

    def timed(self: ThreadedObjective, *given: Any) -> Any:
        began = time.process_time()
        result = original(self, *given)
        passes.append(time.process_time() - began)
        return result

    ThreadedObjective.__call__ = timed  # type: ignore[method-assign, assignment]
    try:
        began = time.process_time()
        model = make(task, text, lambda progress: progress.iteration >= iterations).fit(*task.train)
        seconds = time.process_time() - began
    finally:
        ThreadedObjective.__call__ = original  # type: ignore[method-assign]
    return model, passes[2:], seconds


def time_tagging(task: Task, model: CRF) -> float:
    """Tokens a second on the dev set, the median of five fresh models."""
    rates = []
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "model.tw")
        for _ in range(5):
            fresh = load(Path(folder) / "model.tw")
            fresh.predict(task.dev[0][:5])
            began = time.process_time()
            fresh.predict(task.dev[0])
            rates.append(sum(map(len, task.dev[0])) / (time.process_time() - began))
    return median(rates)


def measure(task: Task, text: str, iterations: int) -> dict[str, Any]:
    """All figures of one setting."""
    part = task.train[0][:200], task.train[1][:200]
    make(task, text, lambda progress: True).fit(*part).predict(task.dev[0][:50])  # compile
    model, passes, seconds = train(task, text, iterations)
    words = set(model.encoder_.columns[0].values)
    result = evaluate(task.dev[1], model.predict(task.dev[0]), tokens=task.dev[0], known=words)
    return {
        "task": task.name,
        "setting": text,
        "pass": median(passes),
        "fastest_pass": min(passes),
        "training": seconds,
        "iterations": model.n_iter_,
        "tagging": time_tagging(task, model),
        "dev": result.accuracy,
        "dev_unknown": result.unknown_accuracy or 0.0,
        "parameters": model.n_parameters_,
    }


def main() -> None:
    parser = ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("tasks", nargs="*", default=["ewt", "wsj"])
    parser.add_argument("--settings", nargs="+", default=list(SETTINGS))
    parser.add_argument("--iterations", type=int, default=10**6, help="of each training, at most")
    parser.add_argument("--json", type=Path)
    add_data_option(parser)
    options = parser.parse_args()
    rows: list[dict[str, Any]] = []
    for name in options.tasks:
        task = read_task(name, options.data)
        print(f"{name:32}{'pass s':>8}{'ratio':>7}{'train s':>9}{'ratio':>7}{'rounds':>7}{'tokens/s':>10}{'ratio':>7}"
              f"{'dev':>7}{'unknown':>9}")  # fmt: skip
        for text in options.settings:
            rows.append(measure(task, text, options.iterations))
            row, base = rows[-1], next(row for row in rows if row["task"] == name)
            print(f"{text:32}{row['pass']:8.3f}{row['pass'] / base['pass']:7.2f}{row['training']:9.1f}"
                  f"{row['training'] / base['training']:7.2f}{row['iterations']:7}{row['tagging']:10.0f}"
                  f"{row['tagging'] / base['tagging']:7.2f}{row['dev']:7.2f}{row['dev_unknown']:9.2f}",
                  flush=True)  # fmt: skip
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
