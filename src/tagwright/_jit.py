"""The kernel decorators.

A kernel is a module-level, pure function of arrays and numbers: the caller allocates, nothing else is touched.
`@kernel` compiles it on first use and keeps the machine code in Numba's cache beside the module, or in the user's cache
folder (_numba_internals.py). Kernels release Python's lock, so plain threads run them in parallel. Where Numba cannot
be imported, or with TAGWRIGHT_NO_JIT=1, the same functions run as plain Python: slow, with the same results.

`@tight_kernel` is for the innermost loops. It makes no arrays and assigns no array to another (only numbers), so that
Numba needs no reference counts: those are atomic operations, several for every row that is passed to a function. And
it is put in where it is called: a call passes seven numbers for every array, which takes as long as adding two rows.

A kernel that kernels call is compiled as a part of these. Only what Python calls has machine code of its own.

`natural(i)` is an index that is known not to be negative. Numba asks of every index that it has loaded or computed
whether it counts from the back, as a[-1] does: three instructions, a tenth of the time of tagging and of a training
pass. Only inner loops that were measured to need it have it, beside what shows that the index is in range; all other
indices are as Python has them.

`fastmath` is limited to contraction (a·b + c in one rounding) and reassociation; NaN and infinity keep their meaning.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

import numpy as np

from tagwright._numba_internals import keep_machine_code, link_into_callers
from tagwright.compat import numba

F = TypeVar("F", bound=Callable[..., object])

JIT = numba is not None
natural = np.uint64


def kernel(function: F) -> F:
    """Compile `function` with Numba if there is one."""
    return _compile(function, counted=True)


def tight_kernel(function: F) -> F:
    """Compile `function` without reference counts: it must not make or assign arrays."""
    return _compile(function, counted=False)


def holding_kernel(function: F) -> F:
    """As tight_kernel, and it keeps Python's lock unless it gives it up itself (_python_lock.py): for calls that are
    often shorter than it takes to hand the lock over. For Python to call, not for other kernels."""
    return _compile(function, counted=False, holding=True)


def _compile(function: F, *, counted: bool, holding: bool = False) -> F:
    if numba is None:
        return function
    options = {"nogil": not holding, "fastmath": {"contract", "reassoc"}, "error_model": "numpy", "_nrt": counted}
    options |= {"forceinline": not counted, "no_cfunc_wrapper": True}
    compiled = numba.njit(**options)(function)
    keep_machine_code(compiled, counted=counted, holding=holding)
    link_into_callers(compiled, options)
    return cast(F, compiled)
