"""A resting conversation is kept in the provider's cache: the real log and wire, a strict server
whose clock and ours are moved by hand (C2, SPEC C18, U05)."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from desktop.agent.spending import Tariff, line_of
from desktop.agent.warming import MARGIN_MS, Warming, worth
from desktop.core.caching import CacheMiss, note_of
from desktop.core.records import Receipt, RequestRecord
from desktop.core.status import TabStatus
from desktop.headless.opening import now_ms
from desktop.headless.warmth import Restful, is_shown
from desktop.wire.usage import usage_of
from tests.fakes.messages_api import MessagesServer, reply, thinking
from tests.fakes.sim.cache import Account
from tests.unit.agent.stage import played, tokens_price
from tests.unit.headless.test_compacting import LONG, Life, life
from tests.unit.wire.asking import load_sdk

TARIFF = Tariff(usage=usage_of, dollars=lambda _: 0.0, tokens=tokens_price)
MINUTE = 60_000
STEP = 5 * MINUTE - MARGIN_MS  # to the moment of the next refresh


@pytest.fixture(scope="module", autouse=True)
def _sdk() -> None:  # pyright: ignore[reportUnusedFunction]
    load_sdk()


class Time:
    """Goes on by itself, and further when it is told to."""

    def __init__(self, server: MessagesServer) -> None:
        self._server = server
        self._ahead = 0

    def __call__(self) -> int:
        return now_ms() + self._ahead

    def pass_by(self, milliseconds: int) -> None:
        self._ahead += milliseconds
        self._server.advance_clock(milliseconds / 1000)


class Rest:
    """A conversation that rests after one answer, and what keeps it warm."""

    def __init__(self, one: Life, server: MessagesServer, time: Time) -> None:
        self.one = one
        self.server = server
        self.time = time
        self.warming = Warming(lambda: one.supervisor.agents, is_shown=self._is_shown, now_ms=time)
        self.turned_away = asyncio.Event()

    async def _is_shown(self, tab_id: str) -> bool:
        found = await is_shown(self.one.log.catalogue, tab_id)
        if not found:
            self.turned_away.set()
        return found

    async def pass_by(self, milliseconds: int, *, refreshes: int) -> None:
        """Lets time pass until so many refreshes were answered in all."""
        self.time.pass_by(milliseconds)
        self.warming.changed()
        await self.one.published.until(lambda: len(self.refreshes()) == refreshes)

    async def pass_idly(self, milliseconds: int) -> None:
        """Lets time pass in which nothing is to be asked."""
        before = len(self.server.requests)
        self.time.pass_by(milliseconds)
        self.warming.changed()
        for _ in range(20):
            await asyncio.sleep(0)
        assert len(self.server.requests) == before

    @property
    def records(self) -> list[RequestRecord]:
        found: dict[str, RequestRecord] = {}
        for event in self.one.published.events:
            if isinstance(event, Receipt):
                found.update({record.id: record for record in event.requests})
        return list(found.values())

    def refreshes(self) -> list[RequestRecord]:
        over = [record for record in self.records if record.ended_at is not None]
        return [one for one in over if (note := note_of(one.cache)) and note.is_refresh]

    async def message(self) -> tuple[Account, CacheMiss | None]:
        """The next message: what it read, and what its record says was missed."""
        await self.one.run("and then?")
        account, note = self.server.requests[-1].account, note_of(self.records[-1].cache)
        assert account is not None and note is not None
        return account, note.miss


@asynccontextmanager
async def rest(tmp_path: Path, *, keep_warm: int) -> AsyncGenerator[Rest]:
    answers = [reply(thinking("hm"), "Pearls.")] * 3
    with MessagesServer(answers) as server:
        time = Time(server)
        async with life(tmp_path, server, prompt=LONG * 5, keep_warm=keep_warm, clock=time) as one:
            await one.begin()
            here = Rest(one, server, time)
            keeping = asyncio.create_task(here.warming.keep())
            try:
                await one.run("look at the pearls")
                yield here
            finally:
                keeping.cancel()
                await asyncio.wait({keeping})
        assert not server.rejected, server.rejected[0].error


@played
async def test_c2_after_fourteen_minutes_the_next_message_reads_from_the_cache(tmp_path: Path):
    async with rest(tmp_path, keep_warm=3) as here:
        await here.pass_by(STEP, refreshes=1)
        await here.pass_by(STEP, refreshes=2)
        here.time.pass_by(14 * MINUTE - 2 * STEP)
        account, miss = await here.message()
        assert account.read > 0
        assert miss is None


@played
async def test_c2_without_it_the_next_message_sends_everything_anew(tmp_path: Path):
    async with rest(tmp_path, keep_warm=0) as here:
        await here.pass_idly(14 * MINUTE)
        account, miss = await here.message()
        assert account.read == 0
        assert miss is not None and miss.cause == "expired"


@played
async def test_c2_it_stops_after_the_number_that_the_person_chose(tmp_path: Path):
    async with rest(tmp_path, keep_warm=1) as here:
        await here.pass_by(STEP, refreshes=1)
        await here.pass_idly(STEP)
        account, miss = await here.message()
        assert account.read > 0  # the one refresh still holds
        assert miss is None
        await here.pass_by(STEP, refreshes=2)  # another pause


@played
async def test_c18_a_refresh_is_a_record_of_its_own_and_no_row(tmp_path: Path):
    async with rest(tmp_path, keep_warm=1) as here:
        rows = await here.one.rows()
        await here.pass_by(STEP, refreshes=1)
        assert await here.one.rows() == rows
        turn, refresh = here.records
        assert refresh.turn_id == turn.turn_id
        assert refresh.step == turn.step + 1
        assert refresh.usage is not None and turn.usage is not None
        written = turn.usage["cache_creation_input_tokens"]
        assert refresh.usage["cache_read_input_tokens"] == written > 0
        listed_ones = [line_of(one, tariff=TARIFF) for one in [turn, refresh]]
        assert [one.is_refresh for one in listed_ones] == [False, True]
        until = refresh.started_at + 5 * MINUTE
        await here.one.until(lambda status: status.spent.cached_until == until)


@played
async def test_c2_too_late_nothing_is_asked_for_it_would_be_written_anew(tmp_path: Path):
    """The computer slept."""
    async with rest(tmp_path, keep_warm=3) as here:
        await here.pass_idly(6 * MINUTE)


@played
async def test_c2_a_conversation_that_is_closed_is_left_alone(tmp_path: Path):
    async with rest(tmp_path, keep_warm=3) as here:
        await here.one.log.catalogue.set_tab_open(here.one.tab_id, is_open=False)
        await here.pass_idly(STEP)
        await here.turned_away.wait()


@played
async def test_c2_a_conversation_that_is_put_away_is_left_alone(tmp_path: Path):
    async with rest(tmp_path, keep_warm=3) as here:
        await here.one.supervisor.archive_tab(here.one.tab_id)
        await here.pass_idly(STEP)
        assert not here.one.supervisor.is_awake(here.one.tab_id)


@played
async def test_c2_another_model_or_effort_makes_it_useless(tmp_path: Path):
    async with rest(tmp_path, keep_warm=3) as here:
        await here.one.supervisor.choose(here.one.tab_id, effort="high")
        await here.pass_idly(STEP)


@played
async def test_a_message_does_not_wait_for_a_refresh(tmp_path: Path):
    """It goes out while the refresh is still on its way, and both are in the log."""
    async with rest(tmp_path, keep_warm=3) as here:
        (agent,) = here.one.supervisor.agents
        here.time.pass_by(STEP)
        refreshing = asyncio.create_task(agent.keep_warm())
        await here.one.published.until(lambda: len(here.records) == 2)
        account, miss = await here.message()
        await refreshing
        assert account.read > 0
        assert miss is None
        assert len(here.refreshes()) == 1


@played
async def test_c2_a_refresh_that_failed_ends_it(tmp_path: Path):
    async with rest(tmp_path, keep_warm=3) as here:
        here.server.close()
        await here.pass_by(STEP, refreshes=1)
        assert here.refreshes()[0].error is not None
        await here.pass_idly(10_000)


def test_u05_only_a_conversation_at_rest_is_looked_at_again():
    told: list[str] = []
    listener = Restful(lambda: told.append("rests"))
    listener.status(TabStatus("tab", phase="running"))
    assert told == []
    listener.status(TabStatus("tab"))
    assert told == ["rests"]


def test_c2_no_more_refreshes_than_pay():
    """A read costs 1, a write 12: ten refreshes and the next message's read are less than that."""
    assert worth(TARIFF, "model-1", tokens=500, at=0, hour=False) == 11
    assert worth(TARIFF, "scripted-0", tokens=500, at=0, hour=False) is None
    assert worth(TARIFF, "model-1", tokens=0, at=0, hour=False) == 0
