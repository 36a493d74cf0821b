"""Scopes on a real log: receipts as batches, reads, checks, ends (SPEC R04, R07, R10 – R14)."""

import asyncio
import sqlite3
from collections.abc import Callable, Coroutine, Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from desktop.core.chunks import NewChunk, System
from desktop.core.records import RequestRecord
from desktop.core.sources import Message, Messages, Question, Selection, Turns
from desktop.core.turns import Turn
from desktop.feed.checks import CHECK_SECONDS
from desktop.feed.cursors import Cursors, Reader
from desktop.feed.faults import InvalidQuery, NotFound, Unauthenticated
from desktop.feed.hub import Hub
from desktop.feed.kinds import MESSAGE, TURN
from desktop.feed.source import ConversationSource, Door, Grant, Query
from desktop.feed.source_scope import SourceScope
from desktop.feed.subscriptions import Subscriptions
from desktop.store.log import Log
from tests.unit.feed.times import Time
from tests.unit.store.builders import chunk, hide, new_tab, open_log

PROMPTS = Selection(frozenset({"user"}), frozenset({"text"}))


class Desk:
    """A log with one conversation, and what scopes need; reads are counted."""

    def __init__(self, log: Log, folder: Path) -> None:
        self.log, self.hub, self.time = log, Hub(), Time()
        self.tab = new_tab(log, folder)
        self.grant: Grant = "granted"
        self.reads = 0
        self.reading = 0
        self.looks: list[Sequence[str]] = []
        self.tasks: set[asyncio.Task[Any]] = set()
        self.session = log.session(self.tab)
        self.door = Door(
            self, lambda reader, tab: self.grant, Cursors(b"s", epoch="e", now=self.time.clock), "e"
        )
        self.subscriptions = Subscriptions(
            self.hub, self.door, start=self.start, later=self.time.later, clock=self.time.clock
        )
        self._numbers = iter(range(1_000_000))

    async def messages(self, tab_id: str, selection: Selection, question: Question) -> Messages:
        with self.read():
            return await self.log.sources.messages(tab_id, selection, question)

    async def turns(self, tab_id: str, question: Question) -> Turns:
        with self.read():
            return await self.log.sources.turns(tab_id, question)

    async def revisions(self, tab_ids: Sequence[str]) -> Mapping[str, int]:
        self.looks.append(tab_ids)
        self.reading += 1
        try:
            return await self.log.sources.revisions(tab_ids)
        finally:
            self.reading -= 1

    @contextmanager
    def read(self) -> Generator[None]:
        self.reads += 1
        self.reading += 1
        try:
            yield
        finally:
            self.reading -= 1

    def start(self, coroutine: Coroutine[Any, Any, Any], name: str) -> None:
        task = asyncio.get_running_loop().create_task(coroutine, name=name)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def settled(self) -> None:
        while self.tasks:
            await asyncio.wait(self.tasks)

    async def rest(self) -> None:
        """Until nothing is read and nobody goes on by themselves."""
        turns = 0
        while turns < 20:
            await asyncio.sleep(0)
            turns = 0 if self.reading else turns + 1

    async def wait(self, seconds: float) -> None:
        self.time.advance(seconds)
        await self.settled()

    async def open(self, query: Query | None = None) -> SourceScope:
        scope = self.subscriptions.open(query or Query(self.tab))
        await self.settled()
        self.reads = 0
        self.looks.clear()
        return scope

    async def say(self, *chunks: NewChunk, is_told: bool = True) -> None:
        receipt = await self.session.append(chunks or [self.next("assistant")])
        if is_told:
            self.hub.receipt(receipt)

    def next(self, role: Any = "user", *, turn: str = "t") -> NewChunk:
        n = next(self._numbers)
        return chunk(f"{role}-{n}", f"row {n}", role=role, turn=turn)

    def ended(self, turn: str = "t") -> NewChunk:
        data = System("turn_end", fields={"outcome": "done", "durationMs": 7})
        return chunk(f"end-{next(self._numbers)}", data, role="system", turn=turn)


def ids(scope: SourceScope) -> list[str]:
    return [one.id for one in scope.records(MESSAGE)]


Story = Callable[[Desk], Coroutine[Any, Any, None]]


