"""The HM-SVM: its duality gap on a full corpus, the papers' comparison on 300 sentences, and an explicit degree-2 map.

    python -m benchmarks.hmsvm gap [--task ewt] [--C 0.1] [--threads 2]
    python -m benchmarks.hmsvm draws [--task wsj] [--draws 5] [--learners hmm,...]
    python -m benchmarks.hmsvm map [--task wsj] [--sizes 300,1000,3000]
        all: [--data DIR] [--json FILE]

gap     linear, the task's preset: primal, dual, gap and time of every pass; dev accuracy at the end
draws   HMSVM figures 1 and 3: draws of 300 training sentences, 5-fold cross-validation, s3 features, polynomial kernel
        of degree 2, C = 1; token error with its standard error over the draws, and the t of each step of the order
map     all pairs of s3 attributes that two tokens have, as attributes of a linear HM-SVM, beside the exact kernel

Seconds are processor time of all threads, "wall" the clock.
"""

from __future__ import annotations

import json
import time
import warnings
from argparse import ArgumentParser, Namespace
from collections import Counter
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.accuracy import FEATURES
from benchmarks.corpora import TASKS, Text, add_data_option, read_task
from tagwright.attributes.templates import resolve
from tagwright.errors import ConvergenceWarning
from tagwright.learners import CRF, HMM, HMSVM, KernelPerceptron, SequenceTagger
from tagwright.optim.progress import Progress

SENTENCES, FOLDS = 300, 5
NO_PENALTY, UNIT_PRIOR = 1e-4, 0.5
"""c2 of a CRF: next to none, and ‖w‖²/2."""
PASSES = 25
"""Of the HM-SVM with a kernel, on data that it separates nearly: to a small gap they would be hundreds."""


def learners() -> dict[str, SequenceTagger]:
    """Those of the papers, in the order of their errors there, the worst first."""
    return {
        "HMM": HMM(),
        "HM-Perceptron": KernelPerceptron("s3", kernel="poly", degree=2, random_state=0),
        "CRF": CRF("s3", c2=NO_PENALTY, max_iterations=50, random_state=0),
        "CRF-B": CRF("s3", c2=UNIT_PRIOR, random_state=0),
        "HM-SVM": HMSVM("s3", kernel="poly", degree=2, C=1.0, margin="unit", max_iterations=PASSES, random_state=0),
    }


def take(text: Text, numbers: Any) -> Text:
    return [text[0][i] for i in numbers], [text[1][i] for i in numbers]


def cross_validate(model: SequenceTagger, text: Text) -> float:
    """Token error in per cent over all folds: fold k tests the sentences k, k + FOLDS, ..."""
    wrong = tokens = 0.0
    for fold in range(FOLDS):
        numbers = np.arange(len(text[0]))
        X, y = take(text, numbers[numbers % FOLDS == fold])
        model.fit(*take(text, numbers[numbers % FOLDS != fold]))
        n = sum(map(len, y))
        wrong, tokens = wrong + (1 - model.score(X, y)) * n, tokens + n
    return 100 * wrong / tokens


def run_draws(options: Namespace) -> dict[str, Any]:
    """The table of the papers' comparison."""
    train = read_task(options.task, options.data).train
    names = options.learners.split(",") if options.learners else list(learners())
    errors: dict[str, list[float]] = {name: [] for name in names}
    seconds: dict[str, list[float]] = {name: [] for name in names}
    for draw in range(options.draws):
        text = take(train, np.random.default_rng(draw).choice(len(train[0]), SENTENCES, replace=False))
        for name in names:
            began = time.process_time()
            errors[name].append(cross_validate(learners()[name], text))
            seconds[name].append(time.process_time() - began)
            print(f"draw {draw}: {name} {errors[name][-1]:.2f} in {seconds[name][-1]:.1f} s", flush=True)
    print(f"{options.task}, {options.draws} draws of {SENTENCES} sentences, {FOLDS} folds: token error in per cent")
    for name in names:
        print(
            f"{name:15}{np.mean(errors[name]):7.2f} ± {standard_error(errors[name]):.2f}{np.mean(seconds[name]):8.1f} s"
        )
    for worse, better in pairwise(names):
        steps = np.subtract(errors[worse], errors[better])
        t = float(np.mean(steps)) / max(standard_error(steps), 1e-12)
        print(f"{worse} − {better}: {np.mean(steps):+.2f}, t = {t:.1f} with {options.draws - 1} degrees of freedom")
    return {"task": options.task, "errors": errors, "seconds": seconds}


