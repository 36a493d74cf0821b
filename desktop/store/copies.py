"""Copies of the whole database beside it, made before something changes it.

A copy is private, one file, and has been checked before it gets its name. What a killed process
left half made is swept.
"""

import os
import re
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from desktop.core.errors import StoreDamaged
from desktop.paths import sync_folder
from desktop.store.plain import connect

_UNFINISHED = re.compile(r"\.([0-9]+)\.part(?:-wal|-shm|-journal)?\Z")
_BESIDE = ("-wal", "-shm", "-journal")


def make(database: Path, occasion: str, *, busy_ms: int) -> Path:
    """Copies what is committed to `<database>.before-<occasion>`, over an older copy of that name.

    Raises StoreDamaged when the database is not sound; then there is no copy.
    """
    target = database.with_name(f"{database.name}.before-{occasion}")
    part = target.with_name(f"{target.name}.{os.getpid()}.part")
    try:
        part.touch(mode=0o600)
        with (
            closing(connect(database, "read-only", busy_ms=busy_ms)) as source,
            closing(sqlite3.connect(part)) as copy,
        ):
            source.backup(copy)
            # Nobody else has it open, so that it can be one file.
            copy.execute("PRAGMA journal_mode=DELETE")
            if copy.execute("PRAGMA quick_check").fetchone()[0] != "ok":
                raise StoreDamaged(
                    f"{database} is damaged, so nothing in it was changed.",
                    way_out="Restore a backup, or choose another data folder.",
                )
        part.replace(target)
        sync_folder(target.parent)  # the migration must not be durable before its copy is
    finally:
        part.unlink(missing_ok=True)
    return target


def all_of(database: Path) -> Iterator[Path]:
    """The finished copies, by name; links are not followed."""
    for path in sorted(_beside(database)):
        if not path.name.endswith(_BESIDE) and not _UNFINISHED.search(path.name):
            yield path


def sweep(database: Path) -> bool:
    """Removes what dead processes left half made; whether nothing half made is left."""
    is_clean = True
    for path in list(_beside(database)):
        unfinished = _UNFINISHED.search(path.name)
        if unfinished is None:
            continue
        if _is_alive(int(unfinished[1])):
            is_clean = False
            continue
        try:
            path.unlink(missing_ok=True)
        except OSError:
            is_clean = False
    return is_clean


def _beside(database: Path) -> Iterator[Path]:
    beginning = f"{database.name}.before-"
    for path in database.parent.iterdir():
        if path.name.startswith(beginning) and stat.S_ISREG(path.lstat().st_mode):
            yield path


def _is_alive(process: int) -> bool:
    if os.name != "posix":
        return False  # a file that is open can't be removed there
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True
