"""Work in order: one thread reads, some work, the caller takes the results in the order of what was read.

    reader ─► jobs ─► workers ─► results, in order

As many jobs are under way as there are threads, and two more, however long the input: the reader waits. When the caller
leaves (an error, Ctrl-C), nobody waits for the others: what they do is forgotten. A job may then still be inside a
kernel, during which Python must not be taken down: see `leave` in cli/__init__.py.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from concurrent.futures import Future
from queue import SimpleQueue
from threading import Semaphore, Thread
from typing import Generic, TypeVar

from tagwright.cli import WORKER

Result = TypeVar("Result")


class ClosedError(Exception):
    """Nobody wants more results."""


class Pipeline(Generic[Result]):
    """So many threads for jobs. One is started when a job would have to wait, so that a few jobs need few."""

    def __init__(self, n_threads: int) -> None:
        self._n_threads = n_threads
        self._n_started = 0
        self._room = Semaphore(n_threads + 2)
        self._waiting: SimpleQueue[tuple[Callable[[], Result], Future[Result]] | None] = SimpleQueue()
        self._order: SimpleQueue[Future[Result] | None] = SimpleQueue()
        self._closed = False
        self._threads: list[Thread] = []

    def run(self, read: Callable[[], None]) -> Generator[Result, None, None]:
        """The results of all jobs that `read`, in a thread of its own, submits; then its error, if it fails."""
        self._start(self._read, read)
        try:
            while (result := self._order.get()) is not None:
                yield result.result()
                self._room.release()
        except BaseException:  # the caller has left, or a job failed
            self._close()
            raise
        self._close()
        for thread in self._threads:  # which have nothing to do
            thread.join()

    def submit(self, job: Callable[[], Result]) -> None:
        """For the reader alone."""
        self._room.acquire()
        if self._closed:
            self._room.release()
            raise ClosedError
        result: Future[Result] = Future()
        self._order.put(result)
        if self._n_started == 0 or (self._n_started < self._n_threads and self._waiting.qsize() > 0):
            self._n_started += 1
            self._start(self._work)
        self._waiting.put((job, result))

    def _close(self) -> None:
        """Let all threads end, when they have done what they are doing."""
        self._closed = True
        self._room.release()
        for _ in range(self._n_started + 1):  # the reader may be about to start one more
            self._waiting.put(None)

    def _read(self, read: Callable[[], None]) -> None:
        try:
            read()
        except ClosedError:
            return
        except BaseException as error:  # raised again where results are taken
            failed: Future[Result] = Future()
            failed.set_exception(error)
            self._order.put(failed)
        self._order.put(None)

    def _work(self) -> None:
        while (waiting := self._waiting.get()) is not None:
            job, result = waiting
            try:
                result.set_result(job())
            except BaseException as error:
                result.set_exception(error)
            del waiting, job, result  # which would be kept until there is more to do

    def _start(self, work: Callable[..., None], *arguments: object) -> None:
        """As a thread for which the program does not wait when it ends."""
        thread = Thread(target=work, args=arguments, name=WORKER, daemon=True)
        self._threads.append(thread)
        thread.start()
