"""How large a conversation is, and how it is cut into pieces (SPEC U24)."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from desktop.agent import context
from desktop.agent.spending import Bill
from desktop.core.chunks import LogChunk, Payload, Role, System, Text, ToolCall, ToolResult
from desktop.core.conversation import compaction
from desktop.core.records import RequestRecord
from tests.unit.agent.stage import TARIFF


def rows_of(*said: tuple[Role, Payload, int]) -> list[LogChunk]:
    """Rows of one turn: role, payload, step."""
    return [
        LogChunk(f"r{at}", "tab", at, "t", step, role, data, 1_000 + at)
        for at, (role, data, step) in enumerate(said, start=1)
    ]


def record(step: int, prompt: int, output: int = 0, turn: str = "t") -> RequestRecord:
    usage = {"input_tokens": prompt, "output_tokens": output}
    return RequestRecord(f"q{turn}{step}", "tab", turn, step, "p", "m", 1, usage=usage)


def size(rows: list[LogChunk], *records: RequestRecord) -> int:
    bill = Bill(TARIFF)
    for one in records:
        bill.take(one)
    return context.size(rows, bill.usage_of)


def test_the_providers_count_is_taken_and_what_came_after_it_is_added() -> None:
    rows = rows_of(
        ("user", Text("a" * 3_000), 0),
        ("assistant", ToolCall("c", "look", {}), 0),
        ("tool", ToolResult("c", "look", "x" * 3_000), 0),
    )
    after = context.tokens(rows[2:])
    assert 1_000 < after < 1_100
    assert size(rows, record(0, 7_000, 50)) == 7_050 + after
    assert size(rows, record(1, 9_000)) == context.tokens(
        rows
    )  # that of a summary, or of no answer


def test_after_a_compaction_only_what_is_told_counts() -> None:
    """A11: the count of what was before it says nothing any more."""
    rows = rows_of(
        ("user", Text("a" * 30_000), 0),
        ("assistant", Text("b"), 0),
        ("user", Text("c" * 300), 0),
    )
    rows += [LogChunk("k", "tab", 4, "t", 0, "system", compaction("Short.", rows[2:]), 1)]
    assert 100 < size(rows, record(0, 10_000)) < 140


def test_a_server_that_counts_nothing_is_estimated_for() -> None:
    rows = rows_of(("user", Text("é" * 3_000), 0), ("assistant", Text("b" * 300), 0))
    assert size(rows, record(0, 0)) == size(rows) == context.tokens(rows) > 2_000


TEXTS = st.integers(0, 9_000).map(lambda n: "pearl " * (n // 6))


@st.composite
def conversations(draw: st.DrawFn) -> list[LogChunk]:
    """Questions, answers, and steps of up to four calls, whose results come in any order."""
    said: list[tuple[Role, Payload, int]] = []
    for step in range(draw(st.integers(1, 8))):
        if draw(st.booleans()):
            said.append(("user", Text(draw(TEXTS)), 0))
        if draw(st.booleans()):
            said.append(("assistant", Text(draw(TEXTS)), step))
        ids = [f"c{step}-{n}" for n in range(draw(st.integers(0, 4)))]
        arguments: dict[str, Any] = {"text": draw(TEXTS)}
        said.extend(("assistant", ToolCall(one, "look", arguments), step) for one in ids)
        order = draw(st.permutations(ids))
        said.extend(("tool", ToolResult(one, "look", draw(TEXTS)), step) for one in order)
    return rows_of(*said)


@given(conversations(), st.integers(1_200, 6_000))
def test_u24_pieces_hold_every_row_once_in_order_and_no_call_without_its_result(
    rows: list[LogChunk], limit: int
) -> None:
    left, ids = rows, list[str]()
    while left:
        piece, rest, is_cut = context.next_piece(left, limit)
        assert piece and len(piece) + len(rest) == len(left)
        assert context.tokens(piece) <= limit
        calls = {row.data.call_id for row in piece if isinstance(row.data, ToolCall)}
        assert calls == {row.data.call_id for row in piece if isinstance(row.data, ToolResult)}
        assert is_cut or piece == left[: len(piece)]
        ids.extend(row.id for row in piece)
        left = rest
    assert ids == [row.id for row in rows]


def test_u24_what_is_larger_than_a_piece_keeps_its_beginning_and_end() -> None:
    text = "BEGIN " + "é" * 60_000 + " END"
    rows = rows_of(
        ("assistant", ToolCall("c", "look", {"text": text}), 0),
        ("tool", ToolResult("c", "look", text), 0),
        ("user", Text("short"), 0),
    )
    piece, rest, is_cut = context.next_piece(rows, 1_000)
    assert is_cut and context.tokens(piece) <= 1_000 and rest == rows[2:]
    result = piece[1].data
    assert isinstance(result, ToolResult)
    assert result.result.startswith("BEGIN ") and result.result.endswith(" END")
    assert "bytes left out" in result.result


def test_what_a_model_is_not_told_weighs_nothing() -> None:
    assert context.weight(System("notice", "x" * 99)) == 0
    assert context.weight(System("turn_end")) == 0
