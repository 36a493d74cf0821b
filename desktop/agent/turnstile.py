"""Lets one command at a time into a conversation.

What puts conversations away goes in alone, so that nothing begins between the stop and the
archive; commands for other conversations pass meanwhile.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from weakref import WeakValueDictionary


class Turnstile:
    """One lock a conversation, for as long as somebody holds or wants it."""

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @asynccontextmanager
    async def alone(self, *tab_ids: str) -> AsyncGenerator[None]:
        """Holds all of these; taken in one order everywhere, so that no two wait for each other."""
        async with AsyncExitStack() as stack:
            for tab_id in sorted(set(tab_ids)):
                await stack.enter_async_context(self._locks.setdefault(tab_id, asyncio.Lock()))
            yield
