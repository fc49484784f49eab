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


def sklearn_tags() -> object:
    """What scikit-learn (1.6 and later) asks of an estimator. Called by scikit-learn alone, so it is there."""
    from sklearn.utils import InputTags, Tags, TargetTags

    return Tags(
        estimator_type=None,
        target_tags=TargetTags(required=True),
        input_tags=InputTags(two_d_array=False, string=True, dict=True),
    )
