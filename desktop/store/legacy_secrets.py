"""Secrets that a legacy database still holds itself, and their way out of every file (SPEC K01).

The keyring's side is not known here: whoever moves a secret has it kept and read back first, then
calls `refer`, which puts the reference in the secret's place. The reference and the note that old
pages must be cleaned are one transaction, so a start after a kill always knows what is left to do.
A row that changed meanwhile is left alone. Everything here blocks.
"""

import base64
import hashlib
import logging
import re
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from desktop.store import copies, failures, unfinished
from desktop.store.plain import connect
from desktop.store.secret_columns import (
    REFERENCE,
    columns_of,
    is_plaintext,
    secret_columns,
    triggers_aside,
)

logger = logging.getLogger(__name__)

# The file's `application_id` while plaintext may lie in its old pages ("NacP"), or only in those
# of the copies beside it ("NacC"); otherwise 0. It moves with the transaction that sets it.
PAGES_DUE, COPIES_DUE = 0x4E616350, 0x4E616343
Due = Literal["nothing", "pages", "copies"]
_INCREMENTAL = 2  # what `auto_vacuum` says
_DUE: dict[int, Due] = {PAGES_DUE: "pages", COPIES_DUE: "copies"}

# Some keyrings don't tell capitals apart, and some limit the length of a name.
_PLAIN_NAME = re.compile(r"[a-z0-9][a-z0-9._@+-]{0,79}")
_WORDS = {
    "access_token": "access token",
    "refresh_token": "refresh token",
    "api_key": "API key",
}


@dataclass(frozen=True, slots=True)
class LegacySecret:
    """One secret and where it lies. `account` is the keyring's name for it, the same at each try;
    `label` what the person knows its row by."""

    table: str
    column: str
    provider: str
    account: str
    label: str
    key: bytes | None = field(repr=False)
    value: bytes = field(repr=False)

    @property
    def words(self) -> str:
        """What the person is told it is."""
        return f"the {_WORDS[self.column]} “{self.label}”"

    @property
    def text(self) -> str | None:
        """The secret as a text; None when it is none."""
        if b"\0" in self.value:
            return None
        try:
            return self.value.decode("utf-8")
        except UnicodeDecodeError:
            return None

    @property
    def kept(self) -> str:
        """What goes into the keyring, which takes only texts: other bytes as base64."""
        return self.text or base64.b64encode(self.value).decode("ascii")


@dataclass(frozen=True, slots=True)
class Found:
    """What is to do for a file: secrets to move, the latest key first, and pages to clean.

    `is_vacuumed` is false for a legacy file as long as `clean` was not done.
    """

    waiting: tuple[LegacySecret, ...]
    due: Due
    is_vacuumed: bool


def look(database: Path, *, busy_ms: int) -> Found:
    """What a start finds; writes nothing."""
    with failures.told(database), closing(connect(database, "read", busy_ms=busy_ms)) as connection:
        due = _due(connection)
        is_vacuumed = connection.execute("PRAGMA auto_vacuum").fetchone()[0] == _INCREMENTAL
        connection.text_factory = bytes
        return Found(tuple(_waiting(connection)), due, is_vacuumed)


def refer(database: Path, secret: LegacySecret, account: str, *, busy_ms: int) -> bool:
    """Puts the reference to `account`, where the secret was read back, in the secret's place.

    False when the row is no longer as it was found.
    """
    with (
        failures.told(database),
        closing(connect(database, "write", busy_ms=busy_ms)) as connection,
    ):
        connection.execute("PRAGMA secure_delete=ON")
        # A legacy table may say what a key looks like; a reference looks different.
        connection.execute("PRAGMA ignore_check_constraints=ON")
        connection.execute("BEGIN IMMEDIATE")
        try:
            with triggers_aside(connection):
                count = connection.execute(
                    f"UPDATE {secret.table} SET {secret.column} = ?"
                    f" WHERE {_key_of(connection, secret.table)} IS ?"
                    f" AND CAST({secret.column} AS BLOB) = ?",
                    (REFERENCE + account, secret.key, secret.value),
                ).rowcount
            if count:
                connection.execute(f"PRAGMA application_id={PAGES_DUE}")
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
    return count > 0


