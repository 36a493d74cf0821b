"""What the rows of a conversation say together: retracted, compacted, dangling, unanswered.

All functions take rows in seq order and are functions of the rows alone, so that a live agent, a
reload and another process come to the same conclusion (DESIGN.md §5).
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from desktop.core.chunks import (
    Json,
    LogChunk,
    Opaque,
    Payload,
    System,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)


@dataclass(frozen=True, slots=True)
class LoadedSession:
    """A conversation as an agent takes it up: `chunks` without the dangling user texts.

    `dangling` are the trailing user texts that nobody answered. They are never sent by themselves.
    `damaged` counts rows that could not be read and were left out.
    """

    chunks: tuple[LogChunk, ...] = ()
    dangling: tuple[LogChunk, ...] = ()
    damaged: int = 0

    @property
    def dangling_user(self) -> str | None:
        """The unanswered texts joined by a blank line, to be offered in the composer."""
        if not self.dangling:
            return None
        return "\n\n".join(one.data.text for one in self.dangling if isinstance(one.data, Text))


def retracted_ids(chunks: Iterable[LogChunk]) -> frozenset[str]:
    """Ids of rows that a later `retracted` row took back."""
    found: set[str] = set()
    for chunk in chunks:
        if isinstance(chunk.data, System) and chunk.data.kind == "retracted":
            found.update(_texts(chunk.data.fields.get("chunkIds")))
    return frozenset(found)


def is_server_call(block: Json) -> bool:
    """A call that the provider itself runs (server_tool_use, mcp_tool_use)."""
    return str(block.get("type", "")).endswith("_tool_use")


def is_server_result(block: Json) -> bool:
    return str(block.get("type", "")).endswith("_tool_result") and "tool_use_id" in block


def open_server_calls(chunks: Iterable[LogChunk]) -> list[str]:
    """Ids of the rows with calls of the provider's own that have no result."""
    rows = list(chunks)
    gone = retracted_ids(rows)
    blocks = [
        (row.id, row.data.block)
        for row in rows
        if isinstance(row.data, Opaque) and row.id not in gone
    ]
    answered = {block["tool_use_id"] for _, block in blocks if is_server_result(block)}
    return [
        id_ for id_, block in blocks if is_server_call(block) and block.get("id") not in answered
    ]


def bound_to_open_calls(chunks: Sequence[LogChunk]) -> list[str]:
    """Ids of the rows that go where a call of the provider's own never got its result: the call,
    and what was thought behind it, which is bound to its bytes (API V34)."""
    calls = open_server_calls(chunks)
    first = next((row.seq for row in chunks if row.id in calls), 0)
    gone = retracted_ids(chunks)
    return [
        row.id
        for row in chunks
        if row.id in calls
        or (calls and isinstance(row.data, Thinking) and row.seq > first and row.id not in gone)
    ]


def is_answer(chunk: LogChunk, gone: Collection[str]) -> bool:
    """Whether a row answers the user texts before it; `gone` are the retracted rows' ids."""
    return chunk.role in ("assistant", "tool") and chunk.type != "error" and chunk.id not in gone


def split_dangling(chunks: Sequence[LogChunk]) -> LoadedSession:
    """Takes the unanswered user texts off the end (SPEC S03).

    Only an assistant or tool row answers; system and error rows that stand after the text (a
    turn's end, a notice) stay in the conversation.
    """
    gone = retracted_ids(chunks)
    dangling: list[LogChunk] = []
    for chunk in reversed(chunks):
        if is_answer(chunk, gone):
            break
        if chunk.role == "user" and chunk.id not in gone:
            dangling.append(chunk)
    dangling.reverse()
    ids = {chunk.id for chunk in dangling}
    kept = tuple(chunk for chunk in chunks if chunk.id not in ids)
    return LoadedSession(chunks=kept, dangling=tuple(dangling))


def is_message(row: LogChunk) -> bool:
    """A person's text or the end of a turn: what moves a conversation up in the list (SPEC S12)."""
    if isinstance(row.data, System):
        return row.data.kind == "turn_end"
    return row.role == "user"


def unanswered_calls(chunks: Iterable[LogChunk]) -> tuple[LogChunk, ...]:
    """The tool calls that have no result, in log order (SPEC C09)."""
    calls: dict[str, LogChunk] = {}
    for chunk in chunks:
        if isinstance(chunk.data, ToolCall):
            calls[chunk.data.call_id] = chunk
        elif isinstance(chunk.data, ToolResult):
            calls.pop(chunk.data.call_id, None)
    return tuple(calls.values())


