"""Removes the obsolete journal of a legacy installation, by exact names and nothing else (R15).

Five tables and the triggers elsewhere that write to them go in one transaction; after it, three
files of `.host` go without being opened. A link or anything else that is not the expected regular
file stays and is logged. A failure is logged and tried again at the next start: the log opens all
the same. The freed pages are left to be used again.
"""

import logging
import os
import re
import sqlite3
import stat
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from desktop.core.logged import Word
from desktop.store import failures
from desktop.store.plain import connect

logger = logging.getLogger(__name__)

TABLES = (
    "conversation_session_streams",
    "conversation_session_events",
    "conversation_message_versions",
    "conversation_turn_versions",
    "conversation_journal_meta",
)
FOLDER = ".host"
FILES = ("session-events.sqlite", "session-events.sqlite-wal", "session-events.sqlite-shm")

_TOKEN = re.compile(
    r"--[^\n]*|/\*.*?(?:\*/|\Z)"
    r"|'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|`(?:[^`]|``)*`|\[[^\]]*\]"
    r"|[\w$]+|\S",
    re.DOTALL,
)
_QUOTES = {"'": "'", '"': '"', "`": "`", "[": "]"}


@dataclass(frozen=True, slots=True)
class Remains:
    """What of the journal is still in the database: names of tables and of triggers."""

    tables: tuple[str, ...]
    triggers: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.tables or self.triggers)


def remove(database: Path, *, busy_ms: int) -> None:
    """Whatever is left of the journal goes; one look where nothing is. Never raises StoreError."""
    began = time.monotonic()
    try:
        gone = _remove_tables(database, busy_ms=busy_ms)
    except (sqlite3.Error, OSError) as error:
        told = failures.explain(database, error)
        logger.warning("the obsolete journal stays in %s: %s", database, told)
        return
    files = [file for file in files_of(database) if _remove_file(file)]
    if gone or files:
        logger.info(
            "removed the obsolete journal in %.3f s: %d tables, %d triggers, %d files",
            time.monotonic() - began,
            len(gone.tables),
            len(gone.triggers),
            len(files),
        )


def remains(connection: sqlite3.Connection) -> Remains:
    """What the database holds of it. A view or an index of such a name is not the journal's."""
    tables = connection.execute(
        f"SELECT name FROM sqlite_master WHERE type = 'table' AND name IN ({_marks()})", TABLES
    )
    mentions = " OR ".join("instr(lower(sql), ?)" for _ in TABLES)
    triggers = connection.execute(
        "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"
        f" AND tbl_name NOT IN ({_marks()}) AND ({mentions})",
        (*TABLES, *TABLES),
    )
    return Remains(
        tables=tuple(sorted(str(row[0]) for row in tables)),
        triggers=tuple(
            sorted(str(name) for name, sql in triggers if set(written_by(str(sql))) & set(TABLES))
        ),
    )


def files_of(database: Path) -> tuple[Path, ...]:
    """Where its three files would be, of those that are there in whatever shape."""
    folder = database.parent / FOLDER
    if not os.path.lexists(folder):
        return ()
    return tuple(path for name in FILES if os.path.lexists(path := folder / name))


def written_by(trigger: str) -> Iterator[str]:
    """The tables, in small letters, that the SQL of a trigger inserts to, updates or deletes from.

    A table that is only read, or named in a text or a comment, is none of them.
    """
    words = [found[0] for found in _TOKEN.finditer(trigger) if found[0][:2] not in ("--", "/*")]
    lower = [word.lower() for word in words]
    for place, word in enumerate(lower):
        target = place + 1
        if word == "update" and lower[target : target + 1] == ["or"]:
            target += 2  # how a conflict is resolved
        elif word == "delete" and lower[target : target + 1] == ["from"]:
            target += 1
        elif word not in ("into", "update"):
            continue
        if target < len(words):
            yield _bare(words[target]).lower()


def _bare(word: str) -> str:
    end = _QUOTES.get(word[0])
    if end is None or len(word) < 2:
        return word
    return word[1:-1].replace(end * 2, end)


def _remove_tables(database: Path, *, busy_ms: int) -> Remains:
    """In one transaction, with what is found again inside the lock. No VACUUM."""
    with closing(connect(database, "read", busy_ms=busy_ms)) as looking:
        if not remains(looking):
            return Remains((), ())
    with closing(connect(database, "migrate", busy_ms=busy_ms)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        try:
            found = remains(connection)
            for name in found.triggers:
                quoted = name.replace('"', '""')
                connection.execute(f'DROP TRIGGER "{quoted}"')
            for name in found.tables:
                connection.execute(f"DROP TABLE {name}")
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
    return found


def _remove_file(file: Path) -> bool:
    """Unlinks a regular file in a real folder; what else it is stays, and its path is logged."""
    try:
        for path, is_expected, what in (
            (file.parent, stat.S_ISDIR, "a folder"),
            (file, stat.S_ISREG, "a regular file"),
        ):
            found = path.lstat()
            if not is_expected(found.st_mode) or _is_junction(found):
                logger.warning("%s stays: its place is not %s", file, Word(what))
                return False
        file.unlink()
    except FileNotFoundError:
        return False  # another process was quicker
    except OSError as error:
        logger.warning("%s can't be removed and is tried again: %s", file, error)
        return False
    return True


def _is_junction(found: os.stat_result) -> bool:
    """Windows has links that look like folders."""
    return bool(getattr(found, "st_reparse_tag", 0))


def _marks() -> str:
    return ", ".join("?" for _ in TABLES)
