"""The sealed layers of a conversation: `LogChunk` and the closed union of its payloads.

A payload's JSON keys are those of the log (`callId`, `isError`, …); keys that this version does
not know are kept in `extra` and survive a round trip. What a provider's block holds beyond our
keys is kept as `block` (or `metadata` of a thinking): the block as received, in its key order,
with the values that we store apart replaced by None; `None` when the plain form is the block.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, assert_never

from desktop.core.errors import PayloadError

Json = Mapping[str, Any]
Role = Literal["user", "assistant", "tool", "system"]
Type = Literal["text", "thinking", "tool_call", "tool_result", "error", "system", "opaque"]
SystemKind = Literal[
    "prompt", "fact", "notice", "retracted", "compaction", "model", "tools", "rewrite", "turn_end"
]
Outcome = Literal["done", "stopped", "failed", "refused", "interrupted"]


_NOTHING: Json = MappingProxyType({})


def _nothing() -> Json:
    return _NOTHING


@dataclass(frozen=True, slots=True)
class Text:
    """What the person or the model said.

    An attachment is `{name, mediaType, text | sha256, size}`.
    """

    text: str
    attachments: tuple[Json, ...] = ()
    interrupted: bool = False
    block: Json | None = None
    extra: Json = field(default_factory=_nothing)


@dataclass(frozen=True, slots=True)
class Thinking:
    """A piece of the model's thinking; `metadata` is the provider's block with its text None."""

    text: str
    metadata: Json | None = None
    extra: Json = field(default_factory=_nothing)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """What the model asks for. Arguments that were no JSON object are kept in `extra["malformed"]`
    as the text received, with `arguments` empty (SPEC C10)."""

    call_id: str
    name: str
    arguments: Json
    block: Json | None = None
    extra: Json = field(default_factory=_nothing)


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a call brought. `shell_output` is `{exitCode, durationMs, timedOut, …}` of a command;
    a long result holds head and tail here and `extra["full"] = {sha256, size}`."""

    call_id: str
    name: str
    result: str
    is_error: bool = False
    shell_output: Json | None = None
    extra: Json = field(default_factory=_nothing)


@dataclass(frozen=True, slots=True)
class ErrorNote:
    """What went wrong in a turn, as the person saw it; never sent to a model (SPEC C08)."""

    message: str
    status_code: int | None = None
    extra: Json = field(default_factory=_nothing)


@dataclass(frozen=True, slots=True)
class System:
    """A row of the program's own. `fields` are the kind's keys beside `kind` and `text`."""

    kind: str
    text: str = ""
    fields: Json = field(default_factory=_nothing)


@dataclass(frozen=True, slots=True)
class Opaque:
    """A provider block that is replayed as received (server tools, blocks unknown today)."""

    block: Json
    extra: Json = field(default_factory=_nothing)


Payload = Text | Thinking | ToolCall | ToolResult | ErrorNote | System | Opaque


def type_of(payload: Payload) -> Type:
    """The `type` column of a payload."""
    match payload:
        case Text():
            return "text"
        case Thinking():
            return "thinking"
        case ToolCall():
            return "tool_call"
        case ToolResult():
            return "tool_result"
        case ErrorNote():
            return "error"
        case System():
            return "system"
        case Opaque():
            return "opaque"
        case _:
            assert_never(payload)


@dataclass(frozen=True, slots=True)
class Stamp:
    """For whom a row was: `provider` is `name:fingerprint` of the account, `model` its id."""

    provider: str = ""
    model: str = ""


@dataclass(frozen=True, slots=True)
class NewChunk:
    """A sealed block that has no place yet: the store gives it `seq` and `created_at`."""

    id: str
    turn_id: str
    role: Role
    data: Payload
    step: int = 0
    stamp: Stamp = Stamp()

    @property
    def type(self) -> Type:
        return type_of(self.data)


@dataclass(frozen=True, slots=True)
class LogChunk:
    """A row of the log. `seq` is its place in the tab (1, 2, 3 …), `created_at` is ms UTC."""

    id: str
    tab_id: str
    seq: int
    turn_id: str
    step: int
    role: Role
    data: Payload
    created_at: int
    stamp: Stamp = Stamp()

    @property
    def type(self) -> Type:
        return type_of(self.data)


@dataclass(frozen=True, slots=True)
class DamagedRow:
    """A row whose payload could not be read; its place is known, its text kept for Details."""

    id: str
    seq: int
    reason: str
    raw: str


