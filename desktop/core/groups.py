"""From rows to what is shown together: a call with its result, the calls of a step in one frame.

Pure and partial-tolerant: a result whose call is not loaded stands alone, a call whose result is
not there yet is running or was interrupted (DESIGN.md §5).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from desktop.core.chunks import DamagedRow, LogChunk, ToolCall, ToolResult
from desktop.core.conversation import is_started_mark

Row = LogChunk | DamagedRow


@dataclass(frozen=True, slots=True)
class Group:
    """Rows that are one thing to the eye: `turn_id`, `step` and role are those of its rows."""

    turn_id: str
    step: int
    role: str
    chunks: tuple[LogChunk, ...]


def group(chunks: Iterable[LogChunk]) -> tuple[Group, ...]:
    """Folds contiguous rows of one turn, step and role; tool results join their step's calls.

    The marks of started calls, which stand between a step's rows, are left out.
    """
    groups: list[Group] = []
    for chunk in chunks:
        if is_started_mark(chunk.data):
            continue
        role = "assistant" if chunk.role == "tool" else chunk.role
        last = groups[-1] if groups else None
        if last and (last.turn_id, last.step, last.role) == (chunk.turn_id, chunk.step, role):
            groups[-1] = Group(last.turn_id, last.step, role, (*last.chunks, chunk))
        else:
            groups.append(Group(chunk.turn_id, chunk.step, role, (chunk,)))
    return tuple(groups)


def results_by_call(rows: Sequence[Row]) -> dict[str, LogChunk]:
    """The loaded results, by the id of the call they answer."""
    return {
        row.data.call_id: row
        for row in rows
        if isinstance(row, LogChunk) and isinstance(row.data, ToolResult)
    }


def call_ids(rows: Sequence[Row]) -> frozenset[str]:
    """The calls that are loaded: a result of one of them is shown in the call's card."""
    return frozenset(
        row.data.call_id
        for row in rows
        if isinstance(row, LogChunk) and isinstance(row.data, ToolCall)
    )
