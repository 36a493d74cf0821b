"""Turns as their rows say them: open, ended, sent again."""

from desktop.core.chunks import ErrorNote
from desktop.core.turns import Turn, turns_of
from tests.unit.core.rows import row, said, system, user

END = system("turn_end", outcome="done", durationMs=5)
FAILED = system("turn_end", outcome="failed", durationMs=7)


def test_a_turn_lasts_from_its_first_row_to_its_end() -> None:
    rows = [row(1, *user("hello")), row(2, *said("hi")), row(3, *END)]
    assert turns_of(rows) == (Turn("t1", "tab", 1, 1, 3, "done", 5),)
    assert turns_of(rows[:2]) == (Turn("t1", "tab", 1, 1),)


def test_a_turn_that_is_sent_again_is_open_until_it_ends_again() -> None:
    """What it worked before counts."""
    rows = [row(1, *user("hello")), row(2, "system", ErrorNote("no")), row(3, *FAILED)]
    assert turns_of(rows)[0].outcome == "failed"
    rows.append(row(4, *said("hi")))
    assert turns_of(rows) == (Turn("t1", "tab", 1, 1, duration_ms=7),)
    assert turns_of([*rows, row(5, *END)]) == (Turn("t1", "tab", 1, 1, 5, "done", 12),)


def test_what_the_program_adds_behind_an_end_opens_nothing() -> None:
    rows = [row(1, *user("hello")), row(2, *said("hi")), row(3, *END), row(4, *system("tools"))]
    rows += [row(5, *user("more"), turn="t2"), row(6, *said("again"))]
    assert [turn.outcome for turn in turns_of(rows)] == ["done", ""]
