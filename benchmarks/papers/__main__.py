"""The papers' tables and figures, ours beside theirs.

    python -m benchmarks.papers [name ...] [--quick] [--data DIR] [--ptb DIR] [--out DIR] [--report]

name        tables to run, all if none is given; "list" lists them
--quick     every cell on a hundred sentences, in minutes: does it run? Written to benchmarks/out/quick
--ptb DIR   the Penn Treebank (folders 00 to 24 with .mrg files) instead of its public sample
--out DIR   finished runs (runs.json), report and pictures; docs/results unless --quick
--report    run nothing; write the report of what is finished

What is finished is not done again: stop it with Ctrl-C and start it again. Delete runs.json to begin anew.
"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from pathlib import Path

from benchmarks.corpora import add_data_option
from benchmarks.papers import guided, losses, margins, selections
from benchmarks.papers.claims import check_all
from benchmarks.papers.corpora import Corpora
from benchmarks.papers.report import print_claims, print_table, write_report
from benchmarks.papers.tables import Results, Table, perform, unfinished
from tagwright.errors import TagwrightError

RESULTS = Path("docs/results")
QUICK = Path("benchmarks/out/quick")


def all_tables() -> dict[str, Table]:
    """By name, in the order of the report."""
    return {table.name: table for part in (losses, selections, margins, guided) for table in part.tables()}


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
    return options


def main() -> int:
    options = read_options()
    if options.names == ["list"]:
        for table in all_tables().values():
            print(f"{table.name:20}{table.title}")
        return 0
    chosen = [table for name, table in all_tables().items() if not options.names or name in options.names]
    corpora = Corpora(options.data, options.ptb, options.quick, options.threads)
    out = options.out or (QUICK if options.quick else RESULTS)
    results = Results.open(out / "runs.json")
    runs = [] if options.report else unfinished(chosen, results)
    if runs:
        minutes = sum(run.minutes for run in runs) / (40 if options.quick else 1)
        print(
            f"{len(runs)} runs to do, about {minutes:.0f} minutes on two cores; Ctrl-C stops, the same command goes on"
        )
    try:
        perform(runs, results, corpora, lambda line: print(line, flush=True))
    except KeyboardInterrupt:
        print("\nstopped; finished runs are kept", file=sys.stderr)
    except TagwrightError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    for table in chosen:
        print_table(table, results)
    claims = check_all(results)
    print_claims(claims)
    write_report(list(all_tables().values()), results, claims, corpora, out)
    print(f"\nreport: {out / 'README.md'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