def standard_error(values: Any) -> float:
    return float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")


def run_gap(options: Namespace) -> dict[str, Any]:
    """Passes to a gap of 1 %."""
    task = read_task(options.task, options.data)
    began, clock = time.process_time(), time.perf_counter()
    rows: list[tuple[float, ...]] = []

    def tell(progress: Progress) -> None:
        spent = time.process_time() - began, time.perf_counter() - clock
        rows.append((progress.objective, float(progress.step or 0.0), *spent))
        print("pass {}: primal {:.6g}, gap {:.4f}, {:.1f} s, wall {:.1f}".format(len(rows), *rows[-1]), flush=True)

    model = HMSVM(FEATURES[options.task], C=options.C, random_state=0, n_jobs=options.threads, callbacks=[tell])
    accuracy = 100 * model.fit(*task.train).score(*task.dev)
    supports = sum(len(one.sequences) for one in model.support_sequences_)
    print(f"{options.task}: dev accuracy {accuracy:.2f}; {supports} support sequences")
    return {"task": options.task, "C": options.C, "passes": rows, "dev": accuracy}


def run_map(options: Namespace) -> dict[str, Any]:
    """The kernel's machine beside a linear one on pairs of attributes: dev accuracy and time."""
    task = read_task(options.task, options.data)
    found = []
    for size in map(int, options.sizes.split(",")):
        text = take(task.train, np.random.default_rng(0).permutation(len(task.train[0]))[:size])
        began = time.process_time()
        exact = HMSVM("s3", kernel="poly", degree=2, C=options.C, margin="unit", random_state=0).fit(*text)
        times, scores = [time.process_time() - began], [100 * exact.score(*task.dev)]
        began = time.process_time()
        known = count_pairs(text[0])
        explicit = HMSVM(C=options.C, margin="unit", random_state=0)
        explicit.fit([write_pairs(sentence, known) for sentence in text[0]], text[1])
        times.append(time.process_time() - began)
        scores.append(100 * explicit.score([write_pairs(sentence, known) for sentence in task.dev[0]], task.dev[1]))
        kernel, explicit_map = (f"{score:.2f} ({t:.1f} s)" for score, t in zip(scores, times, strict=True))
        print(f"{size} sentences: kernel {kernel}, map {explicit_map} of {len(known)} attributes", flush=True)
        found.append({"sentences": size, "dev": scores, "seconds": times, "attributes": len(known)})
    return {"task": options.task, "C": options.C, "sizes": found}


def list_attributes(sentence: list[Any]) -> list[list[str]]:
    features = resolve("s3", 1)
    words = [item if isinstance(item, str) else item[0] for item in sentence]
    return [sorted(features.explain(words, t)) for t in range(len(words))]


def count_pairs(X: list[list[Any]]) -> set[str | tuple[str, str]]:
    """Single attributes, and pairs that at least two tokens have."""
    counts: Counter[tuple[str, str]] = Counter()
    single: set[str] = set()
    for sentence in X:
        for names in list_attributes(sentence):
            single.update(names)
            counts.update(combinations(names, 2))
    return single | {pair for pair, count in counts.items() if count > 1}


def write_pairs(sentence: list[Any], known: set[str | tuple[str, str]]) -> list[dict[str, float]]:
    """(⟨x, z⟩ + 1)² = 1 + 3 Σ x z + 2 Σ_{pairs} x x' z z' for attributes 0 or 1."""
    items = []
    for names in list_attributes(sentence):
        item = {"always": 1.0} | {name: 3**0.5 for name in names if name in known}
        item |= {f"{a} & {b}": 2**0.5 for a, b in combinations(names, 2) if (a, b) in known}
        items.append(item)
    return items


def main() -> None:
    parser = ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("what", choices=["gap", "draws", "map"])
    parser.add_argument("--task", choices=list(TASKS))
    parser.add_argument("--C", type=float)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--learners", help="some of those of `draws`, by name")
    parser.add_argument("--sizes", default="300,1000,3000")
    parser.add_argument("--json", type=Path)
    add_data_option(parser)
    options = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)  # trainings are cut short on purpose
    options.task = options.task or ("ewt" if options.what == "gap" else "wsj")
    options.C = options.C or (0.1 if options.what == "gap" else 1.0)
    found = {"gap": run_gap, "draws": run_draws, "map": run_map}[options.what](options)
    if options.json:
        options.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
