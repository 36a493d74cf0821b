"""From a provider's events to ours (`core.events`), block by block, whoever the provider is.

Knows the shapes of API §1.3 and is as tolerant as they ask: unknown events and deltas are left out,
unknown blocks are kept whole. A message is over only when the provider said so.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, NoReturn, cast

from desktop.core.caching import Diagnosis
from desktop.core.chunks import Opaque, Payload, Text, Thinking, ToolCall
from desktop.core.events import (
    BlockDelta,
    BlockFinished,
    BlockStarted,
    BlockType,
    ModelEvent,
    ResponseFailed,
    ResponseFinished,
    ResponseStarted,
)
from desktop.wire import blocks, failures
from desktop.wire.sse import EventDecoder, ServerEvent
from desktop.wire.usage import merged, usage_of

KINDS: Mapping[str, BlockType] = {
    "text": "text",
    "thinking": "thinking",
    "redacted_thinking": "thinking",
    "tool_use": "tool_call",
}


@dataclass(slots=True)
class _Block:
    """A block while it streams: as it started, and what the deltas brought."""

    start: dict[str, Any]
    call_id: str = ""
    text: list[str] = field(default_factory=list[str])
    arguments: list[str] = field(default_factory=list[str])

    @property
    def kind(self) -> str:
        return str(self.start.get("type", ""))


class Interpreter:
    """Reads one response. `taken` are the call ids that the conversation has already."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = set(taken)
        self._blocks: dict[int, _Block] = {}
        self._usage: dict[str, Any] = {}
        self._stop_reason = ""
        self._stop_details: dict[str, Any] = {}
        self.understood = False
        self.over = False

    def read(self, event: Mapping[str, Any]) -> Iterator[ModelEvent]:
        """What one provider event means. Nothing after the end of the message means anything."""
        if self.over:
            return
        match event.get("type"):
            case "message_start":
                yield from self._start(_object(event.get("message")))
            case "content_block_start":
                yield from self._open(_index(event), _object(event.get("content_block")))
            case "content_block_delta":
                yield from self._grow(_index(event), _object(event.get("delta")))
            case "content_block_stop":
                yield from self._close(_index(event))
            case "message_delta":
                self._usage = merged(self._usage, _object(event.get("usage")))
                delta = _object(event.get("delta"))
                reason = delta.get("stop_reason")
                self._stop_reason = str(reason) if reason else self._stop_reason
                self._stop_details = _object(delta.get("stop_details")) or self._stop_details
            case "message_stop":
                yield self._finished(self._stop_reason or "end_turn")
            case "error":
                self.over = True
                yield ResponseFailed(failures.of_error_event(event))
            case _:
                return
        self.understood = True

    def end(self, cause: failures.Failure | None = None) -> Iterator[ModelEvent]:
        """The stream is over, by itself or for `cause`.

        A message whose stop reason had come, with no block open, is complete (F-W10 f).
        """
        if self.over:
            return
        if self._stop_reason and not self._blocks:
            yield self._finished(self._stop_reason)
            return
        self.over = True
        yield ResponseFailed(cause or failures.truncated())

    def _start(self, message: Mapping[str, Any]) -> Iterator[ModelEvent]:
        self._usage = merged({}, _object(message.get("usage")))
        yield ResponseStarted(
            message_id=str(message.get("id") or ""),
            model=str(message.get("model") or ""),
            usage=usage_of(self._usage),
            raw_usage=dict(self._usage),
            diagnosis=Diagnosis(reason=_cache_miss(message)),
        )
        # Calls made by code that the provider runs come whole, with the message's start.
        content = message.get("content")
        for index, block in enumerate(content if isinstance(content, list) else ()):
            yield from self._open(index, _object(block))
            yield from self._close(index)
        self._stop_reason = str(message.get("stop_reason") or "")
        self._stop_details = _object(message.get("stop_details"))

    def _open(self, index: int, start: Mapping[str, Any]) -> Iterator[ModelEvent]:
        block = self._blocks[index] = _Block(dict(start))
        kind = KINDS.get(block.kind, "opaque")
        if kind == "tool_call":
            block.call_id = self._unique(str(start.get("id") or "call"))
        name = "" if kind in ("text", "thinking") else str(start.get("name") or block.kind)
        yield BlockStarted(index, kind, name=name, call_id=block.call_id)
        first = start.get(block.kind) if block.kind in ("text", "thinking") else None
        if isinstance(first, str) and first:
            block.text.append(first)
            yield BlockDelta(index, first)

    def _grow(self, index: int, delta: Mapping[str, Any]) -> Iterator[ModelEvent]:
        block = self._blocks.get(index)
        if block is None:
            return
        match delta.get("type"):
            case "text_delta" | "thinking_delta":
                text = delta.get("text", delta.get("thinking"))
                if isinstance(text, str) and text:
                    block.text.append(text)
                    yield BlockDelta(index, text)
            case "input_json_delta":
                text = delta.get("partial_json")
                if isinstance(text, str) and text:
                    block.arguments.append(text)
                    if block.kind == "tool_use":
                        yield BlockDelta(index, text)
            case "signature_delta":
                block.start["signature"] = delta.get("signature")
            case "citations_delta":
                older: Any = block.start.get("citations")
                block.start["citations"] = [*(older or ()), delta.get("citation")]
            case "compaction_delta":
                block.start.update({k: v for k, v in delta.items() if k != "type"})
            case _:
                return

    def _close(self, index: int) -> Iterator[ModelEvent]:
        block = self._blocks.pop(index, None)
        if block is not None:
            yield BlockFinished(index, _payload(block))

    def _finished(self, reason: str) -> ResponseFinished:
        self.over = True
        return ResponseFinished(
            reason, usage_of(self._usage), dict(self._usage), self._stop_details
        )

    def _unique(self, id_: str) -> str:
        unique, number = id_, 2
        while unique in self._taken:
            unique, number = f"{id_}_{number}", number + 1
        self._taken.add(unique)
        return unique


