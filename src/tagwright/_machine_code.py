"""Where machine code is kept: one file for each kernel, types of its arguments, and machine.

    sources of the kernel ────────┐
    types of the arguments ───────┼──► name of the file ──► folder after folder ──► the folder that wheels bring
    Numba, Python, CPU, options ──┘

A file is valid for what its name says, so nothing is ever out of date: what has changed has another name. The folders
are NUMBA_CACHE_DIR (if set), the `__pycache__` beside the source, and the user's cache folder. The first of them that
can be written gets what is compiled; those before it are read all the same, such as the folder of an installation that
another user has warmed up. Where none can be written, or the disk is full, the user is told once.

**Code in wheels** is for every CPU with AVX2 and what came with it (`PORTABLE`, the level x86-64-v3). It is used where
there is none for this very CPU, and only where the CPU can run it. Its name says what it is for, like any other's.

**Several processes** that miss the same file do not all compile it: one claims it, the others wait and load it. A claim
is a lock on a byte of a file in the folder. It ends with the process that holds it.

Numba's own cache has an index for each kernel, which two processes may write at once, and believes what it reads. Here
a file begins with its checksum: what is damaged is not loaded, and compiled anew.
"""

from __future__ import annotations

import hashlib
import os
import sys
import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import ModuleType

from tagwright.atomic_file import atomic_file
from tagwright.errors import CacheWarning, warn

fcntl: ModuleType | None
try:
    import fcntl
except ImportError:  # Windows: processes compile the same twice
    fcntl = None

PACKAGE = Path(__file__).parent
PACKAGED = PACKAGE / "machine_code"
"""What `make wheel` puts into a wheel. There is no such folder in a clone."""
ENDING = ".kernel"
PORTABLE = "x86-64-v3"
"""The CPU of the code in wheels, in LLVM's words; PORTABLE_FEATURES is what it has."""
PORTABLE_FEATURES = (
    "avx", "avx2", "bmi", "bmi2", "crc32", "cx16", "f16c", "fma", "lzcnt", "movbe", "popcnt", "sahf", "sse3", "sse4.1",
    "sse4.2", "ssse3", "xsave",
)  # fmt: skip
NATIVE_ONLY = "TAGWRIGHT_NATIVE"
"""The variable that says: no code for all CPUs, only for this one."""
PATIENCE = 60.0
"""Seconds to wait for what another process has claimed. The slowest kernel takes ten to compile."""


def runs_portable_code(features: Mapping[str, bool]) -> bool:
    """Whether code from wheels may be used on a CPU with these features (llvmlite's names)."""
    wanted = os.environ.get(NATIVE_ONLY, "") in ("", "0")
    return wanted and all(features.get(name, False) for name in PORTABLE_FEATURES)


compiled: list[str] = []
"""The kernels that this process has compiled."""
failures: list[str] = []
"""Why what it compiled could not be kept."""
must_keep = False
"""Whether to compile what no folder can hold is in vain: then it is not done, and CannotKeepError is raised."""
on_wait: Callable[[], None] = lambda: None  # noqa: E731
"""Called when this process begins to wait for another one that compiles."""
_NO_BRACKETS = str.maketrans("<>", "--")


class CannotKeepError(BaseException):
    """Not an Exception: nobody between a kernel and who said `must_keep` is to handle it."""


