"""How the database is opened: one door for pragmas, transactions and modes.

A transaction begins with what the engine was made for (`BEGIN IMMEDIATE` for writers, so that a
lock is waited for at its start and never met in its middle); pysqlite's implicit ones are off.
"""

import sqlite3
import time
from pathlib import Path
from typing import Literal

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.pool import NullPool

# `sealed` never changes the file and takes no locks: for a folder that can't be written at all.
Mode = Literal["write", "migrate", "read", "read-only", "sealed"]

_QUERY = {"write": "rw", "migrate": "rwc", "read": "rw", "read-only": "ro", "sealed": "ro"}
SQLITE = sqlite3.sqlite_version
CACHE_KIB = 16 * 1024
# How long SQLite itself waits for the write lock, before it is asked anew.
STEP_MS = 8
# In `Connection.info`: another patience than the engine's.
PATIENCE = "patience"
# The writer leaves checkpoints to a thread of their own (`checkpoints`); should that be held up,
# SQLite makes one itself at 40 MiB.
AUTOCHECKPOINT_PAGES = 10_000
# Between two questions for the write lock: at first, and when it is held for long.
ASK_AGAIN_SECONDS, MOST_SECONDS = 0.001, 0.02


def write_ahead_log(database: Path) -> Path:
    """The file beside it with what was committed and is not yet in the database file."""
    return database.with_name(database.name + "-wal")


def connect(database: Path, mode: Mode, *, busy_ms: int) -> sqlite3.Connection:
    """A plain connection with the pragmas of its mode; raises sqlite3.Error."""
    uri = f"{database.absolute().as_uri()}?mode={_QUERY[mode]}"
    if mode == "sealed":
        uri += "&immutable=1"
    connection = sqlite3.connect(
        uri, uri=True, isolation_level=None, check_same_thread=False, timeout=busy_ms / 1000
    )
    try:
        # Migrations re-create tables; with foreign keys on that would cascade rows away.
        keys = "OFF" if mode == "migrate" else "ON"
        connection.execute(f"PRAGMA foreign_keys={keys}")
        if mode == "migrate":
            # Or a view or a trigger that a legacy program left broken forbids to rename any table.
            connection.execute("PRAGMA legacy_alter_table=ON")
        connection.execute(f"PRAGMA cache_size=-{CACHE_KIB}")
        # The temporary folder may be full when the data folder is not.
        connection.execute("PRAGMA temp_store=MEMORY")
        if mode in ("write", "migrate"):
            connection.execute("PRAGMA synchronous=FULL")
            connection.execute(f"PRAGMA wal_autocheckpoint={AUTOCHECKPOINT_PAGES}")
        else:
            connection.execute("PRAGMA query_only=ON")
    except BaseException:
        connection.close()
        raise
    return connection


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
