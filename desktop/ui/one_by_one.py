"""What is kept of one conversation is read and written one by one, whichever page of it does so.

A conversation may leave one window while it comes into view in another: the new page must read what
the old one is still writing.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from weakref import WeakKeyDictionary, WeakValueDictionary

_Locks = WeakValueDictionary[tuple[str, str], asyncio.Lock]

# A lock belongs to a loop, and lives as long as somebody holds it or waits for it.
_LOCKS: WeakKeyDictionary[asyncio.AbstractEventLoop, _Locks] = WeakKeyDictionary()


@asynccontextmanager
async def one_by_one(what: str, tab_id: str) -> AsyncGenerator[None]:
    """Nobody else is at this matter of this conversation meanwhile."""
    locks = _LOCKS.setdefault(asyncio.get_running_loop(), WeakValueDictionary())
    async with locks.setdefault((what, tab_id), asyncio.Lock()):
        yield
