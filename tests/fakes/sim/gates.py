"""Named places where an answer waits for the test and the test for the answer, without sleeping."""

from __future__ import annotations

import asyncio
import threading


class Gates:
    """Every gate comes into being when either side first names it, and once open it stays open."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._lock = threading.Lock()
        self._reached: dict[str, threading.Event] = {}
        self._open: dict[str, asyncio.Event] = {}

    async def wait(self, name: str) -> None:
        """The answer stands at the gate until it is released."""
        reached, opened = self._pair(name)
        reached.set()
        await opened.wait()

    def release(self, name: str) -> None:
        """Open the gate, from any thread."""
        self._loop.call_soon_threadsafe(self._pair(name)[1].set)

    def reached(self, name: str, timeout: float) -> bool:
        """Wait, on the test's thread, until an answer stands at the gate."""
        return self._pair(name)[0].wait(timeout)

    def _pair(self, name: str) -> tuple[threading.Event, asyncio.Event]:
        with self._lock:
            reached = self._reached.setdefault(name, threading.Event())
            return reached, self._open.setdefault(name, asyncio.Event())
