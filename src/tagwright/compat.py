"""The only optional imports. Everything else may assume NumPy and safetensors alone."""

from __future__ import annotations

import os
from types import ModuleType

numba: ModuleType | None
if os.environ.get("TAGWRIGHT_NO_JIT", "") not in ("", "0"):
    numba = None
else:
    try:
        import numba
    except ImportError:
        numba = None
