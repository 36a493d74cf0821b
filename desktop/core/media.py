"""Pictures and documents that entries refer to: by the hash of a kept file, never by their bytes.

An entry, of a row (`core/shown`) or of what is being written, is
`{kind, sha256, mediaType, name, width, height, size, pages?, original?}`; `original` is what the
person gave, where that was changed. What does not have this shape is no picture, and stays as is.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from desktop.core.chunks import Json

Kind = Literal["image", "document"]

IMAGE_TYPES = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})
PDF = "application/pdf"
_TYPES: Mapping[str, frozenset[str]] = {"image": IMAGE_TYPES, "document": frozenset({PDF})}
_SHA256 = re.compile("[0-9a-f]{64}")

# API V16: one token for a square of so many pixels, and the most that a picture costs.
TOKEN_SIDE = 28
MOST_TOKENS = 4784
PAGE_TOKENS = 3_000
UNKNOWN_PAGES = 10


@dataclass(frozen=True, slots=True)
class Media:
    """What is sent of one picture or document: bytes of this hash, `size` of them."""

    kind: Kind
    sha256: str
    media_type: str
    name: str = ""
    width: int = 0
    height: int = 0
    size: int = 0
    pages: int = 0

    @property
    def encoded(self) -> int:
        """Its bytes in a request, as base64."""
        return -(-self.size // 3) * 4

    @property
    def tokens(self) -> int:
        """What it is to a model (API V16); of unknown measures, the most it can be."""
        if self.kind == "document":
            return (self.pages or UNKNOWN_PAGES) * PAGE_TOKENS
        if not self.width or not self.height:
            return MOST_TOKENS
        squares = math.ceil(self.width / TOKEN_SIDE) * math.ceil(self.height / TOKEN_SIDE)
        return min(squares, MOST_TOKENS)


@dataclass(frozen=True, slots=True)
class Budget:
    """What a request may show in all (API V1, V16, V17), with room for the text beside it."""

    count: int = 90
    size: int = 24_000_000
    pages: int = 100

    def holds(self, found: Sequence[Media]) -> bool:
        return (
            len(found) <= self.count
            and sum(one.encoded for one in found) <= self.size
            and sum(one.pages for one in found) <= self.pages
        )

    @property
    def half(self) -> Budget:
        return Budget(self.count // 2, self.size // 2, self.pages // 2)


BUDGET = Budget()


def is_media(entry: Json) -> bool:
    """Whether an entry stands for a picture or a document, be it one that can be shown or not."""
    kind = entry.get("kind")
    return isinstance(kind, str) and kind in _TYPES


def is_replaced(entry: Json) -> bool:
    """Whether a `rewrite` row has put a placeholder in its place."""
    return entry.get("replaced") is True


def media_of(entry: Json) -> Media | None:
    """The picture or document of an entry; None where it is none or can't be sent."""
    kind, sha256 = entry.get("kind"), entry.get("sha256")
    media_type = entry.get("mediaType")
    if not is_media(entry) or is_replaced(entry):
        return None
    if not isinstance(media_type, str) or media_type not in _TYPES[str(kind)]:
        return None
    if not isinstance(sha256, str) or not _SHA256.fullmatch(sha256):
        return None
    return Media(
        kind="image" if kind == "image" else "document",
        sha256=sha256,
        media_type=media_type,
        name=str(entry.get("name") or ""),
        width=_count(entry.get("width")),
        height=_count(entry.get("height")),
        size=_count(entry.get("size")),
        pages=_count(entry.get("pages")),
    )


def _count(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
