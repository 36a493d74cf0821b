"""Rows fold by step: what the model said in the order received, then every result in call order and
what the person or the program added after it.

A fold takes rows as they come and never looks back further than an unanswered call, so that a
longer conversation costs what its new rows cost (`growing`).
"""

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
from desktop.core.conversation import is_new_tools, is_server_call, is_server_result
from desktop.wire import blocks
from desktop.wire.blocks import Block
from desktop.wire.showing import Showing

Message = dict[str, Any]

NO_BEGINNING = "(The beginning of this conversation is not available.)"
GO_ON = "Continue."


@dataclass(slots=True)
class _Call:
    data: ToolCall
    wire_id: str
    result: Block | None = None
    answered: bool = False

    @property
    def block(self) -> Block:
        """Its result; that of a call without one says so."""
        return self.result or blocks.answered(None, self.wire_id, Showing())


@dataclass(slots=True)
class Exchange:
    """What the model said in one go, and what it was given before its next words."""

    key: tuple[str, int] = ("", 0)
    said: list[Block] = field(default_factory=list[Block])
    calls: list[_Call] = field(default_factory=list[_Call])
    added: list[Block] = field(default_factory=list[Block])
    closed: bool = False

    def copy(self) -> "Exchange":
        return Exchange(self.key, list(self.said), list(self.calls), list(self.added), self.closed)


class Fold:
    """Takes rows one by one, in seq order. `stamp` is whom they are for, `shown` how the pictures
    among them are shown.

    The first exchange holds what came before the model said anything.
    """

    def __init__(self, stamp: Stamp, shown: Showing) -> None:
        self.exchanges: list[Exchange] = [Exchange(closed=True)]
        self.shown = shown
        self._stamp = stamp
        self._ids = blocks.CallIds()

    def add(self, row: LogChunk) -> None:
        exchanges = self.exchanges
        match row.data:
            case ToolResult():
                _answer(exchanges, row.data, self.shown)
                exchanges[-1].closed = True
            case System() if is_new_tools(row.data):
                self._drop_thinking()
            case System():
                text = row.data.text if row.data.kind in ("fact", "compaction") else ""
                if text.strip():
                    exchanges[-1].added.append(blocks.text_block(text))
                    exchanges[-1].closed = True
            case Text() if row.role == "user":
                exchanges[-1].added.extend(blocks.asked(row.data, self.shown))
                exchanges[-1].closed = True
            case Text() | Thinking() | ToolCall() | Opaque():
                if exchanges[-1].closed or exchanges[-1].key != (row.turn_id, row.step):
                    exchanges.append(Exchange(key=(row.turn_id, row.step)))
                _say(exchanges[-1], row, self._stamp, self._ids)
            case _:
                pass

    def _drop_thinking(self) -> None:
        """Other tools stand before all that was said, and thinking is bound to the bytes that were
        before it: a provider refuses it behind others (API V34, V38)."""
        for exchange in self.exchanges:
            exchange.said = [one for one in exchange.said if not blocks.is_thinking(one)]


def messages_of(
    folded: Sequence[Exchange], *, resumed: bool = False, before: Message | None = None
) -> list[Message]:
    """The messages of exchanges, not yet cleaned; the last one is never the assistant's, unless its
    answer is being continued (`resumed`).

    `before` is the message that stands before them; with none, they begin the conversation.
    """
    exchanges = _joined(folded)
    _settle_server_calls(exchanges, resumed=resumed)
    messages: list[Message] = [] if before is None else [before]
    for at, exchange in enumerate(exchanges):
        is_open = resumed and at == len(exchanges) - 1 and not (exchange.calls or exchange.added)
        said = _sendable(exchange.said, continued=is_open)
        if said and not messages:
            _put(messages, "user", [blocks.text_block(NO_BEGINNING)])
        _put(messages, "assistant", said)
        results = [call.block for call in exchange.calls]
        _put(messages, "user", results + exchange.added)
    if not messages:
        # As it will stand there once something is said.
        _put(messages, "user", [blocks.text_block(NO_BEGINNING)])
    elif messages[-1]["role"] == "assistant" and not resumed:
        _put(messages, "user", [blocks.text_block(GO_ON)])
    return messages if before is None else messages[1:]


