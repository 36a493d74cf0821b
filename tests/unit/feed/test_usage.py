"""Usage follows requests by id, on a real log (SPEC R05, R07, R09, R12, R14)."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from desktop.core.caching import RequestUsage
from desktop.core.errors import StoreBusy, StoreError
from desktop.core.records import Receipt, RequestRecord, Requests
from desktop.feed.hub import Hub
from desktop.feed.usage import FollowedUsage, Usage
from desktop.store.log import Log
from tests.unit.feed.times import Passing
from tests.unit.store.builders import chunk, open_log


def line(request: RequestRecord) -> RequestUsage:
    tokens = (request.usage or {}).get("output_tokens", 0)
    return RequestUsage(request.started_at, request.model, output=tokens)


class Desk(Passing):
    """A log, what is told of one conversation's usage, and how often it was read."""

    def __init__(self, log: Log, hub: Hub, folder: Path) -> None:
        super().__init__()
        self.log, self.hub, self.folder = log, hub, folder
        self.told: list[Usage] = []
        self.reads: list[str] = []
        self.faults: list[StoreError] = []
        self._numbers = iter(range(1, 1_000))

    async def begin(self) -> "Desk":
        self.workspace = await self.log.catalogue.open_workspace(self.folder)
        self.tab = (await self.log.catalogue.create_tab(self.workspace.id)).id
        await self.ask(self.tab)
        self.usage = FollowedUsage(
            self.tab,
            self,
            self.log.catalogue,
            self.hub,
            line=line,
            start=self.start,
            later=self.time.later,
            clock=self.time.clock,
        )
        self.usage.follow(self.told.append)
        await self.settle()
        self.reads.clear()
        return self

    # RequestReader

    async def requests(self, tab_id: str) -> Requests:
        self.reads.append(tab_id)
        if self.faults:
            raise self.faults.pop()
        return await self.log.reader.requests(tab_id)

    async def revision(self, tab_id: str) -> int:
        return await self.log.reader.revision(tab_id)

    async def look(self) -> None:
        known = self.hub.known()
        self.hub.catalogue_changed(await self.log.catalogue.revision())
        for one, revision in (await self.log.sources.revisions(self.hub.followed)).items():
            self.hub.revision_found(one, revision, known)
        await self.pass_by(1)

    async def ask(self, tab: str, *, tokens: int = 0, is_told: bool = True) -> Receipt:
        """A request that was answered."""
        number = next(self._numbers)
        usage = {"output_tokens": tokens}
        request = RequestRecord(f"q{number}", tab, "t", 0, "p", "m", number, usage=usage)
        return await self.put(request, is_told=is_told)

    async def put(self, request: RequestRecord, *, is_told: bool = True) -> Receipt:
        receipt = await self.log.session(request.tab_id).start_request(request)
        if is_told:
            self.hub.receipt(receipt)
        return receipt

    @property
    def tokens(self) -> list[int]:
        return [one.output for one in self.told[-1].own]


Tell = Callable[[Callable[[Desk], Coroutine[Any, Any, None]]], None]


@pytest.fixture
def tell(tmp_path: Path) -> Iterator[Tell]:
    hub = Hub()
    with open_log(tmp_path, on_catalogue_change=hub.catalogue_changed) as log:

        def run(story: Callable[[Desk], Coroutine[Any, Any, None]]) -> None:
            async def whole() -> None:
                desk = await Desk(log, hub, tmp_path).begin()
                await story(desk)
                desk.usage.close()

            asyncio.run(whole())

        yield run


def test_r07_a_hundred_updates_that_are_no_requests_read_nothing(tell: Tell) -> None:
    async def story(desk: Desk) -> None:
        elsewhere = (await desk.log.catalogue.create_tab(desk.workspace.id)).id
        told = len(desk.told)
        for number in range(100):
            desk.hub.receipt(await desk.log.session(desk.tab).append([chunk(f"r{number}")]))
            await desk.ask(elsewhere)
        await desk.look()
        assert (desk.reads, len(desk.told), desk.usage.is_fresh) == ([], told, True)

    tell(story)


