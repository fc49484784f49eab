"""Tables, their cells, and the runs that give the numbers. A run is done once, however many cells want it.

Finished runs are kept in a JSON file, one after the other as they end: an interrupted command goes on where it was, and
of two commands at once neither repeats what the other has finished.
"""

from __future__ import annotations

import fcntl
import json
import os
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.papers.corpora import SAMPLE, Corpora
from tagwright.errors import DataError

Numbers = dict[str, Any]
LARGER = 13.0  # the Penn Treebank against its sample, in sentences


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
    """name: on the command line, and of its paragraph in deviations.py. higher: whether more is better."""

    name: str
    title: str
    unit: str
    cells: tuple[Cell, ...]
    runs: tuple[Run, ...]
    higher: bool = True


@dataclass(slots=True)
class Results:
    """Finished runs by key, in a file."""

    path: Path
    runs: dict[str, Numbers] = field(default_factory=dict)

    @classmethod
    def open(cls, path: Path) -> Results:
        """What is in the file; nothing where there is none."""
        results = cls(path)
        results.read()
        return results

    def read(self) -> None:
        """Once more: another command may have added something."""
        try:
            runs = json.loads(self.path.read_text(encoding="utf-8")) if self.path.exists() else {}
        except OSError as error:
            raise DataError(
                f"cannot be read ({error.strerror}); choose another --out", location=str(self.path)
            ) from error
        except ValueError as error:
            raise DataError(
                f"this is no JSON ({error}); move it away to begin anew", location=str(self.path)
            ) from error
        if not isinstance(runs, dict) or not all(isinstance(numbers, dict) for numbers in runs.values()):
            raise DataError(
                "expected runs by name, found other JSON; move it away to begin anew", location=str(self.path)
            )
        self.runs = runs

    def prepare(self) -> None:
        """Make the folder and try to write there: before hours of work, not after."""
        trial = self._partial()
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            trial.touch()
            trial.unlink()
        except OSError as error:
            raise DataError(
                f"cannot be written ({error.strerror}); choose another folder with --out",
                location=str(self.path.parent),
            ) from error

    def keep(self, key: str, numbers: Numbers) -> None:
        """One more. The file is replaced as a whole, so that it is never half written."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with locked(self.path.parent):
            self.read()
            self.runs[key] = numbers
            self._partial().write_text(json.dumps(self.runs, indent=1, sort_keys=True) + "\n", encoding="utf-8")
            self._partial().replace(self.path)

    def number(self, cell: Cell) -> float | None:
        """A cell's number; None while its run is missing."""
        found = self.runs.get(cell.run, {}).get(cell.number)
        return None if found is None else float(found)

    def _partial(self) -> Path:
        return self.path.with_suffix(f".{os.getpid()}.partial")


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Other commands wait. The lock goes with the process, however that ends."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def unfinished(tables: Iterable[Table], results: Results) -> list[Run]:
    """The runs that are still to do, each once."""
    runs = {run.key: run for table in tables for run in table.runs}
    return [run for key, run in runs.items() if key not in results.runs]


def seconds_of(numbers: Numbers) -> float:
    """What a run took, or would have taken on a quiet machine: no more than its processor time."""
    seconds = numbers.get("seconds", 0.0)
    return float(min(seconds, numbers.get("cpu", seconds)))


def estimate_minutes(runs: Iterable[Run], recorded: Results) -> float:
    """What they took when they were recorded; of the treebank, what the sample took, and more of it."""
    total = 0.0
    for run in runs:
        task, _, rest = run.key.partition("/")
        sample = f"{SAMPLE}/{rest}" if task.startswith("ptb-") else run.key
        known = recorded.runs.get(sample)
        minutes = run.minutes if known is None else seconds_of(known) / 60
        total += minutes if sample == run.key else LARGER * minutes
    return total


class Stopped(BaseException):
    """Ctrl-C. No KeyboardInterrupt: that, a training takes for the wish to have the model as it is by then."""


@contextmanager
def stopped_by_signals() -> Iterator[None]:
    """Raise Stopped for Ctrl-C and for a kind kill: the run under way is thrown away, it is not finished."""

    def stop(number: int, _: object) -> None:
        raise Stopped(number)

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def perform(runs: list[Run], results: Results, corpora: Corpora, tell: Callable[[str], None]) -> None:
    """Do them one by one; each is kept when it ends."""
    for number, run in enumerate(runs, 1):
        results.read()
        if run.key in results.runs:
            tell(f"{number}/{len(runs)} {run.key}: another command has finished it")
            continue
        tell(f"{number}/{len(runs)} {run.key} ...")
        began, spent = time.perf_counter(), processor_time()
        numbers = run.work(corpora)
        numbers |= {"seconds": round(time.perf_counter() - began, 1), "cpu": round(processor_time() - spent, 1)}
        results.keep(run.key, numbers)
        tell(f"    {numbers['seconds']:.0f} s: {summary(numbers)}")


def processor_time() -> float:
    """Seconds of this process and of those it has waited for."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def summary(numbers: Numbers) -> str:
    """The numbers of a run in one line."""
    shown = {key: value for key, value in numbers.items() if isinstance(value, int | float) and key not in HIDDEN}
    return ", ".join(f"{key} {value:.4g}" for key, value in shown.items())


HIDDEN = ("seconds", "cpu")