def final_count(exchanges: Sequence[Exchange]) -> int:
    """How many of the first exchanges have messages that no later row can change.

    Behind the last of them its answers or a text of the person stand, so nothing joins it; what is
    said next begins a message of its own; no call is open, and none of the provider's waits across
    the border.
    """
    found = 0
    has_server_blocks = False
    for at, one in enumerate(exchanges[:-1], start=1):
        if any(not call.answered for call in one.calls):
            break
        has_server_blocks |= any(
            is_server_call(block) or is_server_result(block) for block in one.said
        )
        is_closed = bool(one.added) if has_server_blocks else bool(one.calls or one.added)
        may_wait = has_server_blocks and bool(one.calls)
        if is_closed and not may_wait and any(map(_surely_sent, exchanges[at].said)):
            found = at
    return found


def _surely_sent(block: Block) -> bool:
    """Whether a block of an answer is sent whatever comes after it: thinking may come to stand
    last, and a call of the provider's own may never get its result."""
    may_go = blocks.is_thinking(block) or is_server_call(block)
    return not (may_go or is_server_result(block))


def _put(messages: list[Message], role: str, content: list[Block]) -> None:
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


def _say(exchange: Exchange, row: LogChunk, stamp: Stamp, ids: blocks.CallIds) -> None:
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


def _answer(exchanges: Sequence[Exchange], result: ToolResult, shown: Showing) -> None:
    """Gives a result to the latest open call with its id; a result without one is left out.

    Wherever the row lies, the result stands right after its call (F-W01 c).
    """
    for exchange in reversed(exchanges):
        for call in exchange.calls:
            if not call.answered and call.data.call_id == result.call_id:
                call.result = blocks.answered(result, call.wire_id, shown)
                call.answered = True
                return


def _joined(exchanges: Iterable[Exchange]) -> list[Exchange]:
    """Steps that follow each other with nothing said in between are one message (`pause_turn`)."""
    joined: list[Exchange] = []
    for folded in exchanges:
        exchange = folded.copy()
        last = joined[-1] if joined else None
        if last is not None and last.said and not last.calls and not last.added:
            last.said.extend(exchange.said)
            last.calls.extend(exchange.calls)
            last.added.extend(exchange.added)
        else:
            joined.append(exchange)
    return joined


def _settle_server_calls(exchanges: Sequence[Exchange], *, resumed: bool) -> None:
    """Leaves out calls of the provider's own tools that never got a result, and lone results.

    A call may wait while the turn is continued, or while only results of our calls stand between it
    and the provider's next words (API V21, F-W07). What was thought behind a call that is left out
    goes with it: it is bound to the bytes that were before it (API V34).
    """
    open_calls: set[str] = set()
    is_unbound = False
    for at, exchange in enumerate(exchanges):
        has_lost = False
        following = exchanges[at + 1].said if at + 1 < len(exchanges) else None
        may_wait = following is None and not exchange.added and (resumed or bool(exchange.calls))
        kept: list[Block] = []
        for place, block in enumerate(exchange.said):
            if is_server_call(block):
                later = exchange.said[place + 1 :] + (following or [] if exchange.calls else [])
                id_ = str(block.get("id"))
                if not may_wait and not _has_result(id_, later):
                    has_lost = is_unbound = True
                    continue
                open_calls.add(id_)
            elif is_server_result(block):
                if block["tool_use_id"] not in open_calls:
                    continue
                open_calls.discard(block["tool_use_id"])
            elif is_unbound and blocks.is_thinking(block):
                continue
            kept.append(block)
        exchange.said = kept
        open_calls = open_calls if exchange.calls else set()
        is_unbound = has_lost and bool(exchange.calls)


def _has_result(call_id: str, later: Sequence[Block]) -> bool:
    return any(is_server_result(b) and b["tool_use_id"] == call_id for b in later)
