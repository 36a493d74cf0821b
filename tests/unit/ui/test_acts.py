"""What can be done with a row, and where branches stand: functions of the loaded rows (U19)."""

from collections.abc import Sequence

from desktop.core.chunks import LogChunk, Payload, Role, System, Text, ToolCall
from desktop.core.conversation import subagent_mark
from desktop.core.groups import OpenRow, Row, relations, takes_space
from desktop.core.records import Branch
from desktop.core.reducer import OpenBlock, Opened
from desktop.core.status import TabStatus
from desktop.ui.transcript.acts import (
    acts_at,
    answer_end,
    answer_text,
    points_of,
    prompt_at,
    subagent_of,
)
from desktop.ui.transcript.anchor import from_anchor
from desktop.ui.transcript.phrases import Context

OWN = ("quote", "bookmark")


def row(seq: int, role: Role, data: Payload, turn: str = "t1") -> LogChunk:
    return LogChunk(f"r{seq}", "a", seq, turn, 0, role, data, created_at=seq)


def conversation() -> list[LogChunk]:
    """Two turns: 1 prompt, 2 and 3 answer, 4 its end; 5 prompt, 6 answer, 7 its end."""
    end = System("turn_end", fields={"outcome": "done"})
    return [
        row(1, "user", Text("First")),
        row(2, "assistant", Text("One")),
        row(3, "assistant", Text("and two")),
        row(4, "system", end),
        row(5, "user", Text("Second"), "t2"),
        row(6, "assistant", Text("Three"), "t2"),
        row(7, "system", end, "t2"),
    ]


def context(rows: Sequence[Row], status: TabStatus | None = None) -> Context:
    return Context(relations(rows), status or TabStatus("a"))


def test_a_prompt_can_be_edited_and_an_answer_regenerated_and_forked() -> None:
    rows = conversation()
    found = [
        acts_at(rows, at, context(rows), at_head=True, at_tail=True) for at in range(len(rows))
    ]
    prompt, answer = ("copy", "edit", *OWN), ("copy", "regenerate", "fork", *OWN)
    assert found == [prompt, answer, answer, answer, prompt, answer, answer]


def test_u28_the_call_of_a_subagent_leads_to_its_conversation() -> None:
    rows = [
        *conversation()[:1],
        row(2, "assistant", ToolCall("c1", "agent", {"task": "Look"})),
        row(3, "assistant", ToolCall("c2", "shell", {})),
        row(4, "system", subagent_mark("c1", "below")),
    ]
    there = context(rows)
    assert acts_at(rows, 1, there, at_head=True, at_tail=True)[0] == "subagent"
    assert "subagent" not in acts_at(rows, 2, there, at_head=True, at_tail=True)
    assert [subagent_of(one, there) for one in rows] == ["", "below", "", ""]
    assert not takes_space(rows[3], there.relations)


def test_what_runs_now_is_neither_regenerated_nor_forked() -> None:
    rows = conversation()[:6]
    running = context(rows, TabStatus("a", phase="running", turn_id="t2"))
    assert acts_at(rows, 5, running, at_head=True, at_tail=True) == ("copy", *OWN)
    assert "fork" in acts_at(rows, 1, running, at_head=True, at_tail=True)


def test_a_fork_needs_the_end_of_the_answer_and_a_regeneration_its_prompt_or_older_rows() -> None:
    rows = conversation()[1:3]
    there = context(rows)
    assert acts_at(rows, 0, there, at_head=True, at_tail=True) == ("copy", *OWN)
    assert acts_at(rows, 0, there, at_head=False, at_tail=False) == ("copy", "regenerate", *OWN)


def test_s13_what_was_taken_back_is_not_sent_again() -> None:
    rows = [*conversation()[:1], row(2, "system", System("retracted", fields={"chunkIds": ["r1"]}))]
    assert acts_at(rows, 0, context(rows), at_head=True, at_tail=True) == ("copy", *OWN)
    assert acts_at(rows, 1, context(rows), at_head=True, at_tail=True) == ("copy", *OWN)


def test_what_streams_can_be_quoted_and_has_no_place_for_a_bookmark_yet() -> None:
    block = OpenBlock(Opened("open", "t2", 0, "assistant", "text"))
    rows = [*conversation()[:5], OpenRow(block)]
    assert acts_at(rows, 5, context(rows), at_head=True, at_tail=True) == ("copy", "quote")


def test_an_answer_is_everything_from_its_prompt_to_the_next() -> None:
    rows = conversation()
    assert [answer_end(rows, at) for at in (1, 2, 3, 5)] == [3, 3, 3, 6]
    prompt = prompt_at(rows, 3)
    assert prompt is not None
    assert prompt.seq == 1
    assert answer_text(rows, 2, context(rows)) == "One\n\nand two"
    assert answer_text(rows, 4, context(rows)) == "Second"


def test_u19_a_branch_stands_beside_the_first_prompt_that_differs() -> None:
    rows = conversation()
    found = points_of([Branch(5, ("a", "b")), Branch(1, ("c", "a"))], rows, "a", at_tail=True)
    assert [(one.row_id, one.tab_ids, one.at) for one in found] == [
        ("r5", ("a", "b"), 0),
        ("r1", ("c", "a"), 1),
    ]
    assert found[0].neighbour(1) == "b"
    assert found[0].neighbour(-1) == ""


def test_u19_a_branch_after_the_last_row_stands_at_the_end_where_this_one_counts_too() -> None:
    rows = conversation()
    (point,) = points_of([Branch(8, ("b",))], rows, "a", at_tail=True)
    assert (point.row_id, point.tab_ids, point.at) == ("", ("a", "b"), 0)
    assert points_of([Branch(8, ("b",))], rows, "a", at_tail=False) == ()


def test_branches_at_rows_that_are_not_loaded_stand_nowhere() -> None:
    assert points_of([Branch(1, ("a", "b"))], conversation()[4:], "a", at_tail=True) == ()


def test_u19_a_loose_anchor_stays_where_it_is_whatever_comes_below() -> None:
    def second(heights: list[int], *, loose: bool) -> int:
        layout = from_anchor(1, -100, len(heights), lambda at: heights[at], 300, loose=loose)
        return next(one.y for one in layout.placed if one.row == 1)

    assert second([400, 60], loose=False) == 240
    assert second([400, 60], loose=True) == 100
    assert second([400, 60, 900], loose=True) == 100
