"""The list of three thousand conversations, from metadata alone (FIELD F-S10).

How many columns of rows SQLite is asked to read while it is made (none), and how long it takes over
a bare read of the same tables by a plain connection on a thread.
"""

import asyncio
import sqlite3
import tempfile
import time
from contextlib import closing
from pathlib import Path
from statistics import median

from sqlalchemy import Connection

from desktop.store.connection import driver
from desktop.store.log import Log
from tests.bench import Figure
from tests.bench._corpus import Corpus, made, open_log

CONVERSATIONS = 3_000
ROWS = 60_000
ROUNDS = 40
_TABLES = ("projects", "workspaces", "tabs")


def figures() -> list[Figure]:
    with tempfile.TemporaryDirectory(prefix="nacre-bench-") as folder:
        corpus = made(Path(folder), ROWS)
        _add_conversations(corpus)
        return asyncio.run(_measure(corpus))


async def _measure(corpus: Corpus) -> list[Figure]:
    log = open_log(corpus.folder)
    plain = sqlite3.connect(corpus.folder / "nacre.db", check_same_thread=False)
    ours: list[float] = []
    bare: list[float] = []
    try:
        with closing(plain):
            loop = asyncio.get_running_loop()
            for _ in range(ROUNDS):
                start = time.perf_counter()
                view = await log.catalogue.view()
                ours.append(time.perf_counter() - start)
                assert len(view.tabs) == CONVERSATIONS
                start = time.perf_counter()
                await loop.run_in_executor(None, _bare, plain)
                bare.append(time.perf_counter() - start)
            chunk_reads = await _chunk_reads(log)
    finally:
        await log.close()
    return [
        Figure("listing.reads_of_chunks", chunk_reads, "columns", 0),
        Figure("listing.vs_bare_select", median(ours) / median(bare), "x", 8),
        Figure("listing.p50", median(ours) * 1_000, "ms", 100),
    ]


async def _chunk_reads(log: Log) -> int:
    """What of `chunks` SQLite asks to read when the list is made."""
    asked: list[str] = []

    def watch(_action: int, table: str | None, column: str | None, *_: object) -> int:
        if table == "chunks":
            asked.append(str(column))
        return sqlite3.SQLITE_OK

    def set_watch(connection: Connection, on: bool) -> None:
        driver(connection).set_authorizer(watch if on else None)

    lanes = log._lanes  # pyright: ignore[reportPrivateUsage]
    await lanes.read(lambda connection: set_watch(connection, True))
    await log.catalogue.view()
    await lanes.read(lambda connection: set_watch(connection, False))
    return len(asked)


def _bare(plain: sqlite3.Connection) -> None:
    for table in _TABLES:
        plain.execute(f"SELECT * FROM {table} ORDER BY id").fetchall()


def _add_conversations(corpus: Corpus) -> None:
    with closing(sqlite3.connect(corpus.folder / "nacre.db")) as connection, connection:
        (workspace,) = connection.execute("SELECT workspace_id FROM tabs").fetchone()
        connection.executemany(
            "INSERT INTO tabs(id, workspace_id, title, position, is_open, created_at,"
            " last_message_at) VALUES (?, ?, ?, ?, 0, ?, ?)",
            (
                (f"{n:08d}-0000-4000-8000-000000000000", workspace, f"About {n}", n, n, n)
                for n in range(1, CONVERSATIONS)
            ),
        )
