"""Work off the loop, each call on a daemon thread of its own.

A shared pool would let one file on a dead disk hold up every stop; and a thread that is stuck
must not keep the program from ending.
"""

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

T = TypeVar("T")


class Stop:
    """Asks a long piece of work to end early; the work calls `check` in its loops."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def set(self) -> None:
        self._event.set()

    @property
    def is_set(self) -> bool:
        return self._event.is_set()

    def check(self) -> None:
        """Raises Stopping once nobody waits for the result."""
        if self._event.is_set():
            raise Stopping


class Stopping(Exception):
    """Ends a piece of work whose result nobody waits for; never leaves its thread."""


def start(call: Callable[[], T], name: str) -> "asyncio.Future[T]":
    """Runs a call on a new thread; cancelling the future only drops the result."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def settle(result: T | None, error: BaseException | None) -> None:
        if future.done():
            return
        if error is None:
            future.set_result(result)  # pyright: ignore[reportArgumentType] (T may be None)
        else:
            future.set_exception(error)

    def work() -> None:
        result: T | None = None
        problem: BaseException | None = None
        try:
            result = call()
        except BaseException as error:
            problem = error
        with suppress(RuntimeError):  # the loop was closed in the meantime
            loop.call_soon_threadsafe(settle, result, problem)

    threading.Thread(target=work, name=name, daemon=True).start()
    return future


async def read_off_loop(call: Callable[[Stop], T], *, patience: float = 0.0) -> T:
    """For work that changes nothing: cancelling it asks it to end early.

    The cancelled caller waits up to `patience` seconds for that (work with a child process).
    """
    stop = Stop()
    future = start(lambda: call(stop), "tool-read")
    try:
        await asyncio.wait([future])
    except asyncio.CancelledError:
        stop.set()
        if patience:
            await asyncio.wait([future], timeout=patience)
        future.cancel()
        with suppress(asyncio.CancelledError, Exception):
            future.exception()
        raise
    return future.result()


async def write_off_loop(call: Callable[[], T]) -> T:
    """For work that changes something: it is waited for, then a cancellation is raised."""
    future = start(call, "tool-write")
    if await outlast(future):
        with suppress(Exception):
            future.result()
        raise asyncio.CancelledError
    return future.result()


async def outlast(future: "asyncio.Future[T]") -> bool:
    """Waits for a future whatever happens; whether the waiting task was cancelled meanwhile."""
    cancelled = False
    while not future.done():
        try:
            await asyncio.wait([future])
        except asyncio.CancelledError:
            cancelled = True
    return cancelled
