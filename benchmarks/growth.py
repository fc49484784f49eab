"""How time and memory grow: with tokens, labels, attributes, the length of sentences, and threads.

    python -m benchmarks.growth [CURVE ...] [--quick] [--report] [--data DIR]

One quantity grows, the others stay. Every point is measured in a process of its own: a CRF on UD English EWT (Penn
tags, preset `pos`), made longer, relabelled or reshaped (grown_text.py), a few iterations of L-BFGS. The curves are
tokens, labels, dictionary (labels again, with a tag dictionary), pruning (what that loses), attributes, length,
threads, and learners: labels again, for every learner with its defaults, on fewer tokens.

    pass       one loss and gradient: the median of all but the first
    prepare    the rest of the training: encoding, patterns, the solver's own work
    round      of a learner: the time between two reports, the median; without any, the whole training
    tag        labels for the dev text, a token
    memory     the most that the process held until the training was done, beyond what it held before the text was made

Seconds are of processor time, all threads together, which other work on the machine disturbs less than the clock; of
threads, of the clock. The exponent b of y ~ x^b is the slope of the least-squares line through the logarithms.
Points are kept in docs/growth.json; --report writes docs/growth.md and its pictures from it.
"""

from __future__ import annotations

import gc
import json
import resource
import subprocess
import sys
import time
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import combinations, pairwise
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.corpora import add_data_option, read_task, words_alone
from benchmarks.grown_text import Text, lengthen, relabel, reshape
from benchmarks.growth_report import print_curve, write_report
from tagwright.learners import LEARNERS, SequenceTagger
from tagwright.learners.crf import CRF
from tagwright.metrics import evaluate
from tagwright.objective.threads import ThreadedObjective
from tagwright.optim.progress import Progress

DOCS = Path(__file__).parents[1] / "docs"
BASE = {"tokens": 100_000, "labels": 50, "conjunctions": None, "length": None, "threads": 1, "dictionary": 0,
        "iterations": 3, "learner": ""}  # fmt: skip
MOST_LABELS = {"adaboost": 200, "kernel-perceptron": 200}
"""Of learners that would take hours, or much memory, with more."""
Points = list[dict[str, Any]]
CURVES: dict[str, Points] = {
    "tokens": [{"tokens": n} for n in (10_000, 100_000, 1_000_000, 10_000_000)],
    "labels": [{"labels": n} for n in (9, 50, 200, 1_000)],
    "dictionary": [{"labels": n, "dictionary": 3} for n in (9, 50, 200, 1_000)],
    "attributes": [{"tokens": 200_000, "conjunctions": n} for n in (1, 9, 65)],
    "length": [{"length": n} for n in (10, 100, 1_000, 10_000)],
    "threads": [{"tokens": 200_000, "threads": n} for n in (1, 2)],
    "pruning": [{"tokens": 10_000, "labels": 1_000, "iterations": 40, "dictionary": n} for n in (0, 3)],
    "learners": [
        {"tokens": 10_000, "labels": n, "learner": name, "iterations": 4}
        for name in LEARNERS
        for n in (9, 50, 200, 1_000)
        if n <= MOST_LABELS.get(name, n)
    ],
}
QUICK: dict[str, Points] = {
    "tokens": [{"tokens": n} for n in (5_000, 20_000, 80_000)],
    "labels": [{"tokens": 10_000, "labels": n} for n in (9, 50, 200)],
    "dictionary": [{"tokens": 10_000, "labels": n, "dictionary": 3} for n in (9, 50, 200)],
    "attributes": [{"tokens": 10_000, "conjunctions": n} for n in (0, 7, 30)],
    "length": [{"tokens": 20_000, "length": n} for n in (10, 100, 1_000)],
    "threads": [{"tokens": 50_000, "threads": n} for n in (1, 2)],
    "pruning": [{"tokens": 5_000, "labels": 200, "iterations": 20, "dictionary": n} for n in (0, 3)],
    "learners": [{"tokens": 3_000, "labels": n, "learner": name} for name in LEARNERS for n in (9, 50)],
}
WINDOW = range(-3, 4)


def make_features(conjunctions: int | None) -> str:
    """The preset, or a word's spelling with so many conjunctions of two, three or four words near it."""
    if conjunctions is None:
        return "pos"
    cells = [pick for size in (2, 3, 4) for pick in combinations(WINDOW, size)]
    spelled = "word suffix(1..3) @ 0"
    return "\n".join([spelled, *(" & ".join(f"word[{o}]" for o in pick) for pick in cells[:conjunctions])])


def make_text(point: dict[str, Any], train: Text, dev: Text) -> tuple[Text, Text]:
    """The corpus of a point, and dev text with the same labels."""
    longer = lengthen(train, point["tokens"], seed=0)
    n = len(longer[0])
    X, y = relabel((longer[0] + dev[0], longer[1] + dev[1]), point["labels"])
    parts: tuple[Text, Text] = (X[:n], y[:n]), (X[n:], y[n:])
    return (
        parts if point["length"] is None else (reshape(parts[0], point["length"]), reshape(parts[1], point["length"]))
    )


def make_learner(point: dict[str, Any]) -> CRF:
    return CRF(
        make_features(point["conjunctions"]), tag_dictionary=point["dictionary"], n_jobs=point["threads"],
        callbacks=[lambda progress: progress.iteration >= point["iterations"]], random_state=0,
    )  # fmt: skip


