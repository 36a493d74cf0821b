"""The window as a value (SPEC C19, C20, C24)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop.core.groups import Row
from desktop.feed.window import (
    DEFAULT_LIMIT,
    End,
    Inserted,
    Limits,
    Removed,
    Window,
    appended,
    limits_for,
    prepended,
    trimmed,
)
from tests.unit.feed.rows_of import text

NOTHING: frozenset[str] = frozenset()


def holding(count: int, *, limit: int = DEFAULT_LIMIT, first: int = 1) -> Window:
    return Window(
        tuple(text(seq) for seq in range(first, first + count)),
        has_older=first > 1,
        limits=Limits(limit),
    )


def test_the_first_read_is_three_quarters_of_the_limit_and_a_page_is_a_quarter() -> None:
    """C19"""
    assert (Limits(256).initial, Limits(256).page) == (192, 64)


@pytest.mark.parametrize(
    ("limit", "loaded", "left"),
    [(256, 257, 193), (100, 101, 76), (100, 130, 80), (256, 256, 256), (256, 1000, 232)],
)
def test_whole_quarters_of_the_oldest_go_in_one_removal(limit: int, loaded: int, left: int) -> None:
    """C19"""
    window, removed = trimmed(holding(loaded, limit=limit), NOTHING, end="oldest")
    assert len(window.rows) == left
    assert window.last_seq == loaded
    assert removed == (() if loaded == left else (Removed(0, loaded - left),))
    assert window.has_older is (loaded != left)


@pytest.mark.parametrize("bad", [None, 0, -1, 7, True, 1.5, "256", float("nan")])
def test_a_limit_that_is_no_usable_number_gives_the_default(bad: object) -> None:
    """C19"""
    assert limits_for(bad) == Limits(256)


def test_a_good_limit_is_taken() -> None:
    assert limits_for(100) == Limits(100)


def test_the_newest_go_when_the_person_reads_at_the_top() -> None:
    window, removed = trimmed(holding(260), NOTHING, end="newest")
    assert (window.first_seq, window.last_seq) == (1, 196)
    assert removed == (Removed(196, 64),)
    assert window.has_newer


def test_a_pinned_row_stays_and_the_rest_goes_from_the_other_end() -> None:
    """C21"""
    window, removed = trimmed(holding(257), frozenset({"c11"}), end="oldest")
    assert window.first_seq == 11
    assert removed == (Removed(0, 10),)
    window, removed = trimmed(holding(257), frozenset({"c1"}), end="oldest")
    assert (window.first_seq, len(window.rows)) == (1, 193)


def test_where_both_ends_are_pinned_the_window_stays_larger_until_they_are_let_go() -> None:
    """C21"""
    both = frozenset({"c1", "c300"})
    assert trimmed(holding(300), both, end="oldest") == (holding(300), ())


def test_rows_that_are_held_already_are_not_taken_twice() -> None:
    """C24"""
    step = appended(holding(3), [text(2), text(3), text(4)], has_newer=False)
    assert step is not None
    window, changes = step
    assert [row.seq for row in window.rows] == [1, 2, 3, 4]
    assert changes == (Inserted(3, (text(4),)),)


def test_a_hole_is_refused_at_both_ends() -> None:
    """C24"""
    assert appended(holding(3), [text(5)], has_newer=False) is None
    assert prepended(holding(3, first=10), [text(7)], has_older=True) is None


def test_an_older_page_goes_before_the_first_row() -> None:
    step = prepended(holding(2, first=4), [text(2), text(3), text(4)], has_older=True)
    assert step is not None
    window, changes = step
    assert [row.seq for row in window.rows] == [2, 3, 4, 5]
    assert changes == (Inserted(0, (text(2), text(3))),)


ENDS = st.sampled_from(["oldest", "newest"])
MOVES = st.lists(st.tuples(st.sampled_from(["append", "prepend"]), st.integers(1, 40)), max_size=30)


@given(
    limit=st.integers(8, 60),
    moves=MOVES,
    end=ENDS,
    pin=st.integers(1, 2000),
)
def test_a_window_stays_contiguous_within_its_limit_and_keeps_what_is_pinned(
    limit: int,
    moves: list[tuple[str, int]],
    end: End,
    pin: int,
) -> None:
    """C20: whatever is read, in whatever order."""
    window = holding(limit, limit=limit, first=1000)
    pins = frozenset({f"c{pin}"})
    mirror: list[Row] = list(window.rows)
    for move, count in moves:
        first, last = window.first_seq, window.last_seq
        assert first is not None and last is not None
        if move == "append":
            rows = [text(seq) for seq in range(last + 1, last + 1 + count)]
            step = appended(window, rows, has_newer=True)
        else:
            rows = [text(seq) for seq in range(max(1, first - count), first)]
            step = prepended(window, rows, has_older=True)
        assert step is not None
        held = any(row.id in pins for row in step[0].rows)
        window, removals = trimmed(step[0], pins, end=end)
        for change in (*step[1], *removals):
            if isinstance(change, Inserted):
                mirror[change.at : change.at] = change.rows
            else:
                del mirror[change.at : change.at + change.count]
        seqs = [row.seq for row in window.rows]
        assert mirror == list(window.rows)
        assert seqs == list(range(seqs[0], seqs[0] + len(seqs)))
        assert len(seqs) <= limit
        assert not held or any(row.id in pins for row in window.rows)
