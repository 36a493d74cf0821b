"""The one place where an agent writes: order, all or nothing, nothing lost by a cancellation."""

import asyncio
from itertools import count

import pytest

from desktop.agent.ledger import Ledger
from desktop.core.chunks import NewChunk, Text
from desktop.core.errors import StoreError, StoreFull
from desktop.core.protocols import TurnStore
from desktop.core.records import Receipt
from tests.fakes.models import Gate
from tests.fakes.stores import MemoryLog
from tests.unit.agent.stage import TARIFF, Published, ThreadedSession, played


class Bench:
    """A ledger on a conversation in memory."""

    def __init__(self) -> None:
        numbers = count(1)
        self.log = MemoryLog(now_ms=lambda: 1, new_id=lambda: f"x{next(numbers)}")
        self.published = Published()

    async def ledger(self) -> Ledger:
        workspace = await self.log.catalogue.scratch_workspace()
        tab = await self.log.catalogue.create_tab(workspace.id)
        self.session = ThreadedSession(self.log.session(tab.id))
        self.tab_id = tab.id
        store: TurnStore = self.session  # type: ignore[assignment]
        return Ledger(store, self.published, TARIFF)

    @property
    def texts(self) -> list[str]:
        return [getattr(row.data, "text", "") for row in self.log.chunks(self.tab_id)]


def said(text: str) -> NewChunk:
    return NewChunk(id=text, turn_id="t", role="user", data=Text(text))


@played
async def test_rows_are_kept_in_memory_and_published_as_they_stand_in_the_log() -> None:
    bench = Bench()
    ledger = await bench.ledger()
    rows = await ledger.append([said("a"), said("b")])
    assert rows == bench.log.chunks(bench.tab_id) == tuple(ledger.rows)
    receipts = [one for one in bench.published.events if isinstance(one, Receipt)]
    assert [one.chunks for one in receipts] == [rows]
    assert ledger.revision == receipts[0].revision


@played
async def test_an_empty_append_writes_nothing() -> None:
    bench = Bench()
    ledger = await bench.ledger()
    assert await ledger.append([]) == ()
    assert bench.session.seen == []


@played
async def test_writes_that_wait_together_share_a_transaction_and_keep_their_order() -> None:
    bench = Bench()
    ledger = await bench.ledger()
    waits = [asyncio.create_task(ledger.append([said(str(n))])) for n in range(20)]
    rows = [await one for one in waits]
    assert bench.texts == [str(n) for n in range(20)]
    assert [found[0].id for found in rows] == bench.texts
    assert bench.session.seen.count("append") < 5


@played
async def test_S04_a_write_that_fails_leaves_nothing_and_is_not_kept_unless_asked() -> None:
    bench = Bench()
    ledger = await bench.ledger()
    bench.log.fail_next(StoreFull("Full."), StoreFull("Full."))
    with pytest.raises(StoreError):
        await ledger.append([said("gone")])
    with pytest.raises(StoreError):
        await ledger.append([said("kept")], keep=True)
    assert bench.texts == []
    assert [one.id for one in ledger.unsaved] == ["kept"]
    assert not ledger.all_saved
    await ledger.append([said("next")])
    assert bench.texts == ["kept", "next"]
    assert ledger.all_saved


@played
async def test_a_cancelled_write_is_finished_all_the_same() -> None:
    bench = Bench()
    ledger = await bench.ledger()
    gate = Gate()

    async def before(name: str) -> None:
        del name
        await gate.wait()

    bench.session.before = before
    writing = asyncio.create_task(ledger.append([said("a")]))
    await gate.reached()
    writing.cancel()
    await asyncio.wait({writing})
    gate.open()
    await ledger.settle()
    assert bench.texts == ["a"]
    assert [row.id for row in ledger.rows] == ["a"]


@played
async def test_S06_a_store_that_keeps_nothing_takes_nothing_away() -> None:
    bench = Bench()
    ledger = await bench.ledger()
    await ledger.append([said("a")])
    bench.log.find(bench.tab_id).chunks.clear()
    await ledger.load()
    assert [row.id for row in ledger.rows] == ["a"]
