"""How long a sealed chunk takes to be durable, as a ratio to a bare insert on the same disk.

Both write the same text with `synchronous=FULL` into a write-ahead log, in turns, so that a loud
minute of the machine weighs on both. The store adds the thread, the checks, the revision, the
full-text index and the receipt.
"""

import asyncio
import itertools
import json
import sqlite3
import tempfile
import time
from contextlib import closing
from pathlib import Path
from statistics import median

from desktop.core.chunks import NewChunk, Text
from desktop.store.log import Log
from desktop.store.session import SqlSession
from tests.bench import Figure

APPENDS = 600
TEXT = "lorem ipsum dolor sit amet " * 38  # about 1 KiB


def figures() -> list[Figure]:
    with tempfile.TemporaryDirectory(prefix="nacre-bench-") as folder:
        ratio, milliseconds = asyncio.run(_measure(Path(folder)))
    return [
        Figure("append.vs_bare_insert", ratio, "x", 8),
        Figure("append.p50", milliseconds, "ms", 16),
    ]


async def _measure(folder: Path) -> tuple[float, float]:
    log = open_log(folder)
    session = log.session(await new_tab(log, folder))
    ours: list[float] = []
    bare: list[float] = []
    try:
        with closing(_bare(folder / "bare.db")) as connection:
            for number in range(APPENDS):
                ours.append(await _append(session, number))
                bare.append(_insert(connection, number))
    finally:
        await log.close()
    return median(ours) / median(bare), median(ours) * 1_000


def open_log(folder: Path) -> Log:
    """A fresh log whose ids and times are counted."""
    ids, times = itertools.count(), itertools.count()
    return Log.open(
        folder / "nacre.db",
        blobs=folder / "blobs",
        run=folder / "run",
        new_id=lambda: f"id-{next(ids)}",
        now_ms=lambda: next(times),
    )


async def new_tab(log: Log, folder: Path) -> str:
    workspace = await log.catalogue.open_workspace(folder)
    return (await log.catalogue.create_tab(workspace.id)).id


async def _append(session: SqlSession, number: int) -> float:
    new = NewChunk(id=f"c{number}", turn_id="t", role="assistant", data=Text(TEXT))
    start = time.perf_counter()
    await session.append([new])
    return time.perf_counter() - start


def _bare(database: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(database, isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("CREATE TABLE chunks(id TEXT PRIMARY KEY, seq INTEGER, data TEXT)")
    return connection


def _insert(connection: sqlite3.Connection, number: int) -> float:
    start = time.perf_counter()
    connection.execute("BEGIN IMMEDIATE")
    connection.execute(
        "INSERT INTO chunks VALUES (?, ?, ?)", (f"c{number}", number, json.dumps({"text": TEXT}))
    )
    connection.execute("COMMIT")
    return time.perf_counter() - start
