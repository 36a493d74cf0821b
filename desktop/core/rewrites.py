"""What `rewrite` rows change of the rows before them, on the wire and in estimates alike.

A picture becomes a placeholder (`{replaced: [{chunkId, index}]}`), or the thinking before a seq is
left out (`{thinkingBefore: seq}`). The rows themselves stay as they are; a rebuild from them comes
to the same (SPEC C03, A12, U22, U23).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from desktop.core.chunks import LogChunk, System, Text, Thinking, ToolResult
from desktop.core.conversation import retracted_ids
from desktop.core.media import is_media
from desktop.core.shown import Place, entries


def replacing(places: Iterable[Place], text: str) -> System:
    """The row that puts placeholders in the place of pictures; `text` says so to the person."""
    found = [{"chunkId": chunk_id, "index": index} for chunk_id, index in places]
    return System("rewrite", text, {"replaced": found})


def leaving_out_thinking(before: int, text: str) -> System:
    """The row behind which no thinking of rows before seq `before` is sent any more."""
    return System("rewrite", text, {"thinkingBefore": before})


@dataclass(frozen=True, slots=True)
class Rewrites:
    """All that the `rewrite` rows of a log say."""

    replaced: Mapping[str, frozenset[int]]
    thinking_before: int = 0

    def row(self, row: LogChunk) -> LogChunk | None:
        """The row as it is told now; None where nothing is left of it."""
        if isinstance(row.data, Thinking):
            return None if row.seq < self.thinking_before else row
        gone = self.replaced.get(row.id)
        if not gone:
            return row
        told = tuple(
            {**entry, "replaced": True} if at in gone and is_media(entry) else entry
            for at, entry in enumerate(entries(row.data))
        )
        match row.data:
            case Text():
                return replace(row, data=replace(row.data, attachments=told))
            case ToolResult():
                extra = {**row.data.extra, "images": told}
                return replace(row, data=replace(row.data, extra=extra))
            case _:
                return row


def is_rewrite(row: LogChunk) -> bool:
    return isinstance(row.data, System) and row.data.kind == "rewrite"


def rewrites_of(rows: Iterable[LogChunk]) -> Rewrites | None:
    """What the rows change; None where they change nothing."""
    replaced: dict[str, set[int]] = {}
    before = 0
    for row in rows:
        if isinstance(row.data, System) and row.data.kind == "rewrite":
            before = max(before, _seq(row.data.fields.get("thinkingBefore")))
            for chunk_id, index in _places(row.data.fields.get("replaced")):
                replaced.setdefault(chunk_id, set()).add(index)
    if not replaced and not before:
        return None
    return Rewrites({id_: frozenset(found) for id_, found in replaced.items()}, before)


def rewritten(rows: Sequence[LogChunk]) -> Sequence[LogChunk]:
    """The rows as they are told; the `rewrite` rows stay among them, so it can be done again."""
    found = rewrites_of(rows)
    if found is None:
        return rows
    return [told for row in rows if (told := found.row(row)) is not None]


def standing(rows: Sequence[LogChunk]) -> Sequence[LogChunk]:
    """The rows that were not taken back, as they are told now."""
    gone = retracted_ids(rows)
    return rewritten([row for row in rows if row.id not in gone])


def _places(value: object) -> list[Place]:
    """The places of a row; what has another shape says nothing (SPEC C12)."""
    if not isinstance(value, list | tuple):
        return []
    places: list[Place] = []
    for one in cast("Sequence[object]", value):
        named = cast("Mapping[str, Any]", one) if isinstance(one, Mapping) else {}
        chunk_id, index = named.get("chunkId"), named.get("index")
        if isinstance(chunk_id, str) and isinstance(index, int):
            places.append((chunk_id, index))
    return places


def _seq(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0
