"""The sidebar's scope: the catalogue followed by id, on a real log (SPEC R05, R07, R14)."""

import asyncio
import sqlite3
from collections.abc import Callable, Coroutine, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from desktop.core.errors import StoreBusy, StoreError
from desktop.core.records import CatalogueReceipt, CatalogueView, RequestRecord
from desktop.feed.catalogue import FollowedCatalogue
from desktop.feed.hub import Hub
from desktop.store.log import Log
from tests.unit.feed.times import Time
from tests.unit.store.builders import chunk, open_log


class Desk:
    """A log, its followed catalogue, and the views that a list got; reads of it are counted.

    While it `loses`, what changes is told to nobody.
    """

    def __init__(self, log: Log, hub: Hub, folder: Path) -> None:
        self.log, self.hub, self.folder, self.time = log, hub, folder, Time()
        self.views: list[CatalogueView] = []
        self.reads = 0
        self.loses = False
        self.faults: list[StoreError] = []
        self.tasks: set[asyncio.Task[Any]] = set()
        self._view = log.catalogue.view
        log.catalogue.view = self.counted  # type: ignore[method-assign]
        self.followed = FollowedCatalogue(
            log.catalogue, hub, start=self.start, later=self.time.later, clock=self.time.clock
        )

    async def counted(self) -> CatalogueView:
        self.reads += 1
        if self.faults:
            raise self.faults.pop()
        return await self._view()

    def start(self, coroutine: Coroutine[Any, Any, Any], name: str) -> None:
        task = asyncio.get_running_loop().create_task(coroutine, name=name)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def begin(self) -> str:
        """Follows a catalogue with one conversation; its id."""
        self.workspace = await self.log.catalogue.open_workspace(self.folder)
        tab = await self.log.catalogue.create_tab(self.workspace.id)
        await asyncio.sleep(0)
        self.end = self.followed.follow(self.views.append)
        await self.settled()
        self.reads = 0
        return tab.id

    async def settled(self) -> None:
        await asyncio.sleep(0)
        while self.tasks:
            await asyncio.wait(self.tasks)

    async def look(self) -> None:
        """As the program does every five seconds."""
        self.hub.catalogue_changed(await self.log.catalogue.revision())
        self.time.advance(1)
        await self.settled()

    async def is_right(self) -> bool:
        return self.views[-1] == await self._view()


Tell = Callable[[Callable[[Desk], Coroutine[Any, Any, None]]], None]


@pytest.fixture
def tell(tmp_path: Path) -> Iterator[Tell]:
    hub = Hub()

    def tell_of(news: CatalogueReceipt) -> None:
        if not desk.loses:
            hub.catalogue_changed(news)

    with open_log(tmp_path, on_catalogue_change=tell_of) as log:
        desk = Desk(log, hub, tmp_path)

        def run(story: Callable[[Desk], Coroutine[Any, Any, None]]) -> None:
            asyncio.run(story(desk))

        yield run


def test_r07_what_the_program_changes_is_shown_without_a_read(tell: Tell) -> None:
    async def story(desk: Desk) -> None:
        tab = await desk.begin()
        catalogue = desk.log.catalogue
        other = (await catalogue.create_tab(desk.workspace.id, title="other")).id
        await catalogue.rename_tab(tab, "named")
        await desk.log.session(tab).append([chunk("u")])
        await catalogue.move_tabs([other, tab])
        await catalogue.archive_tab(other)
        await catalogue.trash_tab(other)
        await desk.settled()
        assert await desk.is_right()
        await catalogue.restore_tab(other)
        await catalogue.trash_tab(tab)
        await catalogue.purge_tab(tab)
        await desk.settled()
        assert await desk.is_right()
        assert await desk.followed.view() == desk.views[-1]
        await desk.look()
        assert desk.reads == 0
        desk.end()

    tell(story)


def test_r14_what_another_process_changed_is_found_by_a_look_and_read_once(tell: Tell) -> None:
    async def story(desk: Desk) -> None:
        tab = await desk.begin()
        with closing(sqlite3.connect(desk.log.database)) as plain, plain:
            plain.execute("UPDATE tabs SET title = 'theirs'")
        await desk.log.catalogue.set_tab_open(tab, is_open=False)
        await desk.settled()
        assert desk.views[-1].tabs[0].title == ""
        await desk.look()
        assert await desk.is_right()
        assert (desk.views[-1].tabs[0].title, desk.reads) == ("theirs", 1)
        await desk.look()
        assert desk.reads == 1
        desk.end()

    tell(story)


