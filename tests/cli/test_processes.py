"""Commands as processes of their own: pipes, Ctrl-C, terminals, the first compilation."""

from __future__ import annotations

import json
import os
import pty
import select
import signal
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest
from cli.commands import PIPES, Run, start

from tagwright import load

PATIENCE = 240  # seconds; a busy machine may have to compile first


def test_answers_before_the_input_ends(model: Path) -> None:
    with start("tag", model, "--format", "plain", **PIPES) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for words in (b"The dog barks .\n", b"She sleeps .\n"):
            process.stdin.write(words)
            process.stdin.flush()
            assert select.select([process.stdout], [], [], PATIENCE)[0], "no answer while the pipe is open"
            assert process.stdout.readline().startswith(words.split()[0] + b"/")
        process.stdin.close()
        assert process.wait(PATIENCE) == 0


def test_a_closed_pipe_is_silent(model: Path, tmp_path: Path) -> None:
    text = tmp_path / "text"
    text.write_text("The dog barks .\n" * 50_000)
    with start("tag", model, text, **PIPES) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline().startswith(b"The/")
        process.stdout.close()
        assert process.wait(PATIENCE) == 141
        assert process.stderr.read() == b""


def test_a_short_output_into_a_closed_pipe_is_silent(model: Path) -> None:
    with start("inspect", model, "--attributes", "The dog", **PIPES) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.wait(PATIENCE) == 141
        assert process.stderr.read() == b""


def open_terminal() -> tuple[int, int]:
    """Both ends of a terminal of the usual size."""
    ends = pty.openpty()
    termios.tcsetwinsize(ends[1], (24, 80))
    return ends


def read_until(descriptor: int, wanted: bytes) -> bytes:
    """What a terminal shows, up to a text."""
    shown = b""
    end = time.monotonic() + PATIENCE
    while wanted not in shown and time.monotonic() < end:
        if select.select([descriptor], [], [], 1)[0]:
            shown += os.read(descriptor, 4096)
    assert wanted in shown, shown
    return shown


def test_ctrl_c_keeps_a_usable_model(run: Run, tmp_path: Path) -> None:
    data, out = tmp_path / "data", tmp_path / "m.tw"
    data.write_text("The\tDT\ndog\tNN\n\nThe\tDT\ndog\tVB\n\n")  # a contradiction: the perceptron never ends
    terminal, stderr = open_terminal()
    argv = ("train", data, "--out", out, "--learner", "perceptron", "--set", "epochs=1000000000", "--json")
    with start(*argv, stdout=subprocess.PIPE, stderr=stderr) as process:
        read_until(terminal, b"epoch 3")
        assert not out.exists()
        process.send_signal(signal.SIGINT)
        text, _ = process.communicate(timeout=PATIENCE)
        shown = read_until(terminal, b"the model so far is kept")
    os.close(terminal)
    os.close(stderr)
    assert process.returncode == 0
    assert b"stopping after this round, the model is kept" in shown
    found = json.loads(text)
    assert found["interrupted"] is True
    assert found["iterations"] >= 3
    assert load(out).info_["interrupted"] is True
    assert run("tag", out, stdin="The dog barks .\n").out.startswith("The/DT ")
    assert {path.name for path in tmp_path.iterdir()} == {"data", "m.tw"}


def test_ctrl_c_keeps_a_checkpoint(run: Run, tmp_path: Path) -> None:
    out, state = tmp_path / "m.tw", tmp_path / "state"
    argv = ("train", "sample", "--out", out, "--set", "solver=sgd", f"checkpoint={state}", "tolerance=0")
    terminal, stderr = open_terminal()
    with start(*argv, "max_iterations=1000000", "--json", stdout=subprocess.PIPE, stderr=stderr) as process:
        read_until(terminal, b"epoch 2")
        process.send_signal(signal.SIGINT)
        text, _ = process.communicate(timeout=PATIENCE)
    os.close(terminal)
    os.close(stderr)
    epochs = json.loads(text)["iterations"]
    assert epochs >= 2
    assert state.exists()
    found = json.loads(run(*argv, f"max_iterations={epochs + 1}", "--json").out)
    assert found["iterations"] == epochs + 1


SLOW = {"TAGWRIGHT_NO_JIT": "1"}


def test_ctrl_c_does_not_wait_for_a_batch(model: Path, tmp_path: Path) -> None:
    """A batch takes minutes without compiled kernels."""
    text = tmp_path / "text"
    text.write_text("The dog barks .\n" * 20_000)
    terminal, stderr = open_terminal()
    with start("tag", model, text, stdout=subprocess.PIPE, stderr=stderr, environment=SLOW) as process:
        time.sleep(3)
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        began = time.monotonic()
        process.communicate(timeout=PATIENCE)
    os.close(terminal)
    os.close(stderr)
    assert process.returncode == 130
    assert time.monotonic() - began < 3


LEAVING = """
import atexit, sys, threading
from tagwright import cli
from tagwright.cli.pipeline import Pipeline
from tagwright.errors import DataError

atexit.register(lambda: print(" and Python was taken down"))
begun, pipeline = threading.Event(), Pipeline(2)

def work():
    begun.set()
    threading.Event().wait()  # as in a kernel that takes for ever

def read():
    pipeline.submit(lambda: 1)
    if {left}:
        pipeline.submit(work)

def run(arguments):
    for result in pipeline.run(read):
        print("result", result, end="")
        if {left}:
            begun.wait()
            raise {error}

cli._run = run
sys.argv = ["tagwright", "tag", "model"]
cli.run_process()
"""


