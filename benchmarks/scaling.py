"""How training uses many cores: preparation, a pass, and the whole of a default training.

    python -m benchmarks.scaling [--threads 1 8 16] [--tokens 0 859000] [--train] [--data DIR] [--json FILE]

UD English EWT, Penn tags, preset `pos`; --tokens: 0 is the corpus as it is, others are it lengthened (grown_text.py).
A pass is the median of nine; a training (with --train: it takes minutes on few threads) is one.
"""

from __future__ import annotations

import json
import os
import time
import warnings
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from benchmarks.corpora import add_data_option, words_alone
from benchmarks.grown_text import Text, lengthen
from tagwright import CRF, datasets
from tagwright.objective.threads import ThreadedObjective


@contextmanager
def watched_objectives() -> Iterator[list[tuple[ThreadedObjective, float]]]:
    """The objectives that are made meanwhile, and when they were ready."""
    found: list[tuple[ThreadedObjective, float]] = []
    original = ThreadedObjective.__init__

    def noted(self: ThreadedObjective, *given: Any) -> None:
        original(self, *given)
        found.append((self, time.perf_counter()))

    ThreadedObjective.__init__ = noted  # type: ignore[method-assign, assignment]
    try:
        yield found
    finally:
        ThreadedObjective.__init__ = original  # type: ignore[method-assign]


def measure(text: Text, threads: int, *, train: bool) -> dict[str, float]:
    """Seconds; a pass in milliseconds."""
    passes: list[float] = []

    def note(_: object) -> bool:
        objective = found[-1][0]
        weights = np.random.default_rng(0).normal(size=len(objective.problem.start)) * 0.1
        for _ in range(10):
            began = time.perf_counter()
            objective(weights)
            passes.append(1000 * (time.perf_counter() - began))
        return True

    with watched_objectives() as found:
        began = time.perf_counter()
        CRF("pos", n_jobs=threads, callbacks=[note]).fit(*text)
        row = {"prepare": found[-1][1] - began, "pass": median(passes[1:])}
    if train:
        began = time.perf_counter()
        model = CRF("pos", n_jobs=threads).fit(*text)
        row |= {"training": time.perf_counter() - began, "iterations": float(model.n_iter_)}
    return row


def main() -> None:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, os.cpu_count() or 1])
    parser.add_argument("--tokens", type=int, nargs="+", default=[0, 859_000])
    parser.add_argument("--train", action="store_true")
    parser.add_argument("--json", type=Path)
    add_data_option(parser)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    corpus = words_alone(datasets.load("ewt", "train", folder=options.data))
    CRF("pos", max_iterations=2, n_jobs=2).fit(corpus[0][:500], corpus[1][:500])  # compiles
    rows = []
    for n in options.tokens:
        text = lengthen(corpus, n, 0) if n else corpus
        for threads in options.threads:
            size = sum(map(len, text[0]))
            rows.append({"tokens": size, "threads": threads, **measure(text, threads, train=options.train)})
            print(
                "  ".join(f"{name} {value:,.{0 if value > 999 else 2}f}" for name, value in rows[-1].items()),
                flush=True,
            )
    if options.json is not None:
        options.json.write_text(json.dumps(rows, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
