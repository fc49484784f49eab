"""How tests call commands: in this process (the `run` fixture) or as a process of their own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from tagwright.cli import main

PIPES = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
COMMAND = [sys.executable, "-m", "tagwright"]


class Result(NamedTuple):
    """What a command left: exit code, standard output, standard error."""

    code: int
    out: str
    err: str


Run = Callable[..., Result]


@contextmanager
def start(
    *argv: object, environment: Mapping[str, str] | None = None, **options: Any
) -> Iterator[subprocess.Popen[bytes]]:
    """A command as a process of its own; it does not outlive the test. It hears Ctrl-C, even where the tests run in
    the background and do not."""
    variables = {**os.environ, "PYTHONUNBUFFERED": "", **(environment or {})}
    before = signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        process = subprocess.Popen([*COMMAND, *map(str, argv)], env=variables, **options)
    finally:
        signal.signal(signal.SIGINT, before)
    with process:
        try:
            yield process
        finally:
            process.kill()


def train(path: Path, data: Path, *options: str, learner: str = "crf") -> Path:
    """Train a model quickly."""
    quick = {"crf": "max_iterations=12", "perceptron": "epochs=3", "hmsvm": "C=0.1", "guided": "epochs=3"}[learner]
    argv = ["train", str(data), "--out", str(path), "--learner", learner, "--set", quick, "--quiet", *options]
    assert main(argv) == 0
    return path
