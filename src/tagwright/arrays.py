"""Names for the arrays that flow through the library, the one padding rule, sums over long vectors, and threads.

Sizes have one alphabet: N sentences, T positions, Y labels, A attributes, F forms, S slots, K best.
Sentences are concatenated: position t of sentence i is row offsets[i] + t. Rows over labels are padded to P = padded(Y)
columns, a multiple of 16, and begin at a cache line (empty_rows), so that a float32 row fills whole lines and vector
loops have no remainder.
"""

from __future__ import annotations

import math
import os
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from itertools import pairwise
from math import prod
from threading import Event
from typing import Any, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from tagwright._jit import kernel, tight_kernel

T = TypeVar("T")

Floats = NDArray[np.floating[Any]]
Singles = NDArray[np.float32]
Doubles = NDArray[np.float64]
Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Shorts = NDArray[np.uint16]
Bools = NDArray[np.bool_]
Bytes = NDArray[np.uint8]
Plain = tuple[Any, ...]
"""A NamedTuple of arrays as a plain tuple: what Python passes to kernels that are called for every sentence. Numba
takes 0.6 µs to see what a NamedTuple is, and 0.05 for a tuple; the kernel makes a NamedTuple of it again, which costs
nothing there."""

ROW_UNIT = 16
"""Row width is a multiple of this many numbers: 64 bytes of float32, one cache line."""
LINE = 64
"""Bytes of a cache line."""


