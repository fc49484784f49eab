"""The kernel decorators: machine code that is kept, loaded without the compiler, or cannot be kept."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from tagwright import _jit, _numba_internals
from tagwright._machine_code import ENDING
from tagwright.compat import llvm_binding

pytestmark = pytest.mark.skipif(not _jit.JIT, reason="there is no Numba")

KERNELS = """
import numpy as np
from tagwright._jit import kernel, tight_kernel

@tight_kernel
def square(x):
    return x * x

@tight_kernel
def negate(values):
    for i in range(len(values)):
        values[i] = -values[i]

@kernel
def sum_of_squares(values):
    total = values[0] - values[0]
    for value in values:
        total += square(value)
    return total

@kernel
def doubled(values):
    made = np.empty_like(values)
    for i in range(len(values)):
        made[i] = 2 * values[i]
    return made
"""

FIRST = """
import numpy as np
from kernels import doubled, negate, square, sum_of_squares
assert sum_of_squares(np.array([1.0, 2.0])) == 5.0
assert square(3) == 9
assert doubled(np.array([1.0, 2.0])).tolist() == [2.0, 4.0]
negate(np.array([1.0]))
assert not sum_of_squares.stats.cache_hits
"""

SECOND = """
import sys
import numpy as np
from kernels import doubled, negate, square, sum_of_squares
from numba.core.runtime import rtsys
values = np.array([1.0, 2.0, 3.0])
negate(values)
assert values.tolist() == [-1.0, -2.0, -3.0]
assert not rtsys._init, "a tight kernel needs no reference counts"
assert sum_of_squares(values) == 14.0
assert doubled(np.array([1.5])).tolist() == [3.0]      # an array is made, counted and freed
assert square(4) == 16
for kernel in (negate, sum_of_squares, doubled, square):
    assert sum(kernel.stats.cache_hits.values()) == 1, kernel
    assert not kernel.stats.cache_misses, kernel
assert "numba.np.linalg" not in sys.modules, "the compiler was made ready"
assert "scipy.linalg" not in sys.modules

# other types: the loaded kernels compile, and one calls the other, loaded too
assert sum_of_squares(np.array([1, 2, 3])) == 14
assert square(1.5) == 2.25
assert doubled(np.array([1, 2], np.float32)).tolist() == [2.0, 4.0]
assert doubled(np.array([1, 2], np.float32)).dtype == np.float32
assert sum(sum_of_squares.stats.cache_misses.values()) == 1
assert square.stats.cache_hits
"""


def flip(content: bytes) -> bytes:
    """One wrong bit."""
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]


def run(code: str, folder: Path) -> None:
    """In a process of its own, with a cache of its own."""
    paths = os.pathsep.join([str(folder), *sys.path])
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder / "cache"), "PYTHONPATH": paths}
    found = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr


def test_machine_code_is_loaded_without_the_compiler(tmp_path: Path) -> None:
    """A second process finds the kernels of the first, and compiles those that it needs for other types."""
    (tmp_path / "kernels.py").write_text(KERNELS)
    run(FIRST, tmp_path)
    run(SECOND, tmp_path)


def kept(folder: Path) -> list[Path]:
    """The files of machine code, by name."""
    return sorted((folder / "cache").rglob(f"*{ENDING}"))


def test_what_is_kept_is_machine_code_alone(tmp_path: Path) -> None:
    """No bitcode but the name of the function that Python calls, no text about types."""
    (tmp_path / "kernels.py").write_text(KERNELS)
    run(FIRST, tmp_path)
    for path in kept(tmp_path):
        (_, _, (machine_code, bitcode)), function, _, _, _, _, types, *_ = pickle.loads(path.read_bytes()[4:])
        module = llvm_binding.parse_bitcode(bitcode)
        assert [name.name for name in module.global_variables] == [function.llvm_cpython_wrapper_name]
        assert list(module.functions) == []
        assert types == ""
        assert len(machine_code) > len(bitcode)


def names(folder: Path) -> set[str]:
    """The kernels that have machine code."""
    return {path.name.split("-")[0] for path in kept(folder)}


@pytest.mark.parametrize("damage", [lambda _: b"", lambda content: content[:60], lambda content: content[:-900], flip])
def test_damaged_files_are_written_anew(tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    (tmp_path / "kernels.py").write_text(KERNELS)
    run(FIRST, tmp_path)
    assert len(kept(tmp_path)) == 4
    for path in kept(tmp_path):
        path.write_bytes(damage(path.read_bytes()))
    run(FIRST, tmp_path)
    run(SECOND, tmp_path)


def test_files_that_cannot_be_understood_are_written_anew(tmp_path: Path) -> None:
    """Whole, but from other modules than these: as after a class has moved."""
    (tmp_path / "kernels.py").write_text(KERNELS)
    run(FIRST, tmp_path)
    content = b"cno_such_module\nno_such_class\n."
    for path in kept(tmp_path):
        path.write_bytes(zlib.crc32(content).to_bytes(4, "little") + content)
    run(FIRST, tmp_path)
    run(SECOND, tmp_path)


def double(x: int) -> int:
    return 2 * x


@pytest.mark.parametrize("folder", [True, False])
def test_a_numba_with_other_insides_caches_in_its_own_way(monkeypatch: pytest.MonkeyPatch, folder: bool) -> None:
    asked = []

    def enable(self: object) -> None:
        asked.append(self)
        if not folder:
            raise RuntimeError("cannot cache function: no locator available")

    monkeypatch.setattr(_numba_internals, "RESULT_METHODS", ("a_method_that_is_no_more",))
    monkeypatch.setattr(type(_jit.numba.njit(double)), "enable_caching", enable)
    kernel = _jit.kernel(double)
    assert asked == [kernel]
    assert kernel(21) == 42


def test_a_change_in_a_called_kernel_is_seen(tmp_path: Path) -> None:
    """Numba alone looks at the file of the kernel that is called from Python, which stays the same here."""
    (tmp_path / "caller.py").write_text(CALLER)
    for size in (2, 3):
        (tmp_path / "called.py").write_text(CALLED.format(size=size))
        run = [
            sys.executable,
            "-c",
            f"from caller import enlarged; assert enlarged(7.0) == {7.0 * size}, enlarged(7.0)",
        ]
        subprocess.run(run, cwd=tmp_path, env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}, check=True)


CALLER = """
from called import times
from tagwright._jit import kernel

