"""The loop's threads for short work off the GUI thread; none of them can hold up the end.

Daemon threads, made when they are needed, because a thread that waits for a dead disk must not keep
the program from ending (DESIGN.md §6). qasync's own pool starts ten at once and waits for all.
"""

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")
THREADS = 8


class DaemonThreads(Executor):
    """At most `limit` threads; `shutdown` lets them go without waiting."""

    def __init__(self, limit: int = THREADS) -> None:
        self._limit = limit
        self._jobs: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._idle = threading.Semaphore(0)
        self._threads = 0

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> "Future[T]":
        future: Future[T] = Future()

        def job() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                future.set_result(fn(*args, **kwargs))
            except BaseException as error:
                future.set_exception(error)

        self._jobs.put(job)
        if not self._idle.acquire(blocking=False) and self._threads < self._limit:
            self._threads += 1
            name = f"nacre-worker-{self._threads}"
            threading.Thread(target=self._serve, name=name, daemon=True).start()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Whoever is idle ends; whoever is stuck is left behind, whatever `wait` says."""
        for _ in range(self._threads):
            self._jobs.put(None)

    def _serve(self) -> None:
        while True:
            job = self._jobs.get()
            if job is None:
                return
            job()
            del job
            self._idle.release()
