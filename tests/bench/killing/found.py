"""What lies on the disk after a kill, read from a copy by a plain connection.

The copy keeps the living files as the dead process left them, so that it is the program itself
that opens them next.
"""

import json
import shutil
import sqlite3
from collections.abc import Collection
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_COLUMNS = (
    "tab_id, seq, id, turn_id, step, role, type, data_json, created_at, provider, model, ordinal,"
    " search_text"
)
_GAPS = (
    "SELECT tab_id FROM chunks GROUP BY tab_id HAVING count(*) <> max(seq) OR min(seq) <> 1"
    " OR count(DISTINCT seq) <> count(*)"
)
# The words of every row as the index has them, and as they are.
_INDEX_ANEW = """
CREATE VIRTUAL TABLE temp.fresh USING fts5(x, tokenize='unicode61 remove_diacritics 2');
INSERT INTO temp.fresh(rowid, x)
    SELECT ordinal, search_text FROM main.chunks WHERE search_text IS NOT NULL;
CREATE VIRTUAL TABLE temp.kept USING fts5vocab(main, chunks_search, instance);
CREATE VIRTUAL TABLE temp.anew USING fts5vocab(temp, fresh, instance);
"""
Rows = tuple[tuple[Any, ...], ...]
SEQ, ID, TYPE, DATA = 1, 2, 6, 7


@dataclass(frozen=True, slots=True)
class Found:
    """A database as it was found. `faults` are what is wrong with it by itself."""

    rows: Rows = ()
    queued: Rows = ()
    requests: int = 0
    revision: int = 0
    faults: tuple[str, ...] = ()

    def data(self, type_: str) -> list[tuple[str, dict[str, Any]]]:
        """The ids and payloads of the rows of a type, in seq order."""
        return [(row[ID], json.loads(row[DATA])) for row in self.rows if row[TYPE] == type_]


def look(database: Path, scratch: Path) -> Found:
    """Copies the files of a database and reads the copy. No file is an empty log."""
    copied = copy(database, scratch)
    if copied is None:
        return Found()
    with closing(sqlite3.connect(copied)) as connection:
        if not _has_chunks(connection):
            return Found(faults=tuple(unsound(connection)))
        return Found(
            rows=tuple(connection.execute(f"SELECT {_COLUMNS} FROM chunks ORDER BY tab_id, seq")),
            queued=tuple(connection.execute("SELECT id, data_json FROM queued_messages")),
            requests=int(connection.execute("SELECT count(*) FROM model_requests").fetchone()[0]),
            revision=int(
                connection.execute(
                    "SELECT coalesce(sum(revision), 0) FROM conversation_session_revisions"
                ).fetchone()[0]
            ),
            faults=(*unsound(connection), *_faults(connection)),
        )


def copy(database: Path, scratch: Path) -> Path | None:
    """The database and what belongs to it in an emptied folder; None where there is none.

    Not its shared memory: that is only the living processes' own.
    """
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    for end in ("", "-wal", "-journal"):
        path = database.with_name(database.name + end)
        if path.exists():
            shutil.copyfile(path, scratch / path.name)
    copied = scratch / database.name
    return copied if copied.exists() else None


def unsound(connection: sqlite3.Connection, *, beside: Collection[str] = ()) -> list[str]:
    """What SQLite itself finds wrong; the references of tables `beside` ours are their own."""
    found = [str(row[0]) for row in connection.execute("PRAGMA integrity_check")]
    faults = [] if found == ["ok"] else [f"integrity_check: {found[:3]}"]
    broken = [row for row in connection.execute("PRAGMA foreign_key_check") if row[0] not in beside]
    return [*faults, *([f"foreign_key_check: {broken[:3]}"] if broken else [])]


def _has_chunks(connection: sqlite3.Connection) -> bool:
    found = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'chunks'").fetchone()
    return found is not None


def _faults(connection: sqlite3.Connection) -> list[str]:
    gaps = connection.execute(_GAPS).fetchall()
    faults = [f"seq is not 1..n in {gaps}"] if gaps else []
    connection.executescript(_INDEX_ANEW)
    for one, other in (("kept", "anew"), ("anew", "kept")):
        lacking = connection.execute(
            f"SELECT term, doc FROM {one} EXCEPT SELECT term, doc FROM {other} LIMIT 3"
        ).fetchall()
        if lacking:
            faults.append(f"the search index differs from the rows: only {one} has {lacking}")
    return faults
