"""Whether the machine slept: what was connected before leads nowhere, and what hangs is given up.

Two clocks are compared: `inside` stands still while the machine sleeps, `outside` does not. Where
both run on (a process that was stopped, some systems), a look that comes much too late says the
same. There is no look while no request runs (SPEC U29).
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from types import TracebackType

from desktop.wire import failures
from desktop.wire.failures import RequestFailed

SLEPT = 30.0  # seconds by which the clocks must part: a clock that is set a little is no sleep


def _outside() -> Callable[[], float]:
    """The clock since the start of the machine, its sleep included; else the wall clock."""
    boot = getattr(time, "CLOCK_BOOTTIME", None)
    return time.time if boot is None else partial(time.clock_gettime, boot)


@dataclass(frozen=True, slots=True)
class Clocks:
    """All in seconds. `tick` lies between two looks; after a sleep a request that brings nothing
    for `patience` is given up."""

    inside: Callable[[], float] = time.monotonic
    outside: Callable[[], float] = _outside()
    tick: float = 2.0
    patience: float = 3.0


class Sleep:
    """Tells whether the machine slept since it was last asked."""

    def __init__(self, clocks: Clocks) -> None:
        self._clocks = clocks
        self._marks = (clocks.inside(), clocks.outside())

    def noticed(self, *, due: float | None = None) -> bool:
        """`due` is after how many seconds this look was meant to come, if it was."""
        before, self._marks = self._marks, (self._clocks.inside(), self._clocks.outside())
        inside, outside = (now - then for now, then in zip(self._marks, before, strict=True))
        is_late = due is not None and inside - due > SLEPT
        return is_late or outside - inside > SLEPT


class Vigil:
    """While it is entered: looks every tick, and calls `woke` after each sleep."""

    def __init__(self, clocks: Clocks, woke: Callable[[], object]) -> None:
        self._clocks = clocks
        self._woke = woke
        self._sleep = Sleep(clocks)
        self._next: asyncio.TimerHandle | None = None

    def __enter__(self) -> None:
        self._sleep = Sleep(self._clocks)
        self._again()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._next is not None:
            self._next.cancel()

    def _again(self) -> None:
        loop = asyncio.get_running_loop()
        self._next = loop.call_later(self._clocks.tick, self._look)

    def _look(self) -> None:
        if self._sleep.noticed(due=self._clocks.tick):
            self._woke()
        self._again()


@asynccontextmanager
async def alive(clocks: Clocks) -> AsyncGenerator[Callable[[], None]]:
    """Around a request: call what it gives when bytes have come.

    Raises RequestFailed when the machine slept and nothing came in time afterwards.
    """
    loop = asyncio.get_running_loop()
    limit = asyncio.timeout(None)

    def came() -> None:
        if limit.when() is not None:
            limit.reschedule(None)

    try:
        async with limit:
            with Vigil(clocks, lambda: limit.reschedule(loop.time() + clocks.patience)):
                yield came
    except TimeoutError as error:
        if not limit.expired():
            raise
        raise RequestFailed(failures.slept()) from error


async def rested(
    seconds: float,
    *,
    clocks: Clocks,
    now: Callable[[], float],
    pause: Callable[[float], "asyncio.Future[None]"],
) -> None:
    """Waits until so many seconds have passed by the wall clock `now`, sleep of the machine
    included; `pause` begins a wait that knows nothing of sleep."""
    until = now() + seconds
    left = seconds
    while left > 0:
        resting = pause(left)
        try:
            with Vigil(clocks, resting.cancel):
                await asyncio.wait({resting})
        finally:
            resting.cancel()
        if not resting.cancelled():
            resting.result()
            return
        left = until - now()
