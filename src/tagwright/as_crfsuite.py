"""Run a program that imports pycrfsuite or sklearn_crfsuite with our modules in their place; the program is unchanged.

    python -m tagwright.as_crfsuite program.py ARGS...
    python -m tagwright.as_crfsuite -m module ARGS...

    from tagwright.as_crfsuite import install; install()       # the same from within, before the imports

sys.argv, sys.path, `__main__`, tracebacks and exit codes are those of `python program.py`. Processes that the program
forks have our modules, too; those that it starts anew have the originals.
"""

from __future__ import annotations

import builtins
import io
import os
import pkgutil
import runpy
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import SourceFileLoader
from types import ModuleType

USAGE = "usage: python -m tagwright.as_crfsuite PROGRAM ARGS..., or -m MODULE ARGS..."


def install() -> None:
    """Let `import pycrfsuite` and `import sklearn_crfsuite` find our modules, in this process."""
    from tagwright import pycrfsuite, sklearn_crfsuite
    from tagwright.pycrfsuite.install import put_in_place

    pycrfsuite.install()
    put_in_place("sklearn_crfsuite", sklearn_crfsuite.__name__, sklearn_crfsuite.MODULES)


def main(arguments: Sequence[str]) -> None:
    """Run the program or the module that the arguments name."""
    sys.modules["tagwright.as_crfsuite"] = sys.modules["__main__"]  # where `install` is for those who ask
    sys.modules["__main__"] = ModuleType("__main__")
    sys.modules["__main__"].__dict__.update(__annotations__={}, __builtins__=builtins)
    match arguments:
        case ["-m", module, *rest]:
            sys.argv[:] = ["-m", *rest]
            work = prepare_module(module)
        case [path, *_] if not path.startswith("-"):
            sys.argv[:] = arguments
            work = prepare_file(path) if os.path.isfile(path) and not is_archive(path) else prepare_folder(path)
        case _:
            print(USAGE, file=sys.stderr)
            sys.exit(2)
    install()
    run(work)


def prepare_module(name: str) -> Callable[[], object]:
    """As `python -m name`, whose first path, the current folder, is there."""
    return lambda: runpy._run_module_as_main(name)  # type: ignore[attr-defined]  # what Python itself calls


def prepare_folder(path: str) -> Callable[[], object]:
    """As `python path` for a folder or an archive with a `__main__.py`."""
    file = os.path.abspath(path)
    if not os.path.exists(file):
        print(f"{sys.executable}: can't open file {file!r}: [Errno 2] No such file or directory", file=sys.stderr)
        sys.exit(2)

    def work() -> None:
        put_first(file)
        runpy._run_module_as_main("__main__", alter_argv=False)  # type: ignore[attr-defined]

    return work


def prepare_file(path: str) -> Callable[[], object]:
    """As `python path`."""
    file = os.path.abspath(path)
    space = sys.modules["__main__"].__dict__
    space.update(__file__=file, __cached__=None, __loader__=SourceFileLoader("__main__", file), __package__=None)

    def work() -> None:
        if not sys.flags.safe_path:
            put_first(os.path.dirname(os.path.realpath(file)))
        with io.open_code(file) as source:
            code = compile(source.read(), file, "exec", dont_inherit=True)
        exec(code, space)

    return work


def is_archive(path: str) -> bool:
    """Whether modules can be imported from a file."""
    return pkgutil.get_importer(path) is not None


def put_first(path: str) -> None:
    """Begin sys.path with this; else it begins with the current folder, unless Python was told otherwise (-P)."""
    if not sys.flags.safe_path:
        del sys.path[0]
    sys.path.insert(0, path)


def run(work: Callable[[], object]) -> None:
    """Do it. An error is shown without the lines of this file."""
    try:
        work()
    except SystemExit:
        raise
    except BaseException as error:
        trace, hook = error.__traceback__, sys.excepthook
        while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
            trace = trace.tb_next
        sys.excepthook = lambda kind, value, _: hook(kind, value.with_traceback(trace), trace)
        raise


if __name__ == "__main__":
    main(sys.argv[1:])
