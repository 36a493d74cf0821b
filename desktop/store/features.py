"""What the SQLite of this installation can do, tried out in memory: a packager may bundle any."""

import sqlite3
from collections.abc import Mapping
from contextlib import closing

from desktop.store.search_texts import TOKENIZER

# What the log cannot do without, and a statement that only works with it.
NEEDED: Mapping[str, str] = {
    "fts5": f"CREATE VIRTUAL TABLE found USING fts5(x, tokenize='{TOKENIZER}')",
    "returning": "INSERT INTO plain(x) VALUES (1) RETURNING x",
    "json": """SELECT json_extract('{"a": 1}', '$.a')""",
    "upsert": "INSERT INTO plain(x) VALUES (1) ON CONFLICT DO NOTHING",
}


def missing_features() -> tuple[str, ...]:
    """The names of what does not work here; empty as a rule."""
    missing: list[str] = []
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE plain(x)")
        for name, statement in NEEDED.items():
            try:
                connection.execute(statement).fetchall()
            except sqlite3.Error:
                missing.append(name)
    return tuple(missing)
