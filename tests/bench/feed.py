"""What following a conversation costs: reads, above all, and what a write pays for being told.

A log of 1 KiB rows, each tenth a prompt and each tenth the end of a turn, at 10,000 and 100,000
rows. A scope of prompts with its turns hears a hundred answers, and then loses one batch. Counts
are exact; times are ratios to something of the same run.
"""

import asyncio
import json
import sqlite3
import tempfile
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from statistics import median
from typing import Any

from desktop.core.chunks import NewChunk, Text
from desktop.core.sources import EVERYTHING, Messages, Question, Selection, Turns
from desktop.feed.cursors import Cursors
from desktop.feed.hub import Hub
from desktop.feed.kinds import MESSAGE
from desktop.feed.source import Door, Query
from desktop.feed.source_scope import SourceScope
from desktop.feed.subscriptions import Subscriptions
from desktop.store.log import Log
from tests.bench import Figure, Options
from tests.bench._corpus import new_tab, open_log

SIZES = (10_000, 100_000)
ANSWERS = 100
PAGES = 5
READS = 60
SUBSCRIBERS = 10
PROMPTS = Selection(frozenset({"user"}), frozenset({"text"}))
TEXT = "lorem ipsum dolor sit amet " * 38


def figures(options: Options) -> list[Figure]:
    found: list[Figure] = []
    works: list[float] = []
    for rows in [size for size in SIZES if size <= max(options.rows, SIZES[0])]:
        with tempfile.TemporaryDirectory(prefix="nacre-bench-feed-") as folder:
            some, work = asyncio.run(_measure(Path(folder), rows))
        found += some
        works.append(work)
    if len(works) > 1:
        found.append(Figure("feed.turns_page_large_vs_small", works[1] / works[0], "x", 1.5))
    return found


