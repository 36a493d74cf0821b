"""The prompt as a row of positions: what the cache hashes and thinking is bound to (API S10, S11).

Each tool, each system block and each content block is one position. Its bytes are the JSON as
received, key order kept, without `cache_control`; so a moved marker changes nothing and a
reordered key changes everything.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tests.fakes.sim.problems import Json

IMAGE_TOKENS = 1568
BYTES_A_TOKEN = 3.6


@dataclass(frozen=True, slots=True)
class Position:
    """One place of the prompt. `part` is `tools`, `system` or `messages`."""

    path: str
    part: str
    role: str
    block: Any
    raw: bytes
    tokens: int
    marker: str | None


def positions(body: Json) -> list[Position]:
    """All positions of a request, in the provider's order: tools, system, messages."""
    return [*_tools(body), *_system(body), *_messages(body)]


def compact(value: object, *, ordered: bool = True) -> bytes:
    """JSON without spaces. `ordered` keeps the key order as received."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=not ordered)
    return text.encode("utf-8", "surrogatepass")


def unmarked(block: Any) -> Any:
    """The block without cache markers, its own and those of nested result blocks.

    Tool inputs and schemas are the person's data: a key of that name in there stays.
    """
    if not isinstance(block, dict):
        return block
    bare: Json = {key: value for key, value in block.items() if key != "cache_control"}
    content = bare.get("content")
    if isinstance(content, list):
        bare["content"] = [unmarked(part) for part in content]
    return bare


def marker_of(block: Any) -> str | None:
    """The time to live of the block's cache marker, its own or a nested one; None without one."""
    if not isinstance(block, dict):
        return None
    control = block.get("cache_control")
    if isinstance(control, dict):
        return str(control.get("ttl") or "5m")
    content = block.get("content")
    nested = content if isinstance(content, list) else []
    return next((found for part in nested if (found := marker_of(part))), None)


def tokens_of(block: Any) -> int:
    """A stable count: a token for 3.6 bytes of text, a flat sum for an image (S14)."""
    if isinstance(block, str):
        return math.ceil(len(block.encode("utf-8", "surrogatepass")) / BYTES_A_TOKEN)
    if not isinstance(block, dict):
        return 0
    kind = block.get("type")
    if kind == "text":
        return tokens_of(str(block.get("text", "")))
    if kind == "image":
        return IMAGE_TOKENS
    content = block.get("content")
    if kind == "tool_result":
        parts = content if isinstance(content, list) else [content or ""]
        return 12 + sum(tokens_of(part) for part in parts)
    return math.ceil(len(compact(unmarked(block))) / BYTES_A_TOKEN)


def _tools(body: Json) -> Iterator[Position]:
    for index, tool in enumerate(_listed(body.get("tools"))):
        yield _position(f"tools.{index}", "tools", "", tool)


def _system(body: Json) -> Iterator[Position]:
    system = body.get("system")
    if isinstance(system, str):
        if system:
            yield _position("system", "system", "", system)
        return
    for index, block in enumerate(_listed(system)):
        yield _position(f"system.{index}", "system", "", block)


def _messages(body: Json) -> Iterator[Position]:
    for index, message in enumerate(_listed(body.get("messages"))):
        if not isinstance(message, dict):
            continue
        role = str(message.get("role"))
        content = message.get("content")
        if isinstance(content, str):
            yield _position(f"messages.{index}.content", "messages", role, content)
            continue
        for at, block in enumerate(_listed(content)):
            yield _position(f"messages.{index}.content.{at}", "messages", role, block)


def _position(path: str, part: str, role: str, block: Any) -> Position:
    raw = role.encode() + b"\0" + compact(unmarked(block))
    return Position(path, part, role, block, raw, tokens_of(block), marker_of(block))


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
