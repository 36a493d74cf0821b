"""What a server's tool answers, as the text that a model reads and what it may be shown (API §1.9).

Pictures and documents are handed on as the server sent them, to be checked; sounds and other files
are named with their kind and size instead of being carried along: nothing that a server sends can
make a conversation unusable (FIELD F-W12).
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from desktop.core.media import PDF
from desktop.tools.output import readable
from desktop.tools.texts import whole_characters

NOTHING = "[no output]"
NO_WORDS = "The tool server reported an error and gave no reason."
MOST_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Sent:
    """What a server wants to be shown, unchecked: base64, and the kind that it says it is."""

    data: str
    kind: str

    @property
    def words(self) -> str:
        what = "A document" if self.kind == PDF else "A picture"
        return f"{what} ({self.kind}, {readable(len(self.data) * 3 // 4)})"


@dataclass(frozen=True, slots=True)
class Reply:
    """The text of an answer and what it shows; `is_error` as the server said."""

    text: str
    is_error: bool
    shown: tuple[Sent, ...] = ()


def reply_of(result: Mapping[str, Any]) -> Reply:
    """From the JSON of a result, whatever is in it."""
    is_error = result.get("isError") is True
    content = result.get("content")
    parts: list[str] = []
    shown: list[Sent] = []
    for block in content if isinstance(content, list) else []:
        sent = _sent(block)
        if sent is not None and len(shown) < MOST_SHOWN:
            shown.append(sent)
        else:
            parts.append(_words(block))
    structured = result.get("structuredContent")
    if not shown and not any(part.strip() for part in parts) and structured is not None:
        parts = [json.dumps(structured, ensure_ascii=False, indent=1)]
    text = "\n\n".join(part for part in parts if part)
    if not text.strip() and not shown:
        text = NO_WORDS if is_error else NOTHING
    return Reply(whole_characters(text), is_error, tuple(shown))


def _sent(block: object) -> Sent | None:
    """What a block shows; None where it is anything else."""
    if not isinstance(block, dict):
        return None
    resource = block.get("resource")
    if block.get("type") == "resource" and isinstance(resource, dict):
        kind, data = resource.get("mimeType"), resource.get("blob")
        if isinstance(data, str) and isinstance(kind, str) and _can_be_shown(kind):
            return Sent(data, kind)
    if block.get("type") == "image" and isinstance(block.get("data"), str):
        return Sent(block["data"], str(block.get("mimeType") or "of an unknown kind"))
    return None


def _can_be_shown(kind: str) -> bool:
    return kind == PDF or kind.startswith("image/")


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
