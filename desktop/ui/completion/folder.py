"""The names of one folder's files, read again when they may be others."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence

from desktop.ui.completion.ranking import Names

# Read again after so many seconds, and after so many times what reading took.
FRESH_SECONDS, FRESH_TIMES = 5.0, 20.0

ReadNames = Callable[[], Awaitable[Sequence[str]]]


class Folder:
    """`best` answers from what was read last, and reads first where that is old."""

    def __init__(self, read: ReadNames) -> None:
        self._read = read
        self.forget()

    def forget(self) -> None:
        """It is another folder now."""
        self._names = Names(())
        self._read_at, self._took = -FRESH_SECONDS, 0.0

    async def refresh(self) -> None:
        """Raises NacreError where the folder is none any more."""
        began = time.monotonic()
        if began - self._read_at < max(FRESH_SECONDS, FRESH_TIMES * self._took):
            return
        names = await self._read()
        self._names = await asyncio.to_thread(Names, names)
        self._read_at = time.monotonic()
        self._took = self._read_at - began

    async def best(self, query: str, most: int) -> list[str]:
        return await asyncio.to_thread(self._names.best, query, most)
