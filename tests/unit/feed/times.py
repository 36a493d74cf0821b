"""Time under a test's hand, and a loop whose tasks run until all of them wait."""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any


@dataclass(eq=False)
class Timer:
    at: float
    call: Callable[[], None]
    is_off: bool = False

    def cancel(self) -> None:
        self.is_off = True


@dataclass
class Time:
    """`now` moves by `advance` alone; timers ring in their order."""

    now: float = 0.0
    timers: list[Timer] = field(default_factory=list[Timer])

    def clock(self) -> float:
        return self.now

    def later(self, seconds: float, call: Callable[[], None]) -> Timer:
        timer = Timer(self.now + seconds, call)
        self.timers.append(timer)
        return timer

    @property
    def is_idle(self) -> bool:
        return not [one for one in self.timers if not one.is_off]

    def advance(self, seconds: float) -> None:
        """Rings what is due up to then; what those set and is due rings too."""
        end = self.now + seconds
        while True:
            due = [one for one in self.timers if not one.is_off and one.at <= end]
            if not due:
                break
            first = min(due, key=lambda one: one.at)
            self.timers.remove(first)
            self.now = max(self.now, first.at)
            first.call()
        self.now = end


class Passing:
    """Tasks on the running loop, which run until none is left, and time that goes by between."""

    def __init__(self) -> None:
        self.time = Time()
        self.tasks: set[asyncio.Task[Any]] = set()

    def start(self, coroutine: Coroutine[Any, Any, Any], name: str) -> None:
        self.tasks.add(asyncio.get_running_loop().create_task(coroutine, name=name))

    async def settle(self) -> None:
        """Raises what a task failed of."""
        await asyncio.sleep(0)
        while pending := {task for task in self.tasks if not task.done()}:
            await asyncio.wait(pending)
        ended, self.tasks = self.tasks, set()
        for task in ended:
            if not task.cancelled():
                task.result()

    async def pass_by(self, seconds: float) -> None:
        await self.settle()
        self.time.advance(seconds)
        await self.settle()


class Room:
    """Starts coroutines and runs them until nobody gets on."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.tasks: list[asyncio.Task[Any]] = []

    def start(self, coroutine: Coroutine[Any, Any, Any], name: str = "") -> asyncio.Task[Any]:
        task = self.loop.create_task(coroutine, name=name)
        self.tasks.append(task)
        return task

    def settle(self) -> None:
        async def turns() -> None:
            for _ in range(12):
                await asyncio.sleep(0)

        self.loop.run_until_complete(turns())
        for task in [one for one in self.tasks if one.done()]:
            self.tasks.remove(task)
            if not task.cancelled():
                task.result()

    def close(self) -> None:
        for task in self.tasks:
            task.cancel()
        if self.tasks:
            self.loop.run_until_complete(asyncio.wait(self.tasks))
        self.loop.close()
