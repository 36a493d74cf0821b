"""What the rows of a conversation say together."""

from hypothesis import given
from hypothesis import strategies as st

from desktop.core.chunks import ErrorNote, LogChunk, System, Text, Thinking
from desktop.core.conversation import (
    is_started_mark,
    prompt_of,
    retracted_ids,
    split_dangling,
    started_calls,
    started_mark,
    unanswered_calls,
)
from tests.unit.core.rows import answered, called, log, said, system, user


def texts(rows: tuple[LogChunk, ...]) -> list[str]:
    return [row.data.text for row in rows if isinstance(row.data, Text)]


def test_S03_an_answered_text_is_not_dangling() -> None:
    rows = log(user("a"), said("b"), system("turn_end", outcome="done"))
    session = split_dangling(rows)
    assert session.chunks == tuple(rows)
    assert session.dangling_user is None


def test_S03_trailing_texts_are_taken_off_and_joined() -> None:
    session = split_dangling(log(user("a"), said("b"), user("c"), user("d")))
    assert texts(session.chunks) == ["a", "b"]
    assert session.dangling_user == "c\n\nd"


def test_S03_after_an_interrupted_answer_the_next_text_is_still_dangling() -> None:
    session = split_dangling(
        log(user("a"), ("assistant", Text("half", interrupted=True)), user("c"))
    )
    assert texts(session.dangling) == ["c"]


def test_S03_errors_and_system_rows_answer_nothing_and_stay() -> None:
    rows = log(user("a"), ("assistant", ErrorNote("x")), system("turn_end", outcome="failed"))
    session = split_dangling(rows)
    assert session.dangling_user == "a"
    assert session.chunks == tuple(rows[1:])


def test_S03_a_result_and_a_thinking_answer() -> None:
    assert split_dangling(log(user("a"), called("c"), answered("c"))).dangling == ()
    assert split_dangling(log(user("a"), ("assistant", Thinking("hm")))).dangling == ()


def test_S03_what_was_retracted_neither_dangles_nor_answers() -> None:
    taken_back = split_dangling(
        log(user("a"), said("b"), user("c"), system("retracted", chunkIds=["r3"]))
    )
    assert taken_back.dangling == ()
    answer_gone = split_dangling(log(user("a"), said("b"), system("retracted", chunkIds=["r2"])))
    assert answer_gone.dangling_user == "a"


parts = st.sampled_from([user("u"), said("s"), called("c"), answered("c"), system("notice")])


@given(st.lists(parts, max_size=12))
def test_S03_splitting_loses_no_row_and_is_stable(pieces: list[tuple[str, object]]) -> None:
    rows = log(*pieces)  # type: ignore[arg-type]
    session = split_dangling(rows)
    together = sorted((*session.chunks, *session.dangling), key=lambda row: row.seq)
    assert together == rows
    assert split_dangling(session.chunks).chunks == session.chunks or session.dangling == ()
    assert all(row.role == "user" for row in session.dangling)


def test_retracted_rows_of_another_shape_say_nothing() -> None:
    rows = log(
        system("retracted", chunkIds=7), system("retracted"), system("retracted", chunkIds=["a", 1])
    )
    assert retracted_ids(rows) == {"a"}


def test_C09_a_call_without_a_result_is_unanswered() -> None:
    rows = log(called("a"), called("b"), called("c"), answered("b"))
    assert [row.seq for row in unanswered_calls(rows)] == [1, 3]


def test_C09_an_id_that_is_used_again_counts_anew() -> None:
    rows = log(called("a"), answered("a"), called("a"))
    assert [row.seq for row in unanswered_calls(rows)] == [3]


def test_A07_the_mark_names_the_calls_that_have_started() -> None:
    mark = started_mark(["a", "b"])
    rows = log(called("a"), called("b"), called("c"), ("system", mark), answered("a"))
    assert started_calls(rows) == {"b"}
    assert is_started_mark(mark)
    assert not is_started_mark(System("notice", "a notice"))


def test_A07_an_id_that_is_used_again_has_not_started() -> None:
    rows = log(called("a"), ("system", started_mark(["a"])), answered("a"), called("a"))
    assert started_calls(rows) == frozenset()


def test_c29_the_prompt_is_the_last_prompt_row() -> None:
    """C29: a compaction may bring a changed one."""
    rows = log(("system", System("prompt", "one")), user("a"), ("system", System("prompt", "two")))
    found = prompt_of(rows)
    assert found is not None
    assert found.text == "two"
    assert prompt_of(log(user("a"))) is None
