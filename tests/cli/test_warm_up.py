"""`tagwright warm-up`: after it, nothing is compiled for any learner."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from cli.commands import PIPES, Run, start

from tagwright import _jit
from tagwright.cli import warm_up

pytestmark = pytest.mark.skipif(not _jit.JIT, reason="there is no Numba")
PATIENCE = 240

# Every learner as users call it, in one process: what it compiles is what warm-up has missed.
USERS = """
import sys
from tagwright import _machine_code
from tagwright.cli import main
from tagwright.cli.options import COMPARED
from tagwright.learners import LEARNERS

def run(*argv):
    assert main([*argv, "--quiet"]) == 0, argv

short = {"adaboost": ["rounds=20"], "hmsvm": ["max_iterations=3"], "guided": ["epochs=2"], "hmm": []}
for name, learner in LEARNERS.items():
    usual = ["max_iterations=5" if "max_iterations" in learner().get_params() else "epochs=2"]
    settings = ["--set", *short.get(name, usual)]
    for column in ("pos", "entity"):
        run("train", "sample", "--out", "m.tw", "--learner", name, "--column", column, "--inputs", "word", "--dev",
            "10%", *(settings if len(settings) > 1 else []))
        run("tag", "m.tw", "text.txt", "-o", "tagged.txt")
        run("evaluate", "m.tw", "sample", "--json")
    if learner.ranked:
        run("tag", "m.tw", "text.txt", "--nbest", "3", "-o", "tagged.txt")
    if learner.probabilistic:
        run("tag", "m.tw", "text.txt", "--marginals", "-o", "tagged.txt")
run("compare", "sample", "--size", "40", "--folds", "2", "--learners", ",".join(COMPARED))
print("COMPILED", _machine_code.compiled)
"""


@pytest.fixture(scope="module")
def warm() -> dict[str, object]:
    """What warm-up says. Its cache is that of the other tests: what one of them has compiled, it need not."""
    found = subprocess.run(
        [sys.executable, "-m", "tagwright", "warm-up", "--json"], capture_output=True, text=True, check=False
    )
    assert found.returncode == 0, found.stderr
    assert found.stderr == ""
    return json.loads(found.stdout)


def test_nothing_is_compiled_after_it(warm: dict[str, object], tmp_path: Path) -> None:
    assert set(warm) == {"compiled", "seconds", "processes"}
    (tmp_path / "text.txt").write_text("The dog barks .\nMaria Lopez lives near Lisbon .\n")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    found = subprocess.run(
        [sys.executable, "-c", USERS], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert found.returncode == 0, found.stderr
    assert found.stdout.splitlines()[-1] == "COMPILED []"


def test_a_second_time_there_is_nothing_to_do(warm: dict[str, object], run: Run) -> None:
    assert run("warm-up", "--processes", 2).out == "all kernels were compiled before\n"


FULL = """
import resource, sys
from tagwright._jit import kernel
from tagwright.cli import main, workloads

@kernel
def double(x):
    return 2 * x

workloads.WORKLOADS.clear()
workloads.WORKLOADS["double"] = lambda folder: double(2)
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))  # in both processes: the other one reads this file, too
if __name__ == "__main__":
    sys.exit(main(["warm-up", "--quiet", "--processes", "1"]))
"""


def test_it_says_so_where_nothing_can_be_kept(tmp_path: Path) -> None:
    (tmp_path / "full.py").write_text(FULL)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-W", "ignore", "full.py"]
    found = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert found.returncode == 1, found.stderr
    assert found.stderr.startswith("tagwright: error: compiled kernels cannot be kept (")
    assert found.stderr.endswith("File too large); set NUMBA_CACHE_DIR to a folder that can be written\n")


READ_ONLY = """
import sys
from tagwright import _machine_code
from tagwright._jit import kernel
from tagwright.cli import main, workloads

@kernel
def double(x):
    return 2 * x

def work(folder):
    double(2)
    print("WORKED", flush=True)

workloads.WORKLOADS.clear()
workloads.WORKLOADS["double"] = work
if len(sys.argv) > 1:
    _machine_code._can_be_written = lambda folder: False  # in both processes
if __name__ == "__main__":
    sys.exit(main(["warm-up", "--processes", "1"]))
"""


def test_nothing_is_compiled_where_nothing_can_be_kept(tmp_path: Path) -> None:
    """But where all is compiled, that is no error."""
    (tmp_path / "script.py").write_text(READ_ONLY)
    ours = ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME")
    environment = {name: value for name, value in os.environ.items() if name not in ours}
    environment |= {"PYTHONPATH": os.pathsep.join(sys.path), "HOME": "/dev/null"}
    said = []
    for argv in (["read-only"], [], ["read-only"]):
        command = [sys.executable, "script.py", *argv]
        found = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        said.append((found.returncode, found.stdout, found.stderr))
    code, out, err = said[0]
    assert (code, out) == (1, "")
    assert re.fullmatch(r"tagwright: error: compiled kernels cannot be kept \(none of .* can be written\); .*\n", err)
    assert said[1][0] == 0
    assert re.fullmatch(r"WORKED\n1 kernels compiled in .*\n", said[1][1])
    assert said[2] == (0, "WORKED\nall kernels were compiled before\n", "")


def test_without_a_compiler_there_is_nothing_to_do() -> None:
    with start("warm-up", environment={"TAGWRIGHT_NO_JIT": "1"}, **PIPES) as process:
        out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    assert out == b"all kernels were compiled before\n"
    assert b"kernels run as plain Python here" in err


def test_a_bar_on_a_terminal(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    for quiet in (False, True):
        with warm_up._Bar(quiet=quiet) as bar:
            bar.begin(3)
            bar.update(7)
            bar.update(8)
        assert ("2/3 , 8 kernels" in capsys.readouterr().err) is not quiet
