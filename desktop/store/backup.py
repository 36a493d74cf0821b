"""Backups: one archive made of a living data folder, and a data folder made of one archive.

Both are all or nothing. A backup gets its name only after it was opened again and everything in it
was read, hashed and counted (SPEC U17); a restored database gets its name last, after its blobs.
Until then all lies in a folder of its own, which the next one sweeps if this process dies.
Blocking: for a thread or a command.
"""

import logging
import os
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Callable, Collection, Generator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from filelock import FileLock, Timeout
from sqlalchemy import Connection

from desktop.core.backups import Tell
from desktop.core.errors import NewerSchema, StoreDamaged, StoreError
from desktop.paths import sync_folder
from desktop.store import archive, failures, schema
from desktop.store.archive import (
    DATABASE,
    ArchiveReader,
    ArchiveWriter,
    Manifest,
    Member,
    NewerArchive,
    Unsound,
    blob_name,
    open_archive,
)
from desktop.store.blobs import Blobs
from desktop.store.plain import SCHEMA, connect, write_ahead_log
from desktop.store.secret_columns import (
    count_waiting,
    is_plaintext,
    secret_columns,
    triggers_aside,
)

logger = logging.getLogger(__name__)

BUSY_MS = 5_000
EXTENSION = ".zip"
PREFIX = "nacre"
# Pages between two words about the progress: 4 MiB.
_PAGES = 1024
# Instructions of SQLite between two words about a check.
_STEPS = 1_000_000
_WORKING = ".nacre-working-"
_LOCK = "lock"
# Longer than any process takes between making its folder and locking it.
_YOUNG_SECONDS = 600.0
_LEFT_OVER = ("", "-wal", "-journal")
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
        _refuse_taken(target)
        with _working_folder(target.parent) as working:
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
            _name(part, target)
            sync_folder(target.parent)
    made = Backup(target, size, now_ms(), manifest, noted=False)
    return replace(made, noted=_note(database, made, busy_ms=busy_ms))


def look(path: Path) -> Manifest:
    """The manifest of an archive that this version can restore; reads no other member.

    Raises NewerSchema, StoreDamaged, StoreError.
    """
    with _restorable(path) as reader:
        return reader.manifest


def restore(path: Path, database: Path, *, blobs: Path, tell: Tell) -> Manifest:
    """Brings an archive back into a data folder that has no database, or changes nothing there.

    The folder exists. Raises StoreError, StoreDamaged (naming the member), NewerSchema.
    """
    with _restorable(path) as reader, failures.told(database):
        _refuse_database(database)
        with _working_folder(database.parent) as working:
            taken = _read_all(reader, tell, lambda name: _place(working, name))
            _check_database(working / DATABASE, reader.manifest, tell)
            for name in sorted(taken):
                if name != DATABASE:
                    _settle_blob(working / name, blobs, keep=reader.manifest.damaged)
            # The database's name is the last thing to appear: until then this can be repeated.
            _refuse_database(database)
            _name(working / DATABASE, database)
            sync_folder(database.parent)
        return reader.manifest


def last_good(connection: Connection) -> dict[str, Any] | None:
    """The latest backup that was made and checked, as JSON values; None where there is none."""
    row = connection.exec_driver_sql(
        "SELECT file, size, created_at, checked_at FROM backups WHERE checked_at IS NOT NULL"
        " ORDER BY id DESC LIMIT 1"
    ).first()
    if row is None:
        return None
    file, size, created_at, checked_at = row
    return {
        "file": file,
        "bytes": size,
        "time": datetime.fromtimestamp(created_at / 1000, UTC).isoformat(timespec="seconds"),
        "createdAt": created_at,
        "checkedAt": checked_at,
        "isThere": Path(file).is_file(),
    }


