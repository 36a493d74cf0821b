"""What a person can do with a row, and where branches part: pure functions over loaded rows.

A prompt is a user text that was not taken back. An answer is everything from its prompt to the next
one; what is done with it (Copy, Regenerate, Fork) belongs to its end.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from desktop.core.chunks import LogChunk, Text, ToolCall
from desktop.core.groups import OpenRow, Row
from desktop.core.records import Branch
from desktop.core.status import TabStatus
from desktop.core.ways import Way
from desktop.ui.transcript.phrases import Context, plain_text
from desktop.ui.transcript.saying import say

Act = Literal["subagent", "copy", "edit", "regenerate", "fork", "quote", "bookmark"]


@dataclass(frozen=True, slots=True)
class Point:
    """A place where conversations part, and which of them this one is (`at` in `tab_ids`).

    The switcher stands beside the prompt `row_id`; "" is the end of the log, where only the others
    go on. `seq` is the first row that differs.
    """

    seq: int
    row_id: str
    tab_ids: tuple[str, ...]
    at: int

    def neighbour(self, step: int) -> str:
        """The conversation before (-1) or after (1) this one, "" where there is none."""
        at = self.at + step
        return self.tab_ids[at] if 0 <= at < len(self.tab_ids) else ""


def words_of(act: Act) -> str:
    """The act as a button says it."""
    return {
        "subagent": say("Open its conversation"),
        "copy": say("Copy"),
        "edit": say("Edit"),
        "regenerate": say("Regenerate"),
        "fork": say("Fork from here"),
        "quote": say("Quote"),
        "bookmark": say("Bookmark"),
    }[act]


def tip_of(act: Act) -> str:
    """What the act does, in a sentence."""
    return {
        "subagent": say("Show the conversation in which this subagent works"),
        "copy": say("Copy the text"),
        "edit": say("Send another text from here; this conversation stays as it is"),
        "regenerate": say("Ask for another answer; this one stays"),
        "fork": say("Begin a new conversation that shares everything up to here"),
        "quote": say("Put it into the message field as a quote: what is marked, else the text"),
        "bookmark": say("Set a bookmark, or take it away; the outline leads back to it"),
    }[act]


def way_words(way: Way) -> str:
    """What can be done about a cut answer, as a button says it."""
    return {"retry": say("Retry"), "go_on": say("Continue")}[way]


def way_tip(way: Way) -> str:
    """What it does, in a sentence."""
    return {
        "retry": say("Ask for the answer again; what came of it is taken back"),
        "go_on": say("Keep what came of the answer, and ask for the rest of it"),
    }[way]


def ways_at(rows: Sequence[Row], at: int, context: Context, *, at_tail: bool) -> tuple[Way, ...]:
    """What can be done about the last answer, for its rows and its prompt alone."""
    is_last = at_tail and not any(is_prompt(row) for row in rows[at + 1 :])
    return context.status.ways_on if is_last else ()


def is_prompt(row: Row) -> bool:
    """Whether the row is something the person said."""
    return isinstance(row, LogChunk) and row.role == "user" and isinstance(row.data, Text)


def is_answer(row: Row) -> bool:
    """Whether the row is a text of the model's: what can be shown as written."""
    return _is_said(row) and not is_prompt(row)


def prompt_at(rows: Sequence[Row], at: int) -> LogChunk | None:
    """The prompt at or before this place, None where none is loaded."""
    for row in reversed(rows[: at + 1]):
        if isinstance(row, LogChunk) and is_prompt(row):
            return row
    return None


def answer_end(rows: Sequence[Row], at: int) -> int:
    """Where the answer that holds this place ends: before the next prompt, or with the rows."""
    end = at
    while end + 1 < len(rows) and not is_prompt(rows[end + 1]):
        end += 1
    return end


