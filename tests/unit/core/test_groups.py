"""Rows that are one thing to the eye."""

from hypothesis import given
from hypothesis import strategies as st

from desktop.core.chunks import DamagedRow
from desktop.core.conversation import started_mark
from desktop.core.groups import call_ids, group, results_by_call
from tests.unit.core.rows import answered, called, log, row, said, system, user


def test_a_step_and_its_results_are_one_group() -> None:
    rows = log(user("a"), said("b"), called("c"), answered("c"), system("turn_end"))
    assert [(one.role, len(one.chunks)) for one in group(rows)] == [
        ("user", 1),
        ("assistant", 3),
        ("system", 1),
    ]


def test_steps_and_turns_are_apart() -> None:
    one = row(1, "assistant", said("a")[1], step=0)
    two = row(2, "assistant", said("b")[1], step=1)
    three = row(3, "assistant", said("c")[1], turn="t2", step=1)
    assert [len(found.chunks) for found in group([one, two, three])] == [1, 1, 1]


def test_A07_the_marks_of_started_calls_do_not_split_a_step() -> None:
    mark = ("system", started_mark(["c"]))
    rows = log(called("c"), called("d"), mark, answered("c"), answered("d"))  # type: ignore[arg-type]
    groups = group(rows)
    assert len(groups) == 1
    assert [one.seq for one in groups[0].chunks] == [1, 2, 4, 5]


parts = st.sampled_from([user("u"), said("s"), called("c"), answered("c"), system("notice")])


@given(st.lists(parts, max_size=12))
def test_grouping_keeps_every_row_in_its_place(pieces: list[tuple[str, object]]) -> None:
    rows = log(*pieces)  # type: ignore[arg-type]
    assert [one for found in group(rows) for one in found.chunks] == rows


def test_results_and_calls_are_found_by_their_id() -> None:
    rows = log(called("a"), answered("a"), answered("b"))
    damaged = DamagedRow("x", 9, "torn", "{")
    assert set(results_by_call([*rows, damaged])) == {"a", "b"}
    assert call_ids([*rows, damaged]) == {"a"}
