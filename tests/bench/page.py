"""How long a page of 100 rows takes, anywhere in a log of `--rows` (a million).

One ratio compares it with a bare read of as many rows by a plain connection on a thread (parsed,
but made into nothing), one the depth: a page from the middle of the log against one from its end. A
keyset does not know how deep it is. Work is processor time, so that a busy machine weighs on
neither.
"""

import asyncio
import json
import random
import sqlite3
import time
from collections.abc import Awaitable, Callable
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from statistics import median

from desktop.core.records import Page
from desktop.store.log import Log
from tests.bench import Figure, Options
from tests.bench._corpus import Corpus, corpus, open_log

LIMIT = 100
READS = 300
PLACES = random.Random(7)


def figures(options: Options) -> list[Figure]:
    return asyncio.run(_measure(corpus(options.rows)))


async def _measure(made: Corpus) -> list[Figure]:
    log = open_log(made.folder)
    try:
        plain = sqlite3.connect(made.folder / "nacre.db", check_same_thread=False)
        with closing(plain) as connection:
            connection.execute("PRAGMA cache_size=-16384")
            return await _read(log, made, connection)
    finally:
        await log.close()


async def _read(log: Log, made: Corpus, connection: sqlite3.Connection) -> list[Figure]:
    deep: list[_Cost] = []
    tail: list[_Cost] = []
    bare: list[_Cost] = []
    tab = made.tab
    for _ in range(READS):
        before, other = (PLACES.randrange(LIMIT + 1, made.rows) for _ in range(2))
        deep.append(await _cost(partial(log.reader.page, tab, limit=LIMIT, before=before)))
        bare.append(await _cost(partial(_bare, connection, tab, other)))
        tail.append(await _cost(partial(log.reader.page, tab, limit=LIMIT)))
    work, tail_work, bare_work = (median(one.cpu for one in costs) for costs in (deep, tail, bare))
    wall, bare_wall = (median(one.wall for one in costs) for costs in (deep, bare))
    return [
        Figure("page.work_vs_bare_read", work / bare_work, "x", 1.5),
        Figure("page.p50_vs_bare_read", wall / bare_wall, "x", 1.5),
        Figure("page.deep_vs_tail", work / tail_work, "x", 1.5),
        Figure("page.p50", wall * 1_000, "ms", 16),
    ]


@dataclass(frozen=True, slots=True)
class _Cost:
    """Seconds of processor time of all threads, and on the clock."""

    cpu: float
    wall: float


async def _cost(read: Callable[[], Awaitable[Page | None]]) -> _Cost:
    wall, cpu = time.perf_counter(), time.process_time()
    await read()
    return _Cost(time.process_time() - cpu, time.perf_counter() - wall)


async def _bare(connection: sqlite3.Connection, tab: str, before: int) -> None:
    await asyncio.get_running_loop().run_in_executor(None, _parsed, connection, tab, before)


def _parsed(connection: sqlite3.Connection, tab: str, before: int) -> None:
    rows = connection.execute(
        "SELECT id, seq, turn_id, step, role, type, data_json, created_at, provider, model"
        " FROM chunks WHERE tab_id = ? AND seq < ? ORDER BY seq DESC LIMIT ?",
        (tab, before, LIMIT),
    ).fetchall()
    assert all(json.loads(row[6]) for row in rows)
