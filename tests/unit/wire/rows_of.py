"""Rows of a conversation, written as a conversation."""

import base64
import hashlib
import io
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from PIL import Image
from pypdf import PdfWriter

from desktop.core.chunks import (
    ErrorNote,
    LogChunk,
    NewChunk,
    Payload,
    Role,
    Stamp,
    System,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    payload_from_json,
    payload_to_json,
)
from desktop.core.events import ModelEvent
from desktop.core.model import RequestOptions
from desktop.core.reducer import Reducer, Sealed
from desktop.core.rewrites import replacing
from desktop.core.shown import Place
from desktop.wire.models import ModelTable
from desktop.wire.request import build

ROOT = Path(__file__).parents[3]
SHIPPED: dict[str, Any] = json.loads((ROOT / "resources" / "models.json").read_text("utf-8"))
MODELS = ModelTable.from_json(SHIPPED)
OPUS = "claude-opus-5-5"
ME = Stamp("anthropic:0a1b2c3d", OPUS)
TOOLS: list[dict[str, Any]] = [
    {
        "name": name,
        "description": f"{name} of the workspace",
        "input_schema": {"type": "object", "properties": {"path": {"type": "string"}}},
    }
    for name in ("list_dir", "read_file")
]


@dataclass(frozen=True, slots=True)
class Kept:
    """A picture or document with its bytes, and the entry by which rows refer to it."""

    entry: dict[str, Any]
    content: bytes

    @property
    def sha256(self) -> str:
        return self.entry["sha256"]

    @property
    def data(self) -> str:
        return base64.b64encode(self.content).decode()


def picture(number: int = 0, *, side: int = 8, name: str = "") -> Kept:
    """A real PNG; another number is another picture."""
    content = io.BytesIO()
    Image.new("RGB", (side, side), (number % 256, number // 256 % 256, 7)).save(content, "PNG")
    return kept(content.getvalue(), "image/png", name or f"{number}.png", width=side, height=side)


def paper(pages: int = 1) -> Kept:
    """A real PDF."""
    writer, content = PdfWriter(), io.BytesIO()
    for _ in range(pages):
        writer.add_blank_page(100, 100)
    writer.write(content)
    return kept(content.getvalue(), "application/pdf", f"{pages}.pdf", pages=pages)


def kept(content: bytes, media_type: str, name: str, **more: Any) -> Kept:
    entry = {
        "kind": "image" if media_type.startswith("image/") else "document",
        "sha256": hashlib.sha256(content).hexdigest(),
        "mediaType": media_type,
        "name": name,
        "size": len(content),
    }
    return Kept(entry | more, content)


def bytes_of(*found: Kept) -> dict[str, str]:
    return {one.sha256: one.data for one in found}


@dataclass(slots=True)
class Log:
    """A log that grows; `turn` and `step` are those of the next rows."""

    rows: list[LogChunk] = field(default_factory=list[LogChunk])
    stamp: Stamp = ME
    turn: str = "t1"
    step: int = 0

    def add(self, role: Role, data: Payload, *, step: int | None = None) -> LogChunk:
        row = LogChunk(
            id=f"row-{len(self.rows) + 1}",
            tab_id="tab",
            seq=len(self.rows) + 1,
            turn_id=self.turn,
            step=self.step if step is None else step,
            role=role,
            data=data,
            created_at=1_700_000_000_000 + len(self.rows),
            stamp=self.stamp,
        )
        self.rows.append(row)
        return row

    def prompt(self, text: str = "You work in a folder.", tools: Any = TOOLS) -> LogChunk:
        return self.add("system", System("prompt", text, {"tools": tools}))

    def user(self, text: str) -> LogChunk:
        return self.add("user", Text(text))

    def shows(self, *pictures: Kept, text: str = "Look") -> LogChunk:
        return self.add("user", Text(text, attachments=tuple(one.entry for one in pictures)))

    def result_shows(self, call_id: str, *pictures: Kept, text: str = "fine") -> LogChunk:
        extra = {"images": [one.entry for one in pictures]}
        return self.add("tool", ToolResult(call_id, "read_file", text, extra=extra))

    def replaces(self, *places: Place) -> LogChunk:
        return self.add("system", replacing(places, "Left out."))

    def says(self, text: str) -> LogChunk:
        return self.add("assistant", Text(text))

    def thinks(self, text: str, signature: str = "sig") -> LogChunk:
        block = {"type": "thinking", "thinking": None, "signature": signature}
        return self.add("assistant", Thinking(text, metadata=block))

    def calls(self, call_id: str, name: str = "read_file", **arguments: Any) -> LogChunk:
        return self.add("assistant", ToolCall(call_id, name, arguments))

    def result(self, call_id: str, text: str = "fine", *, is_error: bool = False) -> LogChunk:
        return self.add("tool", ToolResult(call_id, "read_file", text, is_error))

    def fact(self, text: str) -> LogChunk:
        return self.add("system", System("fact", text))

    def error(self, text: str) -> LogChunk:
        return self.add("system", ErrorNote(text))

    def retract(self, *rows: LogChunk) -> LogChunk:
        return self.add("system", System("retracted", "", {"chunkIds": [row.id for row in rows]}))

    def sealed(self, chunks: Iterable[NewChunk]) -> None:
        for chunk in chunks:
            self.add("assistant", chunk.data, step=chunk.step)

    def heard(self, events: Iterable[ModelEvent]) -> None:
        """The rows that a response leaves, by the reducer."""
        reducer = Reducer(turn_id=self.turn, step=self.step, stamp=self.stamp, new_id=counter())
        for event in events:
            for op in reducer.apply(event):
                if isinstance(op, Sealed):
                    self.add(op.chunk.role, op.chunk.data)

    def body(self, **options: Any) -> dict[str, Any]:
        return body_of(self.rows, stamp=self.stamp, **options)


def body_of(rows: Sequence[LogChunk], *, stamp: Stamp = ME, **options: Any) -> dict[str, Any]:
    model = options.pop("model", stamp.model)
    pictures = options.pop("pictures", {})
    asked = RequestOptions(model, **options)
    return build(rows, asked, models=MODELS, stamp=stamp, pictures=pictures)


def said(body: dict[str, Any]) -> list[tuple[str, list[Any]]]:
    """The messages as (role, blocks), cache markers taken off."""
    return [
        (message["role"], [unmarked(block) for block in message["content"]])
        for message in body["messages"]
    ]


def unmarked(block: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in block.items() if key != "cache_control"}


def text(value: str) -> dict[str, Any]:
    return {"type": "text", "text": value}


def markers(body: dict[str, Any]) -> list[dict[str, Any]]:
    """The marked blocks of a body, wherever they are."""
    blocks = [*body.get("tools", []), *body.get("system", [])]
    for message in body["messages"]:
        blocks.extend(message["content"])
    return [block for block in blocks if "cache_control" in block]


def reloaded(rows: Iterable[LogChunk]) -> list[LogChunk]:
    """The rows after a trip through the JSON of the log."""
    return [
        replace(
            row,
            data=payload_from_json(row.type, json.loads(json.dumps(payload_to_json(row.data)))),
        )
        for row in rows
    ]


def counter() -> Callable[[], str]:
    numbers = iter(range(1, 1_000_000))
    return lambda: f"id-{next(numbers)}"