def started_mark(call_ids: Iterable[str]) -> System:
    """The row that is durable before the tools of these calls start (SPEC A07).

    It is for the repair after a crash alone: not on the wire, not shown.
    """
    return System("notice", fields={"started": list(call_ids)})


def is_started_mark(payload: Payload) -> bool:
    """Whether a row is such a mark; a view leaves it out."""
    return isinstance(payload, System) and payload.kind == "notice" and "started" in payload.fields


def started_calls(chunks: Iterable[LogChunk]) -> frozenset[str]:
    """The calls without a result whose tool had started, by the marks in the log (SPEC A07).

    A call counts from its own row on, so that an id used again later starts afresh.
    """
    started: set[str] = set()
    for chunk in chunks:
        if isinstance(chunk.data, ToolCall | ToolResult):
            started.discard(chunk.data.call_id)
        elif isinstance(chunk.data, System) and is_started_mark(chunk.data):
            started.update(_texts(chunk.data.fields["started"]))
    return frozenset(started)


def subagent_mark(call_id: str, tab_id: str) -> System:
    """The row that says in which conversation the subagent of a call works.

    It leads the person there; not on the wire, not shown.
    """
    return System("notice", fields={"subagent": tab_id, "callId": call_id})


def marked_subagent(payload: Payload) -> tuple[str, str] | None:
    """(call id, conversation) of such a mark."""
    if not isinstance(payload, System) or payload.kind != "notice":
        return None
    call_id, tab_id = payload.fields.get("callId"), payload.fields.get("subagent")
    return (call_id, tab_id) if isinstance(call_id, str) and isinstance(tab_id, str) else None


def prompt_of(chunks: Iterable[LogChunk]) -> System | None:
    """The `prompt` row: system prompt and tool set, fixed until a compaction brings another."""
    found: System | None = None
    for chunk in chunks:
        if isinstance(chunk.data, System) and chunk.data.kind == "prompt":
            found = chunk.data
    return found


def tools_of(chunks: Iterable[LogChunk]) -> list[Any]:
    """The tool set that a model is told: of the `prompt` row, or of the last one after it."""
    found: list[Any] = []
    for chunk in chunks:
        found = tools_told(chunk.data, found)
    return found


def tools_told(payload: Payload, before: list[Any]) -> list[Any]:
    """The tool set after a row; the one before it where the row says nothing of tools."""
    if isinstance(payload, System) and payload.kind in ("prompt", "tools"):
        told = payload.fields.get("tools")
        return list(told) if isinstance(told, list | tuple) else before
    return before


def is_new_tools(payload: Payload) -> bool:
    """A tool set that the person chose to pay for: it stands before everything that was said."""
    return isinstance(payload, System) and payload.kind == "tools"


def compaction(text: str, kept: Iterable[LogChunk]) -> System:
    """The row that stands for all rows before it but the `kept` ones, which nobody answered yet."""
    keeps = [row.id for row in kept]
    return System("compaction", text, {"keeps": keeps} if keeps else {})


def is_compaction(payload: Payload) -> bool:
    return isinstance(payload, System) and payload.kind == "compaction"


def kept_by(payload: Payload, before: Sequence[LogChunk]) -> tuple[LogChunk, ...]:
    """The user texts among the rows before a compaction that it does not stand for."""
    fields = payload.fields if isinstance(payload, System) else {}
    wanted = set(_texts(fields.get("keeps")))
    found: list[LogChunk] = []
    for row in reversed(before):
        if not wanted:
            break
        if row.id in wanted:
            wanted.remove(row.id)
            if row.role == "user":
                found.append(row)
    return tuple(reversed(found))


def told(chunks: Sequence[LogChunk]) -> Sequence[LogChunk]:
    """The rows that a model is still told (SPEC A11, S08): the last summary, the texts that it
    keeps, and what comes after it; all rows where nothing was compacted."""
    for at in range(len(chunks) - 1, -1, -1):
        row = chunks[at]
        if is_compaction(row.data):
            return [row, *kept_by(row.data, chunks[:at]), *chunks[at + 1 :]]
    return chunks


def _texts(value: object) -> tuple[str, ...]:
    """The texts of a list in a payload; a row of another shape says nothing (SPEC C12)."""
    if not isinstance(value, list | tuple):
        return ()
    return tuple(one for one in cast("Sequence[object]", value) if isinstance(one, str))
