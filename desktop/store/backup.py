"""Backups: one archive made of a living data folder, whole or not at all.

It gets its name only after it was opened again and everything in it was read, hashed and counted
(SPEC U17). Blocking: for a thread or a command.
"""

import logging
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from desktop.core.backups import Tell
from desktop.core.errors import StoreDamaged, StoreError
from desktop.paths import sync_folder
from desktop.store import archive, failures, schema
from desktop.store.archive import (
    DATABASE,
    ArchiveWriter,
    Manifest,
    Member,
    Unsound,
    blob_name,
    open_archive,
)
from desktop.store.backup_check import (
    UnsoundDatabase,
    blobs_of,
    check_database,
    counts_of,
    read_all,
    sealed,
)
from desktop.store.blobs import Blobs
from desktop.store.plain import SCHEMA, connect, write_ahead_log
from desktop.store.secret_columns import (
    count_waiting,
    is_plaintext,
    secret_columns,
    triggers_aside,
)
from desktop.store.unfinished import Progress, create, give_name, refuse_taken, working_folder

logger = logging.getLogger(__name__)

BUSY_MS = 5_000
EXTENSION = ".zip"
PREFIX = "nacre"
# Pages between two words about the progress: 4 MiB.
_PAGES = 1024
_BLOB_BYTES = "SELECT coalesce(sum(size), 0) FROM blobs"
_ABOUT_SOURCE = frozenset(
    {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
)


@dataclass(frozen=True, slots=True)
class Backup:
    """A backup that was checked. Times are ms UTC; `noted` is false where the row that remembers
    it could not be written."""

    file: Path
    size: int
    checked_at: int
    manifest: Manifest
    noted: bool


def free_name(folder: Path, now_ms: int, *, prefix: str = PREFIX) -> Path:
    """`PREFIX-YYYYMMDD-HHMMSS.zip` in local time, numbered where it is taken."""
    moment = datetime.fromtimestamp(now_ms / 1000, UTC).astimezone()
    stem = f"{prefix}-{moment:%Y%m%d-%H%M%S}"
    path, number = folder / f"{stem}{EXTENSION}", 2
    while path.exists():
        path, number = folder / f"{stem}-{number}{EXTENSION}", number + 1
    return path


def write(
    database: Path,
    target: Path,
    *,
    blobs: Path,
    program: str,
    now_ms: Callable[[], int],
    tell: Tell,
    scheduled_for: str = "",
    busy_ms: int = BUSY_MS,
) -> Backup:
    """Makes a backup of the database and its blobs at `target`, which must not exist.

    Other processes may go on writing: what is kept is one moment of the log. Raises StoreError
    with the reason, or whatever `tell` raises to stop it; then there is no file of that name.
    """
    if not os.path.isfile(database):  # noqa: PTH113 (never raises)
        raise StoreError(
            f"There is nothing to back up: {database} does not exist.",
            way_out="Choose the data folder with --data-dir.",
        )
    with failures.told(database):
        version = schema.stored_version(database, busy_ms=busy_ms)
        schema.refuse_newer(database, version)
    with failures.told(target):
        refuse_taken(target)
        with working_folder(target.parent) as working:
            part = working / "archive"
            copied = working / "copy"
            left_out = _copy(database, copied, target, busy_ms=busy_ms, tell=tell)
            facts = Manifest(
                program,
                version or 0,
                now_ms(),
                {},
                keys_left_out=left_out,
                scheduled_for=scheduled_for,
            )
            manifest = _pack(copied, Blobs(blobs), part, facts, tell)
            copied.unlink()
            _check_written(part, manifest, database, target, tell)
            size = part.stat().st_size
            give_name(part, target)
            sync_folder(target.parent)
    made = Backup(target, size, now_ms(), manifest, noted=False)
    return replace(made, noted=_note(database, made, busy_ms=busy_ms))


def _copy(database: Path, copied: Path, target: Path, *, busy_ms: int, tell: Tell) -> int:
    """One moment of the database as a file of its own; the number of keys left out of it."""
    copied.touch(mode=0o600)
    try:
        with (
            closing(_source(database, busy_ms=busy_ms)) as source,
            closing(sqlite3.connect(copied, isolation_level=None)) as copy,
        ):
            # It is hashed and checked later; only the archive has to outlive a power cut.
            copy.execute("PRAGMA synchronous=OFF")
            page = int(source.execute("PRAGMA page_size").fetchone()[0])
            # A read transaction of its own keeps a busy writer from starting the copy over.
            source.execute("BEGIN")
            source.execute("SELECT count(*) FROM sqlite_master").fetchone()
            source.backup(
                copy,
                pages=_PAGES,
                progress=lambda _, left, total: tell(
                    "copying the database", (total - left) * page, total * page
                ),
            )
            source.execute("ROLLBACK")
            return _leave_keys_out(copy)
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        raise failures.explain(database if code in _ABOUT_SOURCE else target, error) from error


def _source(database: Path, *, busy_ms: int) -> sqlite3.Connection:
    """A reading connection; a folder that can't be written has no shared memory file to join."""
    wal = write_ahead_log(database)
    shm = database.with_name(database.name + "-shm")
    has_wal = wal.exists() and wal.stat().st_size > 0
    sealed = not has_wal and not shm.exists() and not os.access(database.parent, os.W_OK)
    return connect(database, "sealed" if sealed else "read-only", busy_ms=busy_ms)


def _leave_keys_out(copy: sqlite3.Connection) -> int:
    """Takes plaintext keys out of the copy, free pages included; how many there were."""
    if not count_waiting(copy):
        return 0
    copy.execute("BEGIN")
    with triggers_aside(copy):
        found = sum(
            copy.execute(
                f"UPDATE {table} SET {column} = NULL WHERE {is_plaintext(column)}"
            ).rowcount
            for table, column in secret_columns(copy)
        )
    copy.execute("COMMIT")
    copy.execute("VACUUM")
    copy.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return found


def _pack(copied: Path, kept: Blobs, part: Path, facts: Manifest, tell: Tell) -> Manifest:
    """Writes and syncs the archive; the manifest that was put in."""
    with closing(sealed(copied)) as copy:
        counts = counts_of(copy)
        wanted = blobs_of(copy)
        sizes = int(copy.execute(_BLOB_BYTES).fetchone()[0]) if wanted else 0
    progress = Progress("writing the archive", copied.stat().st_size + sizes, tell)
    with create(part) as out, ArchiveWriter(out, created_at=facts.created_at) as writer:
        members = {DATABASE: writer.add(DATABASE, copied, progress.add)}
        missing: list[str] = []
        damaged: list[str] = []
        for sha256 in wanted:
            member = _add_blob(writer, sha256, kept, progress)
            if member is None:
                missing.append(sha256)
                continue
            members[blob_name(sha256)] = member
            if member.sha256 != sha256:
                damaged.append(sha256)
        manifest = replace(
            facts,
            counts=counts,
            members=members,
            missing=tuple(missing),
            damaged=tuple(damaged),
        )
        writer.finish(manifest)
        out.flush()
        os.fsync(out.fileno())
    return manifest


def _add_blob(
    writer: ArchiveWriter, sha256: str, kept: Blobs, progress: "Progress"
) -> Member | None:
    """Puts a blob in; None where it is gone, which a purge may have done just now."""
    path = kept.path(sha256)
    try:
        return path and writer.add(blob_name(sha256), path, progress.add)
    except FileNotFoundError:
        return None


def _check_written(
    part: Path, manifest: Manifest, database: Path, target: Path, tell: Tell
) -> None:
    """Opens the archive again and reads all of it; the database in it must be whole."""
    again = part.with_name("again")
    try:
        with open_archive(part) as reader:
            if reader.manifest != manifest:
                raise Unsound(archive.MANIFEST, "it is not what was written")
            read_all(reader, tell, lambda name: again if name == DATABASE else None)
        check_database(again, manifest, tell)
    except UnsoundDatabase as error:
        raise StoreDamaged(
            f"{database} is damaged, so no backup was made of it: {error.why}.",
            way_out="`nacre doctor` says more. Keep the backups that you have.",
            detail=str(error),
        ) from error
    except Unsound as error:
        raise StoreError(
            f"The backup {target} did not come back as it was written: {error.member}:"
            f" {error.why}. It was not kept.",
            way_out="Try again, best on another disk.",
            detail=str(error),
        ) from error


def _note(database: Path, made: Backup, *, busy_ms: int) -> bool:
    """Remembers the backup in the living database; a legacy or read-only one can't."""
    if made.manifest.schema != SCHEMA:
        return False
    try:
        with closing(connect(database, "write", busy_ms=busy_ms)) as connection:
            connection.execute(
                "INSERT INTO backups(file, size, created_at, checked_at) VALUES (?, ?, ?, ?)",
                (
                    os.fsencode(made.file).decode("utf-8", "replace"),
                    made.size,
                    made.manifest.created_at,
                    made.checked_at,
                ),
            )
    except sqlite3.Error as error:
        logger.warning("The backup could not be noted in the database: %s", error)
        return False
    return True
