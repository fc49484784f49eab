"""Commands run in this process, and small models that many tests share."""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path

import pytest
from cli.commands import Result, Run, train

from tagwright.cli import main
from tagwright.datasets import sample_path

COMPILING = re.compile(r"^tagwright: note: (compiling kernels|waiting for another process).*\n", re.MULTILINE)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command in this process; `stdin` is what it reads from a pipe. Whether kernels were met before, or
    another process compiles them, is chance: the note about it is left out (test_processes.py has it)."""

    def call(*argv: object, stdin: str | bytes = b"") -> Result:
        data = stdin.encode() if isinstance(stdin, str) else stdin
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        capsys.readouterr()
        try:
            code = main([str(argument) for argument in argv])
        except SystemExit as stop:  # argparse
            code = int(stop.code or 0)
        out, err = capsys.readouterr()
        return Result(code, out, COMPILING.sub("", err))

    return call


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The first sentences of the sample, its columns named on line 1."""
    path = tmp_path_factory.mktemp("data") / "small.conll"
    blocks = sample_path().read_text(encoding="utf-8").split("\n\n")
    path.write_text("\n\n".join(blocks[:80]) + "\n\n", encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory, small: Path) -> Path:
    """A part-of-speech model of `small`."""
    return train(tmp_path_factory.mktemp("model") / "pos.tw", small, "--column", "POS")


@pytest.fixture(scope="session")
def chunker(tmp_path_factory: pytest.TempPathFactory, small: Path) -> Path:
    """A chunk model of `small`: two input columns, span labels, no probabilities."""
    return train(tmp_path_factory.mktemp("model") / "chunk.tw", small, "--column", "CHUNK", learner="perceptron")
