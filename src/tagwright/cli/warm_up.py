"""`tagwright warm-up`: compile all kernels for this CPU now, on all cores, so that nobody waits for them later.

Processes share the workloads, which call the kernels as users do; what one compiles the others load (_machine_code.py
sees to that). The code that a wheel brings does not count here: it is for many CPUs, and this is for one.
"""

from __future__ import annotations

import os
import signal
import sys
import time
import warnings
from argparse import Namespace
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tagwright import _machine_code
from tagwright._jit import JIT
from tagwright.cli.console import note, print_json
from tagwright.errors import CacheWarning, DataError


def run(arguments: Namespace) -> None:
    """Warm up as the command line says."""
    began = time.perf_counter()
    n_processes = arguments.processes or os.cpu_count() or 1
    compiled = 0
    if JIT:
        try:
            compiled = compile_all(n_processes, quiet=arguments.quiet)
        except _machine_code.CannotKeepError as error:
            raise DataError(str(error)) from None
    elif not arguments.quiet:
        note("kernels run as plain Python here (no Numba, or TAGWRIGHT_NO_JIT): there is nothing to compile")
    seconds = time.perf_counter() - began
    if arguments.json:
        print_json({"compiled": compiled, "seconds": seconds, "processes": n_processes})
    elif not arguments.quiet:
        print(f"{compiled} kernels compiled in {seconds:.1f} s" if compiled else "all kernels were compiled before")


def compile_all(n_processes: int, *, quiet: bool) -> int:
    """Run all workloads; how many kernels that compiled."""
    compiled = 0
    spawn = get_context("spawn")  # not a copy of this process: its threads may hold locks
    with ProcessPoolExecutor(n_processes, spawn, _begin) as pool, _Bar(quiet=quiet) as bar:
        try:
            names = pool.submit(list_workloads).result()
            bar.begin(len(names))
            for done in as_completed([pool.submit(run_one, name) for name in names]):
                count, failures = done.result()
                if failures:
                    raise DataError(failures[0])
                compiled += count
                bar.update(compiled)
        except BaseException:  # Ctrl-C too
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return compiled


def _begin() -> None:
    """In a new process: what wheels bring is left out, nothing is compiled that cannot be kept, failures are reported
    by `run_one`, Ctrl-C ends it at once."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.environ[_machine_code.NATIVE_ONLY] = "1"
    _machine_code.must_keep = True
    warnings.simplefilter("ignore", CacheWarning)


def list_workloads() -> list[str]:
    """Their names. Importing them may compile, and that is for the processes that `_begin` has prepared."""
    from tagwright.cli.workloads import WORKLOADS

    return list(WORKLOADS)


def run_one(name: str) -> tuple[int, list[str]]:
    """One workload in this process: how many kernels it compiled, and why they could not be kept."""
    from tagwright.cli.workloads import run_workload

    with TemporaryDirectory() as folder:
        run_workload(name, Path(folder))
    n_compiled = len(_machine_code.compiled)
    _machine_code.compiled.clear()
    return n_compiled, _machine_code.failures


class _Bar:
    """Progress on a terminal: workloads done, kernels compiled."""

    def __init__(self, *, quiet: bool) -> None:
        self._shown = not quiet and sys.stderr.isatty()
        self._bar: Any = None

    def begin(self, n: int) -> None:
        if self._shown:
            from tqdm import tqdm  # here, because only people need it

            form = "compiling {bar:30} {n}/{total} {postfix} {elapsed}"
            self._bar = tqdm(total=n, file=sys.stderr, leave=False, mininterval=0, bar_format=form)

    def update(self, compiled: int) -> None:
        if self._bar is not None:
            self._bar.set_postfix_str(f"{compiled} kernels", refresh=False)
            self._bar.update()

    def __enter__(self) -> _Bar:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()
