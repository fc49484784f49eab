"""All figures of one system on one task. Each thing that is timed has a process of its own."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import quantiles
from typing import Any

from benchmarks.speed.environments import Environment
from benchmarks.speed.systems import Ours, Rival
from benchmarks.speed.workspace import Workspace
from tagwright.metrics import evaluate

HERE = Path(__file__).parent
JOBS = HERE.parent / "rivals"
SAMPLES = 15  # of passes, kept in the results
PATIENCE = 60.0  # seconds; what has taken longer is not repeated

Numbers = dict[str, Any]


class Failed(Exception):  # noqa: N818  # told in the table
    """A command ended with an error; the message has its last line."""


@dataclass(frozen=True, slots=True)
class Runner:
    """Gives orders of one system to its job, or calls its program."""

    python: Path
    job: list[str]
    tag_command: Callable[[str], list[str]] | None  # its own command line for a file
    settings: Numbers
    work: Workspace
    name: str

    @property
    def model(self) -> Path:
        return self.work.folder / f"{self.name}.model"

    def order(self, action: str, **more: Any) -> tuple[Numbers, Numbers]:
        """What the job answered, and what it took."""
        answer, usage = self.launch(self.command_for(action, **more))
        last = (answer.strip().splitlines() or [""])[-1]  # tools may print lines of their own before
        try:
            return json.loads(last), usage
        except json.JSONDecodeError as error:
            raise Failed(f"{self.name}: expected JSON from its job, found {last[:80]!r}") from error

    def command_for(self, action: str, **more: Any) -> list[str]:
        order = {
            "action": action, "data": str(self.work.folder), "model": str(self.model), "settings": self.settings,
            "output": str(self.work.folder / f"{self.name}.labels"), **more,
        }  # fmt: skip
        path = self.work.folder / f"{self.name}.{action}.order"
        path.write_text(json.dumps(order))
        return [str(self.python), *self.job, str(path)]

    def launch(self, command: list[str]) -> tuple[str, Numbers]:
        """Run a command alone."""
        output = self.work.folder / f"{self.name}.out"
        launcher = [sys.executable, "-S", str(HERE / "launch.py"), str(output), *command]
        done = subprocess.run(launcher, check=True, capture_output=True, text=True)
        usage = json.loads(done.stdout)
        if usage["status"] != 0:
            told = output.with_name(output.name + ".errors").read_text().strip().splitlines()
            raise Failed(f"{self.name}: {told[-1] if told else 'status ' + str(usage['status'])}")
        return output.read_text(), usage

    def tag_file(self) -> Numbers:
        """The long file, as a process of its own."""
        given, found = str(self.work.columns), str(self.work.folder / f"{self.name}.tagged")
        if self.tag_command is None:
            return self.order("files", input=given, output=found)[1]
        return self.launch(self.tag_command(given))[1]

    def start(self) -> Numbers:
        """From nothing to the first label of one sentence."""
        given = str(self.work.sentence)
        if self.tag_command is None:
            return self.launch(self.command_for("start", input=given))[1]
        return self.launch(self.tag_command(given))[1]


def runner_for(system: Rival | Ours, task: str, work: Workspace, environment: Environment) -> Runner:
    """The runner of a system on a task."""
    settings = system.settings_for(task, work.scale.factor)
    model = str(work.folder / f"{system.name}.model")
    if isinstance(system, Ours):
        python = sys.executable
        tag = lambda file: [python, "-m", "tagwright", "tag", model, file, "--format", "columns"]  # noqa: E731
        return Runner(Path(python), ["-m", "benchmarks.speed.ours"], tag, settings, work, system.name)
    program, command = environment.program, None
    if program is not None:
        settings["program"] = str(program)
        if system.job == "wapiti":
            command = lambda file: [str(program), "label", "-m", model, file]  # noqa: E731
    return Runner(environment.python, [str(JOBS / f"{system.job}_job.py")], command, settings, work, system.name)


def measure(runner: Runner, *, ours: bool) -> Numbers:
    """Train, score, tag lists, tag a file, start up."""
    scale = runner.work.scale
    trained, usage = runner.order("train")
    numbers: Numbers = {"seconds": trained["seconds"], "train_peak_mib": usage["peak_mib"], "cpu": usage["cpu"]}
    if ours:
        numbers["curve"] = [[round(at, 4), round(score, 4)] for at, score in trained["curve"]]
        passes = runner.order("passes", rounds=scale.rounds)[0]["pass_seconds"]
    else:
        numbers["reading_seconds"] = trained["reading_seconds"]
        passes = trained["pass_seconds"]
    numbers["passes"], numbers["pass_seconds"] = len(passes), thin(passes)
    runner.order("predict")
    numbers |= score(runner)
    numbers["model_bytes"] = size_of(runner.model)
    if ours or runner.tag_command is None:
        tagged = runner.order("tag", repeat=scale.repeat)[0]
        numbers["list_rate"] = tagged["tokens_per_second"]
        if tagged["latencies"]:
            numbers["p50"], numbers["p99"] = percentiles(tagged["latencies"])
        if "tokens_per_second_again" in tagged:
            numbers["list_rate_again"] = tagged["tokens_per_second_again"]
    runs = repeat(runner.tag_file, 3)
    numbers["file_rate"] = [runner.work.tokens["columns"] / run["seconds"] for run in runs]
    numbers["tag_peak_mib"] = max(run["peak_mib"] for run in runs)
    numbers["start"] = [run["first"] for run in repeat(runner.start, scale.starts)]
    return {key: tidy(value) for key, value in numbers.items()}


def repeat(work: Callable[[], Numbers], times: int) -> list[Numbers]:
    """Several times, or as often as fits into a minute."""
    runs: list[Numbers] = []
    while len(runs) < times and sum(run["seconds"] for run in runs) < PATIENCE:
        runs.append(work())
    return runs


def score(runner: Runner) -> Numbers:
    """F1 where labels are spans, else accuracy: the same scoring for all."""
    labels = json.loads((runner.work.folder / f"{runner.name}.labels").read_text())
    found = {}
    for part in ("dev", "test"):
        result = evaluate(runner.work.gold[part], labels[part])
        found[part] = result.accuracy if result.f1 is None else result.f1
    return found


def size_of(path: Path) -> int:
    return os.path.getsize(path)


def percentiles(seconds: list[float]) -> tuple[float, float]:
    """Of latencies: the median and the 99th."""
    cuts = quantiles(seconds, n=100, method="inclusive")
    return cuts[49], cuts[98]


def thin(samples: list[float]) -> list[float]:
    """At most 15 of them, evenly apart; the first two passes are warming up."""
    samples = samples[2:] if len(samples) > 4 else samples
    step = max(1, math.ceil(len(samples) / SAMPLES))
    return samples[::step]


def tidy(value: Any) -> Any:
    """Five digits are enough."""
    if isinstance(value, float):
        return float(f"{value:.5g}")
    return [tidy(one) for one in value] if isinstance(value, list) else value
