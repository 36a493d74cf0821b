"""What was found goes on with the log, on a real one (SPEC R05, R07, R09, R14, U40)."""

import asyncio
import sqlite3
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from desktop.core.chunks import LogChunk
from desktop.core.errors import StoreBusy, StoreError
from desktop.core.records import (
    EVERYTHING,
    FoundRows,
    Receipt,
    SearchFilter,
    SearchHit,
    SearchPage,
    SearchPlace,
)
from desktop.feed.hub import WHOLE_LOG, Hub
from desktop.feed.searching import MOST_ROWS, PAGE, FollowedSearch
from desktop.store.log import Log
from tests.unit.feed.times import Passing
from tests.unit.store.builders import chunk, open_log


class Desk(Passing):
    """A log in which “pearl” was looked for; what joined, and how often the log was searched."""

    def __init__(self, log: Log, hub: Hub) -> None:
        super().__init__()
        self.log, self.hub = log, hub
        self.joined: list[SearchHit] = []
        self.finds = 0
        self.faults: list[StoreError] = []
        self._numbers = iter(range(100_000))

    async def begin(self, folder: Path, only: SearchFilter = EVERYTHING) -> "Desk":
        self.workspace = await self.log.catalogue.open_workspace(folder)
        self.tabs = [(await self.log.catalogue.create_tab(self.workspace.id)).id for _ in "ab"]
        await self.say(0, "a pearl")
        self.followed = FollowedSearch(
            self,
            self.hub,
            self.hear,
            start=self.start,
            later=self.time.later,
            clock=self.time.clock,
        )
        self.followed.begin("pearl", only)
        self.followed.stand(await self.find("pearl", limit=PAGE, only=only))
        await self.settle()
        self.finds = 0
        return self

    def hear(self, hits: tuple[SearchHit, ...]) -> None:
        self.joined[:0] = hits

    # Search

    async def find(
        self,
        text: str,
        *,
        limit: int,
        place: SearchPlace | None = None,
        only: SearchFilter = EVERYTHING,
    ) -> SearchPage:
        self.finds += 1
        if self.faults:
            raise self.faults.pop()
        return await self.log.search.find(text, limit=limit, place=place, only=only)

    async def newest(self) -> int:
        return await self.log.search.newest()

    async def among(
        self, rows: Sequence[tuple[int, LogChunk]], text: str, *, only: SearchFilter = EVERYTHING
    ) -> tuple[SearchHit, ...]:
        return await self.log.search.among(rows, text, only=only)

    async def within(self, tab_id: str, text: str, *, place: int | None = None) -> FoundRows:
        return await self.log.search.within(tab_id, text, place=place)

    async def look(self) -> None:
        known = self.hub.known()
        sight = await self.log.lookout.look(())
        self.hub.revision_found(WHOLE_LOG, sight.newest, known)
        await self.pass_by(1)

    async def say(self, tab: int, *texts: str, is_told: bool = True) -> Receipt:
        chunks = [chunk(f"n{next(self._numbers)}", text) for text in texts]
        receipt = await self.log.session(self.tabs[tab]).append(chunks)
        if is_told:
            self.hub.receipt(receipt)
        return receipt

    @property
    def words(self) -> list[str]:
        return [one.snippet for one in self.joined]


Tell = Callable[[Callable[[Desk], Coroutine[Any, Any, None]]], None]


@pytest.fixture
def tell(tmp_path: Path) -> Iterator[Tell]:
    hub = Hub()
    with open_log(tmp_path) as log:

        def run(story: Callable[[Desk], Coroutine[Any, Any, None]]) -> None:
            async def whole() -> None:
                desk = await Desk(log, hub).begin(tmp_path)
                await story(desk)
                desk.followed.end()
                assert desk.hub.followed == ()

            asyncio.run(whole())

        yield run


def test_r07_a_hundred_rows_that_are_not_looked_for_search_nothing(tell: Tell) -> None:
    async def story(desk: Desk) -> None:
        for number in range(100):
            await desk.say(number % 2, f"stone {number}")
            await desk.settle()
        await desk.look()
        assert (desk.words, desk.finds, desk.followed.is_fresh) == ([], 0, True)

    tell(story)


