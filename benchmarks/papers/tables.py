"""Tables, their cells, and the runs that give the numbers. A run is done once, however many cells want it.

Finished runs are kept in a JSON file, one after the other as they end: an interrupted command goes on where it was.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.papers.corpora import Corpora

Numbers = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Run:
    """One training (or several that belong together). `minutes`: what it takes on two cores, roughly."""

    key: str
    work: Callable[[Corpora], Numbers]
    minutes: float


@dataclass(frozen=True, slots=True)
class Cell:
    """`number` of the run `run`, beside what the paper has (None: the paper has only an order or a picture)."""

    row: str
    column: str
    run: str
    number: str
    paper: float | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """name: on the command line. higher: whether more is better. notes: where and why we differ, a paragraph each."""

    name: str
    title: str
    unit: str
    cells: tuple[Cell, ...]
    runs: tuple[Run, ...]
    higher: bool = True
    notes: tuple[str, ...] = ()


@dataclass(slots=True)
class Results:
    """Finished runs by key, in a file."""

    path: Path
    runs: dict[str, Numbers] = field(default_factory=dict)

    @classmethod
    def open(cls, path: Path) -> Results:
        return cls(path, json.loads(path.read_text()) if path.exists() else {})

    def keep(self, key: str, numbers: Numbers) -> None:
        """One more, beside what another command may have added meanwhile; the file is replaced as a whole."""
        self.runs = Results.open(self.path).runs | {key: numbers}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        partial = self.path.with_suffix(f".{os.getpid()}.partial")
        partial.write_text(json.dumps(self.runs, indent=1, sort_keys=True) + "\n")
        partial.replace(self.path)

    def number(self, cell: Cell) -> float | None:
        """A cell's number; None while its run is missing."""
        found = self.runs.get(cell.run, {}).get(cell.number)
        return None if found is None else float(found)


def unfinished(tables: Iterable[Table], results: Results) -> list[Run]:
    """The runs that are still to do, each once."""
    runs = {run.key: run for table in tables for run in table.runs}
    return [run for key, run in runs.items() if key not in results.runs]


def perform(runs: list[Run], results: Results, corpora: Corpora, tell: Callable[[str], None]) -> None:
    """Do them one by one; each is kept when it ends."""
    for number, run in enumerate(runs, 1):
        tell(f"{number}/{len(runs)} {run.key} ...")
        began, spent = time.perf_counter(), time.process_time()
        numbers = run.work(corpora)
        numbers |= {"seconds": round(time.perf_counter() - began, 1), "cpu": round(time.process_time() - spent, 1)}
        results.keep(run.key, numbers)
        tell(f"    {numbers['seconds']:.0f} s: {summary(numbers)}")


def summary(numbers: Numbers) -> str:
    """The numbers of a run in one line."""
    shown = {key: value for key, value in numbers.items() if isinstance(value, int | float) and key not in HIDDEN}
    return ", ".join(f"{key} {value:.4g}" for key, value in shown.items())


HIDDEN = ("seconds", "cpu")
