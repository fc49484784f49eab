"""The compiler of kernels: Numba's own, but indices count from the front.

Python has a[-1] for the last item. So for every index that is a signed number Numba asks whether it is below 0, and
adds the length where it is: three instructions at each look at an array, a tenth of the time that tagging takes. Here
such indices are taken for unsigned ones. A kernel must not count from the back, then (but for a constant alone, as in
a[-1]): it would read and write elsewhere. `make bounds` runs all tests with Numba's check of bounds, which finds those
that tests reach.
"""

from __future__ import annotations

from typing import Any

from tagwright.compat import numba, numba_compiler, numba_ir, numba_machinery, numba_passes

KernelCompiler: Any = None

if numba is not None:
    types = numba.types

    def unsigned(index: Any) -> Any:
        """The type of an index, or of several, without a sign; others (a slice, a constant) as they are."""
        if isinstance(index, types.BaseTuple):
            return types.Tuple([unsigned(part) for part in index])
        signed = isinstance(index, types.Integer) and not isinstance(index, types.Literal) and index.signed
        return types.uint64 if signed else index

    @numba_machinery.register_pass(mutates_CFG=False, analysis_only=False)
    class UnsignedIndices(numba_machinery.FunctionPass):  # type: ignore[misc]
        """After types are known, before anything is written in LLVM's words."""

        _name = "unsigned_indices"

        def __init__(self) -> None:
            super().__init__()  # Numba asks for one

        def run_pass(self, state: Any) -> bool:
            for node, signature in list(state.calltypes.items()):
                if not (isinstance(node, numba_ir.SetItem) or getattr(node, "op", "") == "getitem"):
                    continue
                array, index, *value = signature.args
                if isinstance(array, types.Array):
                    del state.calltypes[node]  # which does not like a second entry
                    state.calltypes[node] = signature.replace(args=(array, unsigned(index), *value))
            return True

    class _KernelCompiler(numba_compiler.CompilerBase):  # type: ignore[misc]
        def define_pipelines(self) -> list[Any]:
            passes = numba_compiler.DefaultPassBuilder.define_nopython_pipeline(self.state)
            passes.add_pass_after(UnsignedIndices, numba_passes.NopythonRewrites)
            passes.finalize()
            return [passes]

    KernelCompiler = _KernelCompiler