def padded(n_labels: int) -> int:
    """The row width P for `n_labels` labels."""
    return -(-n_labels // ROW_UNIT) * ROW_UNIT


def empty_rows(shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
    """As np.empty, beginning at a cache line; NumPy's begin anywhere, and every second vector then lies in two lines:
    a third more time for a token's scores and its step of Viterbi."""
    memory = np.empty(prod(shape) * np.dtype(dtype).itemsize + LINE, np.uint8)
    return np.ndarray(shape, dtype, memory.data, -address(memory) % LINE)


@tight_kernel
def address(memory: Bytes) -> int:
    """Where an array lies. NumPy takes 1 µs to say it, a twentieth of the time of tagging a sentence."""
    return int(memory.ctypes.data)


def zero_rows(shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
    """The same with zeros, written at once: np.zeros leaves that to the kernel that first comes to each page of 4 KB,
    where NumPy asks for pages of 2 MB of what it does not clear."""
    rows = empty_rows(shape, dtype)
    rows[...] = 0
    return rows


def cut_evenly(work: Longs, pieces: int) -> list[tuple[int, int]]:
    """Cut range(len(work)) into at most `pieces` runs of about equal total work.

    The cuts depend on the work alone, never on the number of threads, so that sums made per run are the same for any.
    """
    total = np.concatenate([[0], np.cumsum(work, dtype=np.int64)])
    targets = total[-1] * np.arange(1, pieces, dtype=np.int64) // max(pieces, 1)
    cuts = np.unique(np.concatenate([[0], np.searchsorted(total, targets), [len(work)]]))
    return [(int(a), int(b)) for a, b in pairwise(cuts)]


def grown(array: NDArray[Any], n: int, spare: int) -> NDArray[Any]:
    """`array` with room for n rows; where it must grow, for some more."""
    if n <= len(array):
        return array
    larger = zero_rows((n + spare + len(array) // 4, *array.shape[1:]), array.dtype)
    larger[: len(array)] = array
    return larger


# Sums over long vectors, in one fixed order. NumPy hands `a @ b` to a BLAS library, which starts threads of its own:
# they fight with ours, and the last bits of the result depend on the number of cores. These kernels do neither.


@kernel
def inner(a: Floats, b: Floats) -> float:
    """Σ a_i b_i."""
    total = 0.0
    for i in range(a.shape[0]):
        total += a[i] * b[i]
    return total


@kernel
def add_scaled(a: Doubles, factor: float, b: Floats) -> float:
    """a += factor · b; returns Σ b_i²."""
    total = 0.0
    for i in range(a.shape[0]):
        number = np.float64(b[i])
        a[i] += factor * number
        total += number * number
    return total


@kernel
def write_sum(a: Doubles, factor: float, b: Doubles, out: Doubles) -> None:
    """out = a + factor · b."""
    for i in range(a.shape[0]):
        out[i] = a[i] + factor * b[i]


def norm(a: Doubles) -> float:
    """√Σ a_i²."""
    return float(np.sqrt(inner(a, a)))


MOST_THREADS = 1024
"""More are of no use, and each takes memory."""


def count_jobs(n_jobs: int | None) -> int:
    """Threads: None is 1, −1 all cores."""
    return (os.cpu_count() or 1) if n_jobs == -1 else min(n_jobs or 1, MOST_THREADS)


class Stage:
    """Pieces of work, task(*piece), that may be done in any order, when the stages in `after` are done."""

    def __init__(
        self, task: Callable[..., None], pieces: Iterable[tuple[Any, ...]], after: Sequence[Stage] = ()
    ) -> None:
        self.task, self.left, self.after = task, deque(pieces), after
        self._n, self._ended, self._done = len(self.left), deque[None](), Event()

    def work(self) -> None:
        """Do what is left, beside other threads."""
        if self.left:
            for stage in self.after:
                stage.wait()
        while True:
            try:
                piece = self.left.popleft()
            except IndexError:  # all are taken
                return
            self.task(*piece)
            self._ended.append(None)
            if len(self._ended) == self._n:
                self._done.set()

    def wait(self) -> None:
        """Until all is done, or called off."""
        if self._n:
            self._done.wait()
        else:
            for stage in self.after:
                stage.wait()

    def call_off(self) -> None:
        """Let nobody begin another piece, or wait for one."""
        self.left.clear()
        self._done.set()


class Workers:
    """Runs independent pieces of work on `n_jobs` threads, of which the caller's is one."""

    def __init__(self, n_jobs: int) -> None:
        self.n_jobs = n_jobs
        self._pool = ThreadPoolExecutor(n_jobs - 1) if n_jobs > 1 else None

    def run(self, task: Callable[..., None], pieces: Iterable[tuple[Any, ...]]) -> None:
        """Call task(*piece) for every piece; return when all are done. An error of one is raised, what had not begun
        is called off."""
        self.run_stages([Stage(task, pieces)])

    def map(self, task: Callable[..., T], pieces: Sequence[tuple[Any, ...]]) -> list[T]:
        """What task(*piece) gives for every piece, in order."""
        found: dict[int, T] = {}

        def take(k: int) -> None:
            found[k] = task(*pieces[k])

        self.run(take, [(k,) for k in range(len(pieces))])
        return [found[k] for k in range(len(pieces))]

    def run_stages(self, stages: Sequence[Stage]) -> None:
        """The same for several stages. A thread goes on with the next stage when nothing is left of one, so that few
        wait for each other; a stage comes after those that it has to wait for."""

        def work() -> None:
            try:
                for stage in stages:
                    stage.work()
            except BaseException:
                call_off()
                raise

        def call_off() -> None:
            for stage in stages:
                stage.call_off()

        if self._pool is None:
            work()
            return
        others: list[Future[None]] = []
        try:
            for _ in range(min(self.n_jobs, sum(len(stage.left) for stage in stages)) - 1):
                others.append(self._pool.submit(work))
            work()
            for other in others:
                if not other.cancel():  # else it had not begun, and nothing is left
                    other.result()
        except BaseException:  # Ctrl-C too: nobody may go on writing into the caller's arrays
            call_off()
            wait(others)
            raise

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown()


PIECE = 1 << 17
"""Numbers of a vector that one thread takes at a time: less is not worth the hand-over."""


class Vectors:
    """Sums over long vectors on the threads of some workers. How they are cut, and the sums of pieces added up, depends
    on their length alone, so that any number of threads gives the same bits."""

    def __init__(self, workers: Workers | None = None) -> None:
        self._workers = ALONE if workers is None else workers

    def inner(self, a: Doubles, b: Doubles) -> float:
        """Σ a_i b_i."""
        return sum(self.of_pieces(lambda begin, end: inner(a[begin:end], b[begin:end]), len(a)))

    def norm(self, a: Doubles) -> float:
        """√Σ a_i²."""
        return math.sqrt(self.inner(a, a))

    def add_scaled(self, a: Doubles, factor: float, b: Doubles) -> float:
        """a += factor · b; returns Σ b_i²."""
        return sum(self.of_pieces(lambda begin, end: add_scaled(a[begin:end], factor, b[begin:end]), len(a)))

    def sum_of(self, a: Doubles, factor: float, b: Doubles) -> Doubles:
        """a + factor · b."""
        out: Doubles = empty_rows((1, len(a)), np.float64)[0]
        self.of_pieces(lambda begin, end: write_sum(a[begin:end], factor, b[begin:end], out[begin:end]), len(a))
        return out

    def of_pieces(self, work: Callable[[int, int], T], n: int) -> list[T]:
        """What `work` makes of the numbers from `begin` to `end` − 1, for all pieces of a vector, in order."""
        return self._workers.map(work, [(begin, min(begin + PIECE, n)) for begin in range(0, n, PIECE)])


ALONE = Workers(1)
