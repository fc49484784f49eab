"""Our module in the place of python-crfsuite's, for programs that import `pycrfsuite`.

import tagwright.pycrfsuite
tagwright.pycrfsuite.install()
import pycrfsuite                 # ours, from here on, in this process
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module

SUBMODULES = ("_pycrfsuite", "_dumpparser", "_logparser")
"""Those that programs import from."""


def install() -> None:
    """Let `import pycrfsuite` give our module, and its submodules ours. Modules that imported the other one before keep
    what they have."""
    put_in_place("pycrfsuite", __name__.rpartition(".")[0], SUBMODULES)


def put_in_place(replaced: str, package: str, submodules: Sequence[str]) -> None:
    """Let a package of ours be found under another name, and these of its modules."""
    for name in [name for name in sys.modules if name == replaced or name.startswith(f"{replaced}.")]:
        del sys.modules[name]
    sys.modules[replaced] = import_module(package)
    for name in submodules:
        sys.modules[f"{replaced}.{name}"] = import_module(f"{package}.{name}")
