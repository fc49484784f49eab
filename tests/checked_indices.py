"""Bounds checks that count from the front: with NUMBA_BOUNDSCHECK=1, a kernel's index of −1 is an error too.

In Python −1 is the last item, and so it is for Numba, checks or not. In our kernels −1 is "not found" or "none", which
nobody may use as an index. So the tests' bounds checks (`make bounds`) leave out Numba's step from −1 to n − 1.
"""

from __future__ import annotations

import os
from typing import Any


def count_from_the_front() -> None:
    """For all kernels that are compiled from now on, where bounds are checked."""
    if os.environ.get("NUMBA_BOUNDSCHECK") != "1" or os.environ.get("TAGWRIGHT_NO_JIT") == "1":
        return
    from numba.core import types
    from numba.np import arrayobj

    assert hasattr(arrayobj, "fix_integer_index"), "Numba has moved what turns −1 into n − 1: find it"

    def keep_index(context: Any, builder: Any, kind: Any, index: Any, size: Any) -> Any:
        return context.cast(builder, index, kind, types.intp if kind.signed else types.uintp)

    arrayobj.fix_integer_index = keep_index
