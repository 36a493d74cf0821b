"""A scope around its source: when it reads, what it commits, what it says (SPEC R05 – R13)."""

import asyncio
from collections.abc import Iterator

import pytest

from desktop.core.errors import StoreBusy
from desktop.feed.batches import Batch, Operation
from desktop.feed.faults import (
    CursorExpired,
    FeedError,
    InvalidQuery,
    NotFound,
    Unauthenticated,
    UpstreamFailure,
)
from desktop.feed.loaded import Order
from desktop.feed.source_scope import SourceScope
from tests.unit.feed.tables import Admits, Table, TableSource, everything
from tests.unit.feed.times import Room, Time


class Desk:
    """A table of `rows`, a scope on it, and what its listener heard."""

    def __init__(self) -> None:
        self.room, self.time, self.table = Room(), Time(), Table()
        self.heard: list[tuple[Operation, ...] | None] = []

    def open(
        self, rows: int = 0, *, order: Order = "descending", admits: Admits = everything
    ) -> None:
        for place in range(1, rows + 1):
            self.table.put(place)
        self.source = TableSource(self.table, order=order, admits=admits)
        self.scope = SourceScope(
            self.source, start=self.room.start, later=self.time.later, clock=self.time.clock
        )
        self.scope.listen(self.heard.append)
        self.scope.open()
        self.room.settle()
        self.source.asked.clear()
        self.heard.clear()

    def deliver(self, base: int, revision: int) -> None:
        self.scope.batch(self.source.batch(base, revision))
        self.room.settle()

    def follow(self) -> None:
        """Delivers the last write."""
        self.deliver(self.table.revision - 1, self.table.revision)

    def check(self) -> None:
        self.scope.observe(self.table.epoch, self.table.revision, since=self.scope.revision)
        self.room.settle()

    def wait(self, seconds: float) -> None:
        self.time.advance(seconds)
        self.room.settle()

    def more(self) -> "asyncio.Task[int]":
        task = self.room.start(self.scope.load_more())
        self.room.tasks.remove(task)
        self.room.settle()
        return task

    @property
    def places(self) -> list[int]:
        return [one.place for one in self.scope.records("row")]


@pytest.fixture
def desk() -> Iterator[Desk]:
    desk = Desk()
    yield desk
    desk.scope.close()
    desk.room.settle()
    desk.room.close()


def test_the_first_page_and_all_turns_are_read_once(desk: Desk) -> None:
    desk.table.put(1, kind="turn")
    desk.open(5)
    assert (desk.places, desk.scope.has_more, desk.scope.is_fresh) == ([5, 4, 3], True, True)
    assert [one.id for one in desk.scope.records("turn")] == ["turn1"]


def test_r07_a_hundred_unrelated_updates_cause_no_read(desk: Desk) -> None:
    desk.open(5, admits=lambda record: record.place <= 5)
    for place in range(6, 106):
        desk.table.put(place)
        desk.follow()
    assert (desk.source.asked, desk.heard) == ([], [])
    assert (desk.scope.revision, desk.scope.is_fresh) == (105, True)


def test_r07_a_matching_update_changes_its_record_and_reads_nothing(desk: Desk) -> None:
    desk.open(5)
    desk.table.put(4, "new")
    desk.follow()
    desk.table.put(6)
    desk.follow()
    assert [(one.place, one.value) for one in desk.scope.records("row")] == [
        (6, 0), (5, 0), (4, "new"), (3, 0),
    ]  # fmt: skip
    assert [len(one or ()) for one in desk.heard] == [1, 1]
    assert desk.source.asked == []


def test_a_record_that_leaves_the_selection_is_removed_and_one_that_enters_comes(
    desk: Desk,
) -> None:
    desk.open(3, admits=lambda record: record.value == 0)
    desk.table.put(2, "hidden")
    desk.follow()
    assert desk.places == [3, 1]
    desk.table.put(2, 0)
    desk.follow()
    assert desk.places == [3, 2, 1]