@pytest.fixture
def tell(tmp_path: Path) -> Iterator[Callable[[Story], None]]:
    with open_log(tmp_path) as log:
        desk = Desk(log, tmp_path)

        def run(story: Story) -> None:
            asyncio.run(story(desk))

        yield run


Tell = Callable[[Story], None]


def test_r07_answers_cause_no_read_in_a_scope_of_prompts(tell: Tell) -> None:
    """A hundred of them; its turn's end comes by id."""

    async def story(desk: Desk) -> None:
        await desk.say(desk.next())
        scope = await desk.open(Query(desk.tab, PROMPTS, with_turns=True))
        for _ in range(100):
            await desk.say()
        await desk.say(desk.ended())
        await desk.wait(1)
        assert (ids(scope), scope.revision, scope.is_fresh) == (["user-0"], 102, True)
        turn = scope.records(TURN)[0].value
        assert isinstance(turn, Turn)
        assert (turn.outcome, turn.duration_ms) == ("done", 7)
        await desk.wait(CHECK_SECONDS)
        assert (desk.reads, len(desk.looks)) == (0, 1)
        scope.close()

    tell(story)


def test_a_prompt_that_is_taken_back_is_told_as_it_stands_now(tell: Tell) -> None:
    """R04"""

    async def story(desk: Desk) -> None:
        await desk.say(desk.next())
        scope = await desk.open(Query(desk.tab, PROMPTS))
        data = System("retracted", fields={"chunkIds": ["user-0"]})
        await desk.say(chunk("r", data, role="system", turn="t"))
        message = scope.records(MESSAGE)[0].value
        assert isinstance(message, Message)
        assert (message.id, message.is_retracted, desk.reads) == ("user-0", True, 0)
        scope.close()

    tell(story)


def test_requests_cover_their_interval_and_bring_nothing(tell: Tell) -> None:
    async def story(desk: Desk) -> None:
        scope = await desk.open()
        for _ in range(2):
            record = RequestRecord("q", desk.tab, "t", 0, "p", "m", 1)
            desk.hub.receipt(await desk.session.start_request(record))
        await desk.wait(1)
        assert (scope.revision, scope.is_fresh, desk.reads) == (1, True, 0)
        scope.close()

    tell(story)


def test_what_comes_within_a_tenth_of_a_second_comes_as_one(tell: Tell) -> None:
    async def story(desk: Desk) -> None:
        scope = await desk.open()
        heard: list[int] = []
        scope.listen(lambda operations: heard.append(len(operations or ())))
        for _ in range(5):
            await desk.say()
        assert heard == [1]
        await desk.wait(0.1)
        assert (heard, scope.revision) == ([1, 4], 5)
        scope.close()

    tell(story)


def test_r14_rows_of_another_process_are_found_by_the_check(tell: Tell) -> None:
    """A newer revision waits a second for its batch, then what is loaded is read once."""

    async def story(desk: Desk) -> None:
        await desk.say()
        scope = await desk.open()
        await desk.say(is_told=False)
        await desk.wait(CHECK_SECONDS)
        assert (scope.revision, scope.is_fresh, desk.reads) == (1, False, 0)
        await desk.wait(1)
        assert (scope.revision, scope.is_fresh, desk.reads) == (2, True, 1)
        await desk.wait(6 * CHECK_SECONDS)
        assert desk.reads == 1
        scope.close()

    tell(story)


def test_r14_without_a_scope_nothing_is_asked(tell: Tell) -> None:
    async def story(desk: Desk) -> None:
        first, second = await desk.open(), await desk.open()
        await desk.wait(CHECK_SECONDS)
        assert desk.looks == [[desk.tab]]
        first.close()
        second.close()
        assert desk.time.is_idle
        await desk.wait(10 * CHECK_SECONDS)
        assert len(desk.looks) == 1
        third = await desk.open()
        await desk.wait(CHECK_SECONDS)
        assert len(desk.looks) == 1
        third.close()

    tell(story)


