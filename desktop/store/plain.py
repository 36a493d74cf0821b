"""How the database is opened: one door for modes and pragmas, by SQLite's own module alone.

Nothing slow is loaded for it, so that what is read before everything else can be (`glimpse`).
"""

import sqlite3
from pathlib import Path
from typing import Literal

# The schema of this version, kept in `PRAGMA user_version`.
SCHEMA = 2
# `sealed` never changes the file and takes no locks: for a folder that can't be written at all.
Mode = Literal["write", "migrate", "read", "read-only", "sealed"]

_QUERY = {"write": "rw", "migrate": "rwc", "read": "rw", "read-only": "ro", "sealed": "ro"}
SQLITE = sqlite3.sqlite_version
CACHE_KIB = 16 * 1024
# The writer leaves checkpoints to a thread of their own (`checkpoints`); should that be held up,
# SQLite makes one itself at 40 MiB.
AUTOCHECKPOINT_PAGES = 10_000


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
