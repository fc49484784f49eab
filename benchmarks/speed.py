"""Speed beside python-crfsuite, in one run: a pass, training to the same dev accuracy, tagging; and peak memory.

    python -m benchmarks.speed [--data DIR] [--iterations 150] [--json FILE]

The rival lives in an environment of its own (benchmarks/out/crfsuite-env), made on first use. Same attributes, same c2,
same sentences. Each of our figures is a median of several, taken before and after the rival's run.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from argparse import ArgumentParser
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.corpora import Task, add_data_option, read_task
from tagwright.learners.crf import CRF
from tagwright.optim.progress import Progress

OUT = Path(__file__).parent / "out"
TEMPLATES = """
word lower prefix(1..4) suffix(1..4) capitalised all_capitals has_digit has_hyphen has_dot @ 0
word @ -2, -1, 1, 2
"""
C2 = 1.0


def rival_python() -> Path:
    """The rival's interpreter; its environment is made if it is not there."""
    folder = OUT / "crfsuite-env"
    python = folder / "bin" / "python"
    if not python.exists():
        print("making the rival's environment (python-crfsuite 0.9.12) ...", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "python-crfsuite==0.9.12"], check=True)
    return python


def run_rival(task: Task, iterations: int, text: list[list[str]]) -> dict[str, Any]:
    order = {"train": task.train, "dev": task.dev, "text": text, "c2": C2, "iterations": iterations}
    job = Path(__file__).parent / "rivals" / "crfsuite_job.py"
    done = subprocess.run([rival_python(), job], input=json.dumps(order), capture_output=True, text=True, check=True)
    return json.loads(done.stdout)  # type: ignore[no-any-return]


class Stopwatch:
    """Notes when each iteration ended and what the dev set said; its own dev scoring is not counted."""

    def __init__(self, target: float) -> None:
        self.target = target
        self.marks: list[float] = []
        self.reached: float | None = None

    def __call__(self, progress: Progress) -> bool:
        self.marks.append(progress.seconds)
        if self.reached is None and (progress.dev_score or 0) >= self.target:
            self.reached = progress.seconds
        return self.reached is not None


def time_passes(task: Task, n_jobs: int, passes: int) -> list[float]:
    """Seconds of each loss-and-gradient evaluation, over the iterations of a real training."""
    from tagwright.learners import _objective

    times: list[float] = []
    original = _objective.ChainObjective.__call__

    def timed(self: _objective.ChainObjective, vector: Any) -> Any:
        began = time.perf_counter()
        result = original(self, vector)
        times.append(time.perf_counter() - began)
        return result

    _objective.ChainObjective.__call__ = timed  # type: ignore[method-assign]
    try:
        CRF(TEMPLATES, c2=C2, n_jobs=n_jobs, callbacks=[lambda p: p.iteration >= passes]).fit(*task.train)
    finally:
        _objective.ChainObjective.__call__ = original  # type: ignore[method-assign]
    return times[2:]


def time_training(task: Task, target: float, n_jobs: int) -> tuple[float, int]:
    """Seconds and iterations until the dev accuracy reaches `target`, reading of attributes included."""
    watch = Stopwatch(target)
    began = time.perf_counter()
    CRF(TEMPLATES, c2=C2, n_jobs=n_jobs, patience=500, callbacks=[watch]).fit(*task.train, *task.dev)
    if watch.reached is None:
        print(f"the dev accuracy {target:.2f} was not reached", file=sys.stderr)
    return time.perf_counter() - began, len(watch.marks)


def main() -> None:
    parser = ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    add_data_option(parser)
    parser.add_argument("--iterations", type=int, default=150, help="of the rival's training")
    parser.add_argument("--json", type=Path, help="write the figures there too")
    options = parser.parse_args()
    task = read_task("ewt", options.data)
    text = [list(map(str, sentence)) for sentence in task.dev[0] + task.test[0]]
    n_tokens = sum(map(len, text))
    CRF(TEMPLATES, callbacks=[lambda p: True]).fit(task.train[0][:200], task.train[1][:200])  # compile

    passes = {jobs: time_passes(task, jobs, 15) for jobs in (1, 2)}
    rival = run_rival(task, options.iterations, text)
    passes = {jobs: passes[jobs] + time_passes(task, jobs, 15) for jobs in (1, 2)}
    seconds, iterations = time_training(task, float(rival["dev_accuracy"]), 2)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    model = CRF(TEMPLATES, c2=C2, n_jobs=2, callbacks=[lambda p: p.iteration >= 60]).fit(*task.train)
    model.save(OUT / "speed.tw")
    rates = []
    for _ in range(15):
        from tagwright.learners import load

        fresh = load(OUT / "speed.tw")  # no memory of unknown words
        began = time.perf_counter()
        fresh.predict(text)
        rates.append(n_tokens / (time.perf_counter() - began))
    rival_pass = median(rival["iteration_seconds"][2:])
    rival_rate = median(rival["tokens_per_second"])
    rows = [
        ("pass, 1 thread (s)", rival_pass, median(passes[1]), rival_pass / median(passes[1])),
        ("pass, 2 threads (s)", rival_pass, median(passes[2]), rival_pass / median(passes[2])),
        ("training to the same dev accuracy (s)", rival["seconds"], seconds, float(rival["seconds"]) / seconds),
        ("tagging, 1 thread (tokens/s)", rival_rate, median(rates), median(rates) / rival_rate),
    ]
    print(f"EWT XPOS, {sum(map(len, task.train[0]))} training tokens; dev accuracy {rival['dev_accuracy']:.2f}")
    print(f"{'':42}{'python-crfsuite':>16}{'Tagwright':>12}{'ratio':>8}")
    for name, theirs, ours, ratio in rows:
        print(f"{name:42}{theirs:16.4g}{ours:12.4g}{ratio:7.1f}x")
    print(f"spread of our passes (2 threads): {min(passes[2]):.3f} to {max(passes[2]):.3f} s; {iterations} iterations")
    print(f"spread of our tagging: {min(rates):.0f} to {max(rates):.0f} tokens/s")
    print(f"peak memory of all our trainings together: {peak:.0f} MiB")
    if options.json:
        figures = {name: {"rival": theirs, "ours": ours, "ratio": ratio} for name, theirs, ours, ratio in rows}
        options.json.write_text(json.dumps({"figures": figures, "peak_mib": peak, "rival": rival}, indent=1))


if __name__ == "__main__":
    main()