async def _measure(folder: Path, rows: int) -> tuple[list[Figure], float]:
    log = open_log(folder)
    try:
        tab = await new_tab(log, folder)
        await asyncio.to_thread(_fill, log.database, tab, rows)
        desk = Desk(log)
        found = await _follow(desk, tab, rows)
        turns = await _time(lambda: log.sources.turns(tab, Question(after=rows // 2)))
        prompts = await _time(lambda: log.sources.messages(tab, PROMPTS, Question(after=rows // 2)))
        any_rows = await _time(
            lambda: log.sources.messages(tab, EVERYTHING, Question(after=rows // 2))
        )
        alone, followed = await _writes(desk, log, tab)
        return [
            *found,
            Figure(f"feed.prompts_page_vs_rows_page_at_{rows}", prompts / any_rows, "x", 1.5),
            Figure(f"feed.write_followed_vs_alone_at_{rows}", followed / alone, "x", 1.5),
            Figure(f"feed.turns_page_at_{rows}", turns * 1_000, "ms", 50),
            _revision_rows(log.database, rows),
        ], turns
    finally:
        await log.close()


async def _follow(desk: "Desk", tab: str, rows: int) -> list[Figure]:
    scope = await desk.open(Query(tab, PROMPTS, with_turns=True))
    for _ in range(PAGES - 1):
        await scope.load_more()
    before = desk.reads
    session = desk.log.session(tab)
    for number in range(ANSWERS):
        desk.hub.receipt(await session.append([_answer(f"{rows}-{number}")]))
    assert await _caught_up(scope, rows + ANSWERS)
    answers, before = desk.reads - before, desk.reads
    await session.append([_answer(f"{rows}-lost")])
    desk.hub.receipt(await session.append([_answer(f"{rows}-last")]))
    began = time.perf_counter()
    assert await _caught_up(scope, rows + ANSWERS + 2)
    took = time.perf_counter() - began
    pages = -(-len(scope.records(MESSAGE)) // 100) + -(-(rows // 10) // 100)
    scope.close()
    return [
        Figure(f"feed.reads_of_100_answers_at_{rows}", answers, "reads", 0),
        Figure(f"feed.reads_of_a_repair_at_{rows}", desk.reads - before, "reads", pages + 1),
        Figure(f"feed.repair_after_a_loss_at_{rows}", took, "s", 5),
    ]


async def _caught_up(scope: SourceScope, revision: int) -> bool:
    while scope.revision != revision or not scope.is_fresh:  # noqa: ASYNC110 (it is measured)
        await asyncio.sleep(0.01)
    return True


async def _writes(desk: "Desk", log: Log, tab: str) -> tuple[float, float]:
    """Median seconds of a write that is told, without and with scopes that follow, in turns."""
    other = desk.log.session(tab)
    times: dict[bool, list[float]] = {False: [], True: []}
    scopes: list[SourceScope] = []
    for number in range(2 * READS):
        followed = number // 10 % 2 == 1
        if number % 10 == 0:
            scopes = [await desk.open(Query(tab)) for _ in range(SUBSCRIBERS * followed)]
        began = time.perf_counter()
        desk.hub.receipt(await other.append([_answer(f"w{number}")]))
        times[followed].append(time.perf_counter() - began)
        if number % 10 == 9:
            for scope in scopes:
                scope.close()
    return median(times[False]), median(times[True])


async def _time(read: Callable[[], Awaitable[Messages | Turns]]) -> float:
    times: list[float] = []
    for _ in range(READS):
        began = time.perf_counter()
        page = await read()
        times.append(time.perf_counter() - began)
        assert len(page.records) == 100
    return median(times)


def _answer(name: str) -> NewChunk:
    return NewChunk(id=f"a-{name}", turn_id="last", role="assistant", data=Text(TEXT))


def _fill(database: Path, tab: str, rows: int) -> None:
    """Turns of ten rows: a prompt, answers, an end."""
    said, end = json.dumps({"text": TEXT}), '{"kind":"turn_end","outcome":"done","durationMs":5}'
    with closing(sqlite3.connect(database)) as plain, plain:
        for seq in range(1, rows + 1):
            place = seq % 10
            role = "user" if place == 1 else "system" if place == 0 else "assistant"
            plain.execute(
                "INSERT INTO chunks(id, tab_id, seq, turn_id, role, type, data_json, created_at)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, 1)",
                (
                    f"c{seq}", tab, seq, f"turn-{(seq - 1) // 10}", role,
                    "text" if place else "system", said if place else end,
                ),
            )  # fmt: skip


def _revision_rows(database: Path, rows: int) -> Figure:
    with closing(sqlite3.connect(database)) as plain:
        count = "SELECT count(*) FROM "
        (revisions,) = plain.execute(count + "conversation_session_revisions").fetchone()
        (sessions,) = plain.execute(count + "tabs").fetchone()
    return Figure(f"feed.revision_rows_at_{rows}", revisions, "rows", sessions)


class Desk:
    """A log with the feed on it; it counts what is read, as the SourceReader of its scopes."""

    def __init__(self, log: Log) -> None:
        self.log, self.hub, self.reads = log, Hub(), 0
        self._tasks: set[asyncio.Task[Any]] = set()
        door = Door(self, lambda *_: "granted", Cursors(b"s", epoch="e", now=time.monotonic), "e")
        self._subscriptions = Subscriptions(
            self.hub,
            door,
            start=self._start,
            later=asyncio.get_running_loop().call_later,
            clock=time.monotonic,
        )

    async def open(self, query: Query) -> SourceScope:
        scope = self._subscriptions.open(query)
        while not scope.is_loaded:  # noqa: ASYNC110 (a measurement)
            await asyncio.sleep(0.005)
        return scope

    async def messages(self, tab_id: str, selection: Selection, question: Question) -> Messages:
        self.reads += 1
        return await self.log.sources.messages(tab_id, selection, question)

    async def turns(self, tab_id: str, question: Question) -> Turns:
        self.reads += 1
        return await self.log.sources.turns(tab_id, question)

    async def revisions(self, tab_ids: Sequence[str]) -> Mapping[str, int]:
        return await self.log.sources.revisions(tab_ids)

    def _start(self, coroutine: Coroutine[Any, Any, None], name: str) -> None:
        task = asyncio.get_running_loop().create_task(coroutine, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
