"""How long a page of 100 rows takes, anywhere in a long conversation.

One ratio compares it with a bare read of the same rows (parsed, but made into nothing), one the
depth: a page from the middle of the log against one from its end. A keyset does not know how deep
it is. Work is processor time, so that a busy machine weighs on neither.
"""

import asyncio
import json
import random
import sqlite3
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median

from desktop.core.chunks import NewChunk, Text
from desktop.core.records import Page
from desktop.store.log import Log
from tests.bench import Figure
from tests.bench.append import TEXT, new_tab, open_log

ROWS = 20_000
BATCH = 2_000
LIMIT = 100
READS = 200
PLACES = random.Random(7)


def figures() -> list[Figure]:
    with tempfile.TemporaryDirectory(prefix="nacre-bench-") as folder:
        return asyncio.run(_measure(Path(folder)))


async def _measure(folder: Path) -> list[Figure]:
    log = open_log(folder)
    try:
        tab = await new_tab(log, folder)
        await _fill(log, tab)
        with closing(sqlite3.connect(folder / "nacre.db")) as connection:
            return await _read(log, tab, connection)
    finally:
        await log.close()


async def _fill(log: Log, tab: str) -> None:
    for start in range(0, ROWS, BATCH):
        await log.session(tab).append(
            [
                NewChunk(id=f"c{number}", turn_id="t", role="assistant", data=Text(TEXT))
                for number in range(start, start + BATCH)
            ]
        )


async def _read(log: Log, tab: str, connection: sqlite3.Connection) -> list[Figure]:
    deep: list[_Cost] = []
    tail: list[_Cost] = []
    bare: list[_Cost] = []
    for _ in range(READS):
        before = PLACES.randrange(LIMIT + 1, ROWS)
        deep.append(await _cost(partial(log.reader.page, tab, limit=LIMIT, before=before)))
        tail.append(await _cost(partial(log.reader.page, tab, limit=LIMIT)))
        bare.append(await _cost(partial(_bare, connection, tab, before)))
    work, tail_work, bare_work = (median(one.cpu for one in costs) for costs in (deep, tail, bare))
    return [
        Figure("page.work_vs_bare_read", work / bare_work, "x", 8),
        Figure("page.deep_vs_tail", work / tail_work, "x", 1.5),
        Figure("page.p50", median(one.wall for one in deep) * 1_000, "ms", 16),
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
    rows = connection.execute(
        "SELECT seq, data_json FROM chunks WHERE tab_id = ? AND seq < ? ORDER BY seq DESC LIMIT ?",
        (tab, before, LIMIT),
    ).fetchall()
    assert all(json.loads(data) for _, data in rows)
