"""A conversation is followed wherever it is kept: in the database, or in a file (SPEC R08, R14)."""

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from desktop.core.protocols import LogReader
from desktop.core.records import Page, Snapshot
from desktop.feed.hub import Hub
from desktop.feed.outside import CHECK_SECONDS, Outside
from desktop.feed.scope import Scope
from desktop.headless.stores import Stores
from desktop.store.home_notes import DATABASE, Home
from desktop.store.log import Log
from tests.unit.feed.times import Time
from tests.unit.store.builders import chunk, open_log

KINDS = ("sql", "files")


class Counted:
    """A LogReader that counts its pages."""

    def __init__(self, reader: LogReader) -> None:
        self._reader = reader
        self.reads = 0

    async def page(self, tab_id: str, *, limit: int, **where: int | None) -> Page:
        self.reads += 1
        return await self._reader.page(tab_id, limit=limit, **where)

    async def revision(self, tab_id: str) -> int:
        return await self._reader.revision(tab_id)

    async def blob_path(self, sha256: str) -> Path | None:
        return await self._reader.blob_path(sha256)


@dataclass
class There:
    """A conversation that another part of the program, or another process, writes."""

    stores: Stores
    reader: "Counted"
    time: Time
    scope: Scope
    tasks: set[asyncio.Task[Any]]

    async def settle(self) -> None:
        while self.tasks:
            await asyncio.wait(self.tasks)

    async def write(self, *names: str) -> None:
        """Nobody publishes the receipt."""
        store = await self.stores.store_for(self.scope.tab_id)
        await store.append([chunk(name) for name in names])

    async def look(self) -> None:
        self.time.advance(CHECK_SECONDS)
        await self.settle()
        self.time.advance(1)
        await self.settle()


async def begun(log: Log, kind: str, folder: Path) -> There:
    home = DATABASE if kind == "sql" else Home(folder / "kept")
    stores = Stores(log, choice=home, report=print)
    hub, time, tasks = Hub(), Time(), set[asyncio.Task[Any]]()

    def start(work: Any, name: str) -> asyncio.Task[Any]:
        task = asyncio.get_running_loop().create_task(work, name=name)
        tasks.add(task)
        task.add_done_callback(tasks.discard)
        return task

    workspace = await log.catalogue.open_workspace(folder)
    if kind == "sql":
        tab = (await log.catalogue.create_tab(workspace.id)).id
    else:
        tab = "a"
        await stores.begin(Snapshot(tab, workspace.id, "anthropic:1", "model-1", "high", "ask"))
    reader = Counted(stores.reader)
    scope = Scope(tab, reader, hub, start=start, later=time.later, clock=time.clock)
    outside = Outside(stores.reader, hub, heard=lambda _: None, start=start, later=time.later)
    there = There(stores, reader, time, scope, tasks)
    await there.write("one")
    scope.open()
    outside.open()
    await there.settle()
    return there


@pytest.mark.parametrize("kind", KINDS)
def test_r08_rows_that_nobody_told_of_come_with_the_look_wherever_they_are_kept(
    kind: str, tmp_path: Path
) -> None:
    async def story(log: Log) -> None:
        there = await begun(log, kind, tmp_path)
        try:
            assert [row.id for row in there.scope.rows] == ["one"]
            await there.write("two", "three")
            await there.look()
            assert [row.id for row in there.scope.rows] == ["one", "two", "three"]
            assert there.scope.is_fresh
        finally:
            await there.stores.close()

    with open_log(tmp_path) as log:
        asyncio.run(story(log))


def test_r09_a_file_that_is_gone_is_no_log_that_went_back(tmp_path: Path) -> None:
    async def story(log: Log) -> None:
        there = await begun(log, "files", tmp_path)
        try:
            before = there.reader.reads
            (tmp_path / "kept" / "a.jsonl").unlink()
            await there.look()
            assert [row.id for row in there.scope.rows] == ["one"]
            assert (there.reader.reads, there.scope.revision) == (before, 1)
        finally:
            await there.stores.close()

    with open_log(tmp_path) as log:
        asyncio.run(story(log))


@pytest.mark.parametrize("kind", KINDS)
def test_r14_a_look_that_finds_nothing_new_reads_no_row(kind: str, tmp_path: Path) -> None:
    async def story(log: Log) -> None:
        there = await begun(log, kind, tmp_path)
        try:
            before = there.reader.reads
            for _ in range(5):
                await there.look()
            assert (there.reader.reads, there.scope.is_fresh) == (before, True)
        finally:
            await there.stores.close()

    with open_log(tmp_path) as log:
        asyncio.run(story(log))
