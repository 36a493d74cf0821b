"""Cursors: bound to one list of one reader, and not for ever (SPEC R10)."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop.core.sources import EVERYTHING, Selection
from desktop.feed.cursors import LIFETIME_SECONDS, Cursors, Listing, Reader
from desktop.feed.faults import CursorExpired, InvalidQuery
from tests.unit.feed.times import Time

LISTING = Listing(Reader("plugin", 3), "tab", "message", EVERYTHING, "descending", 50)
PROMPTS = Selection(frozenset({"user"}))


def cursors(time: Time, *, epoch: str = "e", secret: bytes = b"secret") -> Cursors:
    return Cursors(secret, epoch=epoch, now=time.clock)


def test_a_cursor_opens_to_its_place() -> None:
    made = cursors(Time())
    assert made.open(made.sign(LISTING, 42), LISTING) == 42


@pytest.mark.parametrize(
    "other",
    [
        replace(LISTING, reader=Reader("plugin", 4)),
        replace(LISTING, reader=Reader("another", 3)),
        replace(LISTING, session_id="other"),
        replace(LISTING, kind="turn"),
        replace(LISTING, selection=PROMPTS),
        replace(LISTING, order="ascending"),
        replace(LISTING, size=51),
    ],
)
def test_r10_a_cursor_of_another_list_is_refused(other: Listing) -> None:
    made = cursors(Time())
    with pytest.raises(InvalidQuery):
        made.open(made.sign(other, 42), LISTING)


@given(cursor=st.text(max_size=80) | st.binary(max_size=60).map(lambda one: one.hex()))
def test_r10_what_was_never_signed_is_refused(cursor: str) -> None:
    with pytest.raises(InvalidQuery):
        cursors(Time()).open(cursor, LISTING)


@given(at=st.integers(0, 200), letter=st.sampled_from("AB_-z9"))
def test_r10_a_cursor_with_another_letter_is_refused(at: int, letter: str) -> None:
    made = cursors(Time())
    good = made.sign(LISTING, 42)
    at %= len(good)
    bad = good[:at] + letter + good[at + 1 :]
    if bad != good:
        with pytest.raises(InvalidQuery):
            made.open(bad, LISTING)


def test_r10_another_run_with_another_secret_knows_it_not() -> None:
    with pytest.raises(InvalidQuery):
        cursors(Time(), secret=b"other").open(cursors(Time()).sign(LISTING, 42), LISTING)


def test_a_cursor_lasts_ten_minutes_and_one_run() -> None:
    time = Time()
    made = cursors(time)
    cursor = made.sign(LISTING, 42)
    time.advance(LIFETIME_SECONDS - 1)
    assert made.open(cursor, LISTING) == 42
    with pytest.raises(CursorExpired):
        cursors(time, epoch="later").open(cursor, LISTING)
    time.advance(1)
    with pytest.raises(CursorExpired):
        made.open(cursor, LISTING)
