"""The connections to one server, made anew after the machine slept (SPEC U29).

What lay ready in the pool leads nowhere then, and a request would wait on it. A request that still
runs keeps the connection that it has; the old pool goes with the last of them.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

from desktop.wire.wake import Clocks, Sleep

CLOSE_WITHIN = 0.5  # seconds; a connection that leads nowhere can't be closed politely


@dataclass(slots=True)
class _Held:
    client: Any
    users: int = 0
    is_old: bool = False


class Connections:
    """Belongs to the loop it is used on. `make` makes the SDK's client and raises RequestFailed."""

    def __init__(self, make: Callable[[], Any], clocks: Clocks) -> None:
        self._make = make
        self._sleep = Sleep(clocks)
        self._held: _Held | None = None

    @asynccontextmanager
    async def client(self) -> AsyncGenerator[Any]:
        """The client, made when it is first needed."""
        slept = self._sleep.noticed()
        if slept and self._held is not None:
            old, self._held = self._held, None
            old.is_old = True
            if not old.users:
                await _close(old)
        if self._held is None:
            self._held = _Held(self._make())
        held = self._held
        held.users += 1
        try:
            yield held.client
        finally:
            held.users -= 1
            if held.is_old and not held.users:
                await _close(held)

    async def close(self) -> None:
        """Gives the connections back."""
        held, self._held = self._held, None
        if held is not None:
            await held.client.close()


async def _close(held: _Held) -> None:
    with suppress(Exception):
        await asyncio.wait_for(held.client.close(), CLOSE_WITHIN)
