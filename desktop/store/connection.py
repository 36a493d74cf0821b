"""Engines and transactions on connections that `plain` opens.

A transaction begins with what the engine was made for (`BEGIN IMMEDIATE` for writers, so that a
lock is waited for at its start and never met in its middle); pysqlite's implicit ones are off.
"""

import sqlite3
import time
from pathlib import Path

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.pool import NullPool

from desktop.store.plain import Mode, connect

# How long SQLite itself waits for the write lock, before it is asked anew.
STEP_MS = 8
# In `Connection.info`: another patience than the engine's.
PATIENCE = "patience"
# Between two questions for the write lock: at first, and when it is held for long.
ASK_AGAIN_SECONDS, MOST_SECONDS = 0.001, 0.02


def engine(database: Path, mode: Mode, *, busy_ms: int) -> Engine:
    """An engine whose connections are opened so; each lane keeps one for its whole life."""
    step = min(STEP_MS, busy_ms) if mode == "write" else busy_ms
    made = create_engine(
        "sqlite://",
        creator=lambda: connect(database, mode, busy_ms=step),
        poolclass=NullPool,
    )

    def start(connection: Connection) -> None:
        if mode == "write":
            begin_writing(driver(connection), busy_ms=connection.info.get(PATIENCE, busy_ms))
        else:
            driver(connection).execute("BEGIN IMMEDIATE" if mode == "migrate" else "BEGIN")

    event.listen(made, "begin", start)
    return made


def begin_writing(raw: sqlite3.Connection, *, busy_ms: int) -> None:
    """Takes the write lock within so many ms; raises sqlite3.Error.

    SQLite asks for a lock less and less often, and every newcomer gets it before the one who has
    waited longest: among eight busy writers that took seconds. So it is asked anew every few
    milliseconds.
    """
    deadline = time.monotonic() + busy_ms / 1_000
    while True:
        try:
            raw.execute("BEGIN IMMEDIATE")
            return
        except sqlite3.OperationalError as error:
            is_busy = error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY
            if not is_busy or time.monotonic() >= deadline:
                raise


def driver(connection: Connection) -> sqlite3.Connection:
    """The plain connection below, in the same transaction: for what is read a page at a time."""
    raw = connection.connection.driver_connection
    assert isinstance(raw, sqlite3.Connection)
    return raw
