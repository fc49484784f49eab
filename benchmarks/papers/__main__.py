"""The papers' tables and figures, ours beside theirs.

    python -m benchmarks.papers [name ...] [--quick] [--data DIR] [--ptb DIR] [--out DIR] [--report]

name        tables to run, all if none is given; "list" lists them
--quick     every cell on a hundred sentences, in minutes: does it run? Written to benchmarks/out/quick
--ptb DIR   the Penn Treebank (folders 00 to 24 with .mrg files) instead of its public sample
--out DIR   finished runs (runs.json), report and pictures; docs/results unless --quick
--report    run nothing; write the report of what is finished

What is finished is not done again: stop it with Ctrl-C and start it again. To do everything anew, give an empty folder
with --out. Exit codes: 1 for bad data or folders, 2 for bad arguments, 130 when stopped, 141 for a closed pipe.
"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Iterable
from pathlib import Path

from benchmarks.corpora import add_data_option
from benchmarks.papers import guided, losses, margins, selections
from benchmarks.papers.claims import check_all
from benchmarks.papers.corpora import Corpora
from benchmarks.papers.report import print_claims, print_table, write_report
from benchmarks.papers.tables import (
    Results,
    Run,
    Stopped,
    Table,
    estimate_minutes,
    perform,
    stopped_by_signals,
    unfinished,
)
from tagwright.errors import TagwrightError

RESULTS = Path("docs/results")
QUICK = Path("benchmarks/out/quick")
QUICK_SECONDS = 2.0  # of a run, kernels compiled
INTERRUPTED, CLOSED_PIPE = 130, 141


def all_tables(*, ptb: bool = False) -> dict[str, Table]:
    """By name, in the order of the report."""
    return {table.name: table for part in (losses, selections, margins, guided) for table in part.tables(ptb=ptb)}


def read_options() -> Namespace:
    parser = ArgumentParser(
        "python -m benchmarks.papers", description=__doc__, formatter_class=RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--ptb", type=Path)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--report", action="store_true")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    add_data_option(parser)
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in all_tables()]
    if unknown and options.names != ["list"]:
        parser.error(f"there is no table {unknown[0]!r}; there are {', '.join(all_tables())}")
    if options.threads < 1:
        parser.error(f"--threads must be at least 1, found {options.threads}")
    return options


def say(line: str) -> None:
    print(line, flush=True)


def announce(runs: list[Run], *, quick: bool) -> None:
    """How much there is to do."""
    minutes = len(runs) * QUICK_SECONDS / 60 if quick else estimate_minutes(runs, Results.open(RESULTS / "runs.json"))
    time = f"{minutes:.0f} minutes" if minutes < 120 else f"{minutes / 60:.1f} hours"
    say(f"{len(runs)} runs to do, about {time} on two cores; Ctrl-C stops, the same command goes on")


def read_all(runs: Iterable[Run], corpora: Corpora) -> None:
    """Read the data of all runs: what is missing is missed now, not after an hour."""
    for task in dict.fromkeys(run.key.partition("/")[0] for run in runs):
        corpora.task(task)


def run(options: Namespace) -> int:
    """What the command line says; the exit code."""
    tables = all_tables(ptb=options.ptb is not None)
    if options.names == ["list"]:
        for table in tables.values():
            say(f"{table.name:20}{table.title}")
        return 0
    chosen = [table for name, table in tables.items() if not options.names or name in options.names]
    corpora = Corpora(options.data, options.ptb, options.quick, options.threads)
    out = options.out or (QUICK if options.quick else RESULTS)
    results = Results.open(out / "runs.json")
    results.prepare()
    runs = [] if options.report else unfinished(chosen, results)
    code = 0
    try:
        read_all(runs, corpora)
        if runs:
            announce(runs, quick=options.quick)
        with stopped_by_signals():
            perform(runs, results, corpora, say)
    except Stopped as stopped:
        print("\nstopped; finished runs are kept, the same command goes on", file=sys.stderr)
        code = 128 + stopped.args[0]
    for table in chosen:
        print_table(table, results)
    claims = check_all(results, ptb=options.ptb is not None)
    print_claims(claims)
    if options.quick:
        say("(--quick: all that these numbers say is that every cell runs)")
    write_report(list(tables.values()), results, claims, corpora, out)
    say(f"\nreport: {out / 'README.md'}")
    return code


def main() -> int:
    options = read_options()
    try:
        return run(options)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # else Python complains when it exits
        return CLOSED_PIPE
    except KeyboardInterrupt:  # while data are read, or the report is written
        return INTERRUPTED
    except (TagwrightError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
