"""The kernel decorator where machine code cannot be kept."""

from __future__ import annotations

import pytest

from tagwright import _jit


def double(x: int) -> int:
    return 2 * x


@pytest.mark.skipif(not _jit.JIT, reason="there is no Numba")
def test_kernels_compile_without_a_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a container whose folders are all read-only."""
    original = _jit.numba.njit
    asked = []

    def refuse_cache(**options: object) -> object:
        asked.append(options.get("cache", False))
        if options.get("cache"):
            raise RuntimeError("cannot cache function: no locator available")
        return original(**options)

    monkeypatch.setattr(_jit.numba, "njit", refuse_cache)
    assert _jit.kernel(double)(21) == 42
    assert asked == [True, False]
