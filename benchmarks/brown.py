"""Hundreds of labels: learners with their defaults on the Brown corpus, each in a process of its own.

    python -m benchmarks.brown BROWN [--only NAME ...] [--seconds 1200] [--threads 2] [--report] [--quick]

BROWN is the corpus as NLTK has it: brown.zip, or its folder; we may not pass it on. Every fifth sentence is for
testing. Labels are those of the corpus with all their parts (`nn-tl`, `ppss+hvd`). A CRF is stopped after `--seconds`;
the others end by themselves. --quick takes every twentieth sentence, and keeps nothing.

    seconds    of the clock, and of the processor, all threads together; without compiling (a first training on a few
               sentences)
    memory     the most that the process held, Python, NumPy, Numba and the corpus among it (Linux only)

Figures are kept in docs/brown.json; --report writes them into docs/growth.md.
"""

from __future__ import annotations

import json
import re
import resource
import subprocess
import sys
import time
import warnings
import zipfile
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.growth_report import fill
from tagwright.learners import LEARNERS, SequenceTagger
from tagwright.metrics import evaluate
from tagwright.optim.progress import Progress

DOCS = Path(__file__).parents[1] / "docs"
FILE = re.compile(r"c[a-r]\d\d")
HELD_OUT = 5
Settings = tuple[str, dict[str, Any]]
TRAININGS: dict[str, Settings] = {
    "perceptron": ("perceptron", {}),
    "guided": ("guided", {}),
    "hmsvm": ("hmsvm", {}),
    "crf": ("crf", {}),
    "crf, tag_dictionary=3": ("crf", {"tag_dictionary": 3}),
    "crf, tag_dictionary=3, solver=sgd": ("crf", {"tag_dictionary": 3, "solver": "sgd"}),
}
Text = tuple[list[list[str]], list[list[str]]]


def read_brown(path: Path) -> Iterator[list[tuple[str, str]]]:
    """The sentences of all files, in the order of their names."""
    for _, content in sorted(list_files(path)):
        for line in content.splitlines():
            pairs = [token.rpartition("/") for token in line.split()]
            if pairs:
                yield [(word, label) for word, _, label in pairs]


def list_files(path: Path) -> Iterator[tuple[str, str]]:
    """Name and content of every file of the corpus."""
    if path.is_dir():
        yield from ((file.name, file.read_text("ascii")) for file in path.iterdir() if FILE.fullmatch(file.name))
        return
    with zipfile.ZipFile(path) as packed:
        for name in packed.namelist():
            if FILE.fullmatch(Path(name).name):
                yield Path(name).name, packed.read(name).decode("ascii")


def split(sentences: list[list[tuple[str, str]]]) -> tuple[Text, Text]:
    """Training and test text."""
    parts: tuple[Text, Text] = ([], []), ([], [])
    for i, sentence in enumerate(sentences):
        for column, own in zip(parts[i % HELD_OUT == HELD_OUT - 1], zip(*sentence, strict=True), strict=True):
            column.append(list(own))
    return parts


def measure(name: str, path: Path, seconds: float, threads: int, step: int) -> dict[str, Any]:
    """Train and test in this process."""
    warnings.simplefilter("ignore")
    (X, y), (X_test, y_test) = split(list(read_brown(path))[::step])

    def make() -> SequenceTagger:
        learner, params = TRAININGS[name]
        model = LEARNERS[learner](**params)
        return model.set_params(random_state=0, n_jobs=threads)

    make().fit(X[:50], y[:50]).predict(X[:50])  # compile
    began, worked = time.perf_counter(), time.process_time()

    def stop(progress: Progress) -> bool:
        print(f"{name}: {progress}, {time.process_time() - worked:.0f} s of the processor", file=sys.stderr, flush=True)
        return time.perf_counter() - began > seconds

    model = make().set_params(callbacks=[stop]).fit(X, y)
    took, worked = time.perf_counter() - began, time.process_time() - worked
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    found = evaluate(y_test, model.predict(X_test))
    return {
        "name": name,
        "tokens": sum(map(len, X)),
        "labels": len(model.labels_),
        "seconds": took,
        "processor_seconds": worked,
        "rounds": model.n_iter_,
        "stopped": took > seconds,
        "memory_mib": peak,
        "attributes": model.encoder_.n_attributes,
        "weights": model.n_parameters_,
        "accuracy": found.accuracy,
    }


def table(rows: list[dict[str, Any]]) -> str:
    """For people."""
    lines = [
        "| learner | accuracy % | seconds | processor s | rounds | memory GiB | weights |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        rounds = f"{row['rounds']} (stopped)" if row["stopped"] else row["rounds"]
        worked = f"{row['processor_seconds']:,.0f}" if "processor_seconds" in row else ""
        lines.append(
            f"| {row['name']} | {row['accuracy']:.2f} | {row['seconds']:,.0f} | {worked} | {rounds} | "
            f"{row['memory_mib'] / 1024:.2f} | {row['weights']:,} |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("brown", type=Path)
    parser.add_argument("--only", nargs="*", default=list(TRAININGS), choices=list(TRAININGS))
    parser.add_argument("--seconds", type=float, default=1200)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--report", action="store_true", help="write the table into docs/growth.md")
    parser.add_argument("--one", help="measure one training in this process, print it as JSON")
    options = parser.parse_args()
    if options.one:
        step = 20 if options.quick else 1
        print(json.dumps(measure(options.one, options.brown, options.seconds, options.threads, step)))
        return
    path = DOCS / "brown.json"
    kept = {row["name"]: row for row in json.loads(path.read_text())} if path.exists() and not options.quick else {}
    for name in options.only:
        command = [sys.executable, "-m", "benchmarks.brown", str(options.brown), "--one", name]
        command += ["--seconds", str(options.seconds), "--threads", str(options.threads)]
        command += ["--quick"] if options.quick else []
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        kept[name] = json.loads(done.stdout.splitlines()[-1])
        print(table([kept[name]]), flush=True)
        if not options.quick:
            path.write_text(json.dumps([kept[k] for k in TRAININGS if k in kept], indent=1) + "\n")
    print(table([kept[k] for k in TRAININGS if k in kept]))
    if options.report:
        page = DOCS / "growth.md"
        text = fill(page.read_text(encoding="utf-8"), "brown", table([kept[k] for k in TRAININGS if k in kept]))
        page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
