"""From bytes to an attachment: what a row says of a picture or document, with the bytes to keep.

The bytes stand beside the facts (`content`, and that of `original`) until whoever has the log keeps
them (`agent.attaching`). Blocking; off the loop.
"""

import hashlib
import importlib
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from desktop.core.errors import ToolFailed
from desktop.core.media import PDF
from desktop.tools.attachments import papers
from desktop.tools.attachments.formats import format_of, media_type_of
from desktop.tools.places import show

if TYPE_CHECKING:
    from desktop.tools.attachments.images import Picture

# Files that are read at all: photos straight from a camera, documents that may be shown.
LARGEST = 40_000_000
NAME_LIMIT = 120
NAME_END = 20
_NAMED_SO = frozenset({".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".tif", ".tiff", ".pdf"})
_HEIF = frozenset({b"heic", b"heix", b"hevc", b"mif1", b"msf1", b"avif"})


def shown_name(name: str) -> str:
    """A file's name as it can be shown and sent; a long one keeps its beginning and end."""
    shown = show(name)
    if len(shown) <= NAME_LIMIT:
        return shown
    return f"{shown[: NAME_LIMIT - NAME_END - 1]}…{shown[-NAME_END:]}"


def is_shown(start: bytes) -> bool:
    """Whether bytes that start so are a picture or a document, rather than text or anything."""
    return bool(format_of(start)) or papers.is_paper(start)


def checked(content: bytes, name: str) -> dict[str, Any] | None:
    """The attachment of a picture's or document's bytes; None where they are neither.

    Raises ToolFailed with a sentence that names it and the reason (SPEC U23, F-W12).
    """
    name = shown_name(name)
    if not content:
        raise ToolFailed(f"{name} is empty.")
    if len(content) > LARGEST:
        raise ToolFailed(f"{name} is larger than {LARGEST // 1_000_000} MB.")
    if format_of(content):
        return _image(content, name)
    if papers.is_paper(content):
        pages = papers.pages_of(content, name)
        return _entry("document", name, content, PDF) | {"pages": pages}
    if content[4:8] == b"ftyp" and content[8:12] in _HEIF:
        raise ToolFailed(f"{name} is in a format that can't be read.", way_out="Save it as JPEG.")
    if PurePath(name).suffix.lower() in _NAMED_SO:
        raise ToolFailed(f"{name} is no picture or document, though its name says so.")
    return None


def _image(content: bytes, name: str) -> dict[str, Any]:
    # Pillow is 2 MB that most days never need.
    images = importlib.import_module("desktop.tools.attachments.images")
    found: Picture = images.picture_of(content, name)
    entry = _entry("image", name, found.content, found.media_type)
    entry |= {"width": found.width, "height": found.height}
    if found.content is not content:
        entry["original"] = _kept(content, media_type_of(format_of(content)))
    return entry


def _entry(kind: str, name: str, content: bytes, media_type: str) -> dict[str, Any]:
    return {"kind": kind, "name": name, **_kept(content, media_type)}


def _kept(content: bytes, media_type: str) -> dict[str, Any]:
    return {
        "sha256": hashlib.sha256(content).hexdigest(),
        "mediaType": media_type,
        "size": len(content),
        "content": content,
    }
