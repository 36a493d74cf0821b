"""Which columns may hold a secret, and what tells a secret from the name of one (DESIGN.md §4).

A secret that the keyring holds is written as a reference, `keyring:ACCOUNT`. Whatever else is not
empty is the secret itself, of whatever type: a legacy database may hold anything.
"""

import sqlite3
from collections.abc import Generator, Iterator
from contextlib import contextmanager

SECRET_COLUMNS = {"credentials": ("access_token", "refresh_token"), "api_keys": ("api_key",)}
REFERENCE = "keyring:"


def is_plaintext(column: str) -> str:
    """The SQL condition that `column` holds a secret itself."""
    return (
        f"(length(CAST({column} AS BLOB)) > 0"
        f" AND NOT (typeof({column}) = 'text' AND {column} GLOB '{REFERENCE}*'))"
    )


def secret_columns(connection: sqlite3.Connection) -> Iterator[tuple[str, str]]:
    """The tables and columns that are there; an old file may lack some."""
    for table, columns in SECRET_COLUMNS.items():
        there = columns_of(connection, table)
        yield from ((table, column) for column in columns if column in there)


def columns_of(connection: sqlite3.Connection, table: str) -> frozenset[str]:
    """The columns of a table; none where there is no table of this name."""
    found = connection.execute(
        "SELECT i.name FROM sqlite_master m, pragma_table_info(m.name) i"
        " WHERE m.type = 'table' AND m.name = ?",
        (table,),
    )
    return frozenset(_text(row[0]) for row in found)


def count_waiting(connection: sqlite3.Connection) -> int:
    """How many secrets lie in the database itself."""
    return sum(
        int(
            connection.execute(
                f"SELECT count(*) FROM {table} WHERE {is_plaintext(column)}"
            ).fetchone()[0]
        )
        for table, column in secret_columns(connection)
    )


@contextmanager
def triggers_aside(connection: sqlite3.Connection) -> Generator[None]:
    """Inside a transaction: what happens to a secret's table fires no trigger, for one could keep
    the secret elsewhere or change another column. They are made again as they were."""
    triggers = [
        (_text(name), _text(sql))
        for name, table, sql in connection.execute(
            "SELECT name, tbl_name, sql FROM sqlite_master WHERE type = 'trigger'"
        ).fetchall()
        if _text(table).lower() in SECRET_COLUMNS
    ]
    for name, _ in triggers:
        quoted = name.replace('"', '""')
        connection.execute(f'DROP TRIGGER "{quoted}"')
    yield
    for _, sql in triggers:
        connection.execute(sql)


def _text(name: str | bytes) -> str:
    return name if isinstance(name, str) else name.decode("utf-8", "replace")
