"""Where machine code is kept and found: wheels, read-only folders, several processes, a full disk."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tagwright import _jit, _machine_code
from tagwright._machine_code import ENDING, PORTABLE, PORTABLE_FEATURES, Claim, KernelFiles, find_folders
from tagwright.cli.console import notes
from tagwright.compat import llvm_binding

pytestmark = pytest.mark.skipif(not _jit.JIT, reason="there is no Numba")

KERNELS = """
import numpy as np
from tagwright._jit import kernel, tight_kernel

@tight_kernel
def square(x):
    return x * x

@kernel
def sums(values):
    made = np.empty(2)
    made[0], made[1] = values.sum(), square(values[0])
    return made
"""

USE = """
import numpy as np
from tagwright import _machine_code
{before}
from kernels import square, sums
assert sums(np.array([3.0, 4.0])).tolist() == [7.0, 9.0]
assert square(3) == 9
print(len(_machine_code.compiled))
"""


def use(folder: Path, *, before: str = "", options: tuple[str, ...] = (), **variables: str) -> tuple[int, str]:
    """Call the two kernels in a new process: how many it compiled, and what it said on stderr."""
    ours = ("NUMBA_", "TAGWRIGHT_", "XDG_", "PYTHONDONTWRITEBYTECODE")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    paths = os.pathsep.join([str(folder), *sys.path])
    environment |= {"PYTHONPATH": paths, "HOME": "/dev/null", **variables}
    command = [*options, sys.executable, "-c", USE.format(before=before)]
    found = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
    return int(found.stdout), found.stderr


@pytest.fixture
def kernels(tmp_path: Path) -> Path:
    """A folder with a module of two kernels."""
    (tmp_path / "kernels.py").write_text(KERNELS)
    return tmp_path


# ---- code in wheels ----

runs_portable = pytest.mark.skipif(
    _jit.JIT and not all(llvm_binding.get_host_cpu_features().get(name) for name in PORTABLE_FEATURES),
    reason="not a CPU that the code in wheels is for",
)


@pytest.fixture(scope="module")
def packaged(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Code that makes machine code of the kernels, as a wheel brings it, the package's."""
    source, folder = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    (source / "kernels.py").write_text(KERNELS)
    target = {"NUMBA_CPU_NAME": PORTABLE, "NUMBA_CPU_FEATURES": "", "NUMBA_CACHE_DIR": str(source)}
    assert use(source, **target)[0] == 2
    for path in source.rglob(f"*{ENDING}"):
        shutil.move(path, folder / path.name)
    return f"_machine_code.PACKAGED = _machine_code.Path({str(folder)!r})\n"


@runs_portable
def test_code_in_a_wheel_is_used_at_once(kernels: Path, packaged: str) -> None:
    assert use(kernels, before=packaged, NUMBA_CACHE_DIR=str(kernels / "empty")) == (0, "")
    assert not (kernels / "empty").exists()


LESS = """
from tagwright import _numba_internals
known = _numba_internals.llvm_binding.get_host_cpu_features()
known[{name!r}] = False
_numba_internals.llvm_binding.get_host_cpu_features = lambda: known
"""


@runs_portable
@pytest.mark.parametrize("name", ["avx2", "fma", "bmi2"])
def test_not_on_a_cpu_that_cannot_run_it(kernels: Path, packaged: str, name: str) -> None:
    before = LESS.format(name=name) + packaged
    assert use(kernels, before=before, NUMBA_CACHE_DIR=str(kernels / "native"))[0] == 2


@runs_portable
@pytest.mark.parametrize(
    "variables",
    [
        {"TAGWRIGHT_NATIVE": "1"},
        {"NUMBA_BOUNDSCHECK": "1"},
        {"NUMBA_ENABLE_AVX": "0"},
        {"NUMBA_CPU_NAME": "x86-64-v2", "NUMBA_CPU_FEATURES": ""},
        {"NUMBA_OPT": "2"},
    ],
)
def test_not_where_something_else_is_wanted(kernels: Path, packaged: str, variables: dict[str, str]) -> None:
    assert use(kernels, before=packaged, NUMBA_CACHE_DIR=str(kernels / "native"), **variables)[0] == 2


