"""The command line, the outer end of the flow: `tagwright train | tag | evaluate | inspect | compare | clusters |
convert | warm-up`.

One file for each command, imported when that command is called: `tagwright --help` loads neither NumPy nor Numba. Here
is what the commands share: exit codes, and how errors reach a person.

    0    done (also a training stopped by Ctrl-C that kept its model, a comparison that shows what is finished)
    1    input that cannot be used: one line on stderr says where, what and the cure
    2    wrong usage (argparse)
    70   an error inside Tagwright: traceback and a request to report it
    130  interrupted, nothing written
    141  the reader of our output went away (`| head`)
"""

from __future__ import annotations

import argparse
import gc
import io
import os
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from typing import NoReturn

from tagwright.cli.options import make_parser
from tagwright.errors import TagwrightError

WORKER = "tagwright worker"
"""The name of threads for which nobody waits."""
BAD_INPUT, INTERNAL, INTERRUPTED, CLOSED_PIPE = 1, 70, 130, 141


def run_process() -> NoReturn:
    """The whole life of the process `tagwright`. Ctrl-C may come a second time while the first is answered."""
    try:
        code = main()
    except KeyboardInterrupt:
        code = _fail("interrupted", INTERRUPTED)
    leave(code)


def leave(code: int) -> NoReturn:
    """End the process. A worker that was left behind, by Ctrl-C or an error, may be inside a kernel, and nobody waits
    for it: then Python is not taken down, since that would unload the machine code the worker runs. What `main` leaves
    is whole: files are written or removed, and the streams are flushed here.

    Nor is it after Ctrl-C: where that came while Python ran code made at run time, as classes of data are, Python would
    end as if nobody had caught it, with another code."""
    if code == INTERRUPTED or any(thread.name == WORKER for thread in threading.enumerate()):
        for stream in (sys.stdout, sys.stderr):
            with suppress(AttributeError, OSError, ValueError):  # it is closed, or its reader went away
                stream.flush()
        os._exit(code)
    sys.exit(code)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; the exit code."""
    arguments = make_parser().parse_args(argv)
    if isinstance(sys.stdout, io.TextIOWrapper):  # whatever the locale; names of files as the system gave them
        sys.stdout.reconfigure(encoding="utf-8", errors="surrogateescape")
    try:
        _run(arguments)
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        _forget_stdout()
        return CLOSED_PIPE
    except (TagwrightError, OSError, MemoryError) as error:
        return _fail(_describe(error), BAD_INPUT)
    except KeyboardInterrupt:
        return _fail("interrupted", INTERRUPTED)
    except Exception as error:
        return _report_bug(error)
    return 0


def _run(arguments: argparse.Namespace) -> None:
    """Import the command's module and run it. What is imported stays, so the garbage collector skips it (50 ms)."""
    gc.disable()
    command = import_module(f"tagwright.cli.{arguments.command.replace('-', '_')}")
    console = import_module("tagwright.cli.console")
    gc.freeze()
    gc.enable()
    with console.notes(quiet=arguments.quiet):
        command.run(arguments)


def _describe(error: Exception) -> str:
    """One line for a person."""
    if isinstance(error, TagwrightError):
        return " ".join(str(error).split("\n"))
    if isinstance(error, OSError):
        return ": ".join([str(part) for part in (error.filename, error.strerror or error) if part])
    return "not enough memory; take fewer sentences or a smaller feature set"


def _fail(message: str, code: int) -> int:
    print(f"tagwright: error: {message}", file=sys.stderr)
    return code


def _report_bug(error: Exception) -> int:
    import traceback

    traceback.print_exception(error)
    return _fail("this is a bug in Tagwright; please report it with the lines above", INTERNAL)


def _forget_stdout() -> None:
    """Let nothing more be written to the closed pipe, not even when Python exits."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
