"""Attribute dicts beside sklearn-crfsuite and python-crfsuite: training and tagging end to end, by turns in one run.

    python -m benchmarks.dicts [--only training tagging ...] [--rounds 3] [--sentences N] [--data FOLDER] [--json FILE]

The corpus is that of CoNLL-2002 in Spanish, the attributes are those of sklearn-crfsuite's tutorial: the word and the
words beside it, their endings, case and part of speech. Every token is a dict, or a list of strings "name=value".

    training        fit, c1 = c2 = 0.1 or c1 = 0, so many iterations each; the dicts are given, all else is in the time
    tagging         predict on testb in one call, one thread or two
    latency         one sentence a call, all of testb: the whole time, and what the median sentence takes

Both sides take turns; ratios are medians, with the lowest and the highest. One thread is timed by processor time, two
threads by the clock. "lists" models are trained by python-crfsuite, and converted (crfsuite/conversion.py).
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import time
import warnings
from argparse import ArgumentParser
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import pycrfsuite
import sklearn_crfsuite

from benchmarks.corpora import add_data_option, read_task
from tagwright import CRF
from tagwright.crfsuite import read_model, to_crf

Sentences = Sequence[Sequence[Any]]
Clock = Callable[[], float]
SETTINGS = {"c1": 0.1, "c2": 0.1, "all_possible_transitions": True}
WITHOUT_L1 = {**SETTINGS, "c1": 0.0}
FEW_WORDS = 20
"""Calls that come before what is measured."""


# ---- the attributes of the tutorial ----


def describe(place: str, word: str, tag: str, *, with_endings: bool = False) -> dict[str, object]:
    """What is said of one word; `place` stands before the names."""
    found: dict[str, object] = {f"{place}word.lower()": word.lower()}
    if with_endings:
        found |= {f"{place}word[-3:]": word[-3:], f"{place}word[-2:]": word[-2:]}
    found |= {f"{place}word.isupper()": word.isupper(), f"{place}word.istitle()": word.istitle()}
    if with_endings:
        found[f"{place}word.isdigit()"] = word.isdigit()
    return found | {f"{place}postag": tag, f"{place}postag[:2]": tag[:2]}


def as_dicts(sentence: Sequence[Any]) -> list[dict[str, object]]:
    """A dict for every token."""
    found = []
    for t, (word, tag) in enumerate(sentence):
        item: dict[str, object] = {"bias": 1.0, **describe("", word, tag, with_endings=True)}
        item |= describe("-1:", *sentence[t - 1]) if t else {"BOS": True}
        item |= describe("+1:", *sentence[t + 1]) if t + 1 < len(sentence) else {"EOS": True}
        found.append(item)
    return found


def as_lists(sentence: Sequence[Any]) -> list[list[str]]:
    """The same as lists of strings."""
    return [[f"{key}={value}" for key, value in item.items()] for item in as_dicts(sentence)]


# ---- what is measured ----


class Case(NamedTuple):
    """The same work on both sides; each gives its seconds."""

    name: str
    theirs: Callable[[], float]
    ours: Callable[[], float]


def clock(work: Callable[[], object], now: Clock) -> float:
    began = now()
    work()
    return now() - began


def each(tag: Callable[[Any], object], sentences: Sentences, now: Clock) -> float:
    """Seconds of so many calls, one sentence each."""
    for sentence in sentences[:FEW_WORDS]:
        tag(sentence)
    began = now()
    for sentence in sentences:
        tag(sentence)
    return now() - began


def train_theirs(X: Sentences, y: Any, iterations: int, settings: dict[str, Any], now: Clock) -> float:
    crf = sklearn_crfsuite.CRF(algorithm="lbfgs", max_iterations=iterations, delta=0.0, epsilon=0.0, **settings)
    return clock(lambda: crf.fit(X, y), now)


def train_ours(X: Sentences, y: Any, iterations: int, settings: dict[str, Any], now: Clock, **options: Any) -> float:
    crf = CRF(max_iterations=iterations, tolerance=0.0, boundaries=False, **settings, **options)
    return clock(lambda: crf.fit(X, y), now)


def training_cases(X: Sentences, lists: Sentences, y: Any, iterations: int) -> list[Case]:
    cpu, wall = time.process_time, time.perf_counter
    found = []
    for kind, given in (("dicts", X), ("lists", lists)):
        for name, settings in (("c1=0.1", SETTINGS), ("c1=0", WITHOUT_L1)):
            for dtype in ("float32", "float64"):
                for n in (1, 2):
                    now = cpu if n == 1 else wall
                    theirs = partial(train_theirs, given, y, iterations, settings, now)
                    ours = partial(train_ours, given, y, iterations, settings, now, dtype=dtype, n_jobs=n)
                    found.append(Case(f"training {kind} {name} {dtype} {n} thread{'s' * (n > 1)}", theirs, ours))
    return found


def tagging_cases(kind: str, X: Sentences, theirs: pycrfsuite.Tagger, ours: CRF) -> list[Case]:
    cpu, wall = time.process_time, time.perf_counter

    def tag_all() -> None:
        for sentence in X:
            theirs.tag(sentence)

    return [
        Case(f"tagging {kind} 1 thread", lambda: clock(tag_all, cpu), lambda: clock(lambda: ours.predict(X), cpu)),
        Case(
            f"tagging {kind} 2 threads",
            lambda: clock(tag_all, wall),
            lambda: clock(lambda: ours.predict(X, n_jobs=2), wall),
        ),
        Case(f"latency {kind}", lambda: each(theirs.tag, X, cpu), lambda: each(lambda s: ours.predict([s]), X, cpu)),
    ]


def model_of_theirs(X: Sentences, y: Any, path: Path, iterations: int) -> tuple[pycrfsuite.Tagger, CRF]:
    """A model that python-crfsuite trained, there and here."""
    trainer = pycrfsuite.Trainer(verbose=False)
    trainer.set_params({"c1": 0.0, "c2": 0.1, "max_iterations": iterations, "feature.possible_transitions": True})
    for sentence, labels in zip(X, y, strict=True):
        trainer.append(sentence, labels)
    trainer.train(str(path))
    tagger = pycrfsuite.Tagger()
    tagger.open(str(path))
    print(f"{path.name}: {path.stat().st_size / 1e6:.1f} MB", file=sys.stderr)
    return tagger, to_crf(read_model(path))


def measure(cases: Sequence[Case], rounds: int) -> dict[str, dict[str, float]]:
    """Both sides by turns."""
    found = {}
    print(f"{'':44}{'theirs':>12}{'ours':>12}{'ratio':>9}   spread")
    for case in cases:
        case.ours()  # compiles, warms caches
        pairs = [(case.theirs(), case.ours()) for _ in range(rounds)]
        ratios = sorted(a / b for a, b in pairs)
        a, b = (statistics.median(times) for times in zip(*pairs, strict=True))
        found[case.name] = {
            "theirs": a, "ours": b, "ratio": statistics.median(ratios), "low": ratios[0], "high": ratios[-1]
        }  # fmt: skip
        print(
            f"{case.name:44}{1000 * a:9.1f} ms{1000 * b:9.1f} ms{statistics.median(ratios):9.2f}   "
            f"{ratios[0]:.2f} to {ratios[-1]:.2f}",
            flush=True,
        )
    return found


def main() -> None:
    parser = ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--only", nargs="*", default=[], help="measure the cases whose name has all of these words")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--iterations", type=int, default=100)
    parser.add_argument("--sentences", type=int, help="train on so many sentences")
    parser.add_argument("--json", type=Path, default=Path(__file__).parent / "out" / "dicts.json")
    add_data_option(parser)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    task = read_task("ner", options.data)
    (raw, y), test = (part[: options.sentences] for part in task.train), task.test[0]
    X, lists = ([shape(s) for s in raw] for shape in (as_dicts, as_lists))
    wanted = partial(select, words=options.only)
    cases = wanted(training_cases(X, lists, y, options.iterations))
    with TemporaryDirectory() as folder:
        for kind, shape, given in (("dicts", as_dicts, X), ("lists", as_lists, lists)):
            if not wanted([Case(f"{task} {kind} 1 thread 2 threads", float, float) for task in ("tagging", "latency")]):
                continue
            models = model_of_theirs(given, y, Path(folder) / kind, 30)
            cases += wanted(tagging_cases(kind, [shape(s) for s in test], *models))
        found = measure(cases, options.rounds)
    options.json.parent.mkdir(exist_ok=True)
    about = {"python": sys.version, "cores": os.cpu_count(), "iterations": options.iterations}
    options.json.write_text(json.dumps({**about, "cases": found}, indent=1) + "\n", encoding="utf-8")


def select(cases: list[Case], words: Sequence[str]) -> list[Case]:
    return [case for case in cases if all(word in case.name for word in words)]


if __name__ == "__main__":
    main()
