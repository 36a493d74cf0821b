"""What is remembered of the backups that were made, and which scheduled ones go again.

A scheduled archive says in its manifest for which data folder it was made, and has a name of its
own. Only what has both, and is a file that can be read, is ever deleted: not what a person made,
renamed or linked, nor what another data folder keeps at the same place.
"""

import logging
import re
from collections.abc import Generator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout
from sqlalchemy import Connection

from desktop.core.backups import BackupNotes, KeptBackup
from desktop.store.archive import Manifest, NewerArchive, Unsound, open_archive
from desktop.store.backup import EXTENSION, free_name

logger = logging.getLogger(__name__)

_PREFIX = "nacre-scheduled"
_NAME = re.compile(rf"{_PREFIX}-[0-9]{{8}}-[0-9]{{6}}(-[0-9]+)?{re.escape(EXTENSION)}")
_LAST = "SELECT file, size, created_at FROM backups WHERE checked_at IS NOT NULL"
_LAST_SCHEDULED = (
    f"SELECT created_at FROM backups WHERE checked_at IS NOT NULL"
    f" AND file GLOB '*[/\\]{_PREFIX}-[0-9]*{EXTENSION}' ORDER BY id DESC LIMIT 1"
)


@contextmanager
def turn(run: Path) -> Generator[bool]:
    """Whether this process may make the scheduled backup now; another one may be at it."""
    lock = FileLock(run / "scheduled-backup.lock", thread_local=False)
    try:
        lock.acquire(timeout=0)
    except (Timeout, OSError):
        yield False
        return
    try:
        yield True
    finally:
        lock.release()


def scheduled_name(folder: Path, now_ms: int) -> Path:
    """A free name that says that the schedule made it."""
    return free_name(folder, now_ms, prefix=_PREFIX)


def notes(connection: Connection) -> BackupNotes:
    """What the table `backups` says, newest first; looks at no archive."""
    last = connection.exec_driver_sql(f"{_LAST} ORDER BY id DESC LIMIT 1").first()
    has_rows = connection.exec_driver_sql("SELECT EXISTS (SELECT 1 FROM chunks)").scalar_one()
    return BackupNotes(
        last=None if last is None else KeptBackup(*last),
        scheduled_at=connection.exec_driver_sql(_LAST_SCHEDULED).scalar_one_or_none(),
        is_empty=not has_rows,
    )


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


def drop_older(made: Path, *, scheduled_for: str, keep: int) -> tuple[Path, ...]:
    """Deletes the scheduled archives of a data folder beside `made`, but for the newest `keep`.

    `made` is the one that was just found good; it stays and counts, whatever its time. Blocks.
    """
    others = [
        (manifest.created_at, path)
        for path, manifest in _scheduled(made.parent, scheduled_for)
        if path != made
    ]
    gone: list[Path] = []
    for _, path in sorted(others, reverse=True)[max(keep, 1) - 1 :]:
        try:
            path.unlink()
        except OSError as error:
            logger.warning("An older scheduled backup could not be deleted: %s", error)
            continue
        logger.info("Deleted an older scheduled backup: %s", path)
        gone.append(path)
    return tuple(gone)


def _scheduled(folder: Path, scheduled_for: str) -> Generator[tuple[Path, Manifest]]:
    try:
        paths = sorted(folder.iterdir())
    except OSError as error:
        logger.warning("Older scheduled backups could not be listed: %s", error)
        return
    for path in paths:
        if not _NAME.fullmatch(path.name) or path.is_symlink() or not path.is_file():
            continue
        try:
            with open_archive(path) as reader:
                manifest = reader.manifest
        except (Unsound, NewerArchive, OSError):
            continue
        if manifest.scheduled_for == scheduled_for:
            yield path, manifest
