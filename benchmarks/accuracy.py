"""Test scores of our learners with their default parameters and presets on four corpora.

    python -m benchmarks.accuracy [task ...] [--data DIR] [--json FILE]

Presets and defaults were chosen on the dev sets (benchmarks/tune.py); the test set is scored here, once. The goal is
what the best of the rivals measured for this project reached on the same files, and a little more. Chunking trains on
the whole training file.
"""

from __future__ import annotations

import json
import resource
import time
from argparse import ArgumentParser
from pathlib import Path

from benchmarks.corpora import TASKS, Task, add_data_option, read_task
from tagwright.learners import LEARNERS
from tagwright.metrics import evaluate

FEATURES = {"ewt": "pos", "wsj": "pos", "ner": "ner", "chunk": "chunk"}
GOALS = {"ewt": 94.4, "wsj": 96.1, "ner": 80.4, "chunk": 93.9}
PERCEPTRON_MARGIN = 0.4


def measure(task: Task, learner: str) -> dict[str, float | str]:
    """Train, tag the test set, score."""
    model = LEARNERS[learner]().set_params(features=FEATURES[task.name], random_state=0, n_jobs=2)
    train = task.everything if task.name == "chunk" else task.train
    began = time.perf_counter()
    model.fit(*train)
    seconds = time.perf_counter() - began
    X, y = task.test
    known = set(model.encoder_.columns[0].values)
    words = [[item if isinstance(item, str) else item[0] for item in sentence] for sentence in X]
    result = evaluate(y, model.predict(X), tokens=words, known=known)
    return {
        "task": task.name,
        "learner": learner,
        "score": result.accuracy if result.f1 is None else result.f1,
        "unknown": result.unknown_accuracy or 0.0,
        "seconds": seconds,
        "parameters": model.n_parameters_,
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def main() -> None:
    parser = ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("tasks", nargs="*", default=list(TASKS), help=f"of {', '.join(TASKS)}")
    parser.add_argument("--learners", default="crf,perceptron")
    parser.add_argument("--json", type=Path)
    add_data_option(parser)
    options = parser.parse_args()
    print(f"{'task':7}{'learner':12}{'test':>7}{'goal':>7}{'unknown':>9}{'train s':>9}{'weights':>10}{'peak MiB':>10}")
    rows = []
    for name in options.tasks:
        task = read_task(name, options.data)
        for learner in options.learners.split(","):
            row = measure(task, learner)
            goal = GOALS[name] if learner == "crf" else GOALS[name] - PERCEPTRON_MARGIN
            rows.append({**row, "goal": goal})
            print(
                f"{name:7}{learner:12}{row['score']:7.2f}{goal:7.2f}{row['unknown']:9.2f}{row['seconds']:9.1f}"
                f"{row['parameters']:10}{row['peak_mib']:10.0f}",
                flush=True,
            )
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