def test_a_view_that_is_asked_for_is_never_behind(tell: Tell) -> None:
    """Whoever changed something sees it, even where no receipt told of it."""

    async def story(desk: Desk) -> None:
        await desk.begin()
        with closing(sqlite3.connect(desk.log.database)) as plain, plain:
            plain.execute("UPDATE tabs SET title = 'theirs'")
        assert (await desk.followed.view()).tabs[0].title == "theirs"
        desk.end()

    tell(story)


def test_a_change_that_is_told_in_part_only_leads_to_a_read(tell: Tell) -> None:
    """R04"""

    async def story(desk: Desk) -> None:
        await desk.begin()
        revision = await desk.log.catalogue.revision()
        with closing(sqlite3.connect(desk.log.database)) as plain, plain:
            plain.execute("UPDATE tabs SET title = 'theirs'")
        desk.hub.catalogue_changed(CatalogueReceipt(revision, revision + 1, is_partial=True))
        desk.time.advance(1)
        await desk.settled()
        assert await desk.is_right()
        assert desk.reads == 1
        desk.end()

    tell(story)


def test_a_catalogue_that_can_not_be_read_now_is_read_at_the_next_look(tell: Tell) -> None:
    """R09: what is listed stays meanwhile."""

    async def story(desk: Desk) -> None:
        await desk.begin()
        count = len(desk.views)
        with closing(sqlite3.connect(desk.log.database)) as plain, plain:
            plain.execute("UPDATE tabs SET title = 'theirs'")
        desk.faults = [StoreBusy("busy")]
        await desk.look()
        assert (len(desk.views), desk.reads) == (count, 1)
        await desk.look()
        await desk.look()
        assert await desk.is_right()
        assert desk.reads == 2
        desk.end()

    tell(story)


def test_after_its_end_nothing_is_heard(tell: Tell) -> None:
    async def story(desk: Desk) -> None:
        tab = await desk.begin()
        desk.end()
        count = len(desk.views)
        await desk.log.catalogue.rename_tab(tab, "named")
        await desk.look()
        assert (len(desk.views), desk.reads, desk.time.is_idle) == (count, 0, True)

    tell(story)


def test_r07_a_hundred_rows_and_requests_read_no_list(tell: Tell) -> None:
    async def story(desk: Desk) -> None:
        tab = await desk.begin()
        session = desk.log.session(tab)
        for number in range(100):
            await session.append([chunk(f"r{number}", role="assistant")])
            await session.start_request(RequestRecord(f"q{number}", tab, "t", 0, "p", "m", 1))
        await desk.look()
        assert (await desk.is_right(), desk.reads, desk.followed.is_fresh) == (True, 0, True)
        desk.end()

    tell(story)


def test_r05_a_receipt_that_was_lost_is_repaired_by_one_read(tell: Tell) -> None:
    async def story(desk: Desk) -> None:
        tab = await desk.begin()
        desk.loses = True
        await desk.log.catalogue.rename_tab(tab, "unheard")
        await desk.settled()
        desk.loses = False
        await desk.log.catalogue.create_tab(desk.workspace.id, title="heard")
        await desk.settled()
        assert (desk.reads, desk.followed.is_fresh) == (0, False)
        desk.time.advance(1)
        await desk.settled()
        assert (await desk.is_right(), desk.reads, desk.followed.is_fresh) == (True, 1, True)
        desk.end()

    tell(story)


def test_r14_while_nobody_looks_nothing_is_read_and_back_in_sight_it_is_compared(
    tell: Tell,
) -> None:
    async def story(desk: Desk) -> None:
        await desk.begin()
        desk.followed.show(False)
        with closing(sqlite3.connect(desk.log.database)) as plain, plain:
            plain.execute("UPDATE tabs SET title = 'theirs'")
        await desk.look()
        await desk.look()
        assert (desk.reads, desk.followed.is_fresh) == (0, False)
        desk.followed.show(True)
        assert not desk.followed.is_fresh
        await desk.settled()
        desk.time.advance(1)
        await desk.settled()
        assert (await desk.is_right(), desk.reads, desk.followed.is_fresh) == (True, 1, True)
        desk.end()

    tell(story)
