"""Our module in the place of python-crfsuite's, for programs that import `pycrfsuite`.

import tagwright.pycrfsuite
tagwright.pycrfsuite.install()
import pycrfsuite                 # ours, from here on, in this process
"""

from __future__ import annotations

import sys
from importlib import import_module

REPLACED = "pycrfsuite"
SUBMODULES = ("_pycrfsuite", "_dumpparser", "_logparser")
"""Those that programs import from."""


def install() -> None:
    """Let `import pycrfsuite` give our module, and its submodules ours. Modules that imported the other one before keep
    what they have."""
    for name in [name for name in sys.modules if name == REPLACED or name.startswith(f"{REPLACED}.")]:
        del sys.modules[name]
    package = __name__.rpartition(".")[0]
    sys.modules[REPLACED] = import_module(package)
    for name in SUBMODULES:
        sys.modules[f"{REPLACED}.{name}"] = import_module(f"{package}.{name}")