def payload_to_json(payload: Payload) -> dict[str, Any]:
    """The payload as the JSON object of the log; unknown keys come last, as they came."""
    match payload:
        case Text():
            data: dict[str, Any] = {"text": payload.text}
            if payload.attachments:
                data["attachments"] = [dict(one) for one in payload.attachments]
            if payload.interrupted:
                data["interrupted"] = True
            _put_block(data, "block", payload.block)
            return data | dict(payload.extra)
        case Thinking():
            data = {"text": payload.text}
            _put_block(data, "metadata", payload.metadata)
            return data | dict(payload.extra)
        case ToolCall():
            data = {
                "callId": payload.call_id,
                "name": payload.name,
                "arguments": dict(payload.arguments),
            }
            _put_block(data, "block", payload.block)
            return data | dict(payload.extra)
        case ToolResult():
            data = {
                "callId": payload.call_id,
                "name": payload.name,
                "result": payload.result,
                "isError": payload.is_error,
            }
            _put_block(data, "shellOutput", payload.shell_output)
            return data | dict(payload.extra)
        case ErrorNote():
            data = {"message": payload.message}
            if payload.status_code is not None:
                data["statusCode"] = payload.status_code
            return data | dict(payload.extra)
        case System():
            return {"kind": payload.kind, "text": payload.text} | dict(payload.fields)
        case Opaque():
            return {"block": dict(payload.block)} | dict(payload.extra)
        case _:
            assert_never(payload)


def payload_from_json(type_: str, data: object) -> Payload:
    """The payload of a row; raises PayloadError where a key is missing or of the wrong type."""
    if not isinstance(data, dict):
        raise PayloadError(f"{type_}: not a JSON object")
    if type_ == "text" and len(data) == 1 and isinstance(data.get("text"), str):
        return Text(data["text"])  # most rows: a page is made of them
    rest: dict[str, Any] = dict(data)
    match type_:
        case "text":
            return Text(
                text=_take(rest, "text", str),
                attachments=_take_objects(rest, "attachments"),
                interrupted=_take(rest, "interrupted", bool, default=False),
                block=_take_object(rest, "block"),
                extra=_frozen(rest),
            )
        case "thinking":
            return Thinking(
                text=_take(rest, "text", str),
                metadata=_take_object(rest, "metadata"),
                extra=_frozen(rest),
            )
        case "tool_call":
            return ToolCall(
                call_id=_take(rest, "callId", str),
                name=_take(rest, "name", str),
                arguments=_take(rest, "arguments", dict),
                block=_take_object(rest, "block"),
                extra=_frozen(rest),
            )
        case "tool_result":
            return ToolResult(
                call_id=_take(rest, "callId", str),
                name=_take(rest, "name", str),
                result=_take(rest, "result", str),
                is_error=_take(rest, "isError", bool, default=False),
                shell_output=_take_object(rest, "shellOutput"),
                extra=_frozen(rest),
            )
        case "error":
            status = rest.pop("statusCode", None)
            return ErrorNote(
                message=_take(rest, "message", str),
                status_code=status if isinstance(status, int) else None,
                extra=_frozen(rest),
            )
        case "system":
            return System(
                kind=_take(rest, "kind", str),
                text=_take(rest, "text", str, default=""),
                fields=_frozen(rest),
            )
        case "opaque":
            return Opaque(block=_take(rest, "block", dict), extra=_frozen(rest))
        case _:
            raise PayloadError(f"unknown type {type_!r}")


def _put_block(data: dict[str, Any], key: str, value: Json | None) -> None:
    if value is not None:
        data[key] = dict(value)


_MISSING: Any = object()


def _take(rest: dict[str, Any], key: str, kind: type, default: Any = _MISSING) -> Any:
    value = rest.pop(key, default)
    if value is _MISSING:
        raise PayloadError(f"{key} is missing")
    if not isinstance(value, kind):
        raise PayloadError(f"{key} is not a {kind.__name__}")
    return value


def _take_object(rest: dict[str, Any], key: str) -> Json | None:
    value = rest.pop(key, None)
    if value is not None and not isinstance(value, dict):
        raise PayloadError(f"{key} is not an object")
    return value


def _take_objects(rest: dict[str, Any], key: str) -> tuple[Json, ...]:
    if key not in rest:
        return ()
    value = rest.pop(key)
    if not isinstance(value, Sequence) or not all(isinstance(one, dict) for one in value):
        raise PayloadError(f"{key} is not a list of objects")
    return tuple(value)


def _frozen(rest: dict[str, Any]) -> Json:
    return MappingProxyType(rest) if rest else _NOTHING
