"""Between a payload and the columns of its row.

`data_json` is ASCII-escaped JSON, so that any text, lone surrogates and NUL included, is kept and
read back as it was. Plain text columns can't hold those: there each becomes U+FFFD. A text that
was attached is kept once as a blob; its place in the JSON holds the hash and `"stored": "text"`.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, assert_never

from desktop.core.chunks import (
    DamagedRow,
    ErrorNote,
    LogChunk,
    Opaque,
    Payload,
    Stamp,
    System,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    payload_from_json,
    payload_to_json,
)
from desktop.core.errors import PayloadError

SEARCH_CAP = 100_000
# The kinds of system rows that a person may look for.
_SEARCHED_KINDS = frozenset({"fact", "notice", "compaction"})
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_UNSEARCHABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]+")

# Without the look for blanks around that `json.loads` takes.
_DECODER = json.JSONDecoder()

TextOf = Callable[[str], str | None]


@dataclass(frozen=True, slots=True)
class KeptText:
    """An attached text on its way to a blob."""

    sha256: str
    content: bytes
    media_type: str


@dataclass(frozen=True, slots=True)
class Encoded:
    """A payload as columns; `texts` are to be kept as blobs before the row is written."""

    data_json: str
    search_text: str | None
    texts: tuple[KeptText, ...] = ()


def encode(payload: Payload) -> Encoded:
    """The columns of a payload."""
    data = payload_to_json(payload)
    texts: list[KeptText] = []
    if isinstance(payload, Text) and payload.attachments:
        data["attachments"] = [_set_apart(one, texts) for one in payload.attachments]
    return Encoded(to_json(data), search_text(payload), tuple(texts))


def decode(type_: str, data_json: str | bytes, text_of: TextOf | None = None) -> Payload:
    """The payload of a row; attached texts come back where `text_of` knows their blob.

    Raises PayloadError (SPEC C12).
    """
    try:
        # Decoded here: json would guess the encoding of every row.
        text = data_json if isinstance(data_json, str) else data_json.decode()
        data, end = _DECODER.raw_decode(text)
        if end != len(text):
            data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise PayloadError(f"not JSON ({type(error).__name__})") from error
    if text_of is not None and type_ == "text" and isinstance(data, dict):
        attachments = data.get("attachments")
        if isinstance(attachments, list):
            data["attachments"] = [_put_back(one, text_of) for one in attachments]
    return payload_from_json(type_, data)


def chunk_of(tab_id: str, row: Any, text_of: TextOf | None = None) -> LogChunk | DamagedRow:
    """A row `(id, seq, turn_id, step, role, type, data, created_at, provider, model)` as read.

    `data` is bytes, because a damaged text would otherwise fail the whole read.
    """
    id_, seq, turn_id, step, role, type_, data, created_at, provider, model = row
    try:
        payload = decode(type_, data, text_of)
    except PayloadError as error:
        return DamagedRow(id_, seq, str(error), bytes(data).decode("utf-8", "replace"))
    stamp = _stamp(provider, model)
    return LogChunk(id_, tab_id, seq, turn_id, step, role, payload, created_at, stamp)


@lru_cache(maxsize=64)
def _stamp(provider: str | None, model: str | None) -> Stamp:
    """One value for all rows of an account and a model."""
    return Stamp(provider or "", model or "")


def clean(text: str) -> str:
    """The text as a plain column can hold it: lone surrogates and NUL become U+FFFD."""
    return _UNSTORABLE.sub("�", text)


def to_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"), default=_plain)


def search_text(payload: Payload) -> str | None:
    """What a person can find the row by, cleaned and capped; None where there is nothing."""
    text = _UNSEARCHABLE.sub(" ", _searched(payload)[:SEARCH_CAP]).strip()
    return text or None


def _searched(payload: Payload) -> str:
    match payload:
        case Text():
            names = [str(one.get("name", "")) for one in payload.attachments]
            return "\n".join([payload.text, *names])
        case Thinking():
            return payload.text
        case ToolCall():
            return "\n".join([payload.name, *_strings(payload.arguments)])
        case ToolResult():
            return payload.result
        case ErrorNote():
            return payload.message
        case System():
            return payload.text if payload.kind in _SEARCHED_KINDS else ""
        case Opaque():
            return ""
        case _:
            assert_never(payload)


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from _strings(one)
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from _strings(one)


def _set_apart(attachment: Mapping[str, Any], texts: list[KeptText]) -> dict[str, Any]:
    text = attachment.get("text")
    if not isinstance(text, str) or "sha256" in attachment or "stored" in attachment:
        return dict(attachment)
    content = text.encode("utf-8", "surrogatepass")
    digest = hashlib.sha256(content).hexdigest()
    texts.append(KeptText(digest, content, str(attachment.get("mediaType", "text/plain"))))
    kept: dict[str, Any] = {}
    for key, value in attachment.items():
        if key == "text":
            kept |= {"sha256": digest, "stored": "text"}
        else:
            kept[key] = value
    return kept


def _put_back(attachment: Any, text_of: TextOf) -> Any:
    """The attachment with its text; as stored where it was none or its blob is gone."""
    if not isinstance(attachment, dict) or attachment.get("stored") != "text":
        return attachment
    text = text_of(str(attachment.get("sha256")))
    if text is None:
        return attachment
    back: dict[str, Any] = {}
    for key, value in attachment.items():
        if key == "sha256":
            back["text"] = text
        elif key != "stored":
            back[key] = value
    return back


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is no JSON value")
