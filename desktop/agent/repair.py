"""What the rows say about a turn that did not end, and the rows that mend it.

Pure functions of rows in seq order. Nothing is run again: a call without a result gets an error
result that says whether its tool had started (SPEC C09, A07), a turn without its end gets one.
"""

from collections.abc import Callable, Sequence

from desktop.core.chunks import LogChunk, NewChunk, Outcome, System, Text, ToolCall, ToolResult
from desktop.core.conversation import retracted_ids, started_calls, unanswered_calls

NOT_STARTED = "Interrupted, not started: Nacre ended before this call began. Nothing was done."
OUTCOME_UNKNOWN = (
    "Interrupted, outcome unknown: Nacre ended while this call was running. All, some or nothing "
    "of it may have been done. Look before you do it again."
)
NOT_SAVED = "Not started: the call could not be saved, so it was not run. Nothing was done."


def turn_rows(rows: Sequence[LogChunk], turn_id: str) -> list[LogChunk]:
    return [row for row in rows if row.turn_id == turn_id]


def last_turn_id(rows: Sequence[LogChunk]) -> str:
    """The turn of the last row; '' in an empty log."""
    return rows[-1].turn_id if rows else ""


def is_open(rows: Sequence[LogChunk], turn_id: str) -> bool:
    """Whether something was said in the turn after its last end, or it has none."""
    for row in reversed(rows):
        if row.turn_id != turn_id:
            continue
        if isinstance(row.data, System):
            if row.data.kind == "turn_end":
                return False
        elif row.type != "error":
            return True
    return False


def ended(new_id: str, turn_id: str, outcome: Outcome, duration_ms: int) -> NewChunk:
    """The durable end of a turn."""
    data = System("turn_end", fields={"outcome": outcome, "durationMs": duration_ms})
    return NewChunk(id=new_id, turn_id=turn_id, role="system", data=data)


def error_result(new_id: str, call: LogChunk | NewChunk, text: str) -> NewChunk:
    """An error result for a call; `text` is its reason and never empty."""
    if not isinstance(call.data, ToolCall):
        raise TypeError("not a call")
    data = ToolResult(call.data.call_id, call.data.name, text, is_error=True)
    return NewChunk(id=new_id, turn_id=call.turn_id, role="tool", data=data, step=call.step)


def mending(rows: Sequence[LogChunk], new_id: Callable[[], str]) -> list[NewChunk]:
    """The rows that a crash left out of the last turn; only for the holder of the lease.

    A turn that holds nothing but an unanswered text is left as it is: its text is offered again
    (SPEC S03).
    """
    turn_id = last_turn_id(rows)
    mine = turn_rows(rows, turn_id)
    if not is_open(rows, turn_id) or all(row.role in ("user", "system") for row in mine):
        return []
    started = started_calls(mine)
    mended = [
        error_result(new_id(), call, OUTCOME_UNKNOWN if _call_id(call) in started else NOT_STARTED)
        for call in unanswered_calls(mine)
    ]
    return [*mended, ended(new_id(), turn_id, "interrupted", _age(mine))]


def missing_results(
    unsaved: Sequence[NewChunk],
    saved: Sequence[LogChunk],
    *,
    reason: str,
    new_id: Callable[[], str],
) -> list[NewChunk]:
    """Error results for the calls of a running turn that have none.

    `saved` are the turn's rows in the log, `unsaved` the rows that wait to get there.
    """
    answered = {row.data.call_id for row in unsaved if isinstance(row.data, ToolResult)}
    waiting = [row for row in unsaved if isinstance(row.data, ToolCall)]
    calls = [*unanswered_calls(saved), *waiting]
    return [
        error_result(new_id(), call, reason) for call in calls if _call_id(call) not in answered
    ]


def next_step(rows: Sequence[LogChunk], turn_id: str) -> tuple[int, tuple[str, ...]]:
    """Where a turn goes on after it failed: the step, and the partial rows to retract first.

    A step whose calls are in the log is whole; any other is done again (SPEC A02).
    """
    gone = retracted_ids(rows)
    said = [
        row
        for row in turn_rows(rows, turn_id)
        if row.role in ("assistant", "tool") and row.type != "error" and row.id not in gone
    ]
    if not said:
        return 0, ()
    step = max(row.step for row in said)
    last = [row for row in said if row.step == step]
    if any(isinstance(row.data, ToolCall) for row in last):
        return step + 1, ()
    return step, tuple(row.id for row in last)


def outcome_of(rows: Sequence[LogChunk], turn_id: str) -> str:
    """How the turn ended last; '' while it has no end."""
    for row in reversed(rows):
        if row.turn_id == turn_id and isinstance(row.data, System) and row.data.kind == "turn_end":
            return str(row.data.fields.get("outcome", ""))
    return ""


def is_same_text(dangling: Sequence[LogChunk], text: str, attachments: Sequence[object]) -> bool:
    """Whether a message is the unanswered text sent unchanged (SPEC S03).

    The composer is offered the text alone, so a message without attachments is unchanged too.
    """
    texts = [row.data for row in dangling if isinstance(row.data, Text)]
    if not texts or "\n\n".join(one.text for one in texts) != text:
        return False
    had = [dict(each) for one in texts for each in one.attachments]
    return not attachments or had == list(attachments)


def _call_id(call: LogChunk | NewChunk) -> str:
    return call.data.call_id if isinstance(call.data, ToolCall) else ""


def _age(rows: Sequence[LogChunk]) -> int:
    return max(0, rows[-1].created_at - rows[0].created_at) if rows else 0
