"""All that is used of Numba's private parts: how machine code is kept, and how kernels become parts of others.

Where one of these parts has moved, Numba does the same in its own way: it keeps less, and takes longer.

**The cache** (`keep_machine_code`): what Numba compiled, and what it needs to load that, as bytes for _machine_code.py,
which has the files. What differs from Numba's own cache:

- What machine code is valid for. Numba looks at the source file of the kernel alone, so that a change in a kernel that
  it calls would leave old machine code in it. Here the stamp is a digest of the kernel's bytecode and constants, and of
  those of every kernel it calls, however far away (`digest`). And the settings that change what Numba compiles
  (`SETTINGS`, such as bounds checks) are a part of the machine that the code is for.
- When it is looked for. Numba looks for its folder when a kernel is defined: 0.1 ms for each. `KernelCache` waits until
  the kernel is called.
- What it loads. Numba's cache prepares to compile before it loads anything (0.17 s; with SciPy installed 0.2 s more),
  although machine code needs none of that. It does need the functions that count references to arrays, for kernels that
  do count: `rtsys.initialize`, 25 ms.
- What it keeps. Numba keeps LLVM's bitcode beside the machine code, so that a kernel that was loaded can be put into
  one that is compiled. Here parts are made from their sources, so the bitcode is left out (`machine_code_alone`): it
  was three quarters of a file, and reading it most of the time to load one.
- Code in wheels, which is for more than one CPU (`portable_machine`).

**Parts** (`link_into_callers`). Numba makes a kernel that is called by another a finished thing first: optimised, with
machine code, a function for Python and a file of its own, although its caller includes it and optimises it once more.
Here it stays a part until it is in its caller: compiling all kernels takes 47 s instead of 78, and a third of the
files.
"""

from __future__ import annotations

import hashlib
import pickle
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from tagwright._machine_code import PORTABLE, Claim, KernelFiles, runs_portable_code
from tagwright.compat import (
    llvm,
    llvm_binding,
    numba,
    numba_codegen,
    numba_compiler,
    numba_runtime,
    numba_serialize,
    numba_types,
)

RESULT_METHODS = ("_reduce", "_rebuild")
"""What KernelCache uses of Numba's CompileResult."""
SETTINGS = ("BOUNDSCHECK", "OPT", "LOOP_VECTORIZE", "SLP_VECTORIZE", "USING_SVML", "DEBUGINFO_DEFAULT")
"""Those of numba.config that change machine code."""
LIBRARY_METHODS = ("finalize", "get_pointer_to_function", "_get_module_for_linking", "codegen")
"""What PartLibrary replaces or uses of Numba's JITCodeLibrary."""


def keep_machine_code(kernel: Any, *, counted: bool, holding: bool) -> None:
    """Let `kernel`, which Numba made, keep its machine code. Where there is no folder for that, it will not.

    counted: whether it counts references to arrays; holding: whether it keeps Python's lock
    """
    if not hasattr(kernel, "enable_caching"):  # NUMBA_DISABLE_JIT: a plain function
        return
    if hasattr(kernel, "_cache") and all(hasattr(numba_compiler.CompileResult, part) for part in RESULT_METHODS):
        kernel._cache = KernelCache(kernel.py_func, counted=counted, holding=holding)
        return
    with suppress(RuntimeError):  # a Numba with other insides; that error: there is no folder
        kernel.enable_caching()


@cache
def parts_can_be_linked() -> bool:
    """Whether Numba has all that `link_into_callers` needs."""
    library = getattr(numba_codegen, "JITCodeLibrary", None)
    return all(hasattr(library, name) for name in LIBRARY_METHODS)


def link_into_callers(kernel: Any, options: dict[str, Any]) -> None:
    """Let `kernel`, which Numba made with these options, be a part of the kernels that call it. Called from Python, it
    is what Numba made."""
    if not hasattr(kernel, "get_call_template") or not parts_can_be_linked():
        return
    part: Any = None

    def make_part() -> Any:
        """Made when the first caller is compiled: most processes compile nothing."""
        nonlocal part
        if part is None and numba is not None:
            part = numba.njit(**options, no_cpython_wrapper=True, pipeline_class=_part_compiler())(kernel.py_func)
        return part

    def get_call_template(types: Sequence[Any], names: dict[str, Any]) -> Any:
        """A number that stands in the caller's source is a number like others: else Numba would compile the part for
        each of them."""
        plain = [numba_types.unliteral(kind) for kind in types]
        return make_part().get_call_template(plain, {k: numba_types.unliteral(kind) for k, kind in names.items()})

    kernel.get_call_template = get_call_template
    kernel.get_overload = lambda signature: make_part().get_overload(signature)


@cache
def _part_compiler() -> type:
    """Numba's compiler, with libraries that wait for their callers."""

    class PartLibrary(numba_codegen.JITCodeLibrary):  # type: ignore[misc]
        """The code of a part, with that of its own parts: not optimised, and without an address."""

        def finalize(self) -> None:
            for library in dict.fromkeys(self._linking_libraries):
                if hasattr(self, "_reload_init"):  # Numba 0.61 and later
                    self._reload_init.update(library._reload_init)
                self._final_module.link_in(library._get_module_for_linking(), preserve=True)
            self._finalized = True

        def get_pointer_to_function(self, name: str) -> int:
            self._ensure_finalized()
            return 0

        @property
        def codegen(self) -> type[NoEnvironment]:
            return NoEnvironment

    class PartCompiler(numba_compiler.Compiler):  # type: ignore[misc]
        def __init__(self, typing: Any, target: Any, library: Any, *rest: Any) -> None:
            super().__init__(typing, target, PartLibrary(target.codegen(), "part"), *rest)

    return PartCompiler


