"""The HM-SVM: its duality gap on a full corpus, the papers' comparison on 300 sentences, and an explicit degree-2 map.

    python -m benchmarks.hmsvm gap [--task ewt] [--C 0.1] [--threads 2] [--test]
    python -m benchmarks.hmsvm draws [--task wsj] [--draws 5] [--learners HMM,...] [--threads 2]
    python -m benchmarks.hmsvm map [--task wsj] [--sizes 300,1000,3000] [--kinds kernel,map] [--passes 40]
        all: [--data DIR] [--json FILE]

gap     linear, the task's preset: primal, gap and time of every pass; scores at the end
draws   HMSVM figures 1 and 3: draws of 300 training sentences, 5-fold cross-validation, s3 features, polynomial kernel
        of degree 2, C = 1; token error with its standard error over the draws, and the significance of each step of
        the papers' order; time of the 5 folds, tagging speed and support contexts
map     all pairs of s3 attributes that two tokens have, as attributes of a linear HM-SVM, beside the exact kernel:
        dev accuracy, time, memory of the process, tagging speed

Seconds are processor time of all threads, "wall" the clock.
"""

from __future__ import annotations

import json
import resource
import time
import warnings
from argparse import ArgumentParser, Namespace
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from itertools import combinations, pairwise
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import ttest_rel

from benchmarks.accuracy import FEATURES
from benchmarks.corpora import TASKS, Text, add_data_option, read_task
from tagwright.attributes.templates import resolve
from tagwright.errors import ConvergenceWarning
from tagwright.hmsvm.learner import HMSVM
from tagwright.kernels.perceptron import KernelPerceptron
from tagwright.kernels.scores import KernelScores
from tagwright.learners import CRF, HMM, SequenceTagger
from tagwright.metrics import evaluate
from tagwright.optim.progress import Progress

SENTENCES, FOLDS = 300, 5
ORDER = "HMM", "HM-Perceptron", "CRF", "CRF-B", "HM-SVM"
"""The papers' learners by their error there, the worst first."""
PASSES, GAP = 40, 0.05
"""The end of an HM-SVM with a kernel, whichever is first: on data that it separates nearly, 1 % takes three times as
long and leaves the errors as they are."""


def learners() -> dict[str, SequenceTagger]:
    """Those of the papers, and the HMM over words that is ours. Their settings were chosen on dev sets."""
    kernel: dict[str, Any] = {"kernel": "poly", "degree": 2, "random_state": 0}
    return {
        "HMM": HMM("s3"),
        "HM-Perceptron": KernelPerceptron("s3", **kernel),
        "CRF": CRF("s3", c2=1e-4, max_iterations=300, random_state=0),  # with 0 the minimum is at infinity
        "CRF-B": CRF("s3", c2=0.01, random_state=0),
        "HM-SVM": HMSVM("s3", C=1.0, margin="unit", tol=GAP, max_iterations=PASSES, **kernel),
        "HMM of words": HMM(),
    }


@dataclass(frozen=True, slots=True)
class Fold:
    """What one fold gave. gap, supports: nan and 0 where there are none."""

    wrong: float
    tokens: int
    train_s: float
    tag_s: float
    gap: float
    supports: int


def take(text: Text, numbers: Any) -> Text:
    return [text[0][i] for i in numbers], [text[1][i] for i in numbers]


def run_fold(name: str, text: Text, fold: int) -> Fold:
    """Fold k tests the sentences k, k + FOLDS, ..."""
    warnings.simplefilter("ignore", ConvergenceWarning)  # trainings are cut short on purpose
    numbers = np.arange(len(text[0]))
    X, y = take(text, numbers[numbers % FOLDS == fold])
    began = time.process_time()
    model = learners()[name].fit(*take(text, numbers[numbers % FOLDS != fold]))
    trained = time.process_time()
    wrong = sum(map(len, y)) * (1 - model.score(X, y))
    tag_s = time.process_time() - trained
    gap = model.passes_[-1].gap if isinstance(model, HMSVM) else float("nan")
    return Fold(wrong, sum(map(len, y)), trained - began, tag_s, gap, count_supports(model))


def count_supports(model: SequenceTagger) -> int:
    """Support contexts: distinct training tokens with a multiplier."""
    scores = model.decoder_.scores
    return len(scores.support) if isinstance(scores, KernelScores) else 0


def run_draws(options: Namespace) -> dict[str, Any]:
    """The table of the papers' comparison; `--threads` folds at a time."""
    train = read_task(options.task, options.data).train
    names = options.learners.split(",") if options.learners else list(learners())
    errors: dict[str, list[float]] = {name: [] for name in names}
    walls: dict[str, list[float]] = {name: [] for name in names}
    folds: dict[str, list[Fold]] = {name: [] for name in names}
    with ProcessPoolExecutor(options.threads) as pool:
        for draw in range(options.draws):
            text = take(train, np.random.default_rng(draw).choice(len(train[0]), SENTENCES, replace=False))
            for name in names:
                clock = time.perf_counter()
                found = list(pool.map(run_fold, [name] * FOLDS, [text] * FOLDS, range(FOLDS)))
                walls[name].append(time.perf_counter() - clock)
                errors[name].append(100 * sum(one.wrong for one in found) / sum(one.tokens for one in found))
                folds[name] += found
                spent = sum(one.train_s for one in found)
                print(
                    f"draw {draw}: {name} {errors[name][-1]:.2f}, {spent:.1f} s, wall {walls[name][-1]:.1f}", flush=True
                )
    print_draws(options, errors, walls, folds)
    return {
        "task": options.task,
        "errors": errors,
        "wall": walls,
        "folds": {k: list(map(asdict, folds[k])) for k in names},
    }


