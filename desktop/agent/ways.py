"""How a conversation can go on whose last answer did not come to its end (DESIGN.md §5).

Pure functions of rows in seq order, so that they are the same after a restart: *Retry* takes the
partial rows back and sends the same again, *Continue* lays down a fixed text of the person's.
"""

from collections.abc import Sequence

from desktop.agent import repair
from desktop.core.chunks import LogChunk, System, Text
from desktop.core.conversation import is_answer, is_compaction, retracted_ids, split_dangling
from desktop.core.ways import Way

GO_ON = "Go on from where the answer was cut off."


def ways_on(rows: Sequence[LogChunk]) -> tuple[Way, ...]:
    """What can be done about the last turn; () where it came to its end or nothing was said.

    There is something to continue only where a text came of the step that was cut: with nothing
    of an answer, or after the results of its calls, the same request is all there is to send.
    """
    outcome = repair.outcome_of(rows, repair.last_turn_id(rows))
    if split_dangling(rows).dangling:
        return () if outcome == "done" else ("retry",)
    if outcome in ("", "done") or _is_summed_up(rows):
        return ()
    return ("retry", "go_on") if _is_cut_text(rows) else ("retry",)


def is_resumed(rows: Sequence[LogChunk], partial: Sequence[str]) -> bool:
    """Whether an answer that the provider paused is continued, once `partial` is taken back."""
    gone = retracted_ids(rows) | set(partial)
    for row in reversed(rows):
        if row.role == "user" and row.id not in gone:
            return False
        if is_answer(row, gone):
            return row.role == "assistant"
    return False


def _is_summed_up(rows: Sequence[LogChunk]) -> bool:
    """Whether a summary took the place of the last turn since it ended."""
    for row in reversed(rows):
        if isinstance(row.data, System) and row.data.kind == "turn_end":
            return False
        if is_compaction(row.data):
            return True
    return False


def _is_cut_text(rows: Sequence[LogChunk]) -> bool:
    _, partial = repair.next_step(rows, repair.last_turn_id(rows))
    cut = set(partial)
    return any(row.id in cut and isinstance(row.data, Text) for row in rows)
