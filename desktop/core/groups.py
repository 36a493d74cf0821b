"""What loaded rows say about each other, so that a view shows a call with its result as one thing.

Rows are sealed, damaged, or streaming; each has a stable `id`: a block keeps it when it seals, so a
view keeps its place on it. Partial rows give partial relations: a result whose call is not loaded
stands alone, a call whose result is not there yet runs or was interrupted (DESIGN.md §5). Pure.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from desktop.core.chunks import DamagedRow, LogChunk, System, ToolCall, ToolResult
from desktop.core.conversation import is_started_mark, marked_subagent
from desktop.core.reducer import OpenBlock

SealedRow = LogChunk | DamagedRow

# Kinds that say nothing to the person, or nothing of their own.
_SILENT_KINDS = frozenset({"prompt", "fact", "retracted"})


@dataclass(frozen=True, slots=True, eq=False)
class OpenRow:
    """A block that streams now. The value wraps the live block: its text grows."""

    block: OpenBlock

    @property
    def id(self) -> str:
        return self.block.opened.id

    @property
    def turn_id(self) -> str:
        return self.block.opened.turn_id

    @property
    def step(self) -> int:
        return self.block.opened.step

    @property
    def text(self) -> str:
        return self.block.text


Row = LogChunk | DamagedRow | OpenRow


@dataclass(frozen=True, slots=True)
class Relations:
    """What loaded rows say about each other, by call id and chunk id.

    `results`: the result of a call; `live`: the output of a call that runs; `calls`: calls that are
    loaded; `started`: when the tool of a call began, ms UTC; `subagents`: the conversation in which
    a call's subagent works; `retracted`: rows that were taken back; `before`, `after`: the row just
    before and just after an id.
    """

    results: Mapping[str, LogChunk] = field(default_factory=dict[str, LogChunk])
    live: Mapping[str, OpenRow] = field(default_factory=dict[str, OpenRow])
    calls: Mapping[str, str] = field(default_factory=dict[str, str])
    retracted: frozenset[str] = frozenset()
    before: Mapping[str, Row] = field(default_factory=dict[str, Row])
    after: Mapping[str, Row] = field(default_factory=dict[str, Row])
    subagents: Mapping[str, str] = field(default_factory=dict[str, str])
    started: Mapping[str, int] = field(default_factory=dict[str, int])


def relations(rows: Sequence[Row]) -> Relations:
    """Reads the relations off rows in their order; partial rows give partial relations."""
    results: dict[str, LogChunk] = {}
    live: dict[str, OpenRow] = {}
    calls: dict[str, str] = {}
    retracted: set[str] = set()
    subagents: dict[str, str] = {}
    started: dict[str, int] = {}
    before: dict[str, Row] = {}
    after: dict[str, Row] = {}
    last: Row | None = None
    for row in rows:
        if last is not None:
            before[row.id] = last
            after[last.id] = row
        last = row
        if isinstance(row, OpenRow):
            if row.block.opened.type == "tool_result":
                live[row.block.opened.call_id] = row
            elif row.block.opened.type == "tool_call":
                calls[row.block.opened.call_id] = row.id
        elif isinstance(row, LogChunk):
            match row.data:
                case ToolCall():
                    calls[row.data.call_id] = row.id
                case ToolResult():
                    results[row.data.call_id] = row
                case System() if row.data.kind == "retracted":
                    retracted.update(str(one) for one in row.data.fields.get("chunkIds", ()))
                case System() if is_started_mark(row.data):
                    started.update((str(one), row.created_at) for one in row.data.fields["started"])
                case System():
                    mark = marked_subagent(row.data)
                    if mark is not None:
                        subagents[mark[0]] = mark[1]
                case _:
                    pass
    return Relations(results, live, calls, frozenset(retracted), before, after, subagents, started)


def call_of(row: Row) -> str | None:
    """The call that this row answers (a result, or the live output of one that runs)."""
    if isinstance(row, OpenRow):
        opened = row.block.opened
        return opened.call_id if opened.type == "tool_result" else None
    if isinstance(row, LogChunk) and isinstance(row.data, ToolResult):
        return row.data.call_id
    return None


def is_thinking(row: Row) -> bool:
    """Whether the row is a piece of the model's thinking, whole or streaming."""
    if isinstance(row, OpenRow):
        return row.block.opened.type == "thinking"
    return isinstance(row, LogChunk) and row.type == "thinking"


def is_silent(row: Row) -> bool:
    """Whether the row takes no space whatever stands beside it.

    That is: prompt, facts and tool sets; a turn that ended well; the marks of calls.
    """
    if not isinstance(row, LogChunk) or not isinstance(row.data, System):
        return False
    data = row.data
    if data.kind in _SILENT_KINDS:
        return True
    if data.kind == "turn_end":
        return data.fields.get("outcome") == "done"
    return is_started_mark(data) or marked_subagent(data) is not None


def takes_space(row: Row, known: Relations) -> bool:
    """Whether the row is seen: neither silent nor shown inside the card of its call."""
    call = call_of(row)
    if call is not None:
        return call not in known.calls
    return not is_silent(row)
