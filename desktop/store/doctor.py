"""A check-up of the whole file: what SQLite finds, and what only Nacre knows to look for."""

from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from desktop.store import kept_backups, legacy_journal, schema
from desktop.store.blobs import Blobs
from desktop.store.connection import driver
from desktop.store.plain import SCHEMA
from desktop.store.references import References, read_slice
from desktop.store.secret_columns import count_waiting

_COUNTED = (
    "projects",
    "workspaces",
    "tabs",
    "chunks",
    "model_requests",
    "queued_messages",
    "blobs",
)
# A tab's own rows start after its fork point and leave no hole (SPEC C14); a purge takes them from
# the end. What a fork reads of its parent is there, whatever became of the parent.
_GAPS = """
    SELECT t.id FROM tabs t JOIN chunks c ON c.tab_id = t.id GROUP BY t.id
    HAVING count(*) <> max(c.seq) - coalesce(t.forked_at_seq, 0)
        OR min(c.seq) <> coalesce(t.forked_at_seq, 0) + 1
    UNION
    SELECT f.id FROM tabs f JOIN tabs p ON p.id = f.forked_from
    WHERE f.forked_at_seq > coalesce(
        (SELECT max(seq) FROM chunks WHERE tab_id = p.id), p.forked_at_seq, 0)
    ORDER BY 1"""
_DAMAGED = "SELECT count(*) FROM chunks WHERE NOT json_valid(data_json)"


def examine(connection: Connection, database: Path, blobs: Blobs) -> dict[str, Any]:
    """The findings as JSON values; `ok` says whether anything is wrong. Reads the whole file.

    A row whose blob is gone shows its head and tail still; it is told, and nothing else is lost.
    """
    integrity = [str(row[0]) for row in connection.exec_driver_sql("PRAGMA integrity_check")]
    broken = schema.broken_references(connection)
    gaps = [str(row[0]) for row in connection.exec_driver_sql(_GAPS)]
    damaged = int(connection.exec_driver_sql(_DAMAGED).scalar_one())
    counts = {
        table: int(connection.exec_driver_sql(f"SELECT count(*) FROM {table}").scalar_one())
        for table in _COUNTED
    }
    named = References()
    while read_slice(connection, named):
        pass
    missing = sum(blobs.path(sha256) is None for sha256 in named.tabs)
    return {
        "ok": integrity == ["ok"] and not (broken or gaps or damaged or missing),
        "database": str(database),
        "bytes": database.stat().st_size,
        "schema": int(connection.exec_driver_sql("PRAGMA user_version").scalar_one()),
        "newestSchema": SCHEMA,
        "integrity": integrity,
        "brokenReferences": broken,
        "tabsWithGaps": gaps,
        "damagedRows": damaged,
        "missingFiles": missing,
        "counts": counts,
        "legacy": _legacy(connection, database),
        "lastBackup": kept_backups.last_good(connection) or "never",
    }


def _legacy(connection: Connection, database: Path) -> dict[str, Any]:
    """What of a legacy installation still waits: for a keyring, or for a start that can remove it.

    It is no damage: every start tries again.
    """
    raw = driver(connection)
    remains = legacy_journal.remains(raw)
    return {
        "secretsInDatabase": count_waiting(raw),
        "journalInDatabase": [*remains.tables, *remains.triggers],
        "journalFiles": [str(path) for path in legacy_journal.files_of(database)],
    }
