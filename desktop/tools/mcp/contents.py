"""What a server's tool answers, as the text that a model reads (API §1.9).

Pictures, sounds and files are named with their kind and size instead of being carried along:
nothing that a server sends can make a conversation unusable (FIELD F-W12).
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from desktop.tools.output import readable
from desktop.tools.texts import whole_characters

NOTHING = "[no output]"
NO_WORDS = "The tool server reported an error and gave no reason."


@dataclass(frozen=True, slots=True)
class Reply:
    """The text of an answer; `is_error` as the server said."""

    text: str
    is_error: bool


def reply_of(result: Mapping[str, Any]) -> Reply:
    """From the JSON of a result, whatever is in it."""
    is_error = result.get("isError") is True
    content = result.get("content")
    blocks = content if isinstance(content, list) else []
    parts = [_words(block) for block in blocks]
    structured = result.get("structuredContent")
    if not any(part.strip() for part in parts) and structured is not None:
        parts = [json.dumps(structured, ensure_ascii=False, indent=1)]
    text = "\n\n".join(part for part in parts if part)
    if not text.strip():
        text = NO_WORDS if is_error else NOTHING
    return Reply(whole_characters(text), is_error)


def _words(block: object) -> str:
    if not isinstance(block, dict):
        return ""
    match block.get("type"):
        case "text":
            return str(block.get("text", ""))
        case "image":
            return _left_out("A picture", block, block.get("data"))
        case "audio":
            return _left_out("A sound", block, block.get("data"))
        case "resource_link":
            label = block.get("title") or block.get("name") or "resource"
            about = block.get("description")
            return f"[Link: {label} <{block.get('uri', '')}>{f' – {about}' if about else ''}]"
        case "resource":
            return _resource(block.get("resource"))
        case kind:
            return f"[Something of the kind {kind}, which Nacre does not know, is left out.]"


def _resource(resource: object) -> str:
    if not isinstance(resource, dict):
        return ""
    if isinstance(resource.get("text"), str):
        return f"[{resource.get('uri', '')}]\n{resource['text']}"
    return _left_out(f"The file {resource.get('uri', '')}", resource, resource.get("blob"))


def _left_out(what: str, block: Mapping[str, Any], data: object) -> str:
    size = f", {readable(len(data) * 3 // 4)}" if isinstance(data, str) else ""
    return f"[{what} ({block.get('mimeType') or 'of an unknown kind'}{size}) is left out.]"
