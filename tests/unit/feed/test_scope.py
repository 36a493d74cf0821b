"""A bounded window that follows the log (SPEC C20–C25, P09, F-R09)."""

import asyncio
import itertools
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from desktop.core.chunks import NewChunk, System, ToolCall, ToolResult
from desktop.core.errors import StoreBusy
from desktop.core.groups import Row
from desktop.core.records import Page, Receipt, RequestRecord
from desktop.core.reducer import Dropped, Grew, Opened
from desktop.core.status import TabStatus
from desktop.feed.hub import Hub
from desktop.feed.scope import Scope
from desktop.feed.shown import Change, Changed, Failed, Grown, Newer, Reset, Status
from desktop.feed.window import Inserted, Limits, Moved, Removed
from tests.fakes.stores import MemoryLog
from tests.unit.feed.rows_of import new
from tests.unit.feed.times import Passing


class Desk(Passing):
    """A log, a hub, a scope on it, and a mirror kept by its changes alone."""

    def __init__(self, *, limit: int = 16) -> None:
        super().__init__()
        ids = itertools.count()
        self.log = MemoryLog(now_ms=lambda: 0, new_id=lambda: f"id{next(ids)}")
        self.hub = Hub()
        self.limits = Limits(limit)
        self.mirror: list[Row] = []
        self.changes: list[Change] = []
        self.reads: list[dict[str, int | None]] = []
        self.failures: list[Exception] = []
        self._numbers = itertools.count(1)

    async def begin(self, rows: int = 0, *, around: int | None = None) -> "Desk":
        workspace = await self.log.catalogue.scratch_workspace()
        self.tab = (await self.log.catalogue.create_tab(workspace.id)).id
        self.session = self.log.session(self.tab)
        if rows:
            await self.session.append([self.next() for _ in range(rows)])
        self.scope = Scope(
            self.tab,
            self,
            self.hub,
            start=self.start,
            later=self.time.later,
            clock=self.time.clock,
            limits=self.limits,
        )
        self.scope.listen(self.hear)
        self.scope.open(around)
        await self.settle()
        return self

    # LogReader

    async def page(self, tab_id: str, *, limit: int, **where: int | None) -> Page:
        self.reads.append({"limit": limit, **where})
        await asyncio.sleep(0)
        if self.failures:
            raise self.failures.pop(0)
        page = await self.log.reader.page(tab_id, limit=limit, **where)
        await asyncio.sleep(0)
        return page

    async def revision(self, tab_id: str) -> int:
        return await self.log.reader.revision(tab_id)

    async def blob_path(self, sha256: str) -> None:
        return None

    async def look(self) -> None:
        """As the program does every five seconds, and when another process wrote."""
        known = self.hub.known()
        revision = await self.log.reader.revision(self.tab)
        self.hub.revision_found(self.tab, revision, known)
        await self.pass_by(1)

    def next(self, data: Any = None) -> NewChunk:
        number = next(self._numbers)
        return new(f"n{number}", data or f"row {number}")

    async def append(self, *chunks: NewChunk, publish: bool = True) -> Receipt:
        receipt = await self.session.append(chunks)
        if publish:
            self.hub.receipt(receipt)
        return receipt

    def hear(self, change: Change) -> None:
        self.changes.append(change)
        match change:
            case Inserted():
                self.mirror[change.at : change.at] = change.rows
            case Removed():
                assert change.at + change.count <= len(self.mirror)
                del self.mirror[change.at : change.at + change.count]
            case Moved():
                self.mirror.insert(change.to, self.mirror.pop(change.at))
            case Changed():
                assert self.mirror[change.at].id == change.row.id
                self.mirror[change.at] = change.row
            case Grown():
                assert change.at < len(self.mirror)
            case Reset():
                self.mirror[:] = change.rows
            case Status() | Newer() | Failed():
                pass

    def seqs(self) -> list[int]:
        return [row.seq for row in self.scope.window.rows]

    def check(self) -> None:
        assert self.mirror == list(self.scope.rows)
        seqs = self.seqs()
        assert seqs == list(range(seqs[0], seqs[0] + len(seqs))) if seqs else True
        assert len({row.id for row in self.mirror}) == len(self.mirror)
        assert len(seqs) <= self.limits.limit
        assert self.scope.at_tail or len(self.mirror) == len(seqs)


