"""Pictures and documents on their way into the log: their bytes become kept files, their entries
what a row says of them.

A file is kept before the row that names it, and again does no harm: it is stored by its hash. What
was kept and never named goes with the next sweep.
"""

import asyncio
import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from desktop.core.chunks import Json
from desktop.core.errors import StoreError

Keep = Callable[[Path, str], Awaitable[tuple[str, int]]]


async def kept(attachments: Sequence[Json], keep: Keep, spool: Path) -> tuple[Json, ...]:
    """The entries without bytes, which are in the store now. Raises StoreError."""
    return tuple([await _kept(one, keep, spool) for one in attachments])


async def _kept(entry: Json, keep: Keep, spool: Path) -> Json:
    if not any(isinstance(one, Mapping) or key == "content" for key, one in entry.items()):
        return entry
    found: dict[str, Any] = {}
    for key, value in entry.items():
        if isinstance(value, Mapping):
            found[key] = await _kept(value, keep, spool)
        elif key != "content":
            found[key] = value
    content = entry.get("content")
    if isinstance(content, bytes):
        path = spool / f"{uuid.uuid4().hex}.part"
        try:
            await asyncio.to_thread(_write, path, content)
        except OSError as error:
            name = str(entry.get("name") or "The picture")
            raise StoreError(f"{name} could not be kept: {error.strerror or error}.") from error
        found["sha256"], found["size"] = await keep(path, str(entry.get("mediaType") or ""))
    return found


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
