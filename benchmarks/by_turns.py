"""Two versions of the code side by side: the same work by turns, in one run, medians and spread of the ratios.

    python -m benchmarks.by_turns OLD NEW [--turns 7] [--only tagging latency ...] [--data FOLDER] [--json FILE]

OLD and NEW are source folders (the `src` of two checkouts). Each gets a process of its own; they take turns, so that a
noisy minute meets both. The corpus is UD English EWT. Both tag the same text with a model that was just loaded, so that
every unknown word is new.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser
from collections.abc import Callable
from pathlib import Path
from typing import Any

TASKS = (
    "tagging", "tagging_dictionary", "one_thread", "two_threads", "latency", "latency_unknown", "prepare",
    "pass_1", "pass_2", "dictionary_pass", "order_2_pass", "sgd", "perceptron", "guided", "hmsvm", "boosting",
)  # fmt: skip


# ---- what a worker does ----


def worker(folder: Path, data: str) -> None:
    """Read names of tasks, do them, print seconds."""
    import warnings

    import tagwright
    from benchmarks.corpora import read_task, words_alone
    from tagwright import CRF, StructuredPerceptron, load

    warnings.simplefilter("ignore")
    corpus = read_task("ewt", Path(data))
    (X, y), (dev, _), (test, _) = (words_alone(part) for part in (corpus.train, corpus.dev, corpus.test))
    fresh = [[w + "x" if (i + t) % 97 == 0 else w for t, w in enumerate(s)] for i, s in enumerate(test + dev)]
    some, labels = X[:1500], y[:1500]
    twenty = next(s for s in X if len(s) == 20)  # all words are known: old versions kept those they met

    def clock(work: Callable[[], Any]) -> float:
        began = time.perf_counter()
        work()
        return time.perf_counter() - began

    def tag(name: str, times: int = 1, **options: Any) -> float:
        model, text = load(folder / name), fresh * times
        model.predict(X[:5])
        return clock(lambda: model.predict(text, **options))

    def each(name: str, sentences: list[list[str]]) -> float:
        model = load(folder / name)
        model.predict(X[:5])
        times = [clock(lambda s=s: model.predict([s])) for s in sentences]  # type: ignore[misc]
        return statistics.median(times)

    def passes(n_jobs: int, n: int, sentences: Any = None, **options: Any) -> float:
        """Seconds of an iteration: of the iterations after the first few."""
        stamps: list[float] = []

        def note(progress: Any) -> bool:
            stamps.append(time.perf_counter())
            return len(stamps) > n

        XX, yy = sentences or (X, y)
        CRF("pos", n_jobs=n_jobs, callbacks=[note], **options).fit(XX, yy)
        return (stamps[-1] - stamps[2]) / (len(stamps) - 3)

    work: dict[str, Callable[[], float]] = {
        "tagging": lambda: tag("pos.tw"),
        "tagging_dictionary": lambda: tag("dictionary.tw"),
        "one_thread": lambda: tag("pos.tw", times=5),
        "two_threads": lambda: tag("pos.tw", times=5, n_jobs=2),
        "latency": lambda: each("pos.tw", [twenty] * 300),
        "latency_unknown": lambda: each("pos.tw", fresh[:300]),
        "prepare": lambda: clock(lambda: CRF("pos", max_iterations=1).fit(X, y)),
        "pass_1": lambda: passes(1, 12),
        "pass_2": lambda: passes(2, 12),
        "dictionary_pass": lambda: passes(1, 12, tag_dictionary=3),
        "order_2_pass": lambda: passes(1, 6, (some, labels), order=2, tag_dictionary=3),
        "sgd": lambda: clock(lambda: CRF("pos", solver="sgd", max_iterations=2, random_state=0).fit(X, y)),
        "perceptron": lambda: clock(lambda: StructuredPerceptron("pos", epochs=2, random_state=0).fit(X, y)),
        "guided": lambda: clock(
            lambda: tagwright.GuidedTagger("best", epochs=1, orders=1, random_state=0).fit(X[:4000], y[:4000])
        ),
        "hmsvm": lambda: clock(
            lambda: tagwright.HMSVM("pos", max_iterations=5, random_state=0).fit(X[:3000], y[:3000])
        ),
        "boosting": lambda: clock(lambda: tagwright.SequenceAdaBoost("pos", rounds=60).fit(some, labels)),
    }
    if not (folder / "dictionary.tw").exists():
        CRF("pos", max_iterations=40, n_jobs=2).fit(X, y).save(folder / "pos.tw")
        CRF("pos", max_iterations=40, n_jobs=2, tag_dictionary=3).fit(X, y).save(folder / "dictionary.tw")
    print("ready", flush=True)
    for line in sys.stdin:
        try:
            print(work[line.strip()](), flush=True)
        except TypeError:  # a version without such an option
            print("nan", flush=True)


# ---- the turns ----


def start(source: Path, folder: Path, data: str) -> subprocess.Popen[str]:
    """A worker that imports the package from `source`; returns when it is ready."""
    env = {**os.environ, "PYTHONPATH": str(source)}
    command = [sys.executable, "-m", "benchmarks.by_turns", "--worker", str(folder), "--data", data]
    process = subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    while (line := process.stdout.readline()) and line.strip() != "ready":
        pass
    return process


def ask(process: subprocess.Popen[str], task: str) -> float:
    assert process.stdin is not None
    assert process.stdout is not None
    print(task, file=process.stdin, flush=True)
    return float(process.stdout.readline())


def main() -> None:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("sources", nargs="*", type=Path)
    parser.add_argument("--worker", type=Path)
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument("--only", nargs="*", default=list(TASKS))
    parser.add_argument("--data", default=os.environ.get("TAGWRIGHT_DATA", "../shared/data"))
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    if options.worker is not None:
        worker(options.worker, options.data)
        return
    found: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        old, new = (start(source.resolve(), Path(folder), options.data) for source in options.sources)
        print(f"{'':20}{'old':>12}{'new':>12}{'old / new':>12}   spread")
        for task in options.only:
            ask(old, task), ask(new, task)  # compiles, warms caches
            pairs = [(ask(old, task), ask(new, task)) for _ in range(options.turns)]
            ratios = sorted(a / b for a, b in pairs)
            a, b = (statistics.median(times) for times in zip(*pairs, strict=True))
            found[task] = {"old": a, "new": b, "ratio": statistics.median(ratios), "low": ratios[0], "high": ratios[-1]}
            print(
                f"{task:20}{1000 * a:9.2f} ms{1000 * b:9.2f} ms{found[task]['ratio']:12.3f}   "
                f"{ratios[0]:.2f} to {ratios[-1]:.2f}",
                flush=True,
            )
        for process in (old, new):
            process.kill()
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
