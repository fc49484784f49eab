"""The padding rule, rows at cache lines, the cutting of work, sums over vectors, and threads."""

from __future__ import annotations

import threading
import time
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tagwright import arrays as module
from tagwright.arrays import (
    ROW_UNIT,
    Stage,
    Vectors,
    Workers,
    add_scaled,
    cut_evenly,
    empty_rows,
    grown,
    inner,
    norm,
    padded,
    zero_rows,
)  # fmt: skip


@given(st.integers(1, 500))
def test_padded_is_the_next_multiple(n: int) -> None:
    assert padded(n) % ROW_UNIT == 0
    assert 0 <= padded(n) - n < ROW_UNIT


@given(st.lists(st.integers(0, 100), min_size=1, max_size=60), st.integers(1, 20))
def test_cuts_cover_everything_once(work: list[int], pieces: int) -> None:
    cuts = cut_evenly(np.array(work), pieces)
    assert [i for a, b in cuts for i in range(a, b)] == list(range(len(work)))
    assert len(cuts) <= pieces
    assert all(a < b for a, b in cuts)


def test_cuts_are_even() -> None:
    sizes = [sum(range(a, b)) for a, b in cut_evenly(np.arange(1000), 10)]
    assert len(sizes) == 10
    assert max(sizes) < 1.1 * min(sizes)


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_workers_do_every_piece_and_pass_errors_on(n_jobs: int) -> None:
    workers = Workers(n_jobs)
    out = np.zeros(50)

    def task(k: int, value: float) -> None:
        out[k] += value
        if value == 7.5:
            raise ValueError("bad piece")

    workers.run(task, [(k, k) for k in range(50)])
    np.testing.assert_array_equal(out, np.arange(50))
    with pytest.raises(ValueError, match="bad piece"):
        workers.run(task, [(0, 7.5), (1, 0.0)])
    workers.close()


@pytest.mark.parametrize("n_jobs", [1, 2, 5])
def test_a_stage_begins_when_those_before_it_are_done(n_jobs: int) -> None:
    """Two chains of stages, each stage of a chain after the one before it; chains may overtake each other."""
    workers, order = Workers(n_jobs), list[tuple[int, int]]()

    def task(chain: int, step: int, k: int) -> None:
        time.sleep(0.001 * ((k * 7 + step) % 3))
        order.append((chain, step))

    chains: list[list[Stage]] = [[], []]
    for step in range(6):
        for chain, stages in enumerate(chains):
            pieces = [(chain, step, k) for k in range(0 if step == 4 else 5)]
            stages.append(Stage(task, pieces, stages[-1:]))
    workers.run_stages([stage for pair in zip(*chains, strict=True) for stage in pair])
    for chain in range(2):
        steps = [step for found, step in order if found == chain]
        assert steps == sorted(steps)
        assert len(steps) == 25
    workers.close()


def test_nobody_waits_for_a_stage_that_failed() -> None:
    workers, done = Workers(3), list[int]()

    def fail() -> None:
        time.sleep(0.01)
        raise ValueError("bad piece")

    first = Stage(fail, [()])
    with pytest.raises(ValueError, match="bad piece"):
        workers.run_stages([first, Stage(done.append, [(k,) for k in range(9)], [first])])
    assert not done
    workers.close()


def test_after_an_error_nobody_goes_on_working() -> None:
    workers = Workers(2)
    done: list[int] = []

    def task(k: int) -> None:
        if k == 0:
            raise ValueError("bad piece")
        time.sleep(0.02)
        done.append(k)

    with pytest.raises(ValueError, match="bad piece"):
        workers.run(task, [(k,) for k in range(40)])
    finished = len(done)
    assert finished < 30  # what had not begun was called off
    time.sleep(0.1)
    assert len(done) == finished  # and what had begun was waited for
    workers.close()


def test_an_error_of_the_caller_waits_for_the_others() -> None:
    """Ctrl-C comes to the calling thread alone; the others must not go on writing when it is told of."""
    workers, both, done = Workers(2), threading.Barrier(2, timeout=60), []

    def task(k: int) -> None:
        both.wait()
        if threading.current_thread() is threading.main_thread():
            raise KeyboardInterrupt
        time.sleep(0.2)
        done.append(k)

    with pytest.raises(KeyboardInterrupt):
        workers.run(task, [(0,), (1,)])
    assert len(done) == 1
    workers.close()


@pytest.mark.parametrize("shape", [(3, 16), (0, 16), (2, 5, 64), (7,)], ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_rows_begin_at_a_cache_line(shape: tuple[int, ...], dtype: type) -> None:
    several = [empty_rows(shape, dtype) for _ in range(9)] + [zero_rows(shape, dtype) for _ in range(9)]
    for rows in several:
        assert rows.shape == shape
        assert rows.dtype == dtype
        assert rows.flags.c_contiguous
        assert rows.flags.writeable
        assert rows.size == 0 or rows.ctypes.data % 64 == 0
    assert not any(rows.any() for rows in several[9:])
    assert not any(np.shares_memory(a, b) for a, b in pairwise(several))


def test_what_grows_stays_at_a_cache_line_and_keeps_its_rows() -> None:
    rows = grown(np.arange(32.0).reshape(2, 16), 3, 1)
    assert rows.ctypes.data % 64 == 0
    assert rows.shape == (4, 16)
    np.testing.assert_array_equal(rows, [np.arange(16), np.arange(16, 32), np.zeros(16), np.zeros(16)])
    assert grown(rows, 4, 100) is rows


@pytest.mark.parametrize("n", [0, 1, 7, 1000])
def test_sums_over_vectors_equal_numpy(n: int) -> None:
    a, b = np.random.default_rng(n).normal(size=(2, n))
    assert inner(a, b) == pytest.approx(float(a @ b))
    assert norm(a) == pytest.approx(float(np.linalg.norm(a)))
    changed = a.copy()
    add_scaled(changed, -0.5, b)
    np.testing.assert_allclose(changed, a - 0.5 * b)


@pytest.mark.parametrize("n", [0, 1, 10, 11, 99])
def test_sums_in_pieces_equal_numpy_and_do_not_depend_on_threads(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PIECE", 10)
    a, b, c = np.random.default_rng(n).normal(size=(3, n))
    found = []
    for n_jobs in (1, 4):
        workers = Workers(n_jobs)
        vectors, changed = Vectors(workers), a.copy()
        assert vectors.inner(a, b) == pytest.approx(float(a @ b))
        assert vectors.norm(a) == pytest.approx(float(np.linalg.norm(a)))
        np.testing.assert_allclose(vectors.sum_of(a, -3.0, b), a - 3 * b)
        vectors.add_scaled(changed, -0.5, b)
        np.testing.assert_allclose(changed, a - 0.5 * b)
        sizes = vectors.of_pieces(lambda begin, end: end - begin, n)
        assert sizes == [10] * (n // 10) + [n % 10] * (n % 10 > 0)
        found.append((vectors.inner(a, b), vectors.norm(c), *changed))
        workers.close()
    assert found[0] == found[1]