@kernel
def enlarged(x):
    return times(x)
"""

CALLED = """
from tagwright._jit import kernel

SIZE = {size}

@kernel
def times(x):
    return x * SIZE
"""


BOUNDS = """
import sys
sys.path.insert(0, sys.argv[1])
from checked_indices import count_from_the_front
count_from_the_front()
import numpy as np
from tagwright._jit import kernel, tight_kernel

@tight_kernel
def item(values, i):
    return values[i]

@kernel
def change(table, i, j):
    table[i, j] = item(table[i], j) + 1

table = np.arange(6.0).reshape(2, 3)
change(table, 1, 2)
assert table[1, 2] == 6
for wrong in ((-1, 0), (0, -1), (2, 0), (0, 3)):
    try:
        change(table, *wrong)
    except IndexError:
        continue
    raise AssertionError(wrong)
"""


def test_checked_indices_count_from_the_front(tmp_path: Path) -> None:
    """And that is how `make bounds` finds kernels that use −1, which is "not found", as an index."""
    (tmp_path / "bounds.py").write_text(BOUNDS)
    checked = {**os.environ, "NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(tmp_path)}
    tests = str(Path(__file__).parent)
    subprocess.run([sys.executable, "bounds.py", tests], cwd=tmp_path, env=checked, check=True)


PARTS = """
import numpy as np
from tagwright._jit import kernel, tight_kernel

@tight_kernel
def square(x):
    return x * x

@tight_kernel
def add_square(values, i, total):
    return total + square(values[i])

@tight_kernel
def sum_of_squares(values):
    total = 0.0
    for i in range(len(values)):
        total = add_square(values, i, total)
    return total

@kernel
def sums(values):
    made = np.empty(2)
    made[0], made[1] = sum_of_squares(values), square(values[0])
    return made

@tight_kernel
def beyond(values):
    return add_square(values, len(values), 0.0)
"""


def test_kernels_that_kernels_call_are_parts_of_these(tmp_path: Path) -> None:
    """A part has no machine code of its own, unless Python calls it too; several kernels may have the same part."""
    (tmp_path / "kernels.py").write_text(PARTS)
    use = "import numpy as np; from kernels import *; assert sums(np.array([3.0, 4.0])).tolist() == [25.0, 9.0]"
    run(use, tmp_path)
    assert names(tmp_path) == {"kernels.sums"}
    run(f"{use}; assert not sums.stats.cache_misses; assert sum_of_squares(np.array([2.0])) == 4.0", tmp_path)
    assert names(tmp_path) == {"kernels.sums", "kernels.sum_of_squares"}
    run(f"{use}; assert square(5) == 25; assert sum_of_squares(np.array([3.0])) == 9.0", tmp_path)


def test_parts_raise_errors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_BOUNDSCHECK", "1")
    (tmp_path / "kernels.py").write_text(PARTS)
    run(
        "import pytest, numpy as np; from kernels import *\nwith pytest.raises(IndexError): beyond(np.ones(2))",
        tmp_path,
    )


def test_a_numba_with_other_libraries_compiles_every_kernel(tmp_path: Path) -> None:
    (tmp_path / "kernels.py").write_text(PARTS)
    moved = "from tagwright import _numba_internals; _numba_internals.LIBRARY_METHODS = ('no_more',)"
    run(f"{moved}; import numpy as np; from kernels import *; assert sum_of_squares(np.array([3.0])) == 9.0", tmp_path)
    assert names(tmp_path) == {"kernels.sum_of_squares", "kernels.add_square", "kernels.square"}


def test_machine_code_that_keeps_the_lock_is_not_taken_for_that_which_does_not() -> None:
    def nothing() -> None: ...

    folders = [_numba_internals.KernelCache(nothing, counted=False, holding=holding) for holding in (False, True)]
    assert len({cache._files._file_name("()", "cpu") for cache in folders}) == 2
