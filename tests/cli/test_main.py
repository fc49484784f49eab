"""What all commands share: exit codes, messages, a quick --help."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest
from cli.commands import Run

import tagwright
import tagwright.cli.inspect
from tagwright.attributes.presets import PRESETS
from tagwright.cli import options

HEAVY = ("numpy", "numba", "safetensors", "tqdm")


def test_version(run: Run) -> None:
    assert run("--version").out == f"tagwright {tagwright.__version__}\n"


def test_help_loads_nothing_heavy(capsys: pytest.CaptureFixture[str]) -> None:
    code = (
        "import sys\nfrom tagwright.cli import main\ntry:\n    main(['train', '--help'])\nexcept SystemExit: pass\n"
        f"print('HEAVY', [name for name in {HEAVY!r} if name in sys.modules])"
    )
    began = time.perf_counter()
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    with capsys.disabled():
        print(f"\ntagwright train --help: {time.perf_counter() - began:.2f} s (wanted: under 0.3 s)")
    assert found.stdout.splitlines()[-1] == "HEAVY []"
    assert "--learner NAME" in found.stdout


def test_the_help_names_all_presets() -> None:
    assert sorted(options.PRESETS) == sorted(PRESETS)


@pytest.mark.parametrize(
    "argv",
    [
        [],
        ["polish"],
        ["train", "sample"],
        ["train", "sample", "--out", "x", "--set", "c2"],
        ["train", "sample", "--out", "x", "--threads", "0"],
        ["train", "sample", "--out", "x", "--inputs", "0,"],
        ["tag", "x", "--nbest", "101"],
        ["tag", "x", "--nbest", "2", "--marginals"],
        ["tag", "x", "--format", "xml"],
        ["evaluate", "x"],
    ],
)
def test_wrong_usage_is_exit_code_2(run: Run, argv: list[str]) -> None:
    code, out, err = run(*argv)
    assert (code, out) == (2, "")
    assert err.startswith("usage: tagwright")


def test_a_missing_model_is_one_line(run: Run, tmp_path: Path) -> None:
    code, out, err = run("inspect", tmp_path / "none.tw")
    assert (code, out) == (1, "")
    assert err.startswith("tagwright: error: ")
    assert err.count("\n") == 1
    assert "none.tw: found no such file" in err


def test_a_bug_keeps_its_traceback(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(path: str) -> None:
        raise ZeroDivisionError("oh")

    monkeypatch.setattr(tagwright.cli.inspect, "load", fail)
    code, out, err = run("inspect", "x")
    assert (code, out) == (70, "")
    assert "Traceback" in err
    assert err.endswith("tagwright: error: this is a bug in Tagwright; please report it with the lines above\n")


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (PermissionError(13, "Permission denied", "a.tw"), 1, "a.tw: Permission denied"),
        (OSError(28, "No space left on device"), 1, "No space left on device"),
        (MemoryError(), 1, "not enough memory"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (tagwright.errors.DataError("two\nlines", location="f:1"), 1, "f:1: two lines"),
    ],
)
def test_errors_are_one_line(
    run: Run, monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int, message: str
) -> None:
    def fail(path: str) -> None:
        raise error

    monkeypatch.setattr(tagwright.cli.inspect, "load", fail)
    found = run("inspect", "x")
    assert found.code == code
    assert found.err.startswith(f"tagwright: error: {message}")
    assert found.err.count("\n") == 1
