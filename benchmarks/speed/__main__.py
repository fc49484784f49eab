"""Tagwright beside its rivals: time, rate, latency, size and memory, as ratios measured in one run.

    python -m benchmarks.speed [--tasks ewt,ner] [--rivals wapiti,...] [--quick] [--data DIR] [--json FILE] [--report]

--tasks     ewt, wsj, ner, chunk; all unless given
--rivals    names, or beginnings of names (crfsuite); all unless given; "list" lists them
--quick     some hundred sentences and few passes, in minutes: does it run? Its numbers mean nothing
--json      finished blocks; report and pictures are written beside (benchmarks/out/speed/speed.json)
--report    measure nothing; write the report of what is finished

What is finished is not done again: stop with Ctrl-C, and start again. Environments of rivals are made on first use.
"""

from __future__ import annotations

import sys
import time
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from pathlib import Path

from benchmarks.corpora import TASKS, add_data_option
from benchmarks.speed.environments import Environment, Missing, find_environment
from benchmarks.speed.measure import Failed, Numbers, measure, runner_for
from benchmarks.speed.report import print_claims, print_task, write_report
from benchmarks.speed.results import Results
from benchmarks.speed.systems import OURS, RIVALS, Rival
from benchmarks.speed.workspace import FULL, QUICK, Workspace, open_workspace
from tagwright.errors import TagwrightError

OUT = Path(__file__).parents[1] / "out"


def read_options(arguments: list[str] | None = None) -> Namespace:
    parser = ArgumentParser(
        "python -m benchmarks.speed", description=__doc__, formatter_class=RawDescriptionHelpFormatter
    )
    parser.add_argument("--tasks", default=",".join(TASKS))
    parser.add_argument("--rivals", default="")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--report", action="store_true")
    add_data_option(parser)
    options = parser.parse_args(arguments)
    options.tasks = options.tasks.split(",")
    for task in options.tasks:
        if task not in TASKS:
            parser.error(f"--tasks: there is no task {task!r}; there are {', '.join(TASKS)}")
    asked = [name for name in options.rivals.split(",") if name]
    for name in asked:
        if name != "list" and not any(rival.startswith(name) for rival in RIVALS):
            parser.error(f"--rivals: there is no rival {name!r}; there are {', '.join(RIVALS)}")
    options.list = asked == ["list"]
    options.rivals = [name for name in RIVALS if not asked or name.startswith(tuple(asked))]
    options.json = options.json or OUT / ("speed-quick" if options.quick else "speed") / "speed.json"
    return options


class Session:
    """Measures the blocks of one task; what was measured of ours after one rival serves before the next."""

    def __init__(self, task: str, work: Workspace, results: Results) -> None:
        self.task = task
        self.work = work
        self.results = results
        self.fresh: dict[str, Numbers] = {}

    def measure_block(self, rival: Rival) -> None:
        environment = find_environment(rival.job, OUT / "environments")
        began = time.perf_counter()
        before = {name: self.fresh.get(name) or self.measure_ours(name) for name in rival.beside}
        try:
            theirs = measure(runner_for(rival, self.task, self.work, environment), ours=False)
        except Failed as reason:
            raise Missing(f"failed: {reason}") from reason
        self.fresh = {name: self.measure_ours(name) for name in rival.beside}
        block = {
            "rival": theirs,
            "ours": {name: [before[name], self.fresh[name]] for name in rival.beside},
            "version": environment.version,
            "minutes": round((time.perf_counter() - began) / 60, 1),
        }
        self.results.keep(f"{self.task}/{rival.name}", block)

    def measure_ours(self, name: str) -> Numbers:
        return measure(runner_for(OURS[name], self.task, self.work, Environment(Path(sys.executable), "")), ours=True)


def measure_task(task: str, rivals: list[str], options: Namespace, results: Results) -> None:
    """All unfinished blocks of a task."""
    todo = [RIVALS[name] for name in rivals if task in RIVALS[name].tasks and f"{task}/{name}" not in results.blocks]
    if not todo:
        return
    folder = options.json.parent / "work" / task if options.json.is_relative_to(OUT) else OUT / "work" / task
    session = Session(task, open_workspace(task, options.data, folder, QUICK if options.quick else FULL), results)
    for number, rival in enumerate(todo, 1):
        print(f"{task} {number}/{len(todo)} {rival.title} ...", flush=True)
        try:
            session.measure_block(rival)
        except Missing as reason:
            results.keep_missing(f"{task}/{rival.name}", str(reason))
            print(f"    not to be had: {reason}", flush=True)
        else:
            print(f"    {results.blocks[f'{task}/{rival.name}']['minutes']} minutes", flush=True)


def main() -> int:
    options = read_options()
    if options.list:
        for rival in RIVALS.values():
            print(f"{rival.name:18}{rival.title} {rival.note}")
        return 0
    results = Results.open(options.json)
    try:
        for task in [] if options.report else options.tasks:
            measure_task(task, options.rivals, options, results)
    except KeyboardInterrupt:
        print("\nstopped; finished blocks are kept", file=sys.stderr)
    except (TagwrightError, Failed) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    for task in options.tasks:
        print_task(task, results)
    if options.quick:
        print("\n--quick: a test of the commands; its numbers mean nothing")
    else:
        print_claims(results)
    print(f"\nreport: {write_report(list(options.tasks), results)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
