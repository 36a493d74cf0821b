"""Files and pictures that the person gives, read and checked while they go on writing.

Who reads them is handed in: the check of pictures is loaded when the window stands, never before.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from PySide6.QtCore import QBuffer, QCoreApplication, QIODevice, QSize, Qt
from PySide6.QtGui import QImage

from desktop.core.chunks import Json
from desktop.core.errors import NacreError
from desktop.core.media import BUDGET, Media, media_of
from desktop.ui.composer import Composer

MOST = 50
THUMBNAIL = QSize(128, 64)  # pixels; shown smaller

Attachment = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Reading:
    """Makes attachments, off the loop: of a file, or of a picture's bytes under a name. Both raise
    NacreError with the reason in a sentence."""

    file: Callable[[Path], Awaitable[Attachment]]
    picture: Callable[[bytes, str], Awaitable[Attachment]]


async def attach(composer: Composer, given: object, reading: Reading) -> None:
    """Adds files (paths) or a picture to a message; what can't go along is said beside it."""
    attached = composer.attached
    attached.complain("")
    if isinstance(given, QImage):
        name = QCoreApplication.translate("attaching", "Pasted picture")
        await _attach(composer, name, lambda: _pasted(given, name, reading))
    elif isinstance(given, Sequence):
        for path in cast("Sequence[Path]", given):
            await _attach(composer, path.name, lambda path=path: reading.file(path))


async def _attach(composer: Composer, name: str, read: Callable[[], Awaitable[Attachment]]) -> None:
    attached = composer.attached
    place = attached.begin(name)
    try:
        found = await read()
        refusal = _refusal(found, attached.entries)
        picture = None if refusal else await asyncio.to_thread(_thumbnail, found)
    except NacreError as error:
        attached.complain(str(error))
        return
    finally:
        attached.end(place)
    if refusal:
        attached.complain(refusal)
    else:
        attached.add(found, picture)


async def pictures_of(found: Sequence[Json]) -> list[QImage | None]:
    """A small picture of each that shows one, made off the loop."""
    return await asyncio.to_thread(lambda: [_thumbnail(one) for one in found])


def _refusal(found: Attachment, others: Sequence[Attachment]) -> str:
    """Why it can't go with the others; '' where it can."""
    say = QCoreApplication.translate
    if len(others) >= MOST:
        words = say("attaching", "{name} was not attached: at most {most} files go with a message.")
        return words.format(name=found["name"], most=MOST)
    together: list[Media] = [one for entry in (*others, found) if (one := media_of(entry))]
    if media_of(found) is not None and not BUDGET.holds(together):
        words = say(
            "attaching",
            "{name} was not attached: with the others it is more than one message can show.",
        )
        return words.format(name=found["name"])
    return ""


async def _pasted(picture: QImage, name: str, reading: Reading) -> Attachment:
    return await reading.picture(await asyncio.to_thread(_png_of, picture), name)


def _png_of(picture: QImage) -> bytes:
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    picture.save(buffer, "PNG")  # pyright: ignore[reportArgumentType, reportCallIssue] (the stubs want bytes)
    return bytes(buffer.data().data())


def _thumbnail(found: Json) -> QImage | None:
    """A small picture of what was checked; None where it shows none."""
    media, content = media_of(found), found.get("content")
    if media is None or media.kind != "image" or not isinstance(content, bytes):
        return None
    image = QImage.fromData(content)
    small = image.scaled(THUMBNAIL, Qt.AspectRatioMode.KeepAspectRatio)
    return None if small.isNull() else small
