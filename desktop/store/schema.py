"""Bringing a file to this version's schema, or refusing it untouched (SPEC A09, C01).

The version is read before anything is opened for writing, and again inside the migration's lock,
so that two processes that start at once both work. Inside that lock an existing file is copied
before it is migrated; the migration is one transaction: a failure leaves the old content.
"""

import importlib
import logging
import os
import sqlite3
import time
from contextlib import closing
from pathlib import Path

from sqlalchemy import Connection

from desktop.core.errors import NewerSchema, StoreReadOnly
from desktop.store import copies, failures, triggers
from desktop.store.connection import driver, engine
from desktop.store.plain import SCHEMA, Mode, connect, write_ahead_log
from desktop.store.tables import Row

logger = logging.getLogger(__name__)

MIGRATIONS = Path(__file__).parent / "migrations"
MAGIC = b"SQLite format 3\0"


def prepare(database: Path, *, busy_ms: int) -> None:
    """Makes or migrates `database`; raises a StoreError, and then nothing was changed."""
    with failures.told(database):
        version = stored_version(database, busy_ms=busy_ms)
        refuse_newer(database, version)
        if version != SCHEMA:
            migrate(database, busy_ms=busy_ms)


def readable_mode(database: Path, *, busy_ms: int) -> Mode:
    """How a file in a folder that can't be written is read; raises StoreReadOnly where it can't.

    A file with a live write-ahead log needs its shared memory file; without one it is read as it
    lies. Its schema must be this version's: it can't be migrated.
    """
    with failures.told(database):
        if not database.is_file():
            raise failures.read_only(database, "there is no database")
        version = stored_version(database, busy_ms=busy_ms)
        refuse_newer(database, version)
        if version != SCHEMA:
            raise StoreReadOnly(
                f"{database} is of an older version and can't be brought up to date, because it"
                " may not be written.",
                way_out="Make the data folder writable once.",
            )
        return _read_mode(database, busy_ms=busy_ms)


def stored_version(database: Path, *, busy_ms: int) -> int | None:
    """The schema of the file, read without changing a byte; None where there is no content."""
    if not database.exists() or database.stat().st_size == 0:
        return None
    if not _is_shared(database) and not _begins_right(database):
        # SQLite takes a file of a few bytes for an empty one, and would write over it.
        raise failures.damaged(database, "not an SQLite file")
    mode = _read_mode(database, busy_ms=busy_ms)
    with closing(connect(database, mode, busy_ms=busy_ms)) as connection:
        return _version(connection)


def _begins_right(database: Path) -> bool:
    """Never where this process may have the file open: closing it again would let go of all locks
    that SQLite holds on it here, and the next process that ends would take the write-ahead log away
    from under it."""
    with database.open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def refuse_newer(database: Path, version: int | None) -> None:
    if version is not None and version > SCHEMA:
        raise NewerSchema(
            f"{database} was written by a newer Nacre (schema {version}; this one knows"
            f" {SCHEMA}). It was not touched.",
            way_out="Start the newer Nacre, or choose another data folder with --data-dir.",
        )


def _read_mode(database: Path, *, busy_ms: int) -> Mode:
    wal = write_ahead_log(database)
    if not _is_shared(database) and (not wal.exists() or wal.stat().st_size == 0):
        return "sealed"
    if not _is_shared(database) and not os.access(database.parent, os.W_OK):
        # SQLite can't make the shared memory that it needs, and without the log rows would lack.
        raise StoreReadOnly(
            f"The last Nacre that had {database} open did not end well, and what it wrote last"
            " can't be put back while the folder may not be written.",
            way_out="Make the folder writable, or copy it and open the copy with --data-dir.",
            detail=f"{wal.name} without shared memory",
        )
    with closing(connect(database, "read-only", busy_ms=busy_ms)) as connection:
        _version(connection)
    return "read-only"


def _is_shared(database: Path) -> bool:
    """Whether a process has the file open now: its shared memory file lies beside it."""
    return database.with_name(database.name + "-shm").exists()


def _version(connection: sqlite3.Connection) -> int:
    """`user_version`; a legacy database counted in its own way, and is older than all of ours."""
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    return 0 if version and _is_legacy(connection) else version


def _is_legacy(connection: sqlite3.Connection) -> bool:
    """The table that is dropped is there, and none of ours: a log is never taken for legacy."""
    found = connection.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table'"
        " AND name IN ('messages', 'chunks', 'alembic_version')"
    )
    return [row[0] for row in found] == ["messages"]


def migrate(database: Path, *, busy_ms: int) -> None:
    """One transaction to this version's schema; another process may have been quicker, or newer."""
    began = time.monotonic()
    migrating = engine(database, "migrate", busy_ms=busy_ms)
    try:
        with migrating.connect() as connection:
            raw = driver(connection)
            _prepare_file(raw, busy_ms=busy_ms)
            with connection.begin():
                version = _version(raw)
                refuse_newer(database, version)
                if version == SCHEMA:
                    return
                is_new = raw.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone() is None
                if not is_new:
                    copies.sweep(database)
                    copies.make(database, f"{SCHEMA}-was-{version}", busy_ms=busy_ms)
                try:
                    _upgrade(connection)
                except Exception as error:  # a revision may fail in any way
                    if is_new:
                        raise
                    raise failures.not_upgraded(database, error) from error
    finally:
        migrating.dispose()
    if not is_new:
        seconds = time.monotonic() - began
        logger.info("brought %s from schema %s to %s in %.3f s", database, version, SCHEMA, seconds)


def _prepare_file(raw: sqlite3.Connection, *, busy_ms: int) -> None:
    """Write-ahead log, and room given back in steps: both before the first table."""
    os.chmod(raw.execute("PRAGMA database_list").fetchone()[2], 0o600)  # noqa: PTH101
    deadline = time.monotonic() + busy_ms / 1000
    while True:
        try:
            raw.execute("PRAGMA auto_vacuum=INCREMENTAL")
            raw.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as error:
            # SQLite does not wait for this one itself: two that start at once meet here.
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.02)


def _upgrade(connection: Connection) -> None:
    triggers.drop_all(connection)
    # A database is migrated once in months: no other start loads what it takes.
    importlib.import_module("desktop.store.upgrading").upgrade(connection, MIGRATIONS)
    triggers.create_all(connection)
    broken = broken_references(connection)
    if broken:
        raise sqlite3.IntegrityError(f"{broken} rows point to nothing after the migration")
    connection.exec_driver_sql(f"PRAGMA user_version={SCHEMA}")


def broken_references(connection: Connection) -> int:
    """Rows of our tables that point to nothing; what else lies in a legacy file may do so."""
    return sum(
        len(connection.exec_driver_sql(f"PRAGMA foreign_key_check({table})").all())
        for table in Row.metadata.tables
    )