def test_r05_a_lost_batch_is_noticed_and_repaired_by_one_read(desk: Desk) -> None:
    desk.open(3)
    desk.table.put(4)
    desk.table.put(5)
    desk.deliver(4, 5)
    desk.check()
    assert (desk.places, desk.scope.revision, desk.scope.is_fresh) == ([3, 2, 1], 3, False)
    desk.wait(0.9)
    assert desk.source.asked == []
    desk.wait(0.2)
    assert (desk.places, desk.scope.revision, desk.scope.is_fresh) == ([5, 4, 3, 2, 1], 5, True)
    assert desk.source.asked == ["read"]


def test_r06_a_late_predecessor_within_a_second_needs_no_read(desk: Desk) -> None:
    desk.open(3)
    desk.table.put(4)
    desk.table.remove(1)
    desk.deliver(4, 5)
    desk.wait(0.9)
    desk.deliver(3, 4)
    desk.wait(5)
    assert (desk.places, desk.source.asked, desk.scope.is_fresh) == ([4, 3, 2], [], True)


def test_r08_a_check_never_moves_what_the_records_stand_at(desk: Desk) -> None:
    desk.open(3)
    desk.table.put(4)
    desk.check()
    assert (desk.scope.revision, desk.scope.is_fresh, desk.places) == (3, False, [3, 2, 1])


def test_r08_a_failing_read_after_a_reconnection_leaves_later_batches_unapplied(
    desk: Desk,
) -> None:
    desk.open(3)
    desk.source.faults.append(UpstreamFailure())
    desk.scope.lost()
    desk.wait(1)
    desk.table.put(4)
    desk.follow()
    assert (desk.places, desk.scope.is_fresh) == ([3, 2, 1], False)
    assert isinstance(desk.scope.error, UpstreamFailure)
    desk.scope.retry()
    desk.wait(1)
    assert (desk.places, desk.scope.is_fresh, desk.scope.error) == ([4, 3, 2, 1], True, None)


def test_r09_repairs_are_a_second_apart_however_much_is_wrong(desk: Desk) -> None:
    desk.open(3)
    began = []
    for _ in range(30):
        desk.table.put(4)
        desk.table.put(5)
        base = desk.table.revision - 2
        before = len(desk.source.asked)
        desk.scope.batch(Batch("e1", base, base + 2, is_reset=True))
        desk.room.settle()
        desk.wait(0.1)
        began += [desk.time.now] * (len(desk.source.asked) - before)
    assert 2 <= len(began) <= 4


def test_r09_after_a_failure_nothing_is_read_before_the_next_check(desk: Desk) -> None:
    desk.open(3)
    desk.table.put(4)
    desk.source.faults.append(UpstreamFailure())
    desk.check()
    desk.wait(60)
    assert (desk.source.asked, desk.scope.is_fresh) == (["read"], False)
    desk.check()
    desk.wait(1)
    assert (desk.source.asked, desk.places) == (["read"] * 2, [4, 3, 2, 1])


def test_r09_what_goes_wrong_while_one_repairs_leads_to_one_more(desk: Desk) -> None:
    desk.open(3)
    desk.source.is_open = False
    desk.scope.lost()
    desk.wait(1)
    assert desk.source.asked == ["read"]
    for _ in range(5):
        desk.scope.lost()
    desk.source.is_open = True
    desk.source.waiting.pop().set_result(None)
    desk.wait(5)
    assert desk.source.asked == ["read", "read"]
    assert desk.scope.is_fresh


def test_r09_r13_pages_that_never_agree_are_read_three_times_and_nothing_is_shown(
    desk: Desk,
) -> None:
    """The rows stay; the next check begins another cycle."""
    desk.open(3)
    desk.table.put(4)
    desk.source.churn = 5
    desk.scope.lost()
    desk.wait(1)
    assert desk.source.asked == ["read"] * 3
    assert (desk.places, desk.scope.is_fresh) == ([3, 2, 1], False)
    assert isinstance(desk.scope.error, UpstreamFailure)
    desk.wait(60)
    assert len(desk.source.asked) == 3
    desk.check()
    desk.wait(1)
    assert len(desk.source.asked) == 6
    assert (desk.places, desk.scope.is_fresh, desk.scope.error) == ([4, 3, 2, 1], True, None)


