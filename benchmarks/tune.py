"""Choose presets and defaults on a dev set: one training for each setting, the dev score of each.

    python -m benchmarks.tune ewt crf "c2=1" "c2=0.3, all_possible_states=True" [--data DIR]

A setting is written as Python keyword arguments. The test sets are not read.
"""

from __future__ import annotations

import time
from argparse import ArgumentParser

from benchmarks.accuracy import FEATURES
from benchmarks.corpora import add_data_option, read_task
from tagwright.learners import LEARNERS
from tagwright.metrics import evaluate


def main() -> None:
    parser = ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("task")
    parser.add_argument("learner")
    parser.add_argument("settings", nargs="+")
    add_data_option(parser)
    options = parser.parse_args()
    task = read_task(options.task, options.data)
    for text in options.settings:
        params = {"features": FEATURES[task.name], "random_state": 0, "n_jobs": 2, **eval(f"dict({text})")}
        began = time.perf_counter()
        model = LEARNERS[options.learner]().set_params(**params).fit(*task.train)
        seconds = time.perf_counter() - began
        result = evaluate(task.dev[1], model.predict(task.dev[0]))
        score = result.accuracy if result.f1 is None else result.f1
        rounds = getattr(model, "n_iter_", 0)
        print(f"{task.name} {options.learner} dev {score:.2f}  {rounds} rounds {seconds:.0f} s "
              f"{model.n_parameters_} weights  {text}", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