def clean(database: Path, *, busy_ms: int) -> bool:
    """Takes old pages and the write-ahead log out of a file that holds no secret any more.

    False when another process reads an old state just now: then it is still to do.
    """
    began = time.monotonic()
    with (
        failures.told(database),
        closing(connect(database, "write", busy_ms=busy_ms)) as connection,
    ):
        connection.execute("PRAGMA secure_delete=ON")
        if not _fold(connection):
            return False
        # A legacy file has no list of free pages yet; this is what gives it one.
        connection.execute("PRAGMA auto_vacuum=INCREMENTAL")
        connection.execute("VACUUM")
        if not _fold(connection):
            return False
        connection.execute(f"PRAGMA application_id={COPIES_DUE}")
    logger.info("cleaned the pages of %s in %.3f s", database, time.monotonic() - began)
    return True


def copies_of(database: Path) -> tuple[Path, ...]:
    """The copies beside the database, which hold what it held when they were made."""
    return tuple(copies.all_of(database))


def clean_copy(copy: Path, *, busy_ms: int) -> bool:
    """As `clean`, for a copy; it is one file afterwards."""
    if not clean(copy, busy_ms=busy_ms):
        return False
    with failures.told(copy), closing(connect(copy, "write", busy_ms=busy_ms)) as connection:
        connection.execute("PRAGMA application_id=0")
        return connection.execute("PRAGMA journal_mode=DELETE").fetchone()[0] == "delete"


def finish(database: Path, *, busy_ms: int) -> bool:
    """Notes that nothing is left, once all copies are clean; sweeps what was left half made."""
    with failures.told(database):
        for folder in (database.parent, database.parent / "backups"):
            unfinished.sweep(folder)
        if not copies.sweep(database):
            return False
        with closing(connect(database, "write", busy_ms=busy_ms)) as connection:
            connection.execute("PRAGMA application_id=0")
            return _fold(connection)


def _due(connection: sqlite3.Connection) -> Due:
    return _DUE.get(int(connection.execute("PRAGMA application_id").fetchone()[0]), "nothing")


def _fold(connection: sqlite3.Connection) -> bool:
    """Folds the whole write-ahead log in and empties it; another reader can be in the way."""
    return connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0


def _waiting(connection: sqlite3.Connection) -> Iterator[LegacySecret]:
    """Row by row, the latest first; every text comes as bytes, for it may not be one."""
    for table, column in secret_columns(connection):
        there = columns_of(connection, table)
        provider = "CAST(provider AS BLOB)" if "provider" in there else "NULL"
        times = [f"nullif({one}, '')" for one in ("updated_at", "imported_at") if one in there]
        latest = f"ORDER BY CAST(coalesce({', '.join([*times, '0', '0'])}) AS INTEGER) DESC, 1"
        rows = connection.execute(
            f"SELECT {_key_of(connection, table)}, {_name_of(connection, table)},"
            f" {provider}, CAST({column} AS BLOB)"
            f" FROM {table} WHERE {is_plaintext(column)} {latest}"
        ).fetchall()
        for key, name, provider_name, value in rows:
            text = None if key is None else key.decode("utf-8", "replace")
            yield LegacySecret(
                table=table,
                column=column,
                provider=(provider_name or b"").decode("utf-8", "replace"),
                account=f"legacy.{table}.{column}.{_plain(name)}",
                label=text[:40] if text else _plain(name),
                key=key,
                value=value,
            )


def _plain(name: bytes) -> str:
    """A row's name as a part of an account's; one that a keyring may not take is hashed."""
    text = name.decode("utf-8", "replace")
    return text if _PLAIN_NAME.fullmatch(text) else f"sha256-{hashlib.sha256(name).hexdigest()}"


def _key_of(connection: sqlite3.Connection, table: str) -> str:
    return "CAST(key_id AS BLOB)" if "key_id" in columns_of(connection, table) else "NULL"


def _name_of(connection: sqlite3.Connection, table: str) -> str:
    """What a row is called: its key (with its type where that is odd), or else its number."""
    kind = connection.execute(
        "SELECT wr FROM pragma_table_list WHERE schema = 'main' AND name = ?", (table,)
    ).fetchone()
    number = "NULL" if kind[0] else "rowid"  # a table without row numbers has no row without a key
    if "key_id" not in columns_of(connection, table):
        return f"CAST('row-' || {number} AS BLOB)"
    return (
        "CASE typeof(key_id) WHEN 'text' THEN CAST(key_id AS BLOB)"
        f" WHEN 'null' THEN CAST('row-' || {number} AS BLOB)"
        " ELSE CAST(typeof(key_id) || ':' || hex(key_id) AS BLOB) END"
    )