@pytest.mark.parametrize(
    ("error", "code"),
    [
        ("KeyboardInterrupt", 130),
        ("DataError('bad')", 1),
        ("ValueError('a bug')", 70),
        ("BrokenPipeError", 141),
        ("", 0),
    ],
)
def test_python_is_not_taken_down_while_a_worker_is_in_a_kernel(error: str, code: int) -> None:
    """It would crash, now and then. What was printed arrives all the same."""
    text = LEAVING.format(left=bool(error), error=error)
    command, environment = [sys.executable, "-c", text], os.environ | {"PYTHONUNBUFFERED": ""}
    found = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert found.returncode == code
    shown = "" if code == 141 else "result 1"
    assert found.stdout == (shown if error else "result 1 and Python was taken down\n")


def test_ctrl_c_in_code_made_at_run_time(tmp_path: Path) -> None:
    """Imports make some: Python then takes the interruption for one that nobody caught."""
    code = "import sys\nfrom tagwright import cli\ncli._run = lambda arguments: exec('raise KeyboardInterrupt')\n"
    (tmp_path / "script.py").write_text(code + "sys.argv = ['tagwright', 'tag', 'model']\ncli.run_process()\n")
    command, environment = [sys.executable, "-m", "script"], os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    found = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, timeout=PATIENCE, check=False)
    assert (found.returncode, found.stderr) == (130, b"tagwright: error: interrupted\n")


def test_ctrl_c_twice_leaves_no_traceback(tmp_path: Path) -> None:
    """The second one comes while the first is answered, as some tools send it."""
    code = (
        "import signal, sys\nfrom tagwright import cli\n"
        "def interrupt(*ignored):\n    cli._fail = fail\n    signal.raise_signal(signal.SIGINT)\n"
        "fail, cli._fail, cli._run = cli._fail, interrupt, lambda arguments: signal.raise_signal(signal.SIGINT)\n"
    )
    (tmp_path / "script.py").write_text(code + "sys.argv = ['tagwright', 'tag', 'model']\ncli.run_process()\n")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, tmp_path / "script.py"]
    before = signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        found = subprocess.run(command, env=environment, capture_output=True, timeout=PATIENCE, check=False)
    finally:
        signal.signal(signal.SIGINT, before)
    assert (found.returncode, found.stderr) == (130, b"tagwright: error: interrupted\n")


def test_a_terminal_is_answered_line_by_line(model: Path) -> None:
    terminal, stdin = open_terminal()
    with start("tag", model, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert b"reading from the terminal, one sentence per line" in process.stderr.readline()
        os.write(terminal, b"The dog barks .\n")
        assert process.stdout.readline().startswith(b"The/DT ")
        os.write(terminal, b"\x04")
        assert process.wait(PATIENCE) == 0
    os.close(terminal)
    os.close(stdin)


NOT_FOR_TAGGING = (
    "matplotlib", "scipy.linalg", "sklearn", "pooch", "tagwright.comparison", "tagwright.datasets", "tagwright.plots",
    "tagwright.guided", "tagwright.learners.hmm", "tagwright.hmsvm", "tagwright.kernels.perceptron",
    "tagwright.learners.memm", "tagwright.boosting",
    "tagwright.learners.structured_perceptron", "tagwright.metrics", "tagwright.chunks",
    "tagwright.attributes.exchange",
)  # fmt: skip


def test_tagging_imports_little(model: Path) -> None:
    """Start-up is what is imported: the model's own learner, nothing for training others, no plots."""
    code = "import sys\nfrom tagwright.cli import main\nassert main(sys.argv[1:]) == 0\nprint(*sys.modules, sep='\\n')"
    argv = [sys.executable, "-c", code, "tag", str(model), "--format", "plain", "--quiet"]
    words = "The dog barks .\n"
    for _ in range(2):  # the first may have to compile, and Numba's compiler imports more
        found = subprocess.run(argv, input=words, check=True, capture_output=True, text=True)
    first, *modules = found.stdout.splitlines()
    assert first.startswith("The/DT ")
    assert "tagwright.learners.crf" in modules
    assert [name for name in modules if name.startswith(NOT_FOR_TAGGING)] == []
    assert "numba.np.linalg" not in modules, "Numba's compiler was made ready, for kernels that are in its cache"
    assert "numba.np.arrayobj" not in modules, "a kernel that assigns slices has Numba's own functions in its cache"


def test_help_imports_no_numbers() -> None:
    code = "import sys\nfrom tagwright.cli import main\ntry: main(['--help'])\nfinally: print(*sys.modules, sep='\\n')"
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert "tagwright.cli" in found.stdout.splitlines()
    assert not {"numpy", "numba"} & set(found.stdout.splitlines())


def test_compilation_is_told_once(model: Path, tmp_path: Path) -> None:
    told = []
    for _ in range(2):
        with start("tag", model, environment={"NUMBA_CACHE_DIR": str(tmp_path)}, **PIPES) as process:
            _, err = process.communicate(b"The dog barks .\n", PATIENCE)
            assert process.returncode == 0
            told.append(err.decode())
    assert told[0].startswith("tagwright: note: compiling kernels that this machine has not needed before; ")
    assert told[0].count("\n") == 1
    assert told[1] == ""
