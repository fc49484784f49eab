"""Does a dev set help or hurt? Every iterative learner with and without one: test score, rounds, seconds.

    python -m benchmarks.dev_sets [learner ...] [--tasks ewt wsj ner chunk] [--jobs N] [--data DIR] [--json FILE]

Default parameters and presets. --jobs: trainings at a time, each on one thread. A chunk corpus has no dev file; its
training file gives up its last tenth, with the dev set and without.
"""

from __future__ import annotations

import json
import time
from argparse import ArgumentParser
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from pathlib import Path
from typing import NamedTuple

from benchmarks.accuracy import FEATURES
from benchmarks.corpora import TASKS, add_data_option, read_task
from tagwright.learners import LEARNERS
from tagwright.metrics import evaluate

LEARNERS_WITH_ROUNDS = ("crf", "perceptron", "guided", "hmsvm")


class Job(NamedTuple):
    learner: str
    task: str
    with_dev: bool
    data: Path


class Row(NamedTuple):
    learner: str
    task: str
    with_dev: bool
    score: float  # accuracy or F1 on the test set
    rounds: int
    seconds: float


def train(job: Job) -> Row:
    """Train one model, and score it."""
    task = read_task(job.task, job.data)
    model = LEARNERS[job.learner]()
    model.set_params(random_state=0, **({} if job.learner == "guided" else {"features": FEATURES[job.task]}))
    began = time.perf_counter()
    model.fit(*task.train, *(task.dev if job.with_dev else ()))
    seconds = time.perf_counter() - began
    X, y = task.test
    result = evaluate(y, model.predict(X))
    score = result.accuracy if result.f1 is None else result.f1
    return Row(job.learner, job.task, job.with_dev, score, model.n_iter_, seconds)


def print_table(rows: list[Row]) -> None:
    """A line a learner, a pair of columns a task; then the means."""
    tasks = list(dict.fromkeys(row.task for row in rows))
    print(f"{'':12}{'':10}" + "".join(f"{task:>22}" for task in tasks) + f"{'mean':>9}{'seconds':>9}")
    for learner, with_dev in product(dict.fromkeys(row.learner for row in rows), (False, True)):
        own = [row for row in rows if (row.learner, row.with_dev) == (learner, with_dev)]
        cells = "".join(f"{row.score:10.2f} {row.rounds:4d} {row.seconds:5.1f}s" for row in own)
        mean, seconds = (sum(values) / len(own) for values in zip(*((row.score, row.seconds) for row in own)))
        print(f"{learner:12}{'dev set' if with_dev else 'none':10}{cells}{mean:9.3f}{seconds:9.1f}", flush=True)


def main() -> None:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("learners", nargs="*", default=list(LEARNERS_WITH_ROUNDS))
    parser.add_argument("--tasks", nargs="*", default=list(TASKS), choices=list(TASKS))
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--json", type=Path)
    add_data_option(parser)
    options = parser.parse_args()
    jobs = [Job(*key, options.data) for key in product(options.learners, options.tasks, (False, True))]
    with ProcessPoolExecutor(options.jobs) as pool:
        rows = list(pool.map(train, jobs))
    print_table(rows)
    if options.json:
        options.json.write_text(json.dumps([row._asdict() for row in rows], indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