@pytest.mark.parametrize("order", ["ascending", "descending"])
def test_r10_r11_every_record_comes_once_though_the_boundary_is_gone(
    desk: Desk, order: Order
) -> None:
    desk.open(8, order=order)
    boundary = desk.places[-1]
    desk.table.remove(boundary)
    desk.follow()
    while desk.scope.has_more:
        assert desk.more().result() > 0
    expected = [place for place in range(1, 9) if place != boundary]
    assert desk.places == (expected if order == "ascending" else expected[::-1])
    assert desk.source.asked == ["more", "more"]


def test_r10_a_page_after_applied_updates_needs_no_refresh(desk: Desk) -> None:
    desk.open(8)
    desk.table.put(8, "new")
    desk.follow()
    assert desk.more().result() == 3
    assert (desk.source.asked, desk.places) == (["more"], [8, 7, 6, 5, 4, 3])


def test_r10_what_arrived_before_the_page_was_refused_is_applied_and_it_is_asked_again(
    desk: Desk,
) -> None:
    desk.open(8)
    desk.source.is_open = False
    desk.table.put(9)
    task = desk.more()
    desk.follow()
    assert 9 not in desk.places
    desk.source.is_open = True
    desk.source.waiting.pop().set_result(None)
    desk.room.settle()
    assert desk.source.asked == ["more", "more"]
    assert (desk.places, task.result()) == ([9, 8, 7, 6, 5, 4, 3], 4)


def test_r10_where_batches_are_missing_the_range_is_repaired_before_it_goes_on(
    desk: Desk,
) -> None:
    desk.open(8)
    desk.table.put(9)
    task = desk.more()
    assert (desk.places, task.done()) == ([8, 7, 6], False)
    desk.wait(1)
    assert desk.source.asked == ["more", "read", "more"]
    assert (desk.places, task.result()) == ([9, 8, 7, 6, 5, 4, 3], 4)


def test_r10_a_page_that_is_refused_again_and_again_fails_and_can_be_tried_again(
    desk: Desk,
) -> None:
    desk.open(8)
    desk.table.put(9)
    desk.source.churn = 3
    task = desk.more()
    desk.wait(1)
    assert isinstance(task.exception(), UpstreamFailure)
    assert desk.places == [8, 7, 6]
    assert desk.more().done() is False
    desk.wait(1)
    assert desk.places == [9, 8, 7, 6, 5, 4, 3]


def test_an_expired_cursor_is_answered_by_one_fresh_read(desk: Desk) -> None:
    desk.open(8)
    desk.source.faults.append(CursorExpired())
    task = desk.more()
    desk.wait(1)
    assert (desk.source.asked, task.result()) == (["more", "read", "more"], 3)


def test_a_cursor_that_is_refused_reads_nothing_more(desk: Desk) -> None:
    desk.open(8)
    desk.source.faults.append(InvalidQuery())
    assert isinstance(desk.more().exception(), InvalidQuery)
    desk.wait(5)
    assert (desk.source.asked, desk.places, desk.scope.is_fresh) == (["more"], [8, 7, 6], True)


def test_calls_for_more_that_meet_are_one_and_count_alike(desk: Desk) -> None:
    desk.open(8)
    desk.source.is_open = False
    first, second = desk.more(), desk.more()
    desk.source.waiting.pop().set_result(None)
    desk.room.settle()
    assert (first.result(), second.result(), desk.source.asked) == (3, 3, ["more"])


