"""Does a span with probability 0.8 turn out right 8 times in 10? Spanish names, before and after calibration.

    python -m benchmarks.calibration [--learners crf,memm,hmm] [--data DIR] [--json FILE]

Learners are trained on esp.train with their defaults, calibrated on esp.testa and reported on esp.testb; the raw
probabilities are reported on both. ECE: expected calibration error in ten bins of equal width, in per cent.
"""

from __future__ import annotations

import json
from argparse import ArgumentParser
from pathlib import Path

from benchmarks.corpora import Task, Text, add_data_option, read_task
from tagwright.calibration import expected_calibration_error, reliability
from tagwright.learners import LEARNERS, SequenceTagger
from tagwright.learners._spans import check_spans
from tagwright.metrics import evaluate


def measure_error(model: SequenceTagger, text: Text, *, calibrated: bool) -> float:
    """The expected calibration error of the spans found in `text`."""
    found = model.predict_spans(text[0], calibrated=calibrated)
    return expected_calibration_error(*check_spans(found, text[1]))


def measure(task: Task, learner: str) -> dict[str, object]:
    """Train, calibrate on the dev set, report on the test set."""
    features = None if learner == "hmm" else "ner"
    model = LEARNERS[learner]().set_params(features=features, random_state=0, n_jobs=2).fit(*task.train)
    model.calibrate_spans(*task.dev)
    assert model.span_calibration_ is not None
    found = model.predict_spans(task.test[0])
    return {
        "learner": learner,
        "f1": evaluate(task.test[1], model.predict(task.test[0])).f1,
        "f1_posterior": evaluate(task.test[1], model.predict(task.test[0], decoding="posterior")).f1,
        "raw_dev": measure_error(model, task.dev, calibrated=False),
        "raw_test": measure_error(model, task.test, calibrated=False),
        "calibrated_test": measure_error(model, task.test, calibrated=True),
        "slope": model.span_calibration_.slope,
        "intercept": model.span_calibration_.intercept,
        "bins": [[row.share, row.probability, row.right] for row in reliability(*check_spans(found, task.test[1]))],
    }


def main() -> None:
    parser = ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--learners", default="crf,memm,hmm")
    parser.add_argument("--json", type=Path)
    add_data_option(parser)
    options = parser.parse_args()
    task = read_task("ner", options.data)
    print(f"{'':9}{'F1':>7}{'posterior':>11}{'ECE testa raw':>15}{'testb raw':>11}{'calibrated':>12}   map")
    rows = []
    for learner in options.learners.split(","):
        row = measure(task, learner)
        rows.append(row)
        print(
            f"{learner:9}{row['f1']:7.2f}{row['f1_posterior']:11.2f}{row['raw_dev']:15.2f}{row['raw_test']:11.2f}"
            f"{row['calibrated_test']:12.2f}   slope {row['slope']:.2f}, intercept {row['intercept']:.2f}",
            flush=True,
        )
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