# -- making --------------------------------------------------------------------------------------


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
    with closing(_plain(copied)) as copy:
        counts = _counts(copy)
        wanted = _blobs_of(copy)
        sizes = int(copy.execute(_BLOB_BYTES).fetchone()[0]) if wanted else 0
    progress = _Progress("writing the archive", copied.stat().st_size + sizes, tell)
    with _create(part) as out, ArchiveWriter(out, created_at=facts.created_at) as writer:
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
    writer: ArchiveWriter, sha256: str, kept: Blobs, progress: "_Progress"
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
            _read_all(reader, tell, lambda name: again if name == DATABASE else None)
        _check_database(again, manifest, tell)
    except Unsound as error:
        if error.member == DATABASE and error.why.startswith(_INSIDE):
            raise StoreDamaged(
                f"{database} is damaged, so no backup was made of it: {error.why}.",
                way_out="`nacre doctor` says more. Keep the backups that you have.",
                detail=str(error),
            ) from error
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


# -- checking ------------------------------------------------------------------------------------

_INSIDE = "the database in it"
_CHECKING = "checking the database"


def _check_database(file: Path, manifest: Manifest, tell: Tell) -> None:
    """The database read out of an archive is whole and has the promised rows; raises Unsound."""
    try:
        with closing(_plain(file)) as copy:
            copy.set_progress_handler(lambda: tell(_CHECKING, 0, 0), _STEPS)
            found = [str(row[0]) for row in copy.execute("PRAGMA integrity_check(20)")]
            if found != ["ok"]:
                raise Unsound(DATABASE, f"{_INSIDE} is not whole ({found[0]})")
            if int(copy.execute("PRAGMA user_version").fetchone()[0]) != manifest.schema:
                raise Unsound(DATABASE, f"{_INSIDE} has another schema than the manifest says")
            counts, named = _counts(copy), _blobs_of(copy)
    except sqlite3.Error as error:
        # A check that `tell` stopped looks like an error of SQLite: let it say so itself.
        tell(_CHECKING, 0, 0)
        raise Unsound(DATABASE, f"{_INSIDE} can't be read ({error})") from error
    for table in {*counts, *manifest.counts}:
        if counts.get(table) != manifest.counts.get(table):
            raise Unsound(
                DATABASE,
                f"{_INSIDE} has {counts.get(table, 'no')} rows in {ascii(table)[1:-1]}, the"
                f" manifest says {manifest.counts.get(table, 'none')}",
            )
    known_missing = frozenset(manifest.missing)
    for sha256 in named:
        if blob_name(sha256) not in manifest.members and sha256 not in known_missing:
            raise Unsound(blob_name(sha256), "it is not there")


def _counts(copy: sqlite3.Connection) -> dict[str, int]:
    """Rows by table, without those that an index keeps for itself."""
    names = copy.execute(
        "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table'"
        " AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name"
    ).fetchall()
    return {
        str(name): int(copy.execute(f'SELECT count(*) FROM "{_quoted(name)}"').fetchone()[0])
        for (name,) in names
    }


def _quoted(name: object) -> str:
    return str(name).replace('"', '""')


def _blobs_of(copy: sqlite3.Connection) -> list[str]:
    found = copy.execute("SELECT 1 FROM sqlite_master WHERE name = 'blobs' AND type = 'table'")
    if found.fetchone() is None:
        return []
    return [str(row[0]) for row in copy.execute("SELECT sha256 FROM blobs ORDER BY sha256")]


def _plain(file: Path) -> sqlite3.Connection:
    """A copy of our own, which nobody writes to: nothing appears beside it."""
    return connect(file, "sealed", busy_ms=0)


# -- bringing back -------------------------------------------------------------------------------


@contextmanager
def _restorable(path: Path) -> Generator[ArchiveReader]:
    """The archive, open; everything that is wrong with it is told about its file."""
    if not os.path.isfile(path):  # noqa: PTH113 (never raises)
        raise StoreError(
            f"There is no backup {path}.",
            way_out="Give the file that `nacre backup` made.",
        )
    try:
        with _reading(path) as reader:
            if reader.manifest.schema > SCHEMA:
                raise _newer(path, f"schema {reader.manifest.schema}; this one knows {SCHEMA}")
            yield reader
    except NewerArchive as error:
        raise _newer(path, f"this one knows format {archive.VERSION}") from error
    except Unsound as error:
        raise StoreDamaged(
            f"{path} can't be restored: {error.member}: {error.why}.",
            way_out="Nothing was changed. Take another backup.",
            detail=str(error),
        ) from error


