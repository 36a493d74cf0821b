"""The one table from SQLite's and the file system's errors to sentences for the person.

Each sentence names the file and a way out; what was sealed before is never touched by a failure.
"""

import errno
import shutil
import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy.exc import DBAPIError

from desktop.core.errors import (
    StoreBusy,
    StoreDamaged,
    StoreError,
    StoreFull,
    StoreReadOnly,
)

_FULL_ERRNOS = frozenset({errno.ENOSPC, errno.EDQUOT})
_READ_ONLY_ERRNOS = frozenset({errno.EROFS, errno.EACCES, errno.EPERM})
# With less room than this an I/O error of SQLite (which grows files by pages and maps its shared
# memory in blocks of 32 KiB) is the full disk by another name.
_NO_ROOM = 64 * 1024


@contextmanager
def told(database: Path) -> Generator[None]:
    """Whatever fails inside is raised as a StoreError about `database`."""
    try:
        yield
    except DBAPIError as error:
        raise explain(database, error.orig or error) from error
    except (sqlite3.Error, OSError, UnicodeError, RecursionError) as error:
        raise explain(database, error) from error


def damaged(database: Path, detail: str) -> StoreDamaged:
    """The file is no database of ours, or no longer one."""
    return StoreDamaged(
        f"{database} is damaged or is not a Nacre database.",
        way_out="Restore a backup, or choose another data folder. The file was left alone.",
        detail=detail,
    )


def not_upgraded(database: Path, error: Exception) -> StoreError:
    """A migration that failed and was rolled back (SPEC U35). A full disk and the like stay what
    they are; all else is no matter of the person's, for whom the version before works on."""
    found = explain(database, getattr(error, "orig", None) or error)
    if type(found) is not StoreError:
        return found
    return StoreError(
        f"{database} could not be brought up to this version, and is as it was.",
        way_out="Start the version of Nacre that you had before: everything is there.",
        detail=found.detail,
    )


def explain(database: Path, error: BaseException) -> StoreError:
    """What the person is told when the store at `database` fails with `error`."""
    detail = f"{type(error).__name__}: {error}"
    match _primary_code(error), getattr(error, "errno", None):
        case (sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED, _):
            return StoreBusy(
                f"Another program holds {database}.",
                way_out="Wait a moment or close the other program, then try again.",
                detail=detail,
            )
        case (sqlite3.SQLITE_FULL, _):
            return _full(database, detail)
        case (_, int(number)) if number in _FULL_ERRNOS:
            return _full(database, detail)
        case (sqlite3.SQLITE_IOERR | sqlite3.SQLITE_CANTOPEN, _) if _has_no_room(database):
            return _full(database, detail)
        case (sqlite3.SQLITE_READONLY, _):
            return read_only(database, detail)
        case (_, int(number)) if number in _READ_ONLY_ERRNOS:
            return read_only(database, detail)
        case (sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB, _):
            return damaged(database, detail)
        case (sqlite3.SQLITE_CANTOPEN, _):
            return StoreError(
                f"{database} can't be opened.",
                way_out="Check that the folder is there and that it is yours.",
                detail=detail,
            )
        case _:
            return StoreError(
                f"{database} can't be read or written.",
                way_out="Try again; `nacre doctor` checks the file.",
                detail=detail,
            )


def read_only(database: Path, detail: str = "") -> StoreReadOnly:
    return StoreReadOnly(
        f"Nacre may read {database} but not write it.",
        way_out="Make the data folder writable, or choose another one.",
        detail=detail,
    )


def _full(database: Path, detail: str) -> StoreFull:
    return StoreFull(
        f"There is no room left for {database}.",
        way_out="Free some space on this disk, then try again.",
        detail=detail,
    )


def _primary_code(error: BaseException) -> int | None:
    code = getattr(error, "sqlite_errorcode", None)
    return code & 0xFF if isinstance(code, int) else None


def _has_no_room(database: Path) -> bool:
    try:
        return shutil.disk_usage(database.parent).free < _NO_ROOM
    except OSError:
        return False
