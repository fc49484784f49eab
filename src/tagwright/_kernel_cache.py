"""The cache that kernels get their machine code from: Numba's own files, opened late and loaded without the compiler.

Numba's FunctionCache prepares to compile before it loads anything: it reads in what it knows of NumPy and Python (the
"registries", 0.17 s; with SciPy installed 0.2 s more), although loaded machine code needs none of it, and whoever does
compile prepares anyway (numba.core.compiler.CompilerBase). It also looks for its folder when a kernel is defined, not
when it is called: 0.1 ms for each of some 200. `LateCache` does neither. Files, keys and locks are Numba's.

What machine code does need at run time are the addresses of Python's and Numba's own C functions. Importing Numba gives
those, all but the ones that count references to arrays: `rtsys.initialize`, 25 ms, for kernels that do count. (Numba's
own hashing of strings would want more; no kernel has it.)
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from tagwright.compat import numba_caching, numba_runtime

PARTS = ("_load_overload", "_guard_against_spurious_io_errors", "save_overload", "flush", "cache_path")
"""What LateCache uses of Numba's FunctionCache."""


def keep_machine_code(kernel: Any, *, counted: bool) -> None:
    """Let `kernel`, which Numba made, keep its machine code. Where there is no folder for that, it will not.

    counted: whether it counts references to arrays
    """
    if not hasattr(kernel, "enable_caching"):  # NUMBA_DISABLE_JIT: a plain function
        return
    if hasattr(kernel, "_cache") and all(hasattr(numba_caching.FunctionCache, part) for part in PARTS):
        kernel._cache = LateCache(kernel.py_func, counted=counted)
        return
    with suppress(RuntimeError):  # a Numba with other insides; that error: there is no folder
        kernel.enable_caching()


class LateCache:
    """The interface of Numba's caches (numba.core.caching._Cache) around its FunctionCache, made at the first use."""

    def __init__(self, function: Callable[..., object], *, counted: bool) -> None:
        self._function = function
        self._counted = counted
        self._made: Any = None

    @property
    def _files(self) -> Any:
        """Numba's cache; the one that keeps nothing where no folder can be written."""
        if self._made is None:
            try:
                self._made = numba_caching.FunctionCache(self._function)
            except RuntimeError:
                self._made = numba_caching.NullCache()
        return self._made

    def load_overload(self, signature: Any, target: Any) -> Any:
        """The machine code for a signature, None where there is none yet: as FunctionCache does, less a refresh."""
        files = self._files
        if isinstance(files, numba_caching.NullCache):
            return None
        if self._counted:
            numba_runtime.rtsys.initialize(target)
        with files._guard_against_spurious_io_errors():
            return files._load_overload(signature, target)

    def save_overload(self, signature: Any, compiled: Any) -> None:
        self._files.save_overload(signature, compiled)

    def flush(self) -> None:
        self._files.flush()

    @property
    def cache_path(self) -> Any:
        return self._files.cache_path

    def enable(self) -> None:
        self._files.enable()

    def disable(self) -> None:
        self._files.disable()