@contextmanager
def _reading(path: Path) -> Generator[ArchiveReader]:
    with failures.told(path), open_archive(path) as reader:
        yield reader


def _newer(path: Path, why: str) -> NewerSchema:
    return NewerSchema(
        f"{path} was made by a newer Nacre ({why}). Nothing was changed.",
        way_out="Restore it with the newer Nacre.",
    )


def _refuse_database(database: Path) -> None:
    for end in _LEFT_OVER:
        there = database.with_name(database.name + end)
        if os.path.lexists(there):
            raise StoreError(
                f"There is a database already: {there}. It was not touched.",
                way_out=(
                    "Restore into an empty folder with --data-dir FOLDER, or move the old"
                    " database and its -wal file away first."
                ),
            )


def _place(working: Path, name: str) -> Path:
    place = working / name
    place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    return place


def _settle_blob(file: Path, blobs: Path, *, keep: Collection[str]) -> None:
    """Puts a blob in its place; one that may be better already (`keep`) stays."""
    place = blobs / file.name[:2] / file.name
    if file.name in keep and place.is_file():
        return
    place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    file.replace(place)
    sync_folder(place.parent)


# -- files ---------------------------------------------------------------------------------------


class _Progress:
    """Counts the bytes of one stage and tells about it."""

    def __init__(self, words: str, total: int, tell: Tell) -> None:
        self._words = words
        self._total = total
        self._done = 0
        self._tell = tell

    def add(self, size: int) -> None:
        self._done += size
        self._tell(self._words, self._done, self._total)


def _read_all(
    reader: ArchiveReader, tell: Tell, place_of: Callable[[str], Path | None]
) -> Collection[str]:
    """Reads every member and checks it; those with a place are written there and synced."""
    progress = _Progress("reading the archive", reader.manifest.size, tell)
    for name in reader.manifest.members:
        place = place_of(name)
        if place is None:
            reader.read_out(name, len, progress.add)
            continue
        with _create(place) as out:
            reader.read_out(name, out.write, progress.add)
            out.flush()
            os.fsync(out.fileno())
    return reader.manifest.members


def _create(path: Path) -> IO[bytes]:
    """A new file that only the person can read."""
    return os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600), "w+b")


def _refuse_taken(target: Path) -> None:
    if os.path.lexists(target):
        raise StoreError(
            f"{target} is there already. It was not touched.",
            way_out="Give another name, or move it away.",
        )
    if not target.parent.is_dir():
        raise StoreError(
            f"The folder {target.parent} does not exist.",
            way_out="Make it, or give another place for the backup.",
        )


def _name(file: Path, name: Path) -> None:
    """Gives a finished file its name; never over another file that has it."""
    try:
        os.link(file, name)  # fails where the name is taken, which a rename does not
    except FileExistsError:
        _refuse_taken(name)
        raise
    except OSError:
        # A file system without hard links.
        _refuse_taken(name)
        file.rename(name)
        return
    file.unlink()


@contextmanager
def _working_folder(beside: Path) -> Generator[Path]:
    """A private folder for unfinished files, gone at the end; those of dead processes go too."""
    sweep(beside)
    folder = Path(tempfile.mkdtemp(prefix=_WORKING, dir=beside))
    lock = FileLock(folder / _LOCK, thread_local=False)
    try:
        lock.acquire(timeout=0)
        yield folder
    finally:
        lock.release(force=True)
        shutil.rmtree(folder, ignore_errors=True)


def sweep(beside: Path) -> None:
    """Removes the unfinished files of dead processes."""
    for folder in beside.glob(f"{_WORKING}*"):
        if folder.is_symlink():
            continue
        if not (folder / _LOCK).is_file():
            _sweep_unlocked(folder)
            continue
        lock = FileLock(folder / _LOCK, thread_local=False)
        try:
            lock.acquire(timeout=0)
        except (Timeout, OSError):
            continue
        lock.release()
        shutil.rmtree(folder, ignore_errors=True)


def _sweep_unlocked(folder: Path) -> None:
    """It has just been made, or its owner died before it took the lock and left it empty."""
    with suppress(OSError):
        if time.time() - folder.stat().st_mtime > _YOUNG_SECONDS:
            folder.rmdir()