def test_r07_rows_that_are_looked_for_join_as_they_are_told(tell: Tell) -> None:
    async def story(desk: Desk) -> None:
        await desk.say(0, "stone", "the PEARL", "no")
        await desk.say(1, "pearls, too")
        await desk.settle()
        assert (desk.words, desk.finds) == (["pearls, too", "the PEARL"], 0)
        found = await desk.log.search.find("pearl", limit=2)
        key = [(one.tab_id, one.seq, one.ordinal, one.snippet, one.marks) for one in found.hits]
        assert key == [
            (one.tab_id, one.seq, one.ordinal, one.snippet, one.marks) for one in desk.joined
        ]

    tell(story)


def test_r05_a_receipt_that_was_lost_is_repaired_by_one_search(tell: Tell) -> None:
    async def story(desk: Desk) -> None:
        await desk.say(0, "a lost pearl", is_told=False)
        await desk.say(1, "another pearl")
        await desk.pass_by(0.9)
        assert (desk.words, desk.followed.is_fresh) == ([], False)
        await desk.pass_by(0.2)
        assert (desk.words, desk.finds) == (["another pearl", "a lost pearl"], 1)
        await desk.say(0, "stone")
        await desk.look()
        assert (len(desk.joined), desk.finds, desk.followed.is_fresh) == (2, 1, True)

    tell(story)


def test_r06_receipts_of_two_conversations_may_come_in_any_order(tell: Tell) -> None:
    async def story(desk: Desk) -> None:
        first = await desk.say(0, "pearl 1", is_told=False)
        await desk.say(1, "pearl 2")
        desk.hub.receipt(first)
        await desk.pass_by(5)
        assert (sorted(desk.words), desk.finds) == (["pearl 1", "pearl 2"], 0)

    tell(story)


def test_r14_rows_of_another_process_are_found_by_a_look(tell: Tell) -> None:
    async def story(desk: Desk) -> None:
        with closing(sqlite3.connect(desk.log.database)) as plain, plain:
            plain.execute(
                "INSERT INTO chunks(id, tab_id, seq, turn_id, role, type, data_json, created_at,"
                " search_text) VALUES ('o', ?, 2, 't', 'user', 'text', '{\"text\": \"x\"}', 1,"
                " 'their pearl')",
                (desk.tabs[0],),
            )
        await desk.look()
        assert (desk.words, desk.finds, desk.followed.is_fresh) == (["their pearl"], 1, True)

    tell(story)


def test_r14_out_of_sight_nothing_is_searched_and_back_in_sight_all_is_there(tell: Tell) -> None:
    async def story(desk: Desk) -> None:
        desk.followed.show(False)
        await desk.say(0, "pearl 1")
        await desk.say(0, "pearl 2", is_told=False)
        await desk.look()
        await desk.pass_by(60)
        assert (desk.words, desk.finds, desk.followed.is_fresh) == ([], 0, False)
        desk.followed.show(True)
        await desk.pass_by(1)
        assert (sorted(desk.words), desk.finds) == (["pearl 1", "pearl 2"], 1)
        assert desk.followed.is_fresh

    tell(story)


def test_r09_more_than_is_kept_while_nobody_looks_is_searched_for(tell: Tell) -> None:
    async def story(desk: Desk) -> None:
        desk.followed.show(False)
        for number in range(4):
            await desk.say(0, *[f"pearl {number}.{one}" for one in range(MOST_ROWS // 3)])
        assert desk.finds == 0
        desk.followed.show(True)
        await desk.pass_by(1)
        assert len(set(desk.words)) == len(desk.joined) == 4 * (MOST_ROWS // 3)
        assert [one.ordinal for one in desk.joined] == sorted(
            (one.ordinal for one in desk.joined), reverse=True
        )

    tell(story)


def test_r09_what_was_found_stays_under_an_error_and_the_next_look_tries_again(tell: Tell) -> None:
    async def story(desk: Desk) -> None:
        await desk.say(0, "pearl 1")
        await desk.say(0, "pearl 2", is_told=False)
        desk.faults = [StoreBusy("The database is busy.")]
        await desk.look()
        assert (desk.words, str(desk.followed.error)) == (["pearl 1"], "The database is busy.")
        await desk.look()
        assert (desk.words, desk.followed.error) == (["pearl 2", "pearl 1"], None)

    tell(story)