def acts_at(
    rows: Sequence[Row], at: int, context: Context, *, at_head: bool, at_tail: bool
) -> tuple[Act, ...]:
    """What can be done with the row here, or with the answer that it is a part of.

    `at_head`, `at_tail`: the first (last) of the rows is the first (last) of the log.
    """
    row = rows[at]
    # What streams has no place in the log yet.
    own: tuple[Act, ...] = ("quote",) if isinstance(row, OpenRow) else ("quote", "bookmark")
    if is_prompt(row):
        is_gone = row.id in context.relations.retracted
        return ("copy", *own) if is_gone else ("copy", "edit", *own)
    of_answer = _acts_of_answer(rows, at, context, at_head=at_head, at_tail=at_tail)
    first: tuple[Act, ...] = ("subagent",) if subagent_of(row, context) else ()
    return (*first, *of_answer, *own)


def subagent_of(row: Row, context: Context) -> str:
    """The conversation of the subagent that this call began; '' for any other row."""
    if not isinstance(row, LogChunk) or not isinstance(row.data, ToolCall):
        return ""
    return context.relations.subagents.get(row.data.call_id, "")


def _acts_of_answer(
    rows: Sequence[Row], at: int, context: Context, *, at_head: bool, at_tail: bool
) -> tuple[Act, ...]:
    prompt, end = prompt_at(rows, at), answer_end(rows, at)
    # The prompt of a very long answer may not be loaded: it can be looked up.
    has_prompt = prompt.id not in context.relations.retracted if prompt else not at_head
    if not has_prompt or _is_running(rows[end], context.status):
        return ("copy",)
    is_known = end + 1 < len(rows) or at_tail
    return ("copy", "regenerate", "fork") if is_known else ("copy", "regenerate")


def answer_text(rows: Sequence[Row], at: int, context: Context) -> str:
    """The row's own text when it is a prompt, else the texts of the answer that it is in."""
    if is_prompt(rows[at]):
        return plain_text(rows[at], context)
    end = answer_end(rows, at)
    start = at
    while start > 0 and not is_prompt(rows[start - 1]):
        start -= 1
    gone = context.relations.retracted
    kept = [row for row in rows[start : end + 1] if row.id not in gone]
    said = [plain_text(row, context) for row in kept if _is_said(row)]
    return "\n\n".join(said) or plain_text(rows[at], context)


def points_of(
    branches: Sequence[Branch], rows: Sequence[Row], tab_id: str, *, at_tail: bool
) -> tuple[Point, ...]:
    """Where the branches stand among the loaded rows: beside the first prompt that differs."""
    found: dict[str, Point] = {}
    for branch in branches:
        row_id = _prompt_from(rows, branch.seq)
        if row_id is None or (not row_id and not at_tail):
            continue
        before = found.get(row_id)
        known = before.tab_ids if before else ()
        ids = (*known, *(one for one in branch.tab_ids if one not in known))
        if tab_id not in ids:
            ids = (tab_id, *ids)
        if len(ids) > 1:
            seq = min(branch.seq, before.seq) if before else branch.seq
            found[row_id] = Point(seq, row_id, ids, ids.index(tab_id))
    return tuple(found.values())


def _prompt_from(rows: Sequence[Row], seq: int) -> str | None:
    """The first prompt from a seq on; "" where the log ends before, None where it isn't loaded."""
    sealed = [row for row in rows if not isinstance(row, OpenRow)]
    if not sealed or seq < sealed[0].seq:
        return None
    return next((row.id for row in sealed if row.seq >= seq and is_prompt(row)), "")


def _is_running(last: Row, status: TabStatus) -> bool:
    if isinstance(last, OpenRow):
        return True
    turn = last.turn_id if isinstance(last, LogChunk) else ""
    return status.phase != "idle" and turn == status.turn_id


def _is_said(row: Row) -> bool:
    return isinstance(row, OpenRow | LogChunk) and _type_of(row) == "text"


def _type_of(row: OpenRow | LogChunk) -> str:
    return row.block.opened.type if isinstance(row, OpenRow) else row.type
