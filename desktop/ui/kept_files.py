"""Shows a picture or document of the log in the system's viewer: a copy of it, under a name that
says what it is. What a viewer does with the copy changes nothing in the log.
"""

import asyncio
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from PySide6.QtCore import QCoreApplication, QUrl
from PySide6.QtGui import QDesktopServices

from desktop.core.chunks import Json
from desktop.core.errors import NacreError
from desktop.core.media import is_media
from desktop.core.protocols import LogReader

# Only what a viewer of pictures or documents opens, whatever its bytes are.
_SUFFIXES = {
    "image/png": ".png",
    "image/jpeg": ".jpg",
    "image/gif": ".gif",
    "image/webp": ".webp",
    "image/bmp": ".bmp",
    "image/tiff": ".tif",
    "application/pdf": ".pdf",
}
# The whole output of a tool: shown in a window of the program's own (`ui.transcript.whole`).
OUTPUT_SUFFIX = ".txt"


def file_of(entry: Json) -> str:
    """The kept file of a picture or document, its original where there is one, as `HASH.png`; ''
    where there is none that may be opened."""
    if not is_media(entry):
        return ""
    original = entry.get("original")
    found = cast("Mapping[str, Any]", original) if isinstance(original, Mapping) else entry
    suffix = _SUFFIXES.get(str(found.get("mediaType")), "")
    return f"{found.get('sha256')}{suffix}" if suffix else ""


async def kept_path(file: str, reader: LogReader) -> Path:
    """Where a file of the log lies. Raises NacreError where it is not there any more."""
    path = await reader.blob_path(file.partition(".")[0])
    if path is None:
        say = QCoreApplication.translate
        raise NacreError(say("keptFiles", "This file is not in the data folder any more."))
    return path


async def open_kept(file: str, reader: LogReader) -> None:
    """Opens a file of `file_of`. Raises NacreError where it is not there any more."""
    sha256, _, suffix = file.partition(".")
    path = await kept_path(file, reader)
    try:
        copy = await asyncio.to_thread(_copied, path, f"{sha256[:12]}.{suffix}")
    except OSError as error:
        raise NacreError(f"It could not be opened: {error.strerror or error}.") from error
    QDesktopServices.openUrl(QUrl.fromLocalFile(str(copy)))


def _copied(path: Path, name: str) -> Path:
    """A copy in a new folder of the person's own, which the system clears."""
    copy = Path(tempfile.mkdtemp(prefix="nacre-")) / name
    shutil.copyfile(path, copy)
    return copy
