"""Cases in processes that may die. A process plays case after case and writes a line for each; the parent counts.

ok                  played to its end
refused             one of our errors
foreign: ...        another exception, with the place in our code where it came from
memory              more than MOST_MEMORY was asked for
crash: signal       the process died; a new one goes on with the next case
hang                no answer in MOST_SECONDS
"""

from __future__ import annotations

import os
import resource
import select
import subprocess
import sys
import tempfile
import traceback
import warnings
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from tagwright.errors import TagwrightError
from tests.fuzz.campaigns import ALL
from tests.fuzz.commands import Play

MOST_SECONDS = 20.0
MOST_MEMORY = 4 << 30
FIRST_SECONDS = 300.0
"""Until the first answer: kernels may be compiled."""
PACKAGE = "tagwright/"


@dataclass(slots=True)
class Summary:
    """How the cases of a campaign ended, and those that should not have ended so."""

    counts: Counter[str] = field(default_factory=Counter)
    findings: list[tuple[int, str]] = field(default_factory=list)

    def add(self, case: int, outcome: str) -> None:
        self.counts[outcome.split(":")[0]] += 1
        if outcome not in ("ok", "refused"):
            self.findings.append((case, outcome))


def play_one(play: Play, seed: int, case: int) -> str:
    """How a case ends."""
    random = np.random.default_rng([seed, case])
    try:
        play(random)
    except TagwrightError:
        return "refused"
    except MemoryError:
        return "memory"
    except Exception as error:
        return f"foreign: {type(error).__name__} {place_of(error)} {str(error)[-160:]!r}"
    return "ok"


def place_of(error: BaseException) -> str:
    """The last line of our own that an exception went through."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if f"/{PACKAGE}" in frame.filename]
    return f"{frames[-1].filename.rpartition(PACKAGE)[2]}:{frames[-1].lineno}" if frames else "outside"


def work(name: str, folder: Path, seed: int, first: int, last: int, step: int) -> None:
    """What a process does: the cases first, first + step, ... below `last`, a line each."""
    warnings.simplefilter("ignore")
    play = ALL[name](folder)
    play_one(play, seed, first)  # loads kernels, before memory is limited
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + MOST_MEMORY,) * 2)
    for case in range(first, last, step):
        print(f"{case} {play_one(play, seed, case)}".replace("\n", " "), flush=True)


def run(name: str, folder: Path, seed: int, cases: int, jobs: int) -> Summary:
    """A campaign, shared out among processes."""
    summary = Summary()

    def share(job: int) -> None:
        first = job
        while first < cases:
            first = _watch(name, folder, seed, (first, cases, jobs), summary)

    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(share, range(jobs)))
    summary.findings.sort()
    return summary


def _watch(name: str, folder: Path, seed: int, which: tuple[int, int, int], summary: Summary) -> int:
    """One process, from the first of these cases until it ends or hangs; the case to go on with."""
    first, last, step = which
    command = [sys.executable, "-m", "tests.fuzz", name, "--seed", str(seed), "--folder", str(folder)]
    command += ["--work", f"{first},{last},{step}"]
    now, patience = first, FIRST_SECONDS
    here = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with (
        tempfile.TemporaryFile("w+") as said,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=said, env=here) as process,
    ):
        assert process.stdout is not None
        while now < last:
            if not select.select([process.stdout], [], [], patience)[0]:
                process.kill()
                summary.add(now, "hang")
                return now + step
            line = process.stdout.readline().decode()
            if not line:
                code = process.wait()
                said.seek(0)
                summary.add(now, f"crash: {code} {(said.read().strip().splitlines() or [''])[-1][:120]}")
                return now + step
            case, _, outcome = line.strip().partition(" ")
            summary.add(int(case), outcome)
            now, patience = int(case) + step, MOST_SECONDS
    return last
