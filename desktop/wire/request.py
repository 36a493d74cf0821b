"""From the rows of a conversation to the body of a request: pure, and the same bytes every time.

Rows fold by step: one assistant message in the order received, then one user message with every
result in call order and what the person or the program added after it. Only rows can change what
an earlier row became, so request n+1 starts with request n, block by block (DESIGN §6, SPEC C02).
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from desktop.core.chunks import (
    LogChunk,
    Opaque,
    Stamp,
    System,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from desktop.core.conversation import prompt_of, retracted_ids
from desktop.core.model import RequestOptions
from desktop.wire import blocks, breakpoints
from desktop.wire.blocks import Block
from desktop.wire.models import PLAIN_OUTPUT, KnownModel, ModelTable

OUTPUT_LIMIT = 64_000
NO_BEGINNING = "(The beginning of this conversation is not available.)"
GO_ON = "Continue."


@dataclass(slots=True)
class _Call:
    data: ToolCall
    wire_id: str
    result: ToolResult | None = None
    answered: bool = False


@dataclass(slots=True)
class _Exchange:
    """What the model said in one go, and what it was given before its next words."""

    key: tuple[str, int] = ("", 0)
    said: list[Block] = field(default_factory=list[Block])
    calls: list[_Call] = field(default_factory=list[_Call])
    added: list[Block] = field(default_factory=list[Block])
    closed: bool = False


def build(
    chunks: Sequence[LogChunk], options: RequestOptions, *, models: ModelTable, stamp: Stamp
) -> dict[str, Any]:
    """The body of a request to the Messages API.

    `stamp` is whom it is for: thinking of another model or account is left out. The messages stand
    last, so that a longer conversation's bytes extend a shorter one's.
    """
    model = models.find(options.model)
    gone = retracted_ids(chunks)
    rows = [row for row in chunks if row.id not in gone]
    prompt = prompt_of(rows)
    tools = _tools(rows)
    body: dict[str, Any] = {"model": options.model, **_settings(model, options)}
    if tools:
        body["tools"] = tools
    if prompt is not None and prompt.text.strip():
        body["system"] = [blocks.text_block(prompt.text)]
    body["messages"] = _messages(_after_compaction(rows), stamp, resumed=options.resumed)
    body = blocks.clean(body)
    if model is not None and model.caches:
        breakpoints.place(body)
    return body


def serialise(body: dict[str, Any]) -> bytes:
    """The body's bytes: UTF-8, compact, keys in the order they have."""
    return json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def _settings(model: KnownModel | None, options: RequestOptions) -> dict[str, Any]:
    """Length, thinking and effort as far as the model takes them (API §3.7).

    Models that only know `enabled` go without thinking: a turn that begins without a thinking block
    (after a switch of models, or a stop) would be refused (API V31).
    """
    limit = min(model.max_output, OUTPUT_LIMIT) if model else PLAIN_OUTPUT
    settings: dict[str, Any] = {"max_tokens": limit, "stream": True}
    if model is None:
        return settings
    if "adaptive" in model.thinking:
        settings["thinking"] = {"type": "adaptive", "display": "summarized"}
    if options.effort in model.efforts and options.effort != model.default_effort:
        settings["output_config"] = {"effort": options.effort}
    return settings


def _tools(rows: Iterable[LogChunk]) -> list[Any]:
    """The tool set of the prompt row, or of the last row that replaced it."""
    found: list[Any] = []
    for row in rows:
        if isinstance(row.data, System) and row.data.kind in ("prompt", "tools"):
            found = list(row.data.fields.get("tools", found))
    return found


def _after_compaction(rows: Sequence[LogChunk]) -> Sequence[LogChunk]:
    """The rows that are still told: the last summary and what comes after it."""
    for at in range(len(rows) - 1, -1, -1):
        data = rows[at].data
        if isinstance(data, System) and data.kind == "compaction":
            return rows[at:]
    return rows


def _messages(rows: Sequence[LogChunk], stamp: Stamp, *, resumed: bool) -> list[Any]:
    exchanges = _joined(_exchanges(rows, stamp))
    _settle_server_calls(exchanges, resumed=resumed)
    messages: list[dict[str, Any]] = []
    for at, exchange in enumerate(exchanges):
        said = _sendable(exchange.said, continued=resumed and at == len(exchanges) - 1)
        if said and not messages:
            _put(messages, "user", [blocks.text_block(NO_BEGINNING)])
        _put(messages, "assistant", said)
        results = [blocks.answered(call.result, call.wire_id) for call in exchange.calls]
        _put(messages, "user", results + exchange.added)
    if not messages or (messages[-1]["role"] == "assistant" and not resumed):
        _put(messages, "user", [blocks.text_block(GO_ON)])
    return messages


