"""A file that the person attaches: a picture or document as it can be shown, or a text, whole."""

import os
import stat
from pathlib import Path
from typing import Any

from desktop.core.errors import ToolFailed
from desktop.tools.attachments.checking import LARGEST, checked, shown_name
from desktop.tools.threads import read_off_loop

LARGEST_TEXT = 20 * 1024 * 1024
_OPEN = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


async def attachment_of(path: Path) -> dict[str, Any]:
    """The attachment of a file. Raises ToolFailed with the reason in a sentence."""
    return await read_off_loop(lambda _: _read(path))


async def picture_of(content: bytes, name: str) -> dict[str, Any]:
    """The attachment of a picture that has no file (from the clipboard). Raises ToolFailed."""
    found = await read_off_loop(lambda _: checked(content, name))
    if found is None:
        raise ToolFailed(f"{shown_name(name)} is no picture that can be read.")
    return found


def _read(path: Path) -> dict[str, Any]:
    name = shown_name(path.name)
    content = _content(path, name)
    found = checked(content, name)
    if found is not None:
        return found
    if len(content) > LARGEST_TEXT:
        raise ToolFailed(
            f"{name} is too large to attach.",
            way_out="Attach a part of it, or let the agent read it in its folder.",
        )
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ToolFailed(
            f"{name} is neither text in UTF-8 nor a picture or document that can be read.",
            way_out="Pictures (PNG, JPEG, GIF, WebP, BMP, TIFF), PDF and text can be attached.",
        ) from error
    if "\0" in text:
        raise ToolFailed(f"{name} is not a text file.")
    return {"name": name, "mediaType": "text/plain", "text": text, "size": len(content)}


def _content(path: Path, name: str) -> bytes:
    """The bytes of a regular file that is not too large."""
    try:
        handle = os.open(path, _OPEN)
        with os.fdopen(handle, "rb") as file:
            status = os.fstat(handle)
            if not stat.S_ISREG(status.st_mode):
                raise ToolFailed(f"{name} is not a regular file.")
            if status.st_size > LARGEST:
                raise ToolFailed(
                    f"{name} is too large to attach.",
                    way_out="Attach a part of it, or let the agent read it in its folder.",
                )
            return file.read(LARGEST + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ToolFailed(f"{name} could not be read: {reason}.") from error
