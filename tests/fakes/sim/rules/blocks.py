"""The content blocks: their fields, who may say them, and what text may be (V13 to V18, V27)."""

from __future__ import annotations

import base64
import binascii
from typing import Any

from tests.fakes.sim.problems import Refusal
from tests.fakes.sim.rules.shapes import (
    Check,
    anything,
    boolean,
    fields,
    items,
    listing,
    mapping,
    matching,
    nullable,
    one_of,
    string,
    tag,
    tagged,
)

TOOL_ID = r"[a-zA-Z0-9_-]+"
IMAGE_LIMIT = 10 * 1024 * 1024
MAGIC = {
    "image/jpeg": (b"\xff\xd8\xff",),
    "image/png": (b"\x89PNG\r\n\x1a\n",),
    "image/gif": (b"GIF87a", b"GIF89a"),
    "image/webp": (b"RIFF",),
}

_type: dict[str, Check] = {"type": string}

cache_control = nullable(
    fields({"type": one_of("ephemeral")}, {"ttl": nullable(one_of("5m", "1h"))})
)
_marked: dict[str, Check] = {"cache_control": cache_control}


def _base64_image(value: Any, path: str) -> None:
    fields({"type": string, "media_type": one_of(*MAGIC), "data": string})(value, path)
    try:
        data = base64.b64decode(value["data"], validate=True)
    except (binascii.Error, ValueError) as error:
        raise Refusal(f"{path}.data: invalid base64 data") from error
    if len(value["data"]) > IMAGE_LIMIT:
        raise Refusal(f"{path}: image exceeds 10 MB maximum: {len(value['data'])} bytes")
    if not data.startswith(MAGIC[value["media_type"]]):
        raise Refusal(f"{path}: Image does not match the provided media type {value['media_type']}")


image_source = tagged(
    {
        "base64": _base64_image,
        "url": fields(_type | {"url": string}),
        "file": fields(_type | {"file_id": string}),
    }
)
document_source = tagged(
    {
        "base64": fields(_type | {"media_type": one_of("application/pdf"), "data": string}),
        "text": fields(_type | {"media_type": one_of("text/plain"), "data": string}),
        "content": fields(_type | {"content": anything}),
        "url": fields(_type | {"url": string}),
        "file": fields(_type | {"file_id": string}),
    }
)

text = fields(_type | {"text": string}, _marked | {"citations": nullable(listing)})
image = fields(_type | {"source": image_source}, _marked | {"transformations": nullable(mapping)})
document = fields(
    _type | {"source": document_source},
    _marked
    | {
        "title": nullable(string),
        "context": nullable(string),
        "citations": nullable(fields({}, {"enabled": boolean})),
    },
)
search_result = fields(
    _type | {"source": string, "title": string, "content": items(tagged({"text": text}))},
    _marked | {"citations": nullable(fields({}, {"enabled": boolean}))},
)
thinking = fields(_type | {"thinking": string, "signature": string})
redacted_thinking = fields(_type | {"data": string})
tool_use = fields(
    _type | {"id": matching(TOOL_ID), "name": string, "input": mapping},
    _marked | {"caller": anything, "toolset_name": nullable(string)},
)

_RESULT_PARTS: dict[str, Check] = {
    "text": text,
    "image": image,
    "document": document,
    "search_result": search_result,
    "tool_reference": fields(_type | {"tool_name": string}, _marked),
}


def _result_content(value: Any, path: str) -> None:
    if not isinstance(value, str):
        items(tagged(_RESULT_PARTS))(value, path)


tool_result = fields(
    _type | {"tool_use_id": matching(TOOL_ID)},
    _marked
    | {
        "content": nullable(_result_content),
        "is_error": nullable(boolean),
        "toolset_name": nullable(string),
        "browser_state": anything,
    },
)

USER: dict[str, Check] = {
    "text": text,
    "image": image,
    "document": document,
    "search_result": search_result,
    "tool_result": tool_result,
    "container_upload": fields(_type | {"file_id": string}, _marked),
}
SERVER_RESULTS = (
    "web_search_tool_result",
    "web_fetch_tool_result",
    "code_execution_tool_result",
    "bash_code_execution_tool_result",
    "text_editor_code_execution_tool_result",
    "tool_search_tool_result",
    "advisor_tool_result",
    "mcp_tool_result",
)
ASSISTANT: dict[str, Check] = {
    "text": text,
    "thinking": thinking,
    "redacted_thinking": redacted_thinking,
    "tool_use": tool_use,
    "server_tool_use": tool_use,
    "mcp_tool_use": fields(_type | {"id": string, "name": string}, more=True),
    "compaction": fields(_type, more=True),
    **{name: fields(_type | {"tool_use_id": string}, more=True) for name in SERVER_RESULTS},
}
SYSTEM: dict[str, Check] = {"text": text}
BY_ROLE = {"user": USER, "assistant": ASSISTANT, "system": SYSTEM}


def check_content(content: Any, role: str, path: str) -> None:
    """The content of one message: a string or blocks of the types this role may use (V15)."""
    if isinstance(content, str):
        return
    listing(content, path)
    for index, block in enumerate(content):
        at = f"{path}.{index}"
        mapping(block, at)
        _check_speaker(tag(block, at), role, at)
        tagged(BY_ROLE[role])(block, at)


def _check_speaker(kind: str, role: str, path: str) -> None:
    if kind in BY_ROLE[role]:
        return
    for other, shapes in BY_ROLE.items():
        if kind in shapes:
            place = path.split(".content", maxsplit=1)[0]
            raise Refusal(f"{place}: `{kind}` blocks can only be in `{other}` messages")


def check_text(value: str, place: str, *, marked: bool = False) -> None:
    """Text has something in it that is not a space (V13); `place` is `messages` or `system`."""
    if not value and marked:
        raise Refusal(f"{place}: cache_control cannot be set for empty text blocks")
    if not value:
        raise Refusal(f"{place}: text content blocks must be non-empty")
    if not value.strip():
        raise Refusal(f"{place}: text content blocks must contain non-whitespace text")


def check_texts(content: Any, place: str) -> None:
    """All text blocks of a content list, those inside tool results too."""
    for block in content if isinstance(content, list) else []:
        if block["type"] == "text":
            check_text(block["text"], place, marked=bool(block.get("cache_control")))
        if block["type"] == "tool_result":
            check_texts(block.get("content"), place)
