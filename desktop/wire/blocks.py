"""One row and its block on the wire: taken apart when it is received, put together when it is sent.

What is sent back is what came: the received block in its key order, the separately stored values
put back where None stands for them (SPEC C02, F-W02).
"""

import math
import re
from collections.abc import Mapping
from typing import Any, cast

from desktop.core.chunks import Json, LogChunk, Opaque, Stamp, Text, Thinking, ToolCall, ToolResult
from desktop.core.shown import entries
from desktop.wire.showing import Showing

Block = dict[str, Any]

NO_RESULT = "This call was interrupted: no result was recorded."
NO_REASON = "The tool failed without a message."
ID_PATTERN = re.compile(r"[^a-zA-Z0-9_-]")
NAME_LIMIT = 64
_SURROGATE = re.compile("[\ud800-\udfff]")


def template(received: Json, apart: tuple[str, ...], *, plain: tuple[str, ...]) -> Block | None:
    """The received block with the values stored apart as None, or None for just the plain form.

    The plain form is exactly these keys in this order.
    """
    if tuple(received) == plain:
        return None
    return {key: None if key in apart else value for key, value in received.items()}


def put_back(held: Json | None, plain: Json, **values: Any) -> Block:
    """The block as it was received; `plain` is the form of a block that has no template."""
    block = dict(plain if held is None else held)
    block.update(values)
    return block


def text_block(text: str) -> Block:
    return {"type": "text", "text": text}


def said(data: Text) -> Block:
    """A text of the model, with what came beside it (citations)."""
    return put_back(data.block, {"type": "text"}, text=data.text)


def thought(data: Thinking) -> Block | None:
    """A thinking block with its signature; None where it has none and so can't be sent."""
    if data.metadata is None:
        return None
    if data.metadata.get("type") == "redacted_thinking":
        return dict(data.metadata)
    if not data.metadata.get("signature"):
        return None
    plain = {"type": "thinking", "thinking": None}
    return put_back(
        {**({} if "type" in data.metadata else plain), **data.metadata}, {}, thinking=data.text
    )


def called(data: ToolCall, call_id: str) -> Block:
    """A call under the id that it has on the wire."""
    plain = {"type": "tool_use", "id": None, "name": None, "input": None}
    return put_back(
        data.block, plain, id=call_id, name=legal_name(data.name), input=dict(data.arguments)
    )


def answered(data: ToolResult | None, call_id: str, shown: Showing) -> Block:
    """The result of a call; a missing one is an error result that says so (SPEC C09)."""
    block: Block = {"type": "tool_result", "tool_use_id": call_id}
    is_error = data is None or data.is_error
    text = NO_RESULT if data is None else data.result
    if is_error and not text.strip():
        text = NO_REASON
    # The provider takes nothing but text in an error.
    pictures = [] if is_error or data is None else shown.blocks(entries(data))
    content = [text_block(text), *pictures] if text.strip() else pictures
    if content:
        block["content"] = content
    if is_error:
        block["is_error"] = True
    return block


def asked(data: Text, shown: Showing) -> list[Block]:
    """A text of the person and the files they attached, each under a line that names it."""
    found = [text_block(data.text)] if data.text.strip() else []
    for one in data.attachments:
        found.extend(attached(one, shown))
    return found


def attached(attachment: Json, shown: Showing) -> list[Block]:
    """The blocks of an attachment; none where it holds nothing that can be sent."""
    name, kind = attachment.get("name", ""), attachment.get("mediaType", "")
    caption = f"Attached file: {name} ({kind})"
    picture = shown.block(attachment)
    if picture is not None:
        return [text_block(caption), picture]
    text = attachment.get("text")
    return [text_block(f"{caption}\n\n{text}")] if isinstance(text, str) else []


def replayed(row: LogChunk, to: Stamp) -> Block | None:
    """A provider's own block, for the provider and account that made it."""
    data = row.data
    if not isinstance(data, Opaque) or row.stamp.provider != to.provider:
        return None
    return dict(data.block)


def is_thinking(block: Block) -> bool:
    return block.get("type") in ("thinking", "redacted_thinking")


def legal_name(name: str) -> str:
    """A tool name as the provider takes it; ours are so from the start, imported ones may not."""
    return ID_PATTERN.sub("_", name)[:NAME_LIMIT] or "tool"


class CallIds:
    """Gives each call of a conversation a legal id that no other has, in order of appearance."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def give(self, id_: str) -> str:
        wanted = ID_PATTERN.sub("_", id_) or "call"
        unique, number = wanted, 2
        while unique in self._taken:
            unique, number = f"{wanted}_{number}", number + 1
        self._taken.add(unique)
        return unique


def clean(value: Any) -> Any:
    """The value as it can be sent: half surrogates become U+FFFD, numbers that JSON lacks null."""
    match value:
        case str():
            return clean_text(value)
        case float():
            return value if math.isfinite(value) else None
        case Mapping():
            items = cast("Mapping[str, Any]", value)
            return {clean_text(key): clean(one) for key, one in items.items()}
        case list() | tuple():
            return [clean(one) for one in cast("list[Any]", value)]
        case _:
            return value


def clean_text(text: str) -> str:
    """The text without lone surrogates (F-W05)."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)
