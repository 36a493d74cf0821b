"""What rows say about each other, and which take space."""

from desktop.core.chunks import DamagedRow, System, ToolCall, ToolResult
from desktop.core.groups import OpenRow, is_silent, relations, takes_space
from desktop.core.reducer import OpenBlock, Opened
from tests.unit.feed.rows_of import row, text


def open_row(type_: str, call_id: str = "") -> OpenRow:
    return OpenRow(OpenBlock(Opened("o", "t1", 0, "assistant", type_, call_id=call_id)))  # type: ignore[arg-type]


def test_a_result_is_shown_in_its_call_s_card_and_stands_alone_without_it() -> None:
    call, result = row(1, ToolCall("k", "shell", {})), row(2, ToolResult("k", "shell", "x"))
    both = relations([call, result])
    assert both.results == {"k": result} and both.calls == {"k": "c1"}
    assert takes_space(call, both) and not takes_space(result, both)
    assert takes_space(result, relations([result]))


def test_live_output_belongs_to_the_call_that_runs() -> None:
    live = open_row("tool_result", "k")
    known = relations([row(1, ToolCall("k", "shell", {})), live])
    assert known.live == {"k": live}
    assert not takes_space(live, known)


def test_rows_of_the_program_s_own_take_no_space() -> None:
    silent = [
        System("prompt", "x"),
        System("fact", "now"),
        System("retracted", "", {"chunkIds": []}),
        System("turn_end", "", {"outcome": "done"}),
        System("notice", "", {"started": "k"}),
    ]
    seen = [
        System("turn_end", "", {"outcome": "stopped"}),
        System("notice", "something"),
        System("compaction", "sum"),
        System("model", "", {"from": "a", "to": "b"}),
    ]
    assert all(is_silent(row(1, data)) for data in silent)
    assert not any(is_silent(row(1, data)) for data in seen)
    assert not is_silent(DamagedRow("d", 1, "bad", ""))


def test_a_row_that_was_taken_back_is_known() -> None:
    known = relations([text(1), text(2), row(3, System("retracted", "", {"chunkIds": ["c2", 7]}))])
    assert known.retracted == frozenset({"c2", "7"})


def test_neighbours_are_known() -> None:
    rows = [text(1), text(2), open_row("text")]
    known = relations(rows)
    assert known.before["o"] is rows[1] and known.after["c1"] is rows[1]
    assert "c1" not in known.before and "o" not in known.after