class KernelFiles:
    """The files of one kernel: `stamp` stands for all that it is made of, `source` is the file that defines it."""

    def __init__(self, name: str, stamp: str, source: str) -> None:
        self._name = f"{name.translate(_NO_BRACKETS).removeprefix('tagwright.')}-{sys.implementation.cache_tag}-"
        self._stamp = stamp[:16]
        self._folders = find_folders(os.path.dirname(os.path.abspath(source)))

    @property
    def target(self) -> Path | None:
        """The folder that gets what is compiled: the first that can be written. None: there is none."""
        return next(filter(_can_be_written, self._folders), None)

    def load(self, types: str, machine: str, portable: str | None) -> Iterator[bytes]:
        """What is found, the best first: for this machine, then the wheel's (`portable`: its machine, if that code may
        be used). Whoever wants more is to compile the kernel and to `save` it; other processes wait for that."""
        name = self._file_name(types, machine)
        for folder in self._folders:
            yield from _read(folder / name)
            if folder == self.target:
                break
        if portable is not None:
            yield from _read(PACKAGED / self._file_name(types, portable))
        if self.target is None and must_keep:
            raise CannotKeepError(_describe_failure(self._why_not()))
        if self.target is not None and Claim(self.target / name).waited:
            Claim.release()
            yield from _read(self.target / name)

    def save(self, types: str, machine: str, content: bytes) -> None:
        """Keep what was compiled. Files of the same kernel from before a change are removed."""
        compiled.append(self._name)
        if self.target is None:
            _tell(self._why_not())
            return
        try:
            self.target.mkdir(parents=True, exist_ok=True)
            with atomic_file(str(self.target / self._file_name(types, machine))) as file:
                file.write(zlib.crc32(content).to_bytes(4, "little") + content)
            for other in self.files():
                if not other.name.startswith(self._name + self._stamp):
                    other.unlink(missing_ok=True)
        except OSError as error:
            _tell(f"{self.target}: {error.strerror or error}")
        finally:
            Claim.release()

    def _why_not(self) -> str:
        return f"none of {', '.join(map(str, self._folders))} can be written"

    def files(self) -> list[Path]:
        """The kernel's files where they are written, old ones too."""
        return [] if self.target is None else list(self.target.glob(f"{self._name}*{ENDING}"))

    def _file_name(self, types: str, machine: str) -> str:
        key = hashlib.blake2b(f"{types} {machine}".encode(), digest_size=8).hexdigest()
        return f"{self._name}{self._stamp}-{key}{ENDING}"


class Claim:
    """This process compiles what `path` is to hold. Another process that claims it before us is waited for: then there
    may be a file. A process has one claim at a time, since Numba compiles one kernel at a time: the next one ends it,
    should the compilation have failed."""

    held: tuple[int, int] | None = None  # the file of claims, the byte

    def __init__(self, path: Path) -> None:
        Claim.release()
        self.waited = False
        if fcntl is None:
            return
        byte, end = zlib.crc32(path.name.encode()), time.monotonic() + PATIENCE
        with suppress(OSError):  # no locks on this file system, or the disk is full: both compile
            file = _open_claims(path.parent)
            while not _lock(file, byte):
                if not self.waited:
                    on_wait()
                self.waited = True
                if path.exists() or time.monotonic() > end:
                    return
                time.sleep(0.02)
            Claim.held = file, byte

    @staticmethod
    def release() -> None:
        """Let other processes go on."""
        if fcntl is not None and Claim.held is not None:
            file, byte = Claim.held
            Claim.held = None
            with suppress(OSError):
                fcntl.lockf(file, fcntl.LOCK_UN, 1, byte)


def _lock(file: int, byte: int) -> bool:
    """Whether this process has now locked the byte: no other one had."""
    assert fcntl is not None
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, byte)
    except (BlockingIOError, PermissionError):
        return False
    return True


@cache
def _open_claims(folder: Path) -> int:
    """Open as long as the process lives: closing it would end all of its claims."""
    folder.mkdir(parents=True, exist_ok=True)
    return os.open(folder / ".claims", os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o666)


@cache
def find_folders(beside: str) -> tuple[Path, ...]:
    """Where machine code of sources in the folder `beside` may be, in this order."""
    inner = f"{os.path.basename(beside)}_{hashlib.blake2b(beside.encode(), digest_size=8).hexdigest()}"
    given = os.environ.get("NUMBA_CACHE_DIR")
    folders = [Path(given).absolute() / inner] if given else []
    folders.append(Path(beside) / "__pycache__")
    user = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # stays as it is if nobody knows
    return (*folders, Path(user) / "tagwright" / inner) if os.path.isabs(user) else tuple(folders)


@cache
def _can_be_written(folder: Path) -> bool:
    """Whether files can be made in a folder, or the folder in the one where it is to be."""
    there = next(filter(os.path.exists, (folder, *folder.parents)), folder)
    return os.path.isdir(there) and os.access(there, os.W_OK | os.X_OK)


def _read(path: Path) -> Iterator[bytes]:
    """The content of a file; nothing where there is none, or a damaged one."""
    with suppress(OSError):
        content = path.read_bytes()
        if zlib.crc32(content[4:]).to_bytes(4, "little") == content[:4]:
            yield content[4:]


def _describe_failure(why: str) -> str:
    return f"compiled kernels cannot be kept ({why}); set NUMBA_CACHE_DIR to a folder that can be written"


def _tell(why: str) -> None:
    """Say once that every start will compile."""
    failures.append(_describe_failure(why))
    if len(failures) == 1:
        warn(f"every start compiles anew: {failures[0]}", CacheWarning)
