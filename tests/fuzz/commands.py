"""What campaigns share: what a case is, and commands that are run in it."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable
from pathlib import Path

from tagwright.cli import BAD_INPUT, main
from tagwright.errors import DataError
from tests.fuzz.mutations import Random

Play = Callable[[Random], None]
Campaign = Callable[[Path], Play]
"""Given a folder for what its cases are made from, the function that plays a case. A case may end in an error of ours;
all else is a finding."""


def call(*argv: str) -> None:
    """A command, which may refuse what it is given, and nothing else."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as said:
        code = main([*argv])
    if code == BAD_INPUT:
        raise DataError(said.getvalue())
    if code:
        frames = [line.strip() for line in said.getvalue().splitlines() if "tagwright/" in line or "Error" in line]
        raise RuntimeError(f"exit code {code} of {argv[0]}: {' '.join(frames[-2:])}")
