"""One thread that may get stuck without taking anything with it.

Calls to a keyring have no time limit of their own and can block for ever. A pool's threads are
joined when the interpreter ends; this one is a daemon, so the process ends without it.
"""

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError
from typing import Generic, TypeVar

T = TypeVar("T")


class Abandoned(Exception):
    """Nobody waits for this job any more; raised between its steps so that it ends early."""


class _Job(Generic[T]):
    __slots__ = ("call", "future")

    def __init__(self, call: Callable[[], T], future: "Future[T]") -> None:
        self.call = call
        self.future = future

    def run(self) -> None:
        if not self.future.set_running_or_notify_cancel():
            return
        try:
            result = self.call()
        except BaseException as error:
            _settle(self.future, error=error)
        else:
            _settle(self.future, result=result)


class Worker:
    """Runs jobs one after the other on a daemon thread of its own."""

    def __init__(self, name: str) -> None:
        self._jobs: queue.SimpleQueue[_Job[object] | None] = queue.SimpleQueue()
        self._gone = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    @property
    def is_running(self) -> bool:
        """Whether the thread lives; an abandoned one lives while its last call blocks."""
        return self._thread.is_alive()

    def submit(self, call: Callable[[], T]) -> "Future[T]":
        future: Future[T] = Future()
        self._jobs.put(_Job(call, future))  # pyright: ignore[reportArgumentType] (T is any object)
        return future

    def go_on(self) -> None:
        """For jobs of several steps: raises Abandoned once nobody waits for them."""
        if self._gone.is_set():
            raise Abandoned

    def abandon(self) -> None:
        """Give the thread up: it ends after its present call, the jobs behind it fail at once."""
        self._gone.set()
        while True:
            try:
                job = self._jobs.get_nowait()
            except queue.Empty:
                break
            if job is not None:
                _settle(job.future, error=Abandoned())
        self._jobs.put(None)

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            job.run()
            del job  # while the thread waits for the next job, it must not keep the last one's


def _settle(
    future: "Future[T]", *, result: T | None = None, error: BaseException | None = None
) -> None:
    """Hand the outcome over; the loop that waited may be closed by now, and then nobody cares."""
    try:
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(result)  # pyright: ignore[reportArgumentType]
    except (RuntimeError, InvalidStateError):
        return
