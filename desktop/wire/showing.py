"""The blocks of pictures and documents, and the words that stand for those that can't be shown.

Whether a picture is sent depends on its row, the model and whether its bytes are there: nothing of
it is an error (SPEC U23).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from desktop.core.chunks import Json, LogChunk
from desktop.core.conversation import told
from desktop.core.media import Media, is_media, is_replaced, media_of
from desktop.core.rewrites import standing
from desktop.core.shown import placed
from desktop.wire.models import KnownModel

Block = dict[str, Any]

REPLACED = (
    "[What was shown here is not shown any more: there was no room for it, or it was refused.]"
)
MISSING = "[What was shown here is not available any more.]"
UNSEEN = "[This model can't be shown pictures.]"
UNREAD = "[This model can't be shown documents of this kind.]"

# The bytes of pictures as base64, by hash.
Bytes = Mapping[str, str]
NO_BYTES: Bytes = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Showing:
    """How a request shows what rows refer to: with which bytes, and what its model can take."""

    bytes: Bytes = field(default_factory=lambda: NO_BYTES)
    images: bool = True
    documents: bool = True

    @classmethod
    def to(cls, model: KnownModel | None, bytes_: Bytes) -> "Showing":
        if model is None:
            return cls(bytes_)
        return cls(bytes_, model.sees_images, model.reads_documents)

    def block(self, entry: Json) -> Block | None:
        """The block of an entry, or the words in its place; None where it is no picture."""
        if not is_media(entry):
            return None
        media = media_of(entry)
        if media is None:
            return _words(REPLACED if is_replaced(entry) else MISSING)
        if media.kind == "image" and not self.images:
            return _words(UNSEEN)
        if media.kind == "document" and not self.documents:
            return _words(UNREAD)
        data = self.bytes.get(media.sha256)
        return _words(MISSING) if data is None else _shown(media, data)

    def blocks(self, found: Iterable[Json]) -> list[Block]:
        """The blocks of all entries that are pictures or documents."""
        return [block for entry in found if (block := self.block(entry)) is not None]


def hashes(rows: Sequence[LogChunk]) -> frozenset[str]:
    """The hashes of all that a request of these rows shows."""
    if next(placed(rows), None) is None:
        return frozenset()
    return frozenset(media.sha256 for _, _, media in placed(told(standing(rows))))


def _shown(media: Media, data: str) -> Block:
    source = {"type": "base64", "media_type": media.media_type, "data": data}
    return {"type": media.kind, "source": source}


def _words(text: str) -> Block:
    return {"type": "text", "text": text}
