"""Did anything become slower? Ratios of our times to fixed work on the same machine, beside the committed baseline.

    make bench-quick                        compare with docs/results/quick.json; what moved by more than 15 % is marked
    python -m benchmarks.quick --keep       measure, and make this the baseline

Each figure is a ratio: our best time, over the best time of fixed work measured just before and after. Kernels are held
against a product of matrices, work with strings and lists against joining and sorting strings, the start of a process
against the start of Python with NumPy. So a slower machine, or a noisy hour, moves both. The text is the sample that
comes with the library, with the ends of some words changed so that there are unknown ones. Takes about a minute.
"""

from __future__ import annotations

import json
import platform
import subprocess
import sys
import time
from argparse import ArgumentParser
from collections.abc import Callable
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.corpora import words_alone
from tagwright import CRF, GuidedTagger, StructuredPerceptron, __version__, datasets, load

BASELINE = Path(__file__).parent.parent / "docs" / "results" / "quick.json"
MOVED = 0.15
REPEATS, SECONDS = 5, 6.0
"""At least so many turns, and for so long: the best of many short ones is what a noisy machine changes least."""


def clock(work: Callable[[], object]) -> float:
    """Seconds of a call."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


# ---- the fixed work ----


def multiply() -> None:
    """What kernels are held against."""
    a = np.ones((256, 64), np.float32)
    b = np.ones((64, 64), np.float32)
    for _ in range(400):
        a @ b


def juggle_strings() -> None:
    """What work with strings and lists is held against."""
    words = [f"w{k * 7919 % 20011}" for k in range(20_000)]
    for _ in range(3):
        sorted("\n".join(words).split("\n"))


def start_python() -> None:
    """What the start of a process is held against."""
    subprocess.run([sys.executable, "-c", "import numpy"], check=True)


# ---- our work ----


def change_words(X: list[list[str]]) -> list[list[str]]:
    """The same text, every twelfth word with another end."""
    return [[w + "ly" if (i + t) % 12 == 0 else w for t, w in enumerate(words)] for i, words in enumerate(X)]


def figures(folder: Path) -> dict[str, tuple[Callable[[], object], Callable[[], None]]]:
    """What is measured: our work and what it is held against."""
    X, y = words_alone(datasets.sample())
    text = change_words(X) * 3
    crf = CRF("pos", n_jobs=1, callbacks=[lambda p: p.iteration >= 30]).fit(X, y)
    crf.save(folder / "crf.tw")
    guided = GuidedTagger("e", epochs=2, orders=1).fit(X, y)
    guided.predict(text)
    fresh = folder / "words.txt"
    fresh.write_text("\n\n".join("\n".join(words) for words in X[:3]) + "\n", encoding="utf-8")
    command = [sys.executable, "-m", "tagwright", "tag", str(folder / "crf.tw"), str(fresh), "-o", str(folder / "out")]
    perceptron = StructuredPerceptron("pos", epochs=3, orders=1, n_jobs=1)
    return {
        "CRF, 10 iterations": (
            lambda: CRF("pos", n_jobs=1, callbacks=[lambda p: p.iteration >= 10]).fit(X, y),
            multiply,
        ),
        "perceptron, 3 epochs": (lambda: perceptron.fit(X, y), multiply),
        "marginals": (lambda: crf.predict_marginals(X), multiply),
        "tagging, known words": (lambda: crf.predict(text), juggle_strings),
        "tagging, a fresh model": (lambda: load(folder / "crf.tw").predict(text), juggle_strings),
        "one sentence, 200 times": (lambda: [crf.predict(X[:1]) for _ in range(200)], juggle_strings),
        "guided tagging": (lambda: guided.predict(text), multiply),
        "start of `tagwright tag`": (lambda: subprocess.run(command, check=True), start_python),
    }


def measure() -> dict[str, float]:
    """The ratio of every figure."""
    ratios = {}
    with TemporaryDirectory() as folder:
        for name, (work, fixed) in figures(Path(folder)).items():
            work()  # compiles, fills caches
            ours, theirs = float("inf"), float("inf")
            began, turns = time.perf_counter(), 0
            while turns < REPEATS or time.perf_counter() - began < SECONDS:  # a noisy second meets both
                theirs = min(theirs, clock(fixed))
                ours = min(ours, clock(work))
                turns += 1
            ratios[name] = ours / theirs
            print(f"{name:28}{1000 * ours:9.1f} ms{ratios[name]:10.3f}", file=sys.stderr)
    return ratios


def compare(ratios: dict[str, float], baseline: dict[str, float]) -> list[str]:
    """A line for each figure; what moved is marked."""
    lines = [f"{'':28}{'baseline':>10}{'now':>10}{'moved':>9}"]
    for name, ratio in ratios.items():
        if name not in baseline:
            lines.append(f"{name:28}{'':10}{ratio:10.3f}      new")
            continue
        moved = ratio / baseline[name] - 1
        mark = "" if abs(moved) <= MOVED else "  SLOWER" if moved > 0 else "  faster"
        lines.append(f"{name:28}{baseline[name]:10.3f}{ratio:10.3f}{100 * moved:+8.0f} %{mark}")
    lines += [f"{name:28}{baseline[name]:10.3f}    not measured any more" for name in baseline if name not in ratios]
    return lines


def main() -> None:
    parser = ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--keep", action="store_true", help="make this the baseline")
    options = parser.parse_args()
    ratios = measure()
    if options.keep:
        about = {"date": date.today().isoformat(), "version": __version__, "machine": platform.processor() or "unknown"}
        BASELINE.write_text(json.dumps({**about, "ratios": ratios}, indent=1) + "\n", encoding="utf-8")
        print(f"kept in {BASELINE.name}")
        return
    if not BASELINE.exists():
        sys.exit(f"there is no {BASELINE}: make one with python -m benchmarks.quick --keep")
    lines = compare(ratios, json.loads(BASELINE.read_text(encoding="utf-8"))["ratios"])
    print("\n".join(lines))
    if any(line.endswith("SLOWER") for line in lines):
        sys.exit("something became slower: run it again on a quiet machine; if it stays, find the commit")


if __name__ == "__main__":
    main()
