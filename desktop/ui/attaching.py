"""Reads a file that the person attaches: text only, whole or refused with the reason."""

import asyncio
from pathlib import Path

from desktop.core.errors import NacreError

LIMIT = 20 * 1024 * 1024


class NotAttachable(NacreError):
    """The file can't go with a message."""


async def read_attachment(path: Path) -> str:
    """The file's text, byte for byte as UTF-8. Raises NotAttachable."""
    return await asyncio.to_thread(_read, path)


def _read(path: Path) -> str:
    try:
        size = path.stat().st_size
        if size > LIMIT:
            raise NotAttachable(
                f"{path.name} is too large to attach.",
                way_out="Attach a part of it, or let the agent read it in its folder.",
            )
        data = path.read_bytes()
    except OSError as error:
        raise NotAttachable(f"{path.name} could not be read: {error.strerror or error}.") from error
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise NotAttachable(
            f"{path.name} is no text in UTF-8.",
            way_out="Only text can be attached so far.",
        ) from error
    if "\0" in text:
        raise NotAttachable(f"{path.name} is not a text file.")
    return text
