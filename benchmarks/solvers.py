"""The CRF's solvers side by side, in one run: time, rounds, objective, dev score, weights that are not zero.

    python -m benchmarks.solvers [ewt] [--solvers lbfgs,owlqn,cg,sgd] [--c1 0.5] [--l1-c2 0.02] [--c2 0.3]
                                 [--threads 2] [--data DIR]

Times are those of `fit`, attributes included: on the clock, and of the processor. The objective is Σ loss + c1 ‖w‖₁ +
c2 ‖w‖² of the final weights, worked out anew for each. OWL-QN has penalties of its own (--c1 and --l1-c2), so its
objective is not comparable. A first fit on a few sentences compiles the kernels. Prints a table and writes
benchmarks/out/solvers.json.
"""

from __future__ import annotations

import json
import time
import warnings
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.accuracy import FEATURES
from benchmarks.corpora import Task, add_data_option, read_task
from tagwright import CRF
from tagwright.chain.forward_backward import Chain
from tagwright.encode.text import Text
from tagwright.errors import ConvergenceWarning
from tagwright.learners._labels import number_labels
from tagwright.metrics import evaluate
from tagwright.scores.linear import LinearScores

OUT = Path(__file__).parent / "out" / "solvers.json"


def exact_objective(model: CRF, task: Task) -> float:
    """Σ loss + penalties at the weights of the model: −log p(y | x), sentence by sentence."""
    decoder = model.decoder_
    data = model.encoder_.encode(Text.build(task.train[0]))
    emission = np.empty((data.n_tokens, decoder.scores.width), decoder.scores.dtype)
    decoder.scores.rows(data).emission(0, data.n_sentences, emission)
    labels = number_labels([label for labels in task.train[1] for label in labels], model.labels_)
    gold = Chain.build(*decoder.chain_scores, np.float64).score_labels(emission, data.offsets, labels)
    loss = float((decoder.marginals(data, None)[1] - gold).sum())
    assert isinstance(decoder.scores, LinearScores)
    weights = np.concatenate([decoder.scores.weights.values, *(part.ravel() for part in decoder.chain_scores)])
    weights = weights.astype(np.float64)
    return loss + model.c1 * float(np.abs(weights).sum()) + model.c2 * float(np.square(weights).sum())


def measure(solver: str, task: Task, options: Namespace) -> dict[str, Any]:
    """One training."""
    penalties = {"c1": options.c1, "c2": options.l1_c2} if solver == "owlqn" else {"c2": options.c2}
    model = CRF(FEATURES[task.name], solver=solver, random_state=0, n_jobs=options.threads, **penalties)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        CRF(FEATURES[task.name], solver=solver, max_iterations=2, n_jobs=options.threads, **penalties).fit(
            task.train[0][:50], task.train[1][:50]
        )
    began, used = time.perf_counter(), time.process_time()
    model.fit(*task.train)
    seconds, processor = time.perf_counter() - began, time.process_time() - used
    found = evaluate(task.dev[1], model.predict(task.dev[0]))
    return {
        "solver": solver,
        **penalties,
        "seconds": round(seconds, 2),
        "processor_seconds": round(processor, 2),
        "rounds": model.n_iter_,
        "objective": round(exact_objective(model, task), 1),
        "dev": round(found.accuracy if found.f1 is None else found.f1, 2),
        "weights": model.n_parameters_,
    }


def main() -> None:
    parser = ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("task", nargs="?", default="ewt")
    parser.add_argument("--solvers", default="lbfgs,owlqn,cg,sgd")
    parser.add_argument("--c1", type=float, default=0.5)
    parser.add_argument("--l1-c2", type=float, default=0.02)
    parser.add_argument("--c2", type=float, default=0.3)
    parser.add_argument("--threads", type=int, default=2)
    add_data_option(parser)
    options = parser.parse_args()
    task = read_task(options.task, options.data)
    rows = []
    print(
        f"{'solver':8}{'c1':>6}{'c2':>6}{'seconds':>9}{'cpu':>8}{'rounds':>8}{'objective':>12}{'dev':>8}{'weights':>10}"
    )
    for solver in options.solvers.split(","):
        row = measure(solver, task, options)
        rows.append(row)
        print(f"{solver:8}{row.get('c1', 0):6}{row['c2']:6}{row['seconds']:9.1f}"
              f"{row['processor_seconds']:8.1f}{row['rounds']:8}"
              f"{row['objective']:12.1f}{row['dev']:8.2f}{row['weights']:10,}", flush=True)  # fmt: skip
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text(json.dumps({"task": task.name, "threads": options.threads, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
