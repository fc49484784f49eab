"""The only optional imports. Everything else may assume NumPy and safetensors alone."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from types import ModuleType

numba: ModuleType | None
if os.environ.get("TAGWRIGHT_NO_JIT", "") not in ("", "0"):
    numba = None
else:
    try:
        import numba
    except ImportError:
        numba = None
llvm: ModuleType | None = import_module("llvmlite.ir") if numba is not None else None  # the language Numba writes
llvm_blocks: ModuleType | None = import_module("numba.core.cgutils") if numba is not None else None


def leave_out_scipy() -> None:
    """Let Numba start without the BLAS of SciPy, where that is installed: no kernel uses it, and it takes 0.2 s.

    For the command line alone: in this process, Numba then compiles no matrix products for anybody.
    """
    if numba is not None and "scipy.linalg" not in sys.modules:
        sys.modules["scipy.linalg"] = None  # type: ignore[assignment]  # what Python takes for "cannot be imported"
        try:
            import_module("numba.np.arraymath")
        finally:
            del sys.modules["scipy.linalg"]


def sklearn_tags() -> object:
    """What scikit-learn (1.6 and later) asks of an estimator. Called by scikit-learn alone, so it is there."""
    from sklearn.utils import InputTags, Tags, TargetTags

    return Tags(
        estimator_type=None,
        target_tags=TargetTags(required=True),
        input_tags=InputTags(two_d_array=False, string=True, dict=True),
    )