def _put(messages: list[dict[str, Any]], role: str, content: list[Block]) -> None:
    """Adds a message, or its blocks to the last one of the same role."""
    if not content:
        return
    if messages and messages[-1]["role"] == role:
        messages[-1]["content"].extend(content)
    else:
        messages.append({"role": role, "content": list(content)})


def _sendable(said: list[Block], *, continued: bool) -> list[Block]:
    """The blocks of an assistant message as they can be sent: it does not end in thinking, and
    thinking alone is no message (F-W01 b), unless it is being continued just now."""
    end = len(said)
    while end and not continued and blocks.is_thinking(said[end - 1]):
        end -= 1
    return said[:end]


def _exchanges(rows: Sequence[LogChunk], stamp: Stamp) -> list[_Exchange]:
    """The rows step by step; the first exchange holds what came before the model said anything."""
    ids = blocks.CallIds()
    exchanges = [_Exchange(closed=True)]
    for row in rows:
        match row.data:
            case ToolResult():
                _answer(exchanges, row.data)
                exchanges[-1].closed = True
            case System():
                text = row.data.text if row.data.kind in ("fact", "compaction") else ""
                if text.strip():
                    exchanges[-1].added.append(blocks.text_block(text))
                    exchanges[-1].closed = True
            case Text() if row.role == "user":
                exchanges[-1].added.extend(blocks.asked(row.data))
                exchanges[-1].closed = True
            case Text() | Thinking() | ToolCall() | Opaque():
                if exchanges[-1].closed or exchanges[-1].key != (row.turn_id, row.step):
                    exchanges.append(_Exchange(key=(row.turn_id, row.step)))
                _say(exchanges[-1], row, stamp, ids)
            case _:
                pass
    return exchanges


def _say(exchange: _Exchange, row: LogChunk, stamp: Stamp, ids: blocks.CallIds) -> None:
    match row.data:
        case ToolCall():
            call = _Call(row.data, ids.give(row.data.call_id))
            exchange.calls.append(call)
            exchange.said.append(blocks.called(row.data, call.wire_id))
        case Text() if row.data.text.strip():
            exchange.said.append(blocks.said(row.data))
        case Thinking() if row.stamp == stamp:
            exchange.said.extend(_present(blocks.thought(row.data)))
        case Opaque():
            exchange.said.extend(_present(blocks.replayed(row, stamp)))
        case _:
            pass


def _present(block: Block | None) -> Iterator[Block]:
    if block is not None:
        yield block


def _answer(exchanges: Sequence[_Exchange], result: ToolResult) -> None:
    """Gives a result to the latest open call with its id; a result without one is left out.

    Wherever the row lies, the result stands right after its call (F-W01 c).
    """
    for exchange in reversed(exchanges):
        for call in exchange.calls:
            if not call.answered and call.data.call_id == result.call_id:
                call.result, call.answered = result, True
                return


def _joined(exchanges: Iterable[_Exchange]) -> list[_Exchange]:
    """Steps that follow each other with nothing said in between are one message (`pause_turn`)."""
    joined: list[_Exchange] = []
    for exchange in exchanges:
        last = joined[-1] if joined else None
        if last is not None and last.said and not last.calls and not last.added:
            last.said.extend(exchange.said)
            last.calls.extend(exchange.calls)
            last.added.extend(exchange.added)
        else:
            joined.append(exchange)
    return joined


def _settle_server_calls(exchanges: Sequence[_Exchange], *, resumed: bool) -> None:
    """Leaves out calls of the provider's own tools that never got a result, and lone results.

    A call may wait while the turn is continued, or while only results of our calls stand between it
    and the provider's next words (API V21, F-W07).
    """
    open_calls: set[str] = set()
    for at, exchange in enumerate(exchanges):
        following = exchanges[at + 1].said if at + 1 < len(exchanges) else None
        may_wait = following is None and not exchange.added and (resumed or bool(exchange.calls))
        kept: list[Block] = []
        for place, block in enumerate(exchange.said):
            if blocks.is_server_call(block):
                later = exchange.said[place + 1 :] + (following or [] if exchange.calls else [])
                id_ = str(block.get("id"))
                if not may_wait and not _has_result(id_, later):
                    continue
                open_calls.add(id_)
            elif blocks.is_server_result(block):
                if block["tool_use_id"] not in open_calls:
                    continue
                open_calls.discard(block["tool_use_id"])
            kept.append(block)
        exchange.said = kept
        open_calls = open_calls if exchange.calls else set()


def _has_result(call_id: str, later: Sequence[Block]) -> bool:
    return any(blocks.is_server_result(b) and b["tool_use_id"] == call_id for b in later)
