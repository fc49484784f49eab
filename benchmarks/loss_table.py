"""The four losses on Spanish named entities, beside table 2 of LOSS: F1 on testa and testb, words alone.

    python -m benchmarks.loss_table [--features s1,s2,s3] [--losses sequence_log,...] [--data DIR] [--json FILE]

Penalties were chosen on testa. The sequence exp loss begins from the weights of the sequence log loss: from zero, where
1/p of a sentence is 9 to the power of its length, it spends hundreds of iterations on the few longest sentences.
"""

from __future__ import annotations

import json
import time
import warnings
from argparse import ArgumentParser
from pathlib import Path

from benchmarks.corpora import Text, add_data_option, read_task
from tagwright import CRF
from tagwright.errors import ConvergenceWarning
from tagwright.metrics import evaluate

PAPER = {
    "s1": {"sequence_log": 59.92, "sequence_exp": 59.68, "pointwise_log": 56.73, "pointwise_exp": 58.26},
    "s2": {"sequence_log": 69.75, "sequence_exp": 67.30, "pointwise_log": 68.28, "pointwise_exp": 69.51},
    "s3": {"sequence_log": 73.62, "sequence_exp": 72.11, "pointwise_log": 73.17, "pointwise_exp": 73.82},
}
C2 = {"sequence_log": 0.3, "sequence_exp": 0.03, "pointwise_log": 0.3, "pointwise_exp": 0.1}


def words_alone(text: Text) -> Text:
    return [[item[0] for item in sentence] for sentence in text[0]], text[1]


def train(train: Text, features: str, loss: str, c2: float, iterations: int) -> CRF:
    """One cell of the table."""
    model = CRF(features, loss=loss, c2=c2, max_iterations=iterations, n_jobs=2)
    if loss == "sequence_exp":
        model.set_params(loss="sequence_log", warm_start=True).fit(*train)
        model.set_params(loss=loss)
    return model.fit(*train)


def main() -> None:
    parser = ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--features", default=",".join(PAPER))
    parser.add_argument("--losses", default=",".join(C2))
    parser.add_argument("--c2", type=float, help="instead of those chosen")
    parser.add_argument("--iterations", type=int, default=500)
    parser.add_argument("--json", type=Path)
    add_data_option(parser)
    options = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    task = read_task("ner", options.data)
    parts = {name: words_alone(part) for name, part in (("train", task.train), ("a", task.dev), ("b", task.test))}
    print(f"{'':4}{'loss':15}{'c2':>6}{'testa':>8}{'testb':>8}{'paper':>8}{'rounds':>8}{'s':>6}")
    rows = []
    for features in options.features.split(","):
        for loss in options.losses.split(","):
            c2 = C2[loss] if options.c2 is None else options.c2
            began = time.perf_counter()
            model = train(parts["train"], features, loss, c2, options.iterations)
            seconds = time.perf_counter() - began
            a, b = (evaluate(parts[name][1], model.predict(parts[name][0])).f1 for name in ("a", "b"))
            assert a is not None
            assert b is not None
            rows.append({"features": features, "loss": loss, "c2": c2, "testa": a, "testb": b, "seconds": seconds})
            print(
                f"{features:4}{loss:15}{c2:6}{a:8.2f}{b:8.2f}{PAPER[features][loss]:8.2f}{model.n_iter_:8}{seconds:6.0f}"
                f"{'' if max(a, b) >= PAPER[features][loss] else '   below the paper'}",
                flush=True,
            )
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
