"""What one evaluation (value and gradient) of each of the CRF's losses costs beside sequence_log, in one run.

    python -m benchmarks.losses [--task ewt] [--rounds 15] [--data DIR] [--json FILE]

The losses take turns, at the same weights (those of a short training), so that a noisy machine disturbs all alike;
medians. One thread.
"""

from __future__ import annotations

import json
import time
from argparse import ArgumentParser
from itertools import chain
from pathlib import Path
from statistics import median

import numpy as np

from benchmarks.accuracy import FEATURES
from benchmarks.corpora import TASKS, add_data_option, read_task
from tagwright.arrays import Doubles, Workers
from tagwright.encode.text import Text
from tagwright.learners._labels import number_labels
from tagwright.learners._objective import ChainObjective
from tagwright.learners.crf import CRF
from tagwright.losses import LOSSES
from tagwright.scores.linear import LinearMap, LinearScores


def prepare(name: str, folder: Path, workers: Workers) -> tuple[dict[str, ChainObjective], Doubles]:
    """The objectives of the four losses on one training set, and the weights to evaluate them at."""
    X, y = read_task(name, folder).train
    model = CRF(FEATURES[name], callbacks=[lambda progress: progress.iteration >= 10]).fit(X, y)
    labels = number_labels(list(chain.from_iterable(y)), model.labels_)
    data = model.encoder_.encode(Text.build(X))._replace(labels=labels)
    trained = model.decoder_.scores
    assert isinstance(trained, LinearScores)
    scores = LinearMap.build(model.encoder_, trained.pattern, len(model.labels_), np.float32)
    parts = [trained.weights.values, *(part.ravel() for part in model.decoder_.chain_scores)]
    weights = np.concatenate(parts).astype(np.float64)
    free = np.ones(len(weights), np.bool_)
    return {name: ChainObjective(scores, data, loss, free, workers) for name, loss in LOSSES.items()}, weights


def main() -> None:
    parser = ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--task", default="ewt", choices=list(TASKS))
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--json", type=Path, help="write the figures there too")
    add_data_option(parser)
    options = parser.parse_args()
    objectives, weights = prepare(options.task, options.data, Workers(1))
    times: dict[str, list[float]] = {name: [] for name in objectives}
    for round_number in range(options.rounds + 1):
        for name, objective in objectives.items():
            began = time.perf_counter()
            objective(weights)
            if round_number:  # the first one compiles, and finds the reference of the exp losses
                times[name].append(time.perf_counter() - began)
    base = median(times["sequence_log"])
    rows = {name: {"seconds": median(own), "ratio": median(own) / base} for name, own in times.items()}
    n_tokens = objectives["sequence_log"].data.n_tokens
    print(f"{options.task}: one evaluation on {n_tokens} tokens, median of {options.rounds}")
    for name, row in rows.items():
        print(f"{name:16}{row['seconds']:9.4f} s{row['ratio']:8.2f} x sequence_log")
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
