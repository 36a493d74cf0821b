"""How much a model is told, in tokens, and how it is cut into pieces that a model can read.

Pure functions of rows. Where the provider counted, its count is taken; the rest is estimated from
bytes, rather too high than too low.
"""

import json
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from desktop.core.chunks import (
    Json,
    LogChunk,
    Opaque,
    Payload,
    System,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from desktop.core.conversation import prompt_of, told, tools_of
from desktop.core.events import Usage
from desktop.core.media import media_of
from desktop.core.rewrites import standing
from desktop.core.shown import entries

# Prose and code have 3.5 to 4; what has fewer is rare, and a piece leaves room for it.
BYTES_A_TOKEN = 3
FRAME = 40  # bytes around a text: its type and keys
CALL_FRAME = 120  # and the ids of a call or result
LEAST_SHARE = 100

_TOLD_KINDS = frozenset({"fact", "compaction"})


def weight(data: Payload) -> int:
    """The bytes of a row as a model reads it; 0 for what it is not told."""
    match data:
        case Text():
            attached = sum(_bytes(str(one.get("text") or "")) + FRAME for one in data.attachments)
            return _bytes(data.text) + FRAME + attached + _shown(data)
        case Thinking():
            metadata = _bytes(_json(data.metadata)) if data.metadata else 0
            return _bytes(data.text) + metadata + FRAME
        case ToolCall():
            return _bytes(_json(data.arguments)) + CALL_FRAME
        case ToolResult():
            return _bytes(data.result) + CALL_FRAME + _shown(data)
        case Opaque():
            return _bytes(_json(data.block))
        case System() if data.kind in _TOLD_KINDS:
            return _bytes(data.text) + FRAME
        case _:
            return 0


def _shown(data: Payload) -> int:
    """What pictures and documents are worth (API V16), in bytes of text."""
    found = (media_of(one) for one in entries(data))
    return sum(one.tokens * BYTES_A_TOKEN for one in found if one is not None)


def weight_of(rows: Iterable[LogChunk]) -> int:
    """The bytes of rows as a model reads them."""
    return sum(weight(row.data) for row in rows)


def tokens_of(size: int) -> int:
    """The estimate for so many bytes."""
    return math.ceil(size / BYTES_A_TOKEN)


def tokens(rows: Iterable[LogChunk]) -> int:
    """The estimate for rows."""
    return tokens_of(weight_of(rows))


def head_tokens(rows: Sequence[LogChunk]) -> int:
    """The estimate for system prompt and tools."""
    prompt = prompt_of(rows)
    if prompt is None:
        return 0
    return math.ceil(_bytes(prompt.text) / BYTES_A_TOKEN) + tool_tokens(tools_of(rows))


def tool_tokens(tools: Sequence[Any]) -> int:
    """The estimate for a tool set."""
    return math.ceil(_bytes(_json({"tools": tools})) / BYTES_A_TOKEN)


def answered(
    read: Sequence[LogChunk], usage_of: Callable[[str, int], Usage]
) -> tuple[int, int] | None:
    """What the last answered request among the rows held, with its answer, in tokens, and the bytes
    of what came after it; None where no request that was counted is among them.

    `usage_of` is asked for a turn's step. That of a summary belongs to no row.
    """
    for at in range(len(read) - 1, -1, -1):
        row = read[at]
        if row.role != "assistant" or row.type == "error":
            continue
        usage = usage_of(row.turn_id, row.step)
        if usage.prompt:
            return usage.prompt + usage.output, weight_of(read[at + 1 :])
    return None


def measured(rows: Sequence[LogChunk], usage_of: Callable[[str, int], Usage]) -> tuple[int, int]:
    """What the next request holds: the tokens of the last answered one, or of the head where none
    was counted, and the bytes of what comes after."""
    read = told(standing(rows))
    return answered(read, usage_of) or (head_tokens(rows), weight_of(read))


def size(rows: Sequence[LogChunk], usage_of: Callable[[str, int], Usage]) -> int:
    """The tokens of the next request, without what is said next."""
    counted, since = measured(rows, usage_of)
    return counted + tokens_of(since)


def next_piece(rows: Sequence[LogChunk], limit: int) -> tuple[list[LogChunk], list[LogChunk], bool]:
    """The first rows, of at most `limit` tokens; the rest; whether one had to be shortened.

    It is cut where no call is open; what is larger than a piece by itself is shortened.
    """
    allowed = limit * BYTES_A_TOKEN
    piece: list[LogChunk] = []
    taken = 0
    for unit in _units(rows):
        heavy = sum(weight(row.data) for row in unit)
        if not piece and heavy > allowed:
            return shortened(unit, allowed), list(rows[len(unit) :]), True
        if taken + heavy > allowed:
            break
        piece.extend(unit)
        taken += heavy
    return piece, list(rows[len(piece) :]), False


def shortened(rows: Sequence[LogChunk], allowed: int) -> list[LogChunk]:
    """Rows whose long texts keep only their beginning and end, `allowed` bytes in all."""
    share = allowed // max(1, len(rows))
    return [replace(row, data=_cut(row.data, share)) for row in rows]


def without_thinking(rows: Iterable[LogChunk]) -> list[LogChunk]:
    """What can be told behind other bytes than the ones it was said after: no thinking, which is
    bound to them, and no blocks of the provider's own."""
    return [row for row in rows if not isinstance(row.data, Thinking | Opaque)]


def _units(rows: Iterable[LogChunk]) -> Iterator[list[LogChunk]]:
    """Rows that must stay together: calls with their results."""
    unit: list[LogChunk] = []
    waiting: set[str] = set()
    for row in rows:
        is_next = not waiting or (row.turn_id, row.step) != (unit[-1].turn_id, unit[-1].step)
        if unit and row.role != "tool" and is_next:
            yield unit
            unit, waiting = [], set()
        unit.append(row)
        if isinstance(row.data, ToolCall):
            waiting.add(row.data.call_id)
        elif isinstance(row.data, ToolResult):
            waiting.discard(row.data.call_id)
    if unit:
        yield unit


def _cut(data: Payload, share: int) -> Payload:
    if weight(data) <= share:
        return data
    share = max(LEAST_SHARE, share - CALL_FRAME - FRAME)
    match data:
        case Text():
            texts = [data.text, *(_attached(one) for one in data.attachments)]
            return Text(_ends("\n\n".join(texts), share))
        case ToolCall():
            # Half, for its quotes are marked once more.
            arguments = {"shortened": _ends(_json(data.arguments), share // 2)}
            return ToolCall(data.call_id, data.name, arguments)
        case ToolResult():
            return replace(data, result=_ends(data.result, share), extra={})
        case System():
            return replace(data, text=_ends(data.text, share))
        case _:
            return data


def _attached(entry: Json) -> str:
    """What is left of an attachment where there is no room: its text, or a picture's name."""
    return str(entry.get("text") or "") or f"[{entry.get('name') or 'attachment'}]"


def _ends(text: str, allowed: int) -> str:
    """The beginning and the end of a text."""
    raw = text.encode("utf-8", "replace")
    if len(raw) <= allowed:
        return text
    head, tail = raw[: allowed * 2 // 3], raw[len(raw) - allowed // 3 :]
    left_out = f"\n[… {len(raw) - allowed} bytes left out …]\n"
    return head.decode("utf-8", "ignore") + left_out + tail.decode("utf-8", "ignore")


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))


def _json(value: Any) -> str:
    return json.dumps(dict(value), ensure_ascii=False, default=str)