def test_r07_a_request_is_told_by_id_when_it_begins_and_when_it_is_answered(tell: Tell) -> None:
    async def story(desk: Desk) -> None:
        request = RequestRecord("mine", desk.tab, "t", 0, "p", "m", 500)
        await desk.put(request)
        assert desk.tokens == [0, 0]
        await desk.put(replace(request, usage={"output_tokens": 7}))
        assert (desk.tokens, desk.reads, desk.usage.is_fresh) == ([0, 7], [], True)

    tell(story)


def test_u28_a_subagent_that_begins_is_followed_from_its_first_request_on(tell: Tell) -> None:
    async def story(desk: Desk) -> None:
        one = await desk.log.catalogue.create_tab(desk.workspace.id, parent=desk.tab)
        two = await desk.log.catalogue.create_tab(desk.workspace.id, parent=one.id)
        await desk.ask(two.id, tokens=5)
        await desk.settle()
        await desk.ask(two.id, tokens=6)
        assert [usage.output for usage in desk.told[-1].below] == [5, 6]
        assert sorted(desk.reads) == sorted([one.id, two.id])

    tell(story)


def test_r05_a_receipt_that_was_lost_is_repaired_by_one_read(tell: Tell) -> None:
    async def story(desk: Desk) -> None:
        await desk.ask(desk.tab, tokens=1, is_told=False)
        await desk.ask(desk.tab, tokens=2)
        await desk.pass_by(0.9)
        assert (desk.tokens, desk.reads, desk.usage.is_fresh) == ([0], [], False)
        await desk.pass_by(0.2)
        assert (desk.tokens, desk.reads, desk.usage.is_fresh) == ([0, 1, 2], [desk.tab], True)

    tell(story)


def test_r14_out_of_sight_nothing_is_read_and_back_in_sight_it_is_compared_first(
    tell: Tell,
) -> None:
    async def story(desk: Desk) -> None:
        desk.usage.show(False)
        await desk.ask(desk.tab, tokens=1, is_told=False)
        await desk.look()
        await desk.pass_by(60)
        assert (desk.tokens, desk.reads, desk.usage.is_fresh) == ([0], [], False)
        desk.usage.show(True)
        assert not desk.usage.is_fresh
        await desk.pass_by(1)
        assert (desk.tokens, desk.reads, desk.usage.is_fresh) == ([0, 1], [desk.tab], True)
        desk.usage.show(False)
        desk.usage.show(True)
        assert not desk.usage.is_fresh
        await desk.settle()
        assert (len(desk.reads), desk.usage.is_fresh) == (1, True)

    tell(story)


def test_r09_what_was_read_stays_under_an_error_and_the_next_look_tries_again(tell: Tell) -> None:
    async def story(desk: Desk) -> None:
        await desk.ask(desk.tab, tokens=1, is_told=False)
        desk.faults = [StoreBusy("The database is busy.")]
        await desk.look()
        assert (desk.tokens, desk.told[-1].problem != "") == ([0], True)
        await desk.look()
        assert (desk.tokens, desk.told[-1].problem) == ([0, 1], "")

    tell(story)


def test_r12_a_conversation_that_is_purged_keeps_what_was_told_and_is_read_no_more(
    tell: Tell,
) -> None:
    async def story(desk: Desk) -> None:
        await desk.log.catalogue.trash_tab(desk.tab)
        await desk.log.catalogue.purge_tab(desk.tab)
        desk.usage.show(False)
        desk.usage.show(True)
        await desk.settle()
        reads = len(desk.reads)
        await desk.look()
        assert (desk.tokens, len(desk.reads), desk.usage.is_fresh) == ([0], reads, False)

    tell(story)
