"""Python's lock, given up by a kernel for work that is long enough.

    let_others_run   gives the lock up where `wanted`; what take_back needs
    take_back        has it again

Kernels give the lock up for the whole of a call (_jit.py). To hand it from thread to thread takes some 20 µs: longer
than one sentence takes, so that two threads with a sentence each tagged half as many as one. A kernel with
`@holding_kernel` keeps the lock, and calls these two around work that is worth it. In between it may not return: where
indices are checked, and a wrong one ends the kernel at once, the lock is kept. Such a kernel is for Python to call, not
for other kernels, which do not have the lock.
"""

from __future__ import annotations

from typing import Any

from tagwright.compat import llvm, llvm_blocks, numba, numba_types

HANDOVER_TOKENS = 200
"""Tokens whose tagging takes about as long as to hand the lock over (benchmarks/threads.py)."""


def let_others_run(wanted: bool) -> int:
    """Give Python's lock up, if `wanted`: for `take_back`. Python without Numba does so by itself."""
    return 0


def take_back(state: int) -> None:
    """Take the lock again, if it was given up."""


if numba is not None and llvm is not None and llvm_blocks is not None:
    ir: Any = llvm
    blocks: Any = llvm_blocks
    config: Any = numba.config
    LONG, POINTER = ir.IntType(64), ir.IntType(8).as_pointer()

    def _emit_release(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        """PyEval_SaveThread(), as Numba calls it around kernels."""
        state = blocks.alloca_once_value(builder, ir.Constant(LONG, 0))
        if not config.BOUNDSCHECK:
            kind = ir.FunctionType(POINTER, [])
            save = blocks.get_or_insert_function(builder.module, kind, "PyEval_SaveThread")
            with builder.if_then(context.is_true(builder, signature.args[0], args[0])):
                builder.store(builder.ptrtoint(builder.call(save, []), LONG), state)
        return builder.load(state)

    def _emit_restore(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = ir.FunctionType(ir.VoidType(), [POINTER])
        restore = blocks.get_or_insert_function(builder.module, kind, "PyEval_RestoreThread")
        with builder.if_then(builder.icmp_unsigned("!=", args[0], ir.Constant(LONG, 0))):
            builder.call(restore, [builder.inttoptr(args[0], POINTER)])
        return context.get_dummy_value()

    def _release(_: Any, wanted: Any) -> Any:
        return numba_types.int64(wanted), _emit_release

    def _restore(_: Any, state: Any) -> Any:
        return numba_types.void(numba_types.int64), _emit_restore

    let_others_run = numba.extending.intrinsic(_release)
    take_back = numba.extending.intrinsic(_restore)
