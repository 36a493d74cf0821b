"""The bytes of the pictures that a request shows, read before it is made and kept for the next.

The log holds a picture once and a conversation shows it in every request: what was read of late
stays here as base64, up to a bound.
"""

import asyncio
import base64
from collections.abc import Awaitable, Callable, Sequence

from desktop.core.chunks import LogChunk
from desktop.wire.showing import Bytes, hashes

# Base64 that is kept: more than one request can hold (see `agent.rewriting`).
ROOM = 48_000_000

Read = Callable[[str], Awaitable[bytes | None]]


async def nothing_kept(sha256: str) -> bytes | None:
    del sha256
    return None


class Pictures:
    """Reads by `read` (None where the bytes are gone, which is no error). For one loop."""

    def __init__(self, read: Read = nothing_kept, *, room: int = ROOM) -> None:
        self._read = read
        self._room = room
        self._kept: dict[str, str] = {}

    async def shown_in(self, rows: Sequence[LogChunk]) -> Bytes:
        """What a request of these rows needs; what can't be read is left out."""
        found: dict[str, str] = {}
        for sha256 in sorted(hashes(rows)):
            data = self._kept.pop(sha256, None)
            if data is None:
                content = await self._read(sha256)
                if content is None:
                    continue
                data = await asyncio.to_thread(_encoded, content)
            found[sha256] = self._kept[sha256] = data
        self._let_go()
        return found

    def _let_go(self) -> None:
        """Those that were not needed for the longest time, beyond what is kept."""
        size = sum(map(len, self._kept.values()))
        while size > self._room:
            size -= len(self._kept.pop(next(iter(self._kept))))


def _encoded(content: bytes) -> str:
    return base64.b64encode(content).decode("ascii")
