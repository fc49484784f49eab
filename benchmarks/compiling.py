"""How long compiling takes: every learner is trained and used once with an empty cache of machine code.

    python -m benchmarks.compiling [SRC ...] [--only crf guided ...]

SRC are source folders (the `src` of checkouts; default: this one's). Each gets a process of its own. The seconds are
those of Numba's compiler alone, of one thread; beside them, how many versions of how many kernels there are.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import warnings
from argparse import ArgumentParser
from collections.abc import Callable
from pathlib import Path
from typing import Any

PARTS = ("crf", "losses", "dictionary", "order2", "sgd", "memm", "hmm", "perceptron", "kernel", "hmsvm", "boosting",
         "guided", "dicts")  # fmt: skip


def jobs() -> dict[str, list[Callable[[], Any]]]:
    """For each part, models to train."""
    from tagwright import CRF, HMM, HMSVM, MEMM, GuidedTagger, KernelPerceptron, SequenceAdaBoost, StructuredPerceptron

    losses = ("pointwise_log", "sequence_exp", "pointwise_exp")
    return {
        "crf": [lambda: CRF("pos", max_iterations=2), lambda: CRF("ner", max_iterations=2)],
        "losses": [lambda loss=loss: CRF("s1", loss=loss, max_iterations=2) for loss in losses],  # type: ignore[misc]
        "dictionary": [lambda: CRF("pos", tag_dictionary=3, max_iterations=2)],
        "order2": [lambda: CRF("pos", order=2, tag_dictionary=3, max_iterations=2)],
        "sgd": [lambda: CRF("pos", solver="sgd", max_iterations=1), lambda: CRF("s1", c1=0.1, c2=0, max_iterations=2)],
        "memm": [lambda: MEMM("pos", max_iterations=2)],
        "hmm": [HMM],
        "perceptron": [lambda: StructuredPerceptron("pos", epochs=1)],
        "kernel": [lambda: KernelPerceptron("s1", kernel="poly", epochs=1)],
        "hmsvm": [
            lambda: HMSVM("pos", max_iterations=2),
            lambda: HMSVM("s1", max_iterations=2, slack="l2"),
            lambda: HMSVM("s1", max_iterations=2, kernel="poly"),
        ],
        "boosting": [
            lambda bound=bound: SequenceAdaBoost("s1", rounds=3, bound=bound)  # type: ignore[misc]
            for bound in ("loose", "tight", "exact")
        ],
        "guided": [lambda: GuidedTagger("best", epochs=1), lambda: GuidedTagger("pos", epochs=1, beam=3)],
        "dicts": [lambda: CRF(max_iterations=2), lambda: StructuredPerceptron(epochs=1)],
    }


def use(model: Any, X: Any, y: Any) -> None:
    """Train, tag, and ask for whatever there is."""
    model.fit(X, y)
    model.predict(X[:50])
    if model.probabilistic:
        model.predict_marginals(X[:5])
    if model.ranked:
        model.predict_nbest(X[:5], k=3)


def worker(wanted: list[str]) -> None:
    from numba.core import event

    from tagwright import datasets

    warnings.simplefilter("ignore")
    X: Any
    X, y = datasets.sample()
    X, y = X[:120], y[:120]
    given: Any = [[{"word": word, "last": word[-1:], "length": len(word) / 10} for word in sentence] for sentence in X]
    made, cache, total = jobs(), Path(os.environ["NUMBA_CACHE_DIR"]), 0.0
    print(f"{'':14}{'seconds':>9}{'kernels':>9}{'versions':>10}")
    for part in wanted:
        with event.install_timer("numba:compile", lambda _: None) as timer:
            for make in made[part]:
                use(make(), given if part == "dicts" else X, y)
        files = [path.name for path in cache.rglob("*.kernel")]
        kernels, versions = len({name.split("-")[0] for name in files}), len(files)
        seconds = timer.duration if timer.done else 0.0
        total += seconds
        print(f"{part:14}{seconds:9.1f}{kernels:9}{versions:10}", flush=True)
    print(f"{'all':14}{total:9.1f}")


def main() -> None:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("sources", nargs="*", type=Path, default=[Path("src")])
    parser.add_argument("--only", nargs="*", choices=PARTS, default=list(PARTS))
    parser.add_argument("--worker", action="store_true")
    options = parser.parse_args()
    if options.worker:
        worker(options.only)
        return
    for source in options.sources:
        with tempfile.TemporaryDirectory() as cache:
            print(source)
            env = {**os.environ, "PYTHONPATH": str(source.resolve()), "NUMBA_CACHE_DIR": cache}
            command = [sys.executable, "-m", "benchmarks.compiling", "--worker", "--only", *options.only]
            subprocess.run(command, env=env, check=True)


if __name__ == "__main__":
    main()