class Reader:
    """Bytes of a response in, our events out, in batches that hold each growth once."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._decoder = EventDecoder()
        self._interpreter = Interpreter(taken)
        self._had_bytes = False

    @property
    def over(self) -> bool:
        """The end of the message was read: whatever the connection does now, it is complete."""
        return self._interpreter.over

    def feed(self, piece: bytes) -> list[ModelEvent]:
        """What these bytes bring; growth of one block in a row comes as one event."""
        self._had_bytes = self._had_bytes or bool(piece)
        return self._read(self._decoder.feed(piece))

    def end(self, cause: failures.Failure | None = None) -> list[ModelEvent]:
        """The connection ended, by itself or for `cause`."""
        events = self._read(self._decoder.finish())
        if cause is None and self._had_bytes and not self._interpreter.understood:
            cause = failures.not_a_server("the answer is no event stream of the Messages API")
        return [*events, *self._interpreter.end(cause)]

    def _read(self, events: Iterable[ServerEvent]) -> list[ModelEvent]:
        return joined(
            one for event in events for one in self._interpreter.read(provider_event(event))
        )


def provider_event(event: ServerEvent) -> Mapping[str, Any]:
    """The JSON object of a server event; {} where it is none. An error may only be named so."""
    try:
        data = json.loads(event.data)
    except (ValueError, RecursionError):
        return {"type": "error", "error": {}} if event.name == "error" else {}
    found = _object(data)
    return found if found.get("type") or not event.name else {"type": event.name, **found}


def joined(events: Iterable[ModelEvent]) -> list[ModelEvent]:
    """The events with growth of the same block in a row put together."""
    result: list[ModelEvent] = []
    for index, run in groupby(events, key=lambda e: e.index if isinstance(e, BlockDelta) else None):
        if index is None:
            result.extend(run)
        else:
            deltas = cast("Iterator[BlockDelta]", run)
            result.append(BlockDelta(index, "".join(delta.text for delta in deltas)))
    return result


def _payload(block: _Block) -> Payload:
    text = "".join(block.text)
    match block.kind:
        case "text":
            held = blocks.template(block.start, ("text",), plain=("type", "text"))
            return Text(text, block=held)
        case "thinking":
            held = {**block.start, "thinking": None}
            return Thinking(text, metadata=held if block.start.get("signature") else None)
        case "redacted_thinking":
            return Thinking("", metadata=block.start)
        case "tool_use":
            return _tool_call(block)
        case _:
            return Opaque(_whole(block, text))


def _tool_call(block: _Block) -> ToolCall:
    received = "".join(block.arguments)
    arguments = parsed_object(received) if received.strip() else _object(block.start.get("input"))
    plain = ("type", "id", "name", "input")
    return ToolCall(
        call_id=block.call_id,
        name=str(block.start.get("name") or ""),
        arguments=arguments or {},
        block=blocks.template(block.start, ("id", "name", "input"), plain=plain),
        extra={} if arguments is not None else {"malformed": received},
    )


def _whole(block: _Block, text: str) -> dict[str, Any]:
    """A block of the provider's own with what its deltas brought."""
    whole = dict(block.start)
    arguments = parsed_object("".join(block.arguments)) if block.arguments else None
    if arguments is not None:
        whole["input"] = arguments
    if text:
        whole["text"] = text
    return whole


def parsed_object(text: str) -> dict[str, Any] | None:
    """The JSON object in a text, keys in their order; None for anything else (SPEC C10)."""
    try:
        value = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")


def _object(value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _cache_miss(message: Mapping[str, Any]) -> dict[str, Any]:
    """Why the provider's cache missed; {} where it says nothing, or not yet (API C30)."""
    return _object(_object(message.get("diagnostics")).get("cache_miss_reason"))


def _index(event: Mapping[str, Any]) -> int:
    index = event.get("index")
    return index if isinstance(index, int) else 0
