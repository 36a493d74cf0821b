"""What rows show: the pictures and documents of a user text or of a tool result (`core/media`).

A text has their entries among its `attachments`, a result in its `images`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import cast

from desktop.core.chunks import Json, LogChunk, Payload, Text, ToolResult
from desktop.core.media import Media, media_of

# A row's id, and the number of the picture among those of the row.
Place = tuple[str, int]


def entries(data: Payload) -> Sequence[Json]:
    """What is attached to a text, or what a result shows, in order."""
    match data:
        case Text():
            return data.attachments
        case ToolResult():
            images = data.extra.get("images")
            if not isinstance(images, list | tuple):
                return ()
            found = cast("Sequence[object]", images)
            return [cast("Json", one) if isinstance(one, Mapping) else {} for one in found]
        case _:
            return ()


def placed(rows: Iterable[LogChunk]) -> Iterator[tuple[Place, LogChunk, Media]]:
    """The pictures and documents of rows, in order, each with its place and its row."""
    for row in rows:
        data = row.data
        # Most rows show nothing: this is asked of whole conversations before each request.
        if isinstance(data, ToolResult):
            if not data.extra:
                continue
        elif not isinstance(data, Text) or not data.attachments:
            continue
        for index, entry in enumerate(entries(data)):
            media = media_of(entry)
            if media is not None:
                yield (row.id, index), row, media