def print_draws(
    options: Namespace, errors: dict[str, list[float]], walls: dict[str, list[float]], folds: dict[str, list[Fold]]
) -> None:
    """Errors with standard errors and the paired t test between neighbours of the order; the cost of a draw."""
    print(f"{options.task}, {options.draws} draws of {SENTENCES} sentences, {FOLDS} folds: token error in per cent")
    print(f"{'':15}{'error':>14}{'train s':>9}{'wall':>7}{'gap %':>7}{'supports':>10}{'tokens/s':>10}")
    for name, found in folds.items():
        speed = sum(one.tokens for one in found) / sum(one.tag_s for one in found)
        mean, spent = np.mean(errors[name]), FOLDS * np.mean([one.train_s for one in found])
        supports, gap = np.mean([one.supports for one in found]), 100 * np.mean([one.gap for one in found])
        print(
            f"{name:15}{mean:7.2f} ± {standard_error(errors[name]):.2f}{spent:9.1f}{np.mean(walls[name]):7.1f}"
            f"{gap:7.1f}{supports:10.0f}{speed:10.0f}"
        )
    for worse, better in pairwise([name for name in ORDER if name in errors]):
        test = ttest_rel(errors[worse], errors[better])
        step = float(np.mean(errors[worse]) - np.mean(errors[better]))
        print(f"{worse} − {better}: {step:+.2f}, p = {test.pvalue:.2g} (paired t test over the draws)")


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
    model.fit(*task.train)
    parts = {"dev": task.dev, "test": task.test} if options.test else {"dev": task.dev}
    scores = {}
    for part, (X, y) in parts.items():
        result = evaluate(y, model.predict(X))
        scores[part] = result.accuracy if result.f1 is None else result.f1
        print(f"{options.task}, {part}: accuracy {result.accuracy:.2f}", f"F1 {result.f1:.2f}" if result.f1 else "")
    supports = sum(len(one.sequences) for one in model.support_sequences_)
    print(f"{supports} support sequences; worst violation {model.passes_[-1].violation:.4f}")
    return {"task": options.task, "C": options.C, "passes": rows, **scores}


@dataclass(frozen=True, slots=True)
class Measured:
    """One machine on one size. attributes: of the explicit map, else 0; supports: contexts of the kernel, else 0."""

    sentences: int
    kind: str
    dev: float
    train_s: float
    peak_mib: float
    gap: float
    passes: int
    attributes: int
    supports: int
    tokens_per_s: float


def run_map(options: Namespace) -> dict[str, Any]:
    """The kernel's machine beside a linear one on pairs of attributes; each in a process of its own, for its memory."""
    rows = []
    print(f"{'sentences':>9} {'kind':8}{'dev':>7}{'train s':>9}{'MiB':>7}{'gap %':>7}{'passes':>8}{'tokens/s':>10}")
    for size in map(int, options.sizes.split(",")):
        for kind in options.kinds.split(","):
            with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
                one = pool.submit(measure_machine, options, size, kind).result()
            rows.append(asdict(one))
            print(
                f"{size:9} {kind:8}{one.dev:7.2f}{one.train_s:9.1f}{one.peak_mib:7.0f}{100 * one.gap:7.1f}"
                f"{one.passes:8}{one.tokens_per_s:10.0f}   {one.supports or one.attributes:,} "
                f"{'support contexts' if one.supports else 'attributes'}",
                flush=True,
            )
    return {"task": options.task, "C": options.C, "sizes": rows}


def measure_machine(options: Namespace, size: int, kind: str) -> Measured:
    """Train on `size` sentences, by the kernel or by the map; tag the dev set."""
    warnings.simplefilter("ignore", ConvergenceWarning)
    task = read_task(options.task, options.data)
    X, y = take(task.train, np.random.default_rng(0).permutation(len(task.train[0]))[:size])
    dev, gold = task.dev
    settings: dict[str, Any] = {"C": options.C, "margin": "unit", "random_state": 0, "max_iterations": options.passes}
    began = time.process_time()
    known: set[str | tuple[str, str]] = set()
    if kind == "kernel":
        model = HMSVM("s3", kernel="poly", degree=2, memory=options.memory, **settings).fit(X, y)
    else:
        known = count_pairs(X)
        model = HMSVM(**settings).fit([write_pairs(sentence, known) for sentence in X], y)
    trained = time.process_time()
    score = 100 * model.score(dev if kind == "kernel" else [write_pairs(sentence, known) for sentence in dev], gold)
    speed = sum(map(len, dev)) / (time.process_time() - trained)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    gap, passes, supports = model.passes_[-1].gap, len(model.passes_), count_supports(model)
    return Measured(size, kind, score, trained - began, peak, gap, passes, len(known), supports, speed)


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
    parser.add_argument("--kinds", default="kernel,map", help="of `map`")
    parser.add_argument("--passes", type=int, default=40, help="of `map`, at most")
    parser.add_argument("--memory", type=float, default=4096.0, help="of `map`: MiB of the Gram matrix")
    parser.add_argument("--test", action="store_true", help="`gap`: score the test set too")
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