@pytest.mark.parametrize("error", [NotFound(), Unauthenticated()])
def test_r12_a_scope_that_ends_keeps_its_rows_and_reads_no_more(
    desk: Desk, error: FeedError
) -> None:
    desk.open(8)
    desk.scope.end(error)
    desk.table.put(9)
    desk.follow()
    desk.check()
    desk.wait(60)
    assert desk.more().result() == 0
    assert (desk.places, desk.scope.error, desk.scope.is_over) == ([8, 7, 6], error, True)
    assert (desk.source.asked, desk.time.is_idle, desk.heard) == ([], True, [()])


def test_r12_a_scope_that_is_refused_at_its_first_read_has_nothing_and_ends(desk: Desk) -> None:
    desk.open()
    desk.scope.close()
    scope = SourceScope(
        desk.source, start=desk.room.start, later=desk.time.later, clock=desk.time.clock
    )
    desk.source.faults.append(NotFound())
    scope.open()
    desk.room.settle()
    assert (scope.is_over, scope.is_loaded, str(scope.error)) == (True, False, str(NotFound()))


def test_what_was_read_for_a_scope_that_was_closed_is_not_committed(desk: Desk) -> None:
    desk.open(8)
    desk.source.is_open = False
    desk.table.put(9)
    task = desk.more()
    desk.scope.close()
    desk.room.settle()
    assert (task.result(), desk.places, desk.room.tasks) == (0, [8, 7, 6], [])


def test_out_of_sight_nothing_is_repaired_and_back_in_sight_it_is(desk: Desk) -> None:
    desk.open(3)
    desk.scope.show(False)
    desk.table.put(4)
    desk.check()
    desk.wait(60)
    assert (desk.source.asked, desk.scope.is_fresh) == ([], False)
    desk.scope.show(True)
    desk.room.settle()
    desk.wait(2)
    assert (desk.places, desk.scope.is_fresh) == ([4, 3, 2, 1], True)


def test_back_in_sight_an_equal_revision_is_compared_and_nothing_is_read(desk: Desk) -> None:
    """R14"""
    desk.open(3)
    desk.scope.show(False)
    desk.source.is_open = False
    desk.scope.show(True)
    desk.room.settle()
    assert not desk.scope.is_fresh
    desk.source.waiting.pop().set_result(None)
    desk.room.settle()
    assert (desk.source.asked, desk.scope.is_fresh) == (["revision"], True)


def test_back_in_sight_it_is_not_fresh_while_it_could_not_be_compared(desk: Desk) -> None:
    desk.open(3)
    desk.scope.show(False)
    desk.source.faults.append(StoreBusy("busy"))
    desk.scope.show(True)
    desk.room.settle()
    assert not desk.scope.is_fresh
    desk.check()
    assert desk.scope.is_fresh


def test_r14_a_new_epoch_forces_a_read(desk: Desk) -> None:
    desk.open(3)
    desk.table.epoch = "e2"
    desk.check()
    assert not desk.scope.is_fresh
    desk.wait(1)
    assert (desk.source.asked, desk.scope.is_fresh) == (["read"], True)


def test_a_large_batch_is_read_instead(desk: Desk) -> None:
    """R09"""
    desk.open(3)
    for n in range(300):
        desk.table.put(4 + n)
    desk.deliver(3, 303)
    desk.wait(1)
    assert (desk.source.asked, len(desk.places), desk.scope.is_fresh) == (["read"], 303, True)


def test_what_came_during_the_first_read_follows_it(desk: Desk) -> None:
    for place in (1, 2, 3):
        desk.table.put(place)
    source = TableSource(desk.table, is_open=False)
    desk.scope = SourceScope(
        source, start=desk.room.start, later=desk.time.later, clock=desk.time.clock
    )
    desk.scope.open()
    desk.room.settle()
    desk.table.put(4)
    desk.scope.batch(source.batch(2, 3))
    desk.scope.batch(source.batch(3, 4))
    assert desk.places == []
    source.waiting.pop().set_result(None)
    desk.room.settle()
    assert (desk.places, desk.scope.is_fresh, source.asked) == ([4, 3, 2, 1], True, ["read"])