def count_rounds(point: dict[str, Any]) -> tuple[SequenceTagger, list[float]]:
    """The learner of a point, with its defaults, and the processor time at every report, of which it gets few."""
    stamps: list[float] = []

    def note(progress: Progress) -> bool:
        stamps.append(time.process_time())
        return len(stamps) >= int(point["iterations"])

    params = {"random_state": 0, "n_jobs": point["threads"], "callbacks": [note]}
    return LEARNERS[point["learner"]]().set_params(**params), stamps


@contextmanager
def timed_passes() -> Iterator[list[tuple[float, float]]]:
    """The seconds of every loss-and-gradient pass while this lasts: of the processor, of the clock."""
    passes: list[tuple[float, float]] = []
    original = ThreadedObjective.__call__

    def timed(self: ThreadedObjective, *given: Any) -> Any:
        began = time.process_time(), time.perf_counter()
        result = original(self, *given)
        passes.append((time.process_time() - began[0], time.perf_counter() - began[1]))
        return result

    ThreadedObjective.__call__ = timed  # type: ignore[method-assign, assignment]
    try:
        yield passes
    finally:
        ThreadedObjective.__call__ = original  # type: ignore[method-assign]


def measure(point: dict[str, Any], train: Text, dev: Text) -> dict[str, Any]:
    """All figures of one point, in this process, on a text made of the real one."""
    toy = [["a", "b", "c"] * 5] * 20
    make_learner(point).fit(toy, [[word.upper() for word in sentence] for sentence in toy]).predict(toy)  # kernels
    gc.collect()
    before = resident()
    (X, y), (X_dev, y_dev) = make_text(point, train, dev)
    corpus = resident()
    with timed_passes() as passes:
        began = time.process_time(), time.perf_counter()
        model = make_learner(point).fit(X, y)
        fitted = time.process_time() - began[0], time.perf_counter() - began[1]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    few = max(1, len(X_dev) // 10)  # sentences with new words: the tables get room for more of them
    head = model.predict(X_dev[:few])
    began_tagging = time.process_time()
    rest = model.predict(X_dev[few:])
    tagging = time.process_time() - began_tagging
    return {
        **point,
        "tokens": sum(map(len, X)),
        "n_labels": len(model.labels_),
        "words": len(model.encoder_.columns[0].values),
        "attributes": model.encoder_.n_attributes,
        "weights": model.n_parameters_,
        "pass_s": median(p[0] for p in passes[1:]),
        "pass_wall_s": median(p[1] for p in passes[1:]),
        "passes": len(passes),
        "prepare_s": fitted[0] - sum(p[0] for p in passes),
        "fit_wall_s": fitted[1],
        "tag_us": tagging / sum(map(len, rest)) * 1e6,
        "memory_mib": peak - before,
        "corpus_mib": corpus - before,
        "objective": model.objective_,
        "accuracy": evaluate(y_dev, head + rest).accuracy,
    }


def measure_learner(point: dict[str, Any], train: Text, dev: Text) -> dict[str, Any]:
    """The figures of a learner with its defaults."""
    toy = [["a", "b", "c"] * 5] * 20
    count_rounds(point)[0].fit(toy, [[word.upper() for word in sentence] for sentence in toy]).predict(toy)
    gc.collect()
    before = resident()
    (X, y), (X_dev, _) = make_text(point, train, dev)
    model, stamps = count_rounds(point)
    began = time.process_time()
    model.fit(X, y)
    took = time.process_time() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    model.predict(X_dev[:5])
    began = time.process_time()
    model.predict(X_dev)
    tagging = time.process_time() - began
    rounds = [b - a for a, b in pairwise(stamps)]
    return {
        **point,
        "n_labels": len(model.labels_),
        "round_s": median(rounds) if rounds else took,
        "fit_s": took,
        "tag_us": tagging / sum(map(len, X_dev)) * 1e6,
        "memory_mib": peak - before,
        "weights": model.n_parameters_,
    }


def resident() -> float:
    """What the process holds now, in MiB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


def run_point(point: dict[str, Any], data: Path) -> dict[str, Any]:
    """In a process of its own."""
    module = [sys.executable, "-m", "benchmarks.growth"]
    command = [*module, "--point", json.dumps(point), "--data", str(data)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    parser = ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("curves", nargs="*", help=f"of {', '.join(CURVES)} (default: all)")
    parser.add_argument("--quick", action="store_true", help="small points, printed and not kept")
    parser.add_argument("--report", action="store_true", help="write docs/growth.md from the points that are kept")
    parser.add_argument("--point", help="measure one point in this process (JSON), print it as JSON")
    add_data_option(parser)
    options = parser.parse_args()
    if options.point:
        task = read_task("ewt", options.data)
        point = json.loads(options.point)
        work = measure_learner if point["learner"] else measure
        print(json.dumps(work(point, words_alone(task.train), words_alone(task.dev))))
        return
    path = DOCS / "growth.json"
    kept: dict[str, list[dict[str, Any]]] = json.loads(path.read_text()) if path.exists() else {}
    for curve in options.curves or ([] if options.report else list(CURVES)):
        if curve not in CURVES:
            parser.error(f"there is no curve {curve!r}; choose of {', '.join(CURVES)}")
        points = []
        for settings in (QUICK if options.quick else CURVES)[curve]:
            points.append(run_point({**BASE, **settings}, options.data))
            print(f"{curve}: {settings} done", file=sys.stderr, flush=True)
            if not options.quick:
                kept[curve] = points
                path.write_text(json.dumps(kept, indent=1) + "\n")
        print_curve(curve, points)
    if options.report:
        write_report(kept, DOCS)


if __name__ == "__main__":
    main()