class NoEnvironment:
    """Where Numba would store the Python objects that a function refers to. Parts refer to none."""

    @staticmethod
    def set_env(name: str, environment: object) -> None:
        """Nothing to store."""


@cache
def digest(function: FunctionType) -> str:
    """Of all that the machine code of a kernel is made of: its bytecode and constants, the global constants and the
    fields of the tuples it names, and the same of the kernels it calls. Of an intrinsic: of its whole file."""
    found = hashlib.blake2b(digest_size=16)
    for part in _parts(function.__code__):
        found.update(part)
    named = {*_names(function.__code__), *(str(kind) for kind in function.__annotations__.values())}
    for name in sorted(named & function.__globals__.keys()):
        found.update(f"{name}={_describe(function.__globals__[name])};".encode())
    return found.hexdigest()


def _parts(code: CodeType) -> list[bytes]:
    parts = [code.co_code]
    for constant in code.co_consts[1:]:  # the first is the docstring
        parts += _parts(constant) if isinstance(constant, CodeType) else [repr(constant).encode()]
    return parts


def _names(code: CodeType) -> set[str]:
    inner = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    return {*code.co_names, *(name for part in inner for name in _names(part))}


def _describe(value: Any) -> str:
    """What a global name stands for, as text that changes when its meaning does."""
    if hasattr(value, "py_func"):
        return digest(value.py_func)
    if isinstance(value, ModuleType):
        return value.__name__
    if isinstance(value, type):
        return f"{value.__name__}{getattr(value, '_fields', '')}"
    if callable(value):
        return _digest_of_file(getattr(value, "__module__", None) or type(value).__module__)
    return repr(value)


@cache
def _digest_of_file(module: str) -> str:
    path = getattr(sys.modules.get(module), "__file__", None)
    return hashlib.blake2b(Path(path).read_bytes(), digest_size=16).hexdigest() if path else module


class KernelCache:
    """The interface of Numba's caches (numba.core.caching._Cache) to the files of one kernel."""

    def __init__(self, function: FunctionType, *, counted: bool, holding: bool) -> None:
        self._function = function
        self._counted = counted
        self._holding = holding
        self._made: KernelFiles | None = None

    @property
    def _files(self) -> KernelFiles:
        """Made at the first use."""
        if self._made is None:
            function = self._function
            name = f"{function.__module__}.{function.__qualname__}"
            stamp = ("held-" if self._holding else "") + digest(function)
            self._made = KernelFiles(name, stamp, function.__code__.co_filename)
        return self._made

    def load_overload(self, signature: Any, target: Any) -> Any:
        """The machine code for a signature, None where there is none yet."""
        triple, cpu, features = target.codegen().magic_tuple()
        portable = portable_machine(triple)
        for content in self._files.load(str(signature), describe_machine(triple, cpu, features), portable):
            if self._counted:
                numba_runtime.rtsys.initialize(target)
            with suppress(Exception):  # from other versions of modules: whatever it is, the kernel can be compiled
                return numba_compiler.CompileResult._rebuild(target, *pickle.loads(content))
        return None

    def save_overload(self, signature: Any, compiled: Any) -> None:
        if compiled.lifted or compiled.library.has_dynamic_globals:  # cannot be kept: with NUMBA_OPT=0
            Claim.release()
            return
        machine = describe_machine(*compiled.codegen.magic_tuple())
        kept = compiled._reduce()
        if parts_can_be_linked():
            kept = machine_code_alone(kept, compiled.fndesc.llvm_cpython_wrapper_name)
        self._files.save(str(signature), machine, numba_serialize.dumps(kept))

    def flush(self) -> None:
        for path in self._files.files():
            path.unlink(missing_ok=True)

    @property
    def cache_path(self) -> str | None:
        return None if self._files.target is None else str(self._files.target)

    def enable(self) -> None: ...

    def disable(self) -> None: ...


def machine_code_alone(reduced: tuple[Any, ...], entry: str) -> tuple[Any, ...]:
    """What Numba's CompileResult is made of, without what only its compiler reads: the text of types, and the bitcode.
    Of that a module is left which says that `entry` is defined, the function that Python calls."""
    (name, kind, (machine_code, _)), fndesc, environment, signature, object_mode, lifted, _, *rest = reduced
    assert llvm is not None
    module = llvm.Module(name)
    module.triple = llvm_binding.get_process_triple()
    llvm.GlobalVariable(module, llvm.IntType(8), entry).initializer = llvm.Constant(llvm.IntType(8), 0)
    names = llvm_binding.parse_assembly(str(module)).as_bitcode()
    return (name, kind, (machine_code, names)), fndesc, environment, signature, object_mode, lifted, "", *rest


def describe_machine(triple: str, cpu: str, features: str) -> str:
    """All that machine code depends on beside its sources, as text."""
    assert numba is not None
    settings = [getattr(numba.config, name, None) for name in SETTINGS]
    return f"{numba.__version__} {settings} {triple} {cpu} {features}"


@cache
def portable_machine(triple: str) -> str | None:
    """The machine for which there may be code in a wheel, if this CPU can run it and nobody asked for another one."""
    assert numba is not None
    config = numba.config
    if config.CPU_NAME not in (None, PORTABLE) or config.CPU_FEATURES or not config.ENABLE_AVX:
        return None
    try:
        runs = runs_portable_code(llvm_binding.get_host_cpu_features())
    except RuntimeError:  # LLVM does not know
        return None
    return describe_machine(triple, PORTABLE, "") if runs else None