@runs_portable
def test_not_with_another_numba_or_other_sources(kernels: Path, packaged: str) -> None:
    cache = str(kernels / "native")
    version = "import numba\nnumba.__version__ = '0.0.1'\n"
    assert use(kernels, before=version + packaged, NUMBA_CACHE_DIR=cache)[0] == 2
    (kernels / "kernels.py").write_text(KERNELS.replace("return x * x", "y = x\n    return y * x"))
    assert use(kernels, before=packaged, NUMBA_CACHE_DIR=cache)[0] == 2


def test_code_for_this_cpu_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And damaged files are as if they were not there."""
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setattr(_machine_code, "PACKAGED", tmp_path / "wheel" / "__pycache__")
    for folder, machine in (("here", "native"), ("wheel", "portable")):
        KernelFiles("module.kernel", "stamp", str(tmp_path / folder / "module.py")).save("types", machine, b"it")
    (wheels,) = (tmp_path / "wheel").rglob(f"*{ENDING}")
    (native,) = (tmp_path / "here").rglob(f"*{ENDING}")
    files = KernelFiles("module.kernel", "stamp", str(tmp_path / "here" / "module.py"))
    for path, content in ((wheels, b"wheel's"), (native, b"native")):
        path.write_bytes(zlib.crc32(content).to_bytes(4, "little") + content)
    assert list(files.load("types", "native", "portable")) == [b"native", b"wheel's"]
    assert list(files.load("types", "native", None)) == [b"native"]
    native.write_bytes(native.read_bytes()[:-1])
    assert list(files.load("types", "native", "portable")) == [b"wheel's"]


# ---- folders ----


@pytest.fixture
def powerless() -> tuple[str, ...]:
    """A command that runs another one for which permissions count."""
    if os.geteuid() != 0:
        return ()
    if shutil.which("setpriv") is None:
        pytest.skip("permissions do not count for root")
    return ("setpriv", "--bounding-set=-all")


@pytest.fixture
def read_only(kernels: Path) -> Iterator[Path]:
    """The module in a folder that nobody can write, with its machine code beside it."""
    assert use(kernels)[0] == 2
    folders = [kernels, kernels / "__pycache__"]
    for folder in folders:
        folder.chmod(0o555)
    yield kernels
    for folder in folders:
        folder.chmod(0o755)


def test_a_folder_that_cannot_be_written_is_read(read_only: Path, powerless: tuple[str, ...]) -> None:
    assert list((read_only / "__pycache__").glob(f"*{ENDING}"))
    assert use(read_only, options=powerless) == (0, "")


def test_the_next_folder_gets_what_the_first_cannot_hold(
    read_only: Path, powerless: tuple[str, ...], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A second user: the code of the first is for another Numba, say."""
    home = str(tmp_path_factory.mktemp("home"))
    other = "import numba\nnumba.__version__ = '0.0.1'\n"
    assert use(read_only, before=other, options=powerless, HOME=home) == (2, "")
    assert use(read_only, before=other, options=powerless, HOME=home) == (0, "")


def test_a_folder_of_ones_own_hides_the_others(kernels: Path) -> None:
    """As whoever measures, or checks bounds, needs it."""
    for variables in ({}, {"NUMBA_CACHE_DIR": str(kernels / "own")}):
        assert [use(kernels, **variables)[0] for _ in range(2)] == [2, 0]


def test_it_is_said_once_that_nothing_can_be_kept(read_only: Path, powerless: tuple[str, ...]) -> None:
    other = "import numba\nnumba.__version__ = '0.0.1'\n"
    compiled, said = use(read_only, before=other, options=powerless)
    assert compiled == 2
    assert said.count("every start compiles anew") == 1
    assert "set NUMBA_CACHE_DIR to a folder that can be written" in said
    assert "<string>:" in said, "it names a line of ours or of Numba's, not the user's"


FULL = """
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, ({size}, {size}))
"""


