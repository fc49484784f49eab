"""The command of this package: see its docstring."""

from __future__ import annotations

import tempfile
import time
from argparse import ArgumentParser
from pathlib import Path

import numpy as np

from tests.fuzz.campaigns import ALL, CAMPAIGNS
from tests.fuzz.processes import run, work

SHOWN = 40


def main() -> int:
    parser = ArgumentParser(description="Play hostile cases and count how they end.")
    parser.add_argument("campaigns", nargs="*", choices=[*ALL, []], help="which; all by default")
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--replay", type=int, help="play this case here, and show where it ends")
    parser.add_argument("--folder", type=Path, help="where a campaign keeps what its cases are made from")
    parser.add_argument("--work", help="what a process of a campaign is told: first, last and step")
    options = parser.parse_args()
    names = options.campaigns or list(CAMPAIGNS)
    if options.work is not None:
        first, last, step = map(int, options.work.split(","))
        work(names[0], options.folder, options.seed, first, last, step)
        return 0
    with tempfile.TemporaryDirectory() as made:
        folder = options.folder or Path(made)
        if options.replay is not None:
            ALL[names[0]](folder)(np.random.default_rng([options.seed, options.replay]))
            return 0
        return max([show(name, folder, options.seed, options.cases, options.jobs) for name in names])


def show(name: str, folder: Path, seed: int, cases: int, jobs: int) -> int:
    """Play a campaign and print how it went; 1 if anything was found."""
    ALL[name](folder)  # once, for all processes
    began = time.perf_counter()
    summary = run(name, folder, seed, cases, jobs)
    counts = ", ".join(f"{n:,} {outcome}" for outcome, n in sorted(summary.counts.items()))
    print(f"{name}: {cases:,} cases in {time.perf_counter() - began:,.0f} s: {counts}", flush=True)
    for case, outcome in summary.findings[:SHOWN]:
        print(f"    case {case}: {outcome}")
    return int(bool(summary.findings))


if __name__ == "__main__":
    raise SystemExit(main())