@pytest.mark.parametrize("how", ["deleted", "hidden", "unauthenticated"])
def test_r12_a_conversation_that_goes_ends_its_scope_and_keeps_its_rows(
    tell: Tell, how: str
) -> None:
    async def story(desk: Desk) -> None:
        await desk.say()
        scope = await desk.open()
        if how == "deleted":
            hide(desk.log, desk.tab)
        else:
            desk.grant = "hidden" if how == "hidden" else "unauthenticated"
        await desk.wait(CHECK_SECONDS)
        expected = Unauthenticated if how == "unauthenticated" else NotFound
        assert isinstance(scope.error, expected)
        assert (scope.is_over, ids(scope), desk.time.is_idle) == (True, ["assistant-0"], True)
        await desk.wait(10 * CHECK_SECONDS)
        assert (desk.reads, len(desk.looks)) == (0, 1)

    tell(story)


def test_r12_one_that_may_not_be_read_is_as_one_that_never_was(tell: Tell) -> None:
    async def story(desk: Desk) -> None:
        await desk.say()
        never = await desk.open(Query("never"))
        desk.grant = "hidden"
        hidden = await desk.open()
        told = [
            (str(one.error), one.error and one.error.detail, type(one.error), one.is_loaded)
            for one in (never, hidden)
        ]
        assert told[0] == told[1]

    tell(story)


def test_r13_more_than_a_hundred_turns_are_shown_together_or_not_at_all(tell: Tell) -> None:
    """A write between two pages of turns makes the reader begin again."""

    async def story(desk: Desk) -> None:
        await desk.say(*(desk.next(turn=f"t{n}") for n in range(250)))
        original, told = desk.log.sources.turns, [1]

        async def turns(tab_id: str, question: Question) -> Turns:
            page = await original(tab_id, question)
            if told and question.after is not None:
                told.pop()
                await desk.session.append([desk.ended("t0")])
            return page

        desk.turns = turns  # type: ignore[method-assign]
        scope = desk.subscriptions.open(Query(desk.tab, with_turns=True))
        counts: set[int] = set()
        scope.listen(lambda _: counts.add(len(scope.records(TURN))))
        await desk.settled()
        assert counts == {250}
        assert (scope.revision, scope.is_fresh) == (251, True)
        scope.close()

    tell(story)


def test_r10_pages_of_a_real_log_hold_each_row_once(tell: Tell) -> None:
    async def story(desk: Desk) -> None:
        await desk.say(*(desk.next() for _ in range(250)))
        for order in ("ascending", "descending"):
            scope = await desk.open(Query(desk.tab, order=order, size=500))  # type: ignore[arg-type]
            assert len(ids(scope)) == 100
            assert await scope.load_more() == 100
            await desk.say(is_told=False)
            assert scope.has_more
            desk.time.advance(1)
            more = asyncio.ensure_future(scope.load_more())
            while not more.done():
                await desk.rest()
                desk.time.advance(1)
            places = [one.place for one in scope.records(MESSAGE)]
            whole = list(range(1, (scope.revision or 0) + 1))
            assert places == (whole if order == "ascending" else whole[::-1])
            scope.close()

    tell(story)


def test_r10_a_cursor_of_another_plugin_generation_is_refused(tell: Tell) -> None:
    async def story(desk: Desk) -> None:
        await desk.say(*(desk.next() for _ in range(5)))
        query = Query(desk.tab, size=2, reader=Reader("history", 1))
        page = await ConversationSource(query, desk.door).read(None)
        other = ConversationSource(replace(query, reader=Reader("history", 2)), desk.door)
        with pytest.raises(InvalidQuery):
            await other.more(page.cursor, expected=page.revision)

    tell(story)


def test_a_partial_receipt_is_told_as_a_reset(tell: Tell) -> None:
    """R04: the rows of somebody else in the same interval are read."""

    async def story(desk: Desk) -> None:
        scope = await desk.open()
        with closing(sqlite3.connect(desk.log.database)) as plain, plain:
            plain.execute(
                "CREATE TRIGGER along AFTER INSERT ON chunks WHEN NEW.seq = 1 BEGIN"
                " INSERT INTO chunks(id, tab_id, seq, turn_id, role, type, data_json, created_at)"
                " VALUES ('along', NEW.tab_id, 2, 't', 'user', 'text', '{\"text\":\"x\"}', 1); END"
            )
        await desk.say()
        await desk.wait(1)
        assert (ids(scope), scope.is_fresh) == (["along", "assistant-0"], True)
        scope.close()

    tell(story)