@pytest.mark.parametrize("size", [0, 2000])
def test_a_full_disk_stops_nobody(kernels: Path, size: int) -> None:
    compiled, said = use(kernels, before=FULL.format(size=size))
    assert compiled == 2
    assert said.count("File too large); set NUMBA_CACHE_DIR") == 1
    assert use(kernels)[0] == 2, "a part of a file was taken for the whole"
    assert use(kernels) == (0, "")


def test_without_a_home_there_is_no_folder_of_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    assert find_folders("/no/such/package") == (Path("/no/such/package/__pycache__"),)
    monkeypatch.setenv("NUMBA_CACHE_DIR", "/given")
    assert [path.parts[1] for path in find_folders("/no/other/package")] == ["given", "no"]


def test_files_of_older_sources_are_removed(tmp_path: Path) -> None:
    for stamp in ("a" * 16, "b" * 16):  # a kernel before and after a change
        files = KernelFiles("module.kernel", stamp, str(tmp_path / "module.py"))
        assert list(files.load("types", "machine", None)) == []
        files.save("types", "machine", stamp.encode())
        assert next(files.load("types", "machine", None)) == stamp.encode()
    assert len(list(tmp_path.rglob(f"*{ENDING}"))) == 1


# ---- several processes ----

CLAIMANT = """
import sys, time
from pathlib import Path
from tagwright._machine_code import Claim
path = Path(sys.argv[1])
claim = Claim(path)
print("waited" if claim.waited else "claimed", flush=True)
sys.stdin.readline()
time.sleep(0.5)
path.write_bytes(b"made")
claim.release()
sys.stdin.readline()
"""


def test_a_claim_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "file"
    with claimant(path) as other:
        assert not Claim(path.with_name("another")).waited
        assert other.stdin is not None
        other.stdin.write("go on\n")
        other.stdin.flush()
        assert Claim(path).waited
        assert path.read_bytes() == b"made"
        other.kill()


def test_it_is_said_once_that_another_process_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(_machine_code, "PATIENCE", 0.1)
    path = tmp_path / "folder" / "file"
    with claimant(path) as other:
        for quiet in (False, True):
            with notes(quiet=quiet):
                assert all(Claim(path).waited for _ in range(2))
        assert Claim(path).waited  # no command is under way
        other.kill()
    assert capsys.readouterr().err == "tagwright: note: waiting for another process that compiles kernels ...\n"


def test_a_process_has_one_claim_at_a_time(tmp_path: Path) -> None:
    """What it did not compile in the end, others may."""
    paths = [tmp_path / "folder" / name for name in "ab"]
    assert not any(Claim(path).waited for path in paths)
    with claimant(paths[0]) as other:
        other.kill()
    Claim.release()


def test_code_that_cannot_be_kept_is_claimed_by_nobody(kernels: Path) -> None:
    kept = _jit.numba.core.codegen.CodeLibrary
    before = f"from {kept.__module__} import CodeLibrary\nCodeLibrary.has_dynamic_globals = True"
    after = "import atexit\natexit.register(lambda: print(_machine_code.Claim.held is None))"
    use_ = USE.format(before=f"{before}\n{after}")
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(kernels), *sys.path]),
        "NUMBA_CACHE_DIR": str(kernels),
    }
    found = subprocess.run([sys.executable, "-c", use_], env=environment, capture_output=True, text=True, check=True)
    assert found.stdout.splitlines() == ["0", "True"]


def test_a_claim_ends_with_its_process(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "file"
    with claimant(path) as other:
        other.kill()
        other.wait()
    began = time.monotonic()
    assert not Claim(path).waited
    assert time.monotonic() - began < _machine_code.PATIENCE / 2


def test_nobody_waits_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_machine_code, "PATIENCE", 0.1)
    path = tmp_path / "folder" / "file"
    with claimant(path) as other:
        assert Claim(path).waited
        assert not path.exists()
        other.kill()


def claimant(path: Path) -> subprocess.Popen[str]:
    """A process that has claimed a file."""
    command = [sys.executable, "-c", CLAIMANT, str(path)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
    assert process.stdout is not None
    assert process.stdout.readline() == "claimed\n"
    return process
