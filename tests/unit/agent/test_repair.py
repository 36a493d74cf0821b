"""What the rows say about a turn that did not end."""

from itertools import count

from hypothesis import given
from hypothesis import strategies as st

from desktop.agent import repair
from desktop.core.chunks import LogChunk, NewChunk, System, Text, ToolCall
from desktop.core.conversation import started_mark, unanswered_calls
from tests.unit.core.rows import answered, called, log, row, said, system, user


def mended(rows: list[LogChunk]) -> list[NewChunk]:
    numbers = count(1)
    return repair.mending(rows, lambda: f"m{next(numbers)}")


def laid_down(rows: list[LogChunk], chunks: list[NewChunk]) -> list[LogChunk]:
    new = [
        row(len(rows) + n, chunk.role, chunk.data, turn=chunk.turn_id, step=chunk.step)
        for n, chunk in enumerate(chunks, start=1)
    ]
    return [*rows, *new]


def test_an_empty_log_and_an_ended_turn_need_nothing() -> None:
    assert mended([]) == []
    assert mended(log(user("a"), said("b"), system("turn_end", outcome="done"))) == []


def test_S03_an_unanswered_text_alone_is_left_as_it_is() -> None:
    assert mended(log(system("prompt"), user("a"))) == []


def test_an_answer_without_an_end_gets_one() -> None:
    chunks = mended(log(user("a"), said("b")))
    assert [chunk.data for chunk in chunks] == [
        System("turn_end", fields={"outcome": "interrupted", "durationMs": 1})
    ]


def test_rows_after_an_end_open_the_turn_again() -> None:
    end = system("turn_end", outcome="failed")
    assert len(mended(log(user("a"), end, said("half")))) == 1
    assert mended(log(user("a"), said("half"), end, system("notice"))) == []


def test_A07_the_two_repairs_differ() -> None:
    rows = log(user("a"), called("x"), called("y"), ("system", started_mark(["x"])))
    one, two, _ = mended(rows)
    assert getattr(one.data, "result", "").startswith("Interrupted, outcome unknown")
    assert getattr(two.data, "result", "").startswith("Interrupted, not started")


pieces = st.sampled_from(
    [
        user("u"),
        said("s"),
        called("a"),
        called("b"),
        answered("a"),
        ("system", started_mark(["a", "b"])),
        system("turn_end", outcome="done"),
        system("notice"),
    ]
)


@given(st.lists(pieces, max_size=10))
def test_mending_once_is_enough_and_leaves_no_call_open_in_an_open_turn(
    parts: list[tuple[str, object]],
) -> None:
    rows = log(*parts)  # type: ignore[arg-type]
    open_before = repair.is_open(rows, "t1")
    after = laid_down(rows, mended(rows))
    assert mended(after) == []
    spoke = any(one.role in ("assistant", "tool") for one in rows)
    if open_before and spoke:
        assert unanswered_calls(after) == ()
        assert not repair.is_open(after, "t1")
    else:
        assert after == rows


def test_a_turn_goes_on_at_the_step_that_failed() -> None:
    rows = [
        row(1, "user", Text("a")),
        row(2, "assistant", ToolCall("c", "look", {})),
        row(3, "tool", answered("c")[1]),
        row(4, "assistant", Text("half", interrupted=True), step=1),
    ]
    assert repair.next_step(rows, "t1") == (1, ("r4",))
    assert repair.next_step(rows[:3], "t1") == (1, ())
    assert repair.next_step(rows[:1], "t1") == (0, ())
    taken_back = [*rows, row(5, "system", System("retracted", fields={"chunkIds": ["r4"]}))]
    assert repair.next_step(taken_back, "t1") == (1, ())


def test_S03_what_counts_as_the_same_text() -> None:
    note = {"name": "n.txt", "size": 1}
    dangling = [row(1, "user", Text("a", attachments=(note,))), row(2, "user", Text("b"))]
    assert repair.is_same_text(dangling, "a\n\nb", ())
    assert repair.is_same_text(dangling, "a\n\nb", (note,))
    assert not repair.is_same_text(dangling, "a\n\nb", ({"name": "other"},))
    assert not repair.is_same_text(dangling, "a", ())
    assert not repair.is_same_text([], "", ())