def opened(id_: str, type_: Any = "text", call_id: str = "") -> Opened:
    return Opened(id_, "t1", 0, "assistant", type_, call_id=call_id)


def run(scenario: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(scenario())


def test_opening_reads_only_the_tail() -> None:
    """U01"""

    async def scenario() -> None:
        desk = await Desk().begin(rows=100)
        assert desk.seqs() == list(range(89, 101))
        assert desk.scope.has_older and desk.scope.at_tail
        assert len(desk.reads) == 1
        desk.check()

    run(scenario)


def test_while_the_person_follows_new_rows_come_in_and_a_quarter_of_the_oldest_goes() -> None:
    """C19, C20"""

    async def scenario() -> None:
        desk = await Desk().begin(rows=16)
        for _ in range(5):
            await desk.append(desk.next())
        assert desk.seqs() == list(range(9, 22))[-len(desk.seqs()) :]
        assert len(desk.seqs()) <= 16
        desk.check()

    run(scenario)


def test_a_turn_of_ten_times_the_limit_stays_within_it_and_scrolls_back_once_in_order() -> None:
    """C20"""

    async def scenario() -> None:
        desk = await Desk().begin()
        desk.hub.live(desk.tab, opened("live"))
        for _ in range(160):
            await desk.append(desk.next())
            desk.check()
            assert len(desk.scope.rows) <= 17
        seen: dict[int, None] = {}
        desk.scope.follow(False)
        while True:
            for seq in reversed(desk.seqs()):
                seen.setdefault(seq)
            if not desk.scope.fetch_older():
                break
            await desk.settle()
            desk.check()
        assert list(seen) == list(range(160, 0, -1))

    run(scenario)


def test_while_the_person_reads_new_rows_are_counted_and_not_loaded() -> None:
    """C21"""

    async def scenario() -> None:
        desk = await Desk().begin(rows=14)
        desk.scope.follow(False)
        before = list(desk.mirror)
        await desk.append(desk.next(), desk.next())
        await desk.append(new("fact", System("fact", "time")))
        assert desk.mirror == before
        assert (desk.scope.newer, desk.scope.at_tail) == (2, False)
        assert Newer(2) in desk.changes
        desk.scope.fetch_newer()
        await desk.settle()
        assert (desk.scope.newer, desk.scope.at_tail) == (0, True)
        assert desk.seqs()[-1] == 17
        desk.check()

    run(scenario)


def test_a_visible_row_is_never_evicted() -> None:
    """C21"""

    async def scenario() -> None:
        desk = await Desk().begin(rows=40)
        desk.scope.follow(False)
        first = desk.mirror[0]
        desk.scope.pin([first.id])
        for _ in range(3):
            desk.scope.fetch_older()
            await desk.settle()
            desk.check()
        assert first in desk.mirror

    run(scenario)


def test_a_block_that_streams_on_the_screen_stays_while_older_rows_come() -> None:
    """C21"""

    async def scenario() -> None:
        desk = await Desk().begin(rows=40)
        desk.hub.live(desk.tab, opened("live"))
        desk.scope.follow(False)
        desk.scope.pin(["live"])
        for _ in range(4):
            desk.scope.fetch_older()
            await desk.settle()
        assert desk.mirror[-1].id == "live" and desk.scope.at_tail
        desk.check()

    run(scenario)


def test_a_block_that_streams_becomes_its_row_at_the_same_place() -> None:
    async def scenario() -> None:
        desk = await Desk().begin(rows=2)
        desk.hub.live(desk.tab, opened("b"))
        desk.hub.live(desk.tab, Grew("b", "Hello"))
        assert [row.id for row in desk.mirror][-1] == "b"
        desk.changes.clear()
        await desk.append(new("b", "Hello"))
        assert [type(change) for change in desk.changes] == [Changed]
        desk.hub.live(desk.tab, Grew("b", "late"))
        assert [type(change) for change in desk.changes] == [Changed]
        desk.check()

    run(scenario)


def test_a_visible_stream_goes_on_while_the_person_reads_and_seals_in_place() -> None:
    """C21"""

    async def scenario() -> None:
        desk = await Desk().begin(rows=2)
        desk.hub.live(desk.tab, opened("b"))
        desk.scope.follow(False)
        desk.hub.live(desk.tab, Grew("b", "Hello"))
        await desk.append(new("b", "Hello"))
        assert [row.id for row in desk.mirror][-1] == "b"
        assert desk.scope.newer == 0
        desk.hub.live(desk.tab, opened("c"))
        assert [row.id for row in desk.mirror][-1] == "b"
        await desk.append(new("c", "next"))
        assert desk.scope.newer == 1
        desk.check()

    run(scenario)


def test_the_result_of_a_call_that_is_shown_is_loaded_while_the_person_reads() -> None:
    async def scenario() -> None:
        desk = await Desk().begin(rows=2)
        await desk.append(new("call", ToolCall("k", "shell", {})))
        desk.scope.follow(False)
        await desk.append(new("res", ToolResult("k", "shell", "done"), role="tool"))
        assert desk.mirror[-1].id == "res"
        assert desk.scope.newer == 0

    run(scenario)


def test_a_block_that_leaves_no_row_goes_away() -> None:
    async def scenario() -> None:
        desk = await Desk().begin(rows=2)
        desk.hub.live(desk.tab, opened("b", "thinking"))
        desk.hub.live(desk.tab, Dropped("b"))
        assert [row.id for row in desk.mirror] == ["n1", "n2"]
        desk.check()

    run(scenario)


def test_whoever_comes_in_mid_stream_sees_all_so_far_without_gap_or_repeat() -> None:
    """C25, P09"""

    async def scenario() -> None:
        desk = Desk()
        await desk.begin(rows=3)
        desk.scope.close()
        desk.hub.live(desk.tab, opened("b"))
        desk.hub.live(desk.tab, Grew("b", "one "))
        late = Scope(
            desk.tab,
            desk,
            desk.hub,
            start=desk.start,
            later=desk.time.later,
            clock=desk.time.clock,
            limits=desk.limits,
        )
        late.listen(desk.hear)
        late.open()
        desk.hub.live(desk.tab, Grew("b", "two "))
        await desk.settle()
        desk.hub.live(desk.tab, Grew("b", "three"))
        assert [getattr(row, "text", "") for row in late.rows if row.id == "b"] == ["one two three"]
        await desk.append(new("b", "one two three"))
        assert [row.id for row in late.rows] == ["n1", "n2", "n3", "b"]

    run(scenario)


def test_a_row_that_is_committed_while_the_tail_is_read_stands_there_once() -> None:
    """C23"""

    async def scenario() -> None:
        desk = Desk()
        await desk.begin(rows=3)
        desk.scope.close()
        desk.hub.live(desk.tab, opened("b"))
        late = Scope(
            desk.tab,
            desk,
            desk.hub,
            start=desk.start,
            later=desk.time.later,
            clock=desk.time.clock,
            limits=desk.limits,
        )
        desk.scope = late
        late.listen(desk.hear)
        late.open()
        await desk.append(new("b", "said"))
        await desk.settle()
        assert [row.id for row in late.rows] == ["n1", "n2", "n3", "b"]
        desk.check()

    run(scenario)


def test_idle_before_the_commit_never_loses_the_turn() -> None:
    """C23"""

    async def scenario() -> None:
        desk = await Desk().begin(rows=1)
        desk.hub.live(desk.tab, opened("b"))
        receipt = await desk.append(new("b", "said"), publish=False)
        desk.hub.status(TabStatus(desk.tab, phase="idle"))
        desk.hub.receipt(receipt)
        assert [row.id for row in desk.mirror] == ["n1", "b"]
        assert isinstance(desk.changes[-2], Status)

    run(scenario)


def test_a_missing_revision_leads_to_one_read() -> None:
    async def scenario() -> None:
        desk = await Desk().begin(rows=3)
        desk.reads.clear()
        await desk.append(desk.next(), publish=False)
        await desk.append(desk.next())
        await desk.append(desk.next())
        await desk.settle()
        assert (desk.seqs(), desk.reads, desk.scope.is_fresh) == ([1, 2, 3], [], False)
        await desk.pass_by(1)
        assert desk.seqs() == [1, 2, 3, 4, 5, 6]
        assert len(desk.reads) == 1
        assert desk.scope.is_fresh
        desk.check()

    run(scenario)


def test_a_receipt_that_comes_again_changes_nothing() -> None:
    """C24, P09"""

    async def scenario() -> None:
        desk = await Desk().begin(rows=3)
        receipt = await desk.append(desk.next())
        desk.changes.clear()
        desk.hub.receipt(receipt)
        await desk.settle()
        assert desk.changes == []

    run(scenario)


def test_rows_of_another_process_appear_with_the_next_look() -> None:
    async def scenario() -> None:
        desk = await Desk().begin(rows=3)
        await desk.append(desk.next(), desk.next(), publish=False)
        await desk.look()
        assert desk.seqs() == [1, 2, 3, 4, 5]
        desk.check()

    run(scenario)


def test_many_rows_of_another_process_make_a_new_window_or_a_count() -> None:
    async def scenario() -> None:
        for following in (True, False):
            desk = await Desk().begin(rows=3)
            desk.scope.follow(following)
            await desk.append(*[desk.next() for _ in range(50)], publish=False)
            await desk.look()
            desk.check()
            assert desk.seqs()[-1] == (53 if following else 3)
            assert (desk.scope.newer > 0) is not following

    run(scenario)


def test_u05_nothing_is_looked_for_by_a_scope_itself_nor_after_its_end() -> None:
    async def scenario() -> None:
        desk = await Desk().begin(rows=3)
        assert desk.time.is_idle
        await desk.append(desk.next(), publish=False)
        await desk.append(desk.next())
        assert not desk.time.is_idle
        desk.scope.close()
        assert desk.time.is_idle
        await desk.append(desk.next())
        assert desk.seqs() == [1, 2, 3]

    run(scenario)


def test_only_one_page_is_read_at_a_time() -> None:
    """Q02"""

    async def scenario() -> None:
        desk = await Desk().begin(rows=100)
        desk.reads.clear()
        desk.scope.follow(False)
        assert [desk.scope.fetch_older() for _ in range(5)] == [True] + [False] * 4
        await desk.settle()
        assert len(desk.reads) == 1

    run(scenario)


def test_a_page_that_no_longer_fits_is_left_out() -> None:
    """C24"""

    async def scenario() -> None:
        desk = await Desk().begin(rows=100)
        desk.scope.fetch_older()
        for _ in range(8):
            await desk.append(desk.next())
        await desk.settle()
        desk.check()

    run(scenario)


def test_a_jump_makes_the_window_hold_the_place_and_the_end_brings_the_tail_back() -> None:
    async def scenario() -> None:
        desk = await Desk().begin(rows=100)
        desk.scope.jump(30)
        await desk.settle()
        assert desk.scope.window.holds(30)
        assert not desk.scope.at_tail
        desk.hub.live(desk.tab, opened("b"))
        assert desk.mirror[-1].id != "b"
        desk.scope.to_tail()
        await desk.settle()
        assert desk.mirror[-1].id == "b"
        assert desk.seqs()[-1] == 100
        desk.check()

    run(scenario)


def test_u11_a_scope_that_is_opened_at_a_place_reads_nothing_else() -> None:
    async def scenario() -> None:
        desk = await Desk().begin(rows=100, around=30)
        assert len(desk.reads) == 1
        assert desk.scope.window.holds(30)
        await desk.append(desk.next())
        assert not desk.scope.window.holds(101)
        desk.scope.to_tail()
        await desk.settle()
        assert desk.seqs()[-1] == 101
        desk.check()

    run(scenario)


def test_a_failed_read_is_told_and_tried_again() -> None:
    async def scenario() -> None:
        desk = Desk()
        desk.failures.append(StoreBusy("The database is busy."))
        await desk.begin(rows=3)
        assert [change for change in desk.changes if isinstance(change, Failed)]
        assert desk.mirror == []
        await desk.look()
        assert desk.seqs() == [1, 2, 3]

    run(scenario)


ACTS = st.sampled_from(
    [
        *("append", "append_quietly", "open", "grow", "seal", "seal_last", "drop", "follow"),
        *(
            "let_go",
            "older",
            "newer",
            "jump",
            "tail",
            "ring",
            "settle",
            "tick",
            "pin",
            "idle",
            "wait",
        ),
    ]
)


@settings(max_examples=150)
@given(acts=st.lists(ACTS, min_size=20, max_size=60), limit=st.sampled_from([8, 9, 16]))
def test_any_interleaving_leaves_a_window_that_equals_the_log(
    acts: Sequence[str], limit: int
) -> None:
    """C22, C24: after everything has settled and the end is asked for, the tail is the log's."""

    async def scenario() -> None:
        desk = await Desk(limit=limit).begin(rows=20)
        open_ids: list[str] = []
        numbers = itertools.count()
        for act in acts:
            match act:
                case "append":
                    await desk.append(desk.next())
                case "append_quietly":
                    await desk.append(desk.next(), publish=False)
                case "open":
                    open_ids.append(f"o{next(numbers)}")
                    desk.hub.live(desk.tab, opened(open_ids[-1]))
                case "grow" if open_ids:
                    desk.hub.live(desk.tab, Grew(open_ids[0], "x"))
                case "seal" if open_ids:
                    await desk.append(new(open_ids.pop(0), "sealed"))
                case "seal_last" if open_ids:
                    await desk.append(new(open_ids.pop(), "sealed"))
                case "tick":
                    await asyncio.sleep(0)
                case "drop" if open_ids:
                    desk.hub.live(desk.tab, Dropped(open_ids.pop()))
                case "idle":
                    open_ids.clear()
                    desk.hub.status(TabStatus(desk.tab))
                case "follow":
                    desk.scope.follow(True)
                case "let_go":
                    desk.scope.follow(False)
                case "older":
                    desk.scope.fetch_older()
                case "newer":
                    desk.scope.fetch_newer()
                case "jump":
                    desk.scope.jump(5)
                case "tail":
                    desk.scope.to_tail()
                case "ring":
                    await desk.look()
                case "wait":
                    desk.time.advance(0.6)
                case "pin":
                    desk.scope.pin([row.id for row in desk.mirror[:2]])
                case "settle":
                    await desk.settle()
                case _:
                    pass
            desk.check()
        await desk.settle()
        desk.scope.pin([])
        await desk.look()
        await desk.pass_by(1)
        desk.scope.to_tail()
        await desk.settle()
        desk.check()
        log = desk.log.chunks(desk.tab)
        assert tuple(desk.scope.window.rows) == log[-len(desk.scope.window.rows) :]
        assert [row.id for row in desk.mirror[len(desk.seqs()) :]] == open_ids
        desk.scope.close()

    run(scenario)


@pytest.mark.parametrize("limit", [8, 256])
def test_a_short_log_is_held_whole(limit: int) -> None:
    async def scenario() -> None:
        desk = await Desk(limit=limit).begin(rows=5)
        assert desk.seqs() == [1, 2, 3, 4, 5]
        assert not desk.scope.has_older and not desk.scope.fetch_older()

    run(scenario)


def test_a_block_that_seals_before_an_older_one_stands_there_once() -> None:
    async def scenario() -> None:
        desk = await Desk().begin(rows=1)
        desk.hub.live(desk.tab, opened("a"))
        desk.hub.live(desk.tab, opened("b"))
        desk.changes.clear()
        await desk.append(new("b", "said"))
        assert [row.id for row in desk.mirror] == ["n1", "b", "a"]
        assert [type(change) for change in desk.changes] == [Moved, Changed]
        desk.check()

    run(scenario)


def test_rows_that_come_while_a_newer_page_is_read_are_not_lost() -> None:
    """C24"""

    async def scenario() -> None:
        desk = await Desk().begin(rows=10)
        desk.scope.follow(False)
        await desk.append(desk.next())
        desk.scope.fetch_newer()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        await desk.append(desk.next())
        await desk.settle()
        assert not desk.scope.at_tail
        desk.scope.fetch_newer()
        await desk.settle()
        assert desk.scope.at_tail and desk.seqs()[-1] == 12

    run(scenario)


def test_rows_that_a_look_at_other_processes_found_are_read_at_once() -> None:
    async def scenario() -> None:
        desk = await Desk().begin(rows=3)
        receipt = await desk.append(desk.next(), desk.next(), publish=False)
        desk.reads.clear()
        desk.hub.revision_found(desk.tab, receipt.revision)
        await desk.settle()
        assert desk.seqs() == [1, 2, 3, 4, 5]
        desk.hub.revision_found(desk.tab, receipt.revision)
        await desk.settle()
        assert len(desk.reads) == 1
        desk.check()

    run(scenario)


def test_what_is_found_while_a_read_is_on_its_way_is_read_after_it() -> None:
    async def scenario() -> None:
        desk = await Desk().begin(rows=3)
        receipt = await desk.append(desk.next(), publish=False)
        desk.reads.clear()
        desk.hub.revision_found(desk.tab, receipt.revision)
        while not desk.reads:  # noqa: ASYNC110 (turns of the loop are what it is about)
            await asyncio.sleep(0)
        await asyncio.sleep(0)  # the page has been read, and has not come back yet
        receipt = await desk.append(desk.next(), publish=False)
        desk.hub.revision_found(desk.tab, receipt.revision)
        await desk.settle()
        assert desk.seqs() == [1, 2, 3, 4]
        await desk.pass_by(1)
        assert desk.seqs() == [1, 2, 3, 4, 5]
        assert len(desk.reads) == 2
        desk.check()

    run(scenario)


def test_a_look_at_more_than_there_is_leads_to_one_read_and_not_to_reads_for_ever() -> None:
    """A log that went back."""

    async def scenario() -> None:
        desk = await Desk().begin(rows=3)
        desk.reads.clear()
        desk.hub.revision_found(desk.tab, 99)
        for _ in range(3):
            await desk.pass_by(1)
        assert len(desk.reads) == 1
        assert desk.scope.is_fresh
        desk.check()

    run(scenario)


def test_who_closed_is_followed_no_more() -> None:
    async def scenario() -> None:
        desk = await Desk().begin(rows=3)
        assert desk.hub.followed == (desk.tab,)
        desk.scope.close()
        assert desk.hub.followed == ()

    run(scenario)


def test_r07_a_hundred_updates_that_are_no_rows_of_it_read_nothing() -> None:
    """Requests of its own, and whatever happens elsewhere."""

    async def scenario() -> None:
        desk = await Desk().begin(rows=3)
        workspace = await desk.log.catalogue.scratch_workspace()
        elsewhere = desk.log.session((await desk.log.catalogue.create_tab(workspace.id)).id)
        desk.reads.clear()
        desk.changes.clear()
        for number in range(100):
            request = RequestRecord(f"q{number}", desk.tab, "t1", 0, "p", "m", 1)
            desk.hub.receipt(await desk.session.start_request(request))
            desk.hub.receipt(await elsewhere.append([desk.next()]))
            await desk.look()
        assert (desk.reads, desk.changes, desk.scope.is_fresh) == ([], [], True)
        assert desk.scope.revision == await desk.log.reader.revision(desk.tab)
        last = desk.log.chunks(desk.tab)[-1].seq
        await desk.append(desk.next())
        assert desk.seqs()[-1] == last + 1
        assert desk.reads == []

    run(scenario)


def test_r06_a_late_predecessor_within_a_second_needs_no_read() -> None:
    async def scenario() -> None:
        desk = await Desk().begin(rows=3)
        desk.reads.clear()
        late = await desk.append(desk.next(), publish=False)
        await desk.append(desk.next())
        await desk.pass_by(0.9)
        desk.hub.receipt(late)
        await desk.pass_by(5)
        assert (desk.seqs(), desk.reads) == ([1, 2, 3, 4, 5], [])
        desk.check()

    run(scenario)


def test_r09_what_others_write_is_read_as_it_is_found_but_not_without_end() -> None:
    """For it reading is no repair: it is how the rows come."""

    async def scenario() -> None:
        desk = await Desk().begin(rows=3)
        desk.reads.clear()
        for _ in range(40):
            receipt = await desk.append(desk.next(), publish=False)
            desk.hub.revision_found(desk.tab, receipt.revision)
            await desk.pass_by(0.05)
        assert 15 <= len(desk.reads) <= 21
        await desk.pass_by(0.2)
        assert desk.seqs()[-1] == 43
        desk.check()

    run(scenario)


def test_r09_repairs_of_what_was_lost_are_a_second_apart() -> None:
    async def scenario() -> None:
        desk = await Desk().begin(rows=3)
        desk.reads.clear()
        for _ in range(20):
            desk.hub.receipt(
                replace(await desk.append(desk.next(), publish=False), is_partial=True)
            )
            await desk.pass_by(0.1)
        assert 2 <= len(desk.reads) <= 3
        await desk.pass_by(1)
        assert desk.seqs()[-1] == 23
        desk.check()

    run(scenario)


def test_r04_a_receipt_that_does_not_tell_all_is_read_and_not_believed() -> None:
    async def scenario() -> None:
        desk = await Desk().begin(rows=3)
        desk.reads.clear()
        receipt = await desk.append(desk.next(), publish=False)
        desk.hub.receipt(replace(receipt, chunks=(), is_partial=True))
        await desk.settle()
        assert (desk.seqs(), len(desk.reads)) == ([1, 2, 3, 4], 1)

    run(scenario)


def test_r05_a_log_that_went_back_is_read_anew() -> None:
    """A backup was brought back: no look tells of more rows, but of fewer."""

    async def scenario() -> None:
        desk = await Desk().begin(rows=9)
        desk.reads.clear()
        known = desk.hub.known()
        desk.log.find(desk.tab).chunks[5:] = []
        desk.log.find(desk.tab).revision = 5
        desk.hub.revision_found(desk.tab, 5, known)
        await desk.pass_by(1)
        assert (desk.seqs(), len(desk.reads)) == ([1, 2, 3, 4, 5], 1)
        await desk.look()
        assert len(desk.reads) == 1
        desk.check()

    run(scenario)


def test_r09_a_jump_overtakes_a_repair_and_what_came_meanwhile_is_counted() -> None:
    async def scenario() -> None:
        desk = await Desk().begin(rows=60)
        receipt = await desk.append(desk.next(), publish=False)
        desk.reads.clear()
        desk.hub.revision_found(desk.tab, receipt.revision)
        await asyncio.sleep(0)
        desk.changes.clear()
        desk.scope.jump(5)
        await desk.append(desk.next())
        await desk.pass_by(5)
        assert isinstance(desk.changes[0], Reset)
        assert desk.scope.window.holds(5)
        assert [one.get("around") for one in desk.reads] == [None, 5]
        assert desk.scope.revision == await desk.log.reader.revision(desk.tab)
        desk.check()

    run(scenario)


def test_r09_a_repair_that_was_overtaken_and_fails_is_no_failure() -> None:
    async def scenario() -> None:
        desk = await Desk().begin(rows=60)
        receipt = await desk.append(desk.next(), publish=False)
        desk.hub.revision_found(desk.tab, receipt.revision)
        desk.failures.append(StoreBusy("The database is busy."))
        await asyncio.sleep(0)
        desk.changes.clear()
        desk.scope.jump(5)
        await desk.settle()
        assert [type(one) for one in desk.changes] == [Reset]
        assert desk.scope.is_fresh
        desk.check()

    run(scenario)
